"""What Python projects tell: pyproject.toml, setup.cfg, tox, nox, requirements, modules. Pure.

Source: PEP 518, 621, 735; the documentation of pytest, tox, nox, uv, poetry, pdm, hatch, poe.
"""

import ast
import configparser
import re
from collections.abc import Iterator, Sequence

from qloop.mission.scout_tree import (
    Found,
    Json,
    Tree,
    at,
    command,
    folder_of,
    line_of,
    listed,
    parse_python,
    parse_toml,
    parsed,
    purpose_of,
    table,
    together,
    words,
)
from qloop.state.codebase import Command, Dependency, EntryPoint, Source, Use

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*([^;#]*)")
_TEST_FILE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_PYTEST_FILE = re.compile(r"(?:.*/)?(?:conftest\.py|pytest\.ini)")
_PYTEST_HEADS = ("[tool.pytest", "[tool:pytest]", "[pytest]")
_RUNNERS = (("uv.lock", "uv run "), ("poetry.lock", "poetry run "), ("pdm.lock", "pdm run "))
_SETUPS = {"uv.lock": "uv sync", "poetry.lock": "poetry install", "pdm.lock": "pdm install"}
_TASKS = (
    (("tool", "pdm", "scripts"), "pdm run "),
    (("tool", "poe", "tasks"), "poe "),
    (("tool", "taskipy", "tasks"), "task "),
    (("tool", "rye", "scripts"), "rye run "),
)
_SCRIPTS = (
    ("project", "scripts"),
    ("project", "gui-scripts"),
    ("tool", "poetry", "scripts"),
)


def look_at_python(tree: Tree) -> Found:
    """Entry points, commands and dependencies of every Python project in a tree."""
    projects = (_project(tree, path) for path in tree.named("pyproject.toml"))
    configs = (_setup_cfg(tree, path) for path in tree.named("setup.cfg", "tox.ini"))
    sessions = (_nox(tree, path) for path in tree.named("noxfile.py"))
    listed_files = (_requirements(tree, path) for path in tree.like(r".*requirements[^/]*\.txt"))
    found = together(iter((*projects, *configs, *sessions, *listed_files)))
    return found + _modules(tree) + _tests(tree, found)


def runner_of(tree: Tree, folder: str) -> str:
    """What starts a program in the project's environment, by the lock file that is there."""
    return next((words for lock, words in _RUNNERS if tree.nearest(folder, lock)), "")


def _project(tree: Tree, path: str) -> Found:
    value = parsed(tree, path, parse_toml)
    if isinstance(value, Found):
        return value
    text = tree.texts[path]
    return Found(
        entry_points=tuple(_scripts(value, path, text)),
        commands=tuple(_project_commands(tree, value, path, text)),
        dependencies=tuple(_project_dependencies(value, path, text)),
    )


def _scripts(value: Json, path: str, text: str) -> Iterator[EntryPoint]:
    for keys in _SCRIPTS:
        for name, target in words(value, *keys).items():
            head = ".".join(keys)
            source = Source(path=path, line=line_of(text, f"[{head}]", name), key=f"{head}.{name}")
            yield EntryPoint(kind="command", name=name, target=target, source=source)


def _project_commands(tree: Tree, value: Json, path: str, text: str) -> Iterator[Command]:
    yield from _task_commands(value, path, text)
    if at(value, "tool", "tox") is not None:
        yield command("test", "tox", Source(path=path, key="tool.tox"))
    is_package = "project" in value or at(value, "tool", "poetry") is not None
    if "build-system" in value and is_package:
        source = Source(path=path, line=line_of(text, "[build-system]"), key="build-system")
        yield command("build", "python -m build", source, "inferred")
    lock = tree.has(folder_of(path), *_SETUPS)
    if lock is not None:
        setup = _SETUPS[lock.rpartition("/")[2]]
        yield command("setup", setup, Source(path=lock), "inferred")
    elif "project" in value:
        yield command("setup", "pip install -e .", Source(path=path, key="project"), "inferred")


def _task_commands(value: Json, path: str, text: str) -> Iterator[Command]:
    """What the project's own task runner is told to do."""
    for keys, prefix in _TASKS:
        head = ".".join(keys)
        for name in table(value, *keys):
            source = Source(path=path, line=line_of(text, f"[{head}", name), key=f"{head}.{name}")
            yield command(purpose_of(name), f"{prefix}{name}", source)
    for environment, settings in table(value, "tool", "hatch", "envs").items():
        for name in table(settings, "scripts"):
            head = f"tool.hatch.envs.{environment}"
            where = "" if environment == "default" else f"{environment}:"
            key = f"{head}.scripts.{name}"
            source = Source(path=path, line=line_of(text, f"[{head}", name), key=key)
            yield command(purpose_of(name), f"hatch run {where}{name}", source)


def _project_dependencies(value: Json, path: str, text: str) -> Iterator[Dependency]:
    yield from _named(listed(value, "project", "dependencies"), path, text, "run")
    optional = table(value, "project", "optional-dependencies")
    for group in (*optional.values(), *table(value, "dependency-groups").values()):
        yield from _named(group if isinstance(group, list) else [], path, text, "dev")
    poetry = table(value, "tool", "poetry")
    groups = [part for part in table(poetry, "group").values() if isinstance(part, dict)]
    yield from _named(_poetry_lines(poetry), path, text, "run")
    for part in groups:
        yield from _named(_poetry_lines(part), path, text, "dev")


def _poetry_lines(part: Json) -> list[str]:
    return [
        f"{name} {version if isinstance(version, str) else ''}"
        for name, version in table(part, "dependencies").items()
        if name != "python"
    ]


def _named(lines: Sequence[object], path: str, text: str, use: Use) -> Iterator[Dependency]:
    for line in lines:
        match = _REQUIREMENT.match(line) if isinstance(line, str) else None
        if match is not None:
            name, version = match.group(1), match.group(2).strip()
            yield Dependency(
                name=name,
                version=version,
                ecosystem="Python",
                use=use,
                source=Source(path=path, line=_line_of(text, name)),
            )


def _line_of(text: str, name: str) -> int | None:
    """The line where a requirement of that name begins."""
    found = re.search(rf"""(?:^\s*|["'])({re.escape(name)})(?![\w-])""", text, re.MULTILINE)
    return text.count("\n", 0, found.start(1)) + 1 if found else None


def _requirements(tree: Tree, path: str) -> Found:
    text = tree.texts[path]
    use: Use = "dev" if re.search(r"dev|test|lint|doc|ci", path.rpartition("/")[2]) else "run"
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("#", "-", "git+"))]
    found = _named([line for line in lines if line.strip()], path, text, use)
    commands: tuple[Command, ...] = ()
    if path.endswith("requirements.txt"):
        text_of = f"pip install -r {path.rpartition('/')[2]}"
        commands = (command("setup", text_of, Source(path=path), "inferred"),)
    return Found(dependencies=tuple(found), commands=commands)


