"""Small made-up repositories, one per way of building things: what the scout reads of each."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import pytest

from scout_trees import commands, entries, scout


class Case(NamedTuple):
    """Files, and what is to be read of them."""

    files: dict[str, str]
    test: Sequence[str] = ()
    build: Sequence[str] = ()
    entries: Mapping[str, str] = MappingProxyType({})
    lint: Sequence[str] | None = None
    setup: Sequence[str] | None = None


def package(**parts: object) -> str:
    """A package.json."""
    return json.dumps(parts, indent=2)


CASES = {
    "python with pytest": Case(
        {
            "pyproject.toml": '[build-system]\n[project]\nname = "tea"\n[project.scripts]\n'
            'tea = "tea.cli:main"\n[tool.pytest.ini_options]\n[tool.ruff]\nline-length = 88\n',
            "src/tea/__init__.py": "",
            "src/tea/__main__.py": "from tea import cli\n",
            "tests/test_tea.py": "def test_it(): ...\n",
        },
        test=["python -m pytest"],
        build=["python -m build"],
        lint=["ruff check"],
        setup=["pip install -e ."],
        entries={
            "tea": "src/tea/__main__.py",
        },
    ),
    "python under uv": Case(
        {
            "pyproject.toml": '[project]\nname = "tea"\n[dependency-groups]\ndev = ["pytest>=8"]\n'
            "[tool.mypy]\nstrict = true\n",
            "uv.lock": "",
            "tests/test_tea.py": "",
        },
        test=["uv run pytest"],
        setup=["uv sync"],
    ),
    "python with poetry and poe": Case(
        {
            "pyproject.toml": '[build-system]\n[tool.poetry]\nname = "tea"\n'
            '[tool.poetry.scripts]\ntea = "tea:main"\n[tool.poe.tasks]\ntest = "pytest -q"\n'
            'lint = "ruff check"\n',
            "poetry.lock": "",
        },
        test=["poe test"],
        build=["python -m build"],
        lint=["poe lint"],
        setup=["poetry install"],
        entries={"tea": "pyproject.toml:5 (tool.poetry.scripts.tea)"},
    ),
    "python with tox and old settings": Case(
        {
            "setup.cfg": "[options.entry_points]\nconsole_scripts =\n    tea = tea:main\n",
            "tox.ini": "[tox]\nenvlist = py\n[testenv:lint]\ncommands = flake8\n",
            "requirements.txt": "# ours\nflask==3.0\n-r other.txt\n",
        },
        test=["tox"],
        lint=["tox run -e lint"],
        setup=["pip install -r requirements.txt"],
        entries={"tea": "setup.cfg:3"},
    ),
    "python with nox": Case(
        {"noxfile.py": "import nox\n\n@nox.session\ndef tests(session):\n    ...\n"},
        test=["nox -s tests"],
    ),
    "python with unittest": Case(
        {"tests/test_a.py": "import unittest\n"},
        test=["python -m unittest discover -s tests -t ."],
    ),
    "django": Case(
        {"manage.py": "", "requirements.txt": "django\n", "shop/templates/a.html": "<p>"},
        test=["python manage.py test"],
        entries={"manage.py": "manage.py"},
    ),
    "npm": Case(
        {
            "package.json": package(
                name="tea",
                bin={"tea": "cli.js"},
                scripts={
                    "test:watch": "jest --watch",
                    "pretest": "true",
                    "test": "jest",
                    "start": "node .",
                    "build": "tsc",
                    "lint": "eslint .",
                },
            ),
            "package-lock.json": "{}",
            "tsconfig.json": '{"compilerOptions": {\n "strict": true}}',
        },
        test=["npm test"],
        build=["npm run build"],
        lint=["npm run lint"],
        setup=["npm ci"],
        entries={"tea": "package.json:3 (bin.tea)", "start": "package.json:10 (scripts.start)"},
    ),
    "npm without tests": Case(
        {"package.json": package(scripts={"test": 'echo "Error: no test specified" && exit 1'})},
        setup=["npm install"],
    ),
    "pnpm workspace": Case(
        {
            "package.json": package(scripts={"test": "pnpm -r test"}),
            "pnpm-lock.yaml": "",
            "packages/web/package.json": package(scripts={"test": "vitest", "e2e": "playwright"}),
        },
        test=["pnpm run test", "packages/web: pnpm run test", "packages/web: pnpm run e2e"],
        setup=["pnpm install --frozen-lockfile"],
    ),
    "yarn by its word": Case(
        {"package.json": package(packageManager="yarn@4.1.0", scripts={"test": "jest"})},
        test=["yarn run test"],
    ),
    "deno": Case({"deno.json": package(tasks={"test": "deno test"})}, test=["deno task test"]),
    "cargo workspace": Case(
        {
            "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
            "crates/tea/Cargo.toml": '[package]\nname = "tea"\n[dependencies]\nclap = "4"\n',
            "crates/tea/src/main.rs": "fn main() {}\n",
        },
        test=["cargo test --workspace"],
        build=["cargo build --workspace"],
        lint=["cargo clippy --workspace --all-targets"],
        entries={"tea": "crates/tea/src/main.rs"},
    ),
    "go": Case(
        {
            "go.mod": "module example.com/tea\n\nrequire (\n\tgithub.com/spf13/cobra v1.8.0\n)\n",
            "cmd/tea/main.go": "package main\n\nfunc main() {}\n",
            "pkg/leaf.go": "package leaf\n",
        },
        test=["go test ./..."],
        build=["go build ./..."],
        lint=["go vet ./..."],
        entries={"tea": "cmd/tea/main.go:1"},
    ),
    "maven with its wrapper": Case(
        {
            "pom.xml": "<project><dependencies><dependency><groupId>junit</groupId>"
            "<artifactId>junit</artifactId><scope>test</scope></dependency></dependencies>"
            "</project>",
            "mvnw": "",
        },
        test=["./mvnw test"],
        build=["./mvnw package"],
    ),
    "gradle": Case(
        {"settings.gradle": "", "build.gradle": "", "app/build.gradle": "", "gradlew": ""},
        test=["./gradlew test"],
        build=["./gradlew build"],
    ),
    "dotnet": Case(
        {
            "Tea/Tea.csproj": "<Project><PropertyGroup><OutputType>Exe</OutputType>"
            "</PropertyGroup></Project>",
            "Tests/Tests.csproj": '<Project><ItemGroup><PackageReference Include="xunit" '
            'Version="2"/><PackageReference Include="Microsoft.NET.Test.Sdk"/></ItemGroup>'
            "</Project>",
        },
        test=["dotnet test"],
        build=["dotnet build"],
        entries={"Tea": "Tea/Tea.csproj"},
    ),
    "composer": Case(
        {
            "composer.json": package(scripts={"test": "phpunit"}, bin=["bin/tea"]),
            "phpunit.xml": "",
        },
        test=["composer test", "vendor/bin/phpunit"],
        setup=["composer install"],
        entries={"tea": "composer.json:5 (bin)"},
    ),
    "ruby": Case(
        {"Gemfile": 'gem "rspec", "~> 3"\n', "Rakefile": "", "exe/tea": ""},
        test=["bundle exec rspec"],
        setup=["bundle install"],
    ),
    "cmake": Case(
        {"CMakeLists.txt": "project(tea)\nadd_executable(tea main.c)\nenable_testing()\n"},
        test=["ctest --test-dir build"],
        build=["cmake -B build && cmake --build build"],
        entries={"tea": "CMakeLists.txt:2"},
    ),
    "make": Case(
        {
            "Makefile": "CC := cc\n.PHONY: all test\nall: tea\n\t$(CC) x\ntest: all\n\t./run\n"
            "install:\n\tcp tea /usr/bin\nlint fmt:\n\ttrue\n%.o: %.c\n\tcc\n"
        },
        test=["make test"],
        build=["make all"],
        lint=["make lint"],
        setup=[],
    ),
    "just": Case(
        {"justfile": "version := '1'\n\n@test *args: build\n  cargo test\n\nbuild:\n  true\n"},
        test=["just test"],
        build=["just build"],
    ),
    "task": Case({"Taskfile.yml": "tasks:\n  test:\n    cmds: [x]\n"}, test=["task test"]),
    "scripts": Case(
        {"+bin/test": "#!/bin/sh\n", "+.ci/run": "#!/bin/sh\n", "+bin/tea": "#!/bin/sh\n"},
        test=["bin/test", ".ci/run"],
        entries={"tea": "bin/tea"},
    ),
    "mix": Case({"mix.exs": ""}, test=["mix test"], build=["mix compile"]),
    "containers and processes": Case(
        {
            "Dockerfile": 'FROM scratch\nENTRYPOINT ["/tea"]\nCMD ["serve"]\n',
            "Procfile": "web: gunicorn tea\n",
        },
        entries={"ENTRYPOINT": "Dockerfile:2 (ENTRYPOINT)", "web": "Procfile:1"},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_read(case: Case) -> None:
    """Commands for tests, builds, lint and set-up, and entry points, each with its place."""
    facts = scout(case.files)

    assert facts.unread == ()
    assert commands(facts, "test") == list(case.test)
    assert commands(facts, "build") == list(case.build)
    assert case.lint is None or commands(facts, "lint") == case.lint
    assert case.setup is None or commands(facts, "setup") == case.setup
    assert case.entries.items() <= entries(facts).items()


CI_FILES = {
    ".github/workflows/ci.yml": "jobs:\n  test:\n    steps:\n      - run: npm test\n"
    "      - run: |\n          echo pytest\n          apt install make build-essential\n"
    "          ruff check .\n      - run: npm run -s build\n",
    ".gitlab-ci.yml": "test:\n  script:\n    - make test\n",
}


def test_ci_gives_hints() -> None:
    """What CI runs is told with its line, and never taken for certain."""
    facts = scout(CI_FILES)
    seen = {one.command: (one.purpose, one.source.text) for one in facts.commands}

    assert seen == {
        "npm test": ("test", ".github/workflows/ci.yml:4"),
        "ruff check .": ("lint", ".github/workflows/ci.yml:8"),
        "npm run -s build": ("build", ".github/workflows/ci.yml:9"),
        "make test": ("test", ".gitlab-ci.yml:3"),
    }
    assert {one.basis for one in facts.commands} == {"seen"}
    assert facts.find_command("test") is None


def test_declared_goes_before_implied() -> None:
    """What the repository declares for its root is the one to use."""
    facts = scout(
        {
            "pyproject.toml": '[project]\nname = "tea"\n[tool.pytest.ini_options]\n',
            "Makefile": "check-all:\n\ttrue\ntest:\n\tpytest\n",
            "web/package.json": package(scripts={"test": "jest"}),
        }
    )
    found = facts.find_command("test")

    assert found is not None
    assert (found.command, found.source.text) == ("make test", "Makefile:3 (test)")
    assert commands(facts, "test")[-1] == "web: npm test"


def test_dependencies_and_frameworks() -> None:
    """Dependencies come with version, use and line; those that shape code with what they are."""
    facts = scout(
        {
            "pyproject.toml": '[project]\ndependencies = [\n  "flask>=3",\n  "tzdata",\n]\n'
            '[dependency-groups]\ndev = ["pytest"]\n',
            "package.json": package(dependencies={"react": "^18"}),
        }
    )
    rows = {
        one.name: (one.version, one.use, one.framework, one.source.line)
        for one in facts.dependencies
    }

    assert rows == {
        "flask": (">=3", "run", "web", 3),
        "tzdata": ("", "run", None, 4),
        "pytest": ("", "dev", "tests", 7),
        "react": ("^18", "run", "ui", 3),
    }
