"""What JavaScript and TypeScript projects tell: package.json, its lock file, tool settings. Pure.

Source: the documentation of npm (package.json), pnpm, yarn, bun, deno.
"""

from collections.abc import Iterator

from qloop.mission.scout_tree import (
    Found,
    Json,
    Tree,
    command,
    folder_of,
    line_of,
    parse_json,
    parsed,
    purpose_of,
    table,
    together,
    words,
)
from qloop.state.codebase import Command, Dependency, EntryPoint, Source, Use

LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}
_SETUPS = {
    "npm": "npm ci",
    "pnpm": "pnpm install --frozen-lockfile",
    "yarn": "yarn install --immutable",
    "bun": "bun install --frozen-lockfile",
}
_SECTIONS: tuple[tuple[str, Use], ...] = (
    ("dependencies", "run"),
    ("peerDependencies", "run"),
    ("optionalDependencies", "run"),
    ("devDependencies", "dev"),
)
_NO_TEST = "no test specified"
_ESLINT = (
    *(f"eslint.config.{ending}" for ending in ("js", "mjs", "cjs", "ts")),
    *(f".eslintrc{ending}" for ending in ("", ".js", ".cjs", ".json", ".yml", ".yaml")),
)


def look_at_node(tree: Tree) -> Found:
    """Entry points, commands and dependencies of every package.json and deno.json in a tree."""
    packages = (_package(tree, path) for path in tree.named("package.json"))
    deno = (_deno(tree, path) for path in tree.named("deno.json"))
    return together(iter((*packages, *deno)))


def manager_of(tree: Tree, folder: str, value: Json) -> tuple[str, Source | None]:
    """The package manager, and what tells it: the lock file or the package's own word; else npm."""
    named = str(value.get("packageManager", "")).partition("@")[0]
    if named in _SETUPS:
        manifest = "package.json" if folder == "." else f"{folder}/package.json"
        return named, Source(path=manifest, key="packageManager")
    lock = tree.nearest(folder, *LOCKS)
    if lock is None:
        return "npm", None
    return LOCKS[lock.rpartition("/")[2]], Source(path=lock)


def _package(tree: Tree, path: str) -> Found:
    value = parsed(tree, path, parse_json)
    if isinstance(value, Found):
        return value
    text = tree.texts[path]
    return Found(
        entry_points=tuple(_entries(value, path, text)),
        commands=tuple(_commands(tree, value, path, text)),
        dependencies=tuple(_dependencies(value, path, text)),
    )


def _entries(value: Json, path: str, text: str) -> Iterator[EntryPoint]:
    programs = value.get("bin")
    if isinstance(programs, str):
        programs = {str(value.get("name", "")).rpartition("/")[2]: programs}
    for name, target in words({"bin": programs}, "bin").items():
        source = Source(path=path, line=line_of(text, '"bin"'), key=f"bin.{name}")
        yield EntryPoint(kind="command", name=name, target=target, source=source)
    for key in ("main", "module", "browser"):
        if isinstance(value.get(key), str):
            source = Source(path=path, line=line_of(text, f'"{key}"'), key=key)
            name = str(value.get("name", "")) or folder_of(path)
            yield EntryPoint(kind="package", name=name, target=value[key], source=source)
    start = words(value, "scripts").get("start")
    if start is not None:
        source = Source(path=path, line=line_of(text, '"scripts"', '"start"'), key="scripts.start")
        yield EntryPoint(kind="server", name="start", target=start, source=source)


def _commands(tree: Tree, value: Json, path: str, text: str) -> Iterator[Command]:
    folder = folder_of(path)
    manager, told = manager_of(tree, folder, value)
    scripts = words(value, "scripts")
    for name, script in scripts.items():
        if _NO_TEST in script or _is_hook(name, scripts):
            continue
        line = line_of(text, '"scripts"', f'"{name}"')
        source = Source(path=path, line=line, key=f"scripts.{name}")
        short = manager == "npm" and name in ("test", "start")
        start = f"{manager} {name}" if short else f"{manager} run {name}"
        yield command(purpose_of(name), start, source)
    if told is not None and folder_of(told.path) == folder:
        yield command("setup", _SETUPS[manager], told, "inferred", folder)
    elif folder == ".":
        yield command("setup", f"{manager} install", Source(path=path), "inferred")
    purposes = {purpose_of(name) for name in scripts}
    settings = tree.has(folder, "tsconfig.json")
    if "types" not in purposes and settings is not None:
        yield command("types", "npx tsc --noEmit", Source(path=settings), "inferred")
    settings = tree.has(folder, *_ESLINT)
    if "lint" not in purposes and settings is not None:
        yield command("lint", "npx eslint .", Source(path=settings), "inferred")


def _is_hook(name: str, scripts: dict[str, str]) -> bool:
    """Whether a script only runs before or after another one."""
    return name in ("install", "prepare") or any(
        name.startswith(prefix) and name.removeprefix(prefix) in scripts
        for prefix in ("pre", "post")
    )


def _dependencies(value: Json, path: str, text: str) -> Iterator[Dependency]:
    for key, use in _SECTIONS:
        for name, version in words(value, key).items():
            line = line_of(text, f'"{key}"', f'"{name}"')
            yield Dependency(
                name=name,
                version=version,
                ecosystem="npm",
                use=use,
                source=Source(path=path, line=line, key=key),
            )


def _deno(tree: Tree, path: str) -> Found:
    value = parsed(tree, path, parse_json)
    if isinstance(value, Found):
        return value
    text = tree.texts[path]
    commands = tuple(
        command(
            purpose_of(name),
            f"deno task {name}",
            Source(path=path, line=line_of(text, '"tasks"', f'"{name}"'), key=f"tasks.{name}"),
        )
        for name in table(value, "tasks")
    )
    return Found(commands=commands)
