"""Dependencies that shape the code that uses them, by name. Pure."""

from qloop.state.codebase import Dependency

_KINDS = {
    "ui": (
        "react react-dom preact vue svelte solid-js @angular/core lit alpinejs htmx.org next nuxt "
        "astro gatsby @remix-run/react react-native expo electron ember-source jquery "
        "streamlit gradio dash nicegui reflex flet kivy pyqt5 pyqt6 pyside2 pyside6 wxpython "
        "yew leptos dioxus egui eframe iced tauri slint gtk4 livewire/livewire"
    ),
    "terminal": "textual rich prompt-toolkit urwid ink blessed ratatui crossterm bubbletea tview",
    "web": (
        "django flask fastapi starlette tornado aiohttp sanic falcon pyramid bottle litestar "
        "express koa fastify @nestjs/core hono @hapi/hapi rails sinatra laravel/framework "
        "symfony/framework-bundle slim/slim actix-web axum rocket warp tide phoenix"
    ),
    "command line": "click typer docopt fire commander yargs oclif clap structopt argh",
    "data": (
        "sqlalchemy psycopg psycopg2 asyncpg pymongo redis peewee prisma @prisma/client typeorm "
        "sequelize mongoose knex drizzle-orm diesel sqlx sea-orm activerecord pg mysql2 "
        "doctrine/orm pandas polars numpy"
    ),
    "tests": (
        "pytest hypothesis unittest2 nose2 jest vitest mocha ava jasmine cypress "
        "@playwright/test playwright @testing-library/react rspec rspec-rails minitest "
        "phpunit/phpunit pestphp/pest proptest quickcheck criterion"
    ),
    "build": "vite webpack rollup esbuild parcel turbo nx lerna babel typescript",
    "machine learning": "torch tensorflow keras scikit-learn transformers jax langchain",
}
_NAMES = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_PARTS = {
    "gin-gonic/gin": "web", "labstack/echo": "web", "gofiber/fiber": "web", "go-chi/chi": "web",
    "spf13/cobra": "command line", "urfave/cli": "command line", "gorm.io/gorm": "data",
    "charmbracelet/bubbletea": "terminal", "stretchr/testify": "tests", "fyne.io/fyne": "ui",
    "spring-boot": "web", "quarkus": "web", "micronaut": "web", "hibernate": "data",
    "junit": "tests", "openjfx": "ui", "xunit": "tests", "nunit": "tests",
    "microsoft.aspnetcore": "web", "entityframework": "data",
}  # fmt: skip


def framework_of(dependency: Dependency) -> str | None:
    """What a dependency is for, if it shapes the code; None if it does not, or is not known."""
    name = dependency.name.lower().replace("_", "-")
    known = _NAMES.get(name)
    if known is not None or dependency.ecosystem in ("Python", "npm", "Cargo"):
        return known
    return next((kind for part, kind in _PARTS.items() if part in name), None)