def _setup_cfg(tree: Tree, path: str) -> Found:
    value = parsed(tree, path, _parse_ini)
    if isinstance(value, Found):
        return value
    text, commands, entry_points = tree.texts[path], [], []
    scripts = value.get("options.entry_points", {}).get("console_scripts", "")
    for line in filter(None, map(str.strip, scripts.splitlines())):
        name, _, target = (part.strip() for part in line.partition("="))
        source = Source(path=path, line=line_of(text, "console_scripts", name))
        entry_points.append(EntryPoint(kind="command", name=name, target=target, source=source))
    if path.endswith("tox.ini"):
        commands.append(command("test", "tox", Source(path=path, line=line_of(text, "[tox]"))))
    for section in value:
        name = section.removeprefix("testenv:")
        if name != section and purpose_of(name) not in ("test", "other"):
            source = Source(path=path, line=line_of(text, f"[{section}]"), key=section)
            commands.append(command(purpose_of(name), f"tox run -e {name}", source))
    return Found(entry_points=tuple(entry_points), commands=tuple(commands))


def _parse_ini(text: str) -> dict[str, dict[str, str]]:
    """Sections and their options. Raises ValueError."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error as exc:
        raise ValueError(str(exc)) from exc
    return {
        name: {key: option or "" for key, option in parser.items(name)}
        for name in parser.sections()
    }


def _nox(tree: Tree, path: str) -> Found:
    value = parsed(tree, path, parse_python)
    if isinstance(value, Found):
        return value
    sessions = [
        node
        for node in value.body
        if isinstance(node, ast.FunctionDef)
        and any("session" in ast.unparse(one) for one in node.decorator_list)
    ]
    return Found(
        commands=tuple(
            command(
                purpose_of(node.name),
                f"nox -s {node.name}",
                Source(path=path, line=node.lineno, key=node.name),
            )
            for node in sessions
        )
    )


def _modules(tree: Tree) -> Found:
    """Packages and scripts that Python starts by their place."""
    entry_points, commands = [], []
    for file in tree.files:
        folder, _, name = file.path.rpartition("/")
        if name == "__main__.py" and folder:
            parts = folder.split("/")
            inner = parts[1:] if parts[0] in ("src", "lib") and len(parts) > 1 else parts
            target = f"python -m {'.'.join(inner)}"
            source = Source(path=file.path)
            entry_points.append(
                EntryPoint(kind="module", name=parts[-1], target=target, source=source)
            )
        elif name == "manage.py":
            source = Source(path=file.path)
            target = "python manage.py runserver"
            entry_points.append(
                EntryPoint(kind="server", name="manage.py", target=target, source=source)
            )
            commands.append(command("run", target, source, "inferred"))
            commands.append(command("test", "python manage.py test", source, "inferred"))
    return Found(entry_points=tuple(entry_points), commands=tuple(commands))


def _tests(tree: Tree, found: Found) -> Found:
    """How the tests are run where nothing says it: by pytest if it is known of, else unittest."""
    tests = [file.path for file in tree.files if _TEST_FILE.fullmatch(file.path)]
    for path in tree.named("pyproject.toml", "setup.cfg", "tox.ini"):
        text = tree.texts[path]
        head = next((head for head in _PYTEST_HEADS if head in text), None)
        if head is not None:
            return _pytest(tree, Source(path=path, line=line_of(text, head), key="pytest"))
    named = next((one for one in found.dependencies if one.name.lower() == "pytest"), None)
    if named is not None and tests:
        return _pytest(tree, named.source)
    own = next((file.path for file in tree.files if _PYTEST_FILE.fullmatch(file.path)), None)
    if own is not None:
        return _pytest(tree, Source(path=own), "." if own.endswith("conftest.py") else None)
    return _by_test_files(tree, tests)


def _by_test_files(tree: Tree, tests: Sequence[str]) -> Found:
    """What the test files themselves are written for."""
    for path in tests:
        text = tree.texts.get(path, "")
        if "import pytest" in text:
            return _pytest(tree, Source(path=path, line=line_of(text, "import pytest")), ".")
        if "unittest" in text:
            source = Source(path=path, line=line_of(text, "unittest"))
            where = f" -s {path.split('/')[0]} -t ." if "/" in path else ""
            run = f"python -m unittest discover{where}"
            return Found(commands=(command("test", run, source, "inferred", "."),))
    return Found()


def _pytest(tree: Tree, source: Source, folder: str | None = None) -> Found:
    prefix = runner_of(tree, folder_of(source.path)) or "python -m "
    return Found(commands=(command("test", f"{prefix}pytest", source, "inferred", folder),))
