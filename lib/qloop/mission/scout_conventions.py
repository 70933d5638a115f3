"""How things are done in a tree: formatters, linters, types, tests' places, commit subjects. Pure.

Source: https://editorconfig.org, https://www.conventionalcommits.org.
"""

import configparser
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from qloop.mission.scout_python import runner_of
from qloop.mission.scout_tree import (
    Found,
    Json,
    Tree,
    at,
    command,
    folder_of,
    line_of,
    parse_json,
    parse_toml,
    parsed,
    together,
)
from qloop.state.codebase import HISTORY, Command, Convention, Purpose, Source
from qloop.system.counting import counted

_CONVENTIONAL = re.compile(
    r"(build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(\([^)]*\))?!?: "
)
_TICKET = re.compile(r"\[?[A-Z][A-Z0-9]+-\d+\]?[: ]")
_MOSTLY = 0.6
_ENOUGH = 5
_TEST_NAMES = (
    (re.compile(r"(?:.*/)?test_[^/]+\.py"), "test_NAME.py"),
    (re.compile(r"(?:.*/)?[^/]+_test\.(?:py|go|rb|dart|exs?|cc|cpp|c)"), "NAME_test"),
    (re.compile(r"(?:.*/)?[^/]+\.test\.[cm]?[jt]sx?"), "NAME.test"),
    (re.compile(r"(?:.*/)?[^/]+\.spec\.[cm]?[jt]sx?"), "NAME.spec"),
    (re.compile(r"(?:.*/)?[^/]+_spec\.rb"), "NAME_spec.rb"),
    (re.compile(r"(?:.*/)?[^/]+Tests?\.(?:java|kt|cs|php|swift|scala)"), "NAMETest"),
)  # fmt: skip


_TEST_WORD = re.compile("[Tt]est|spec")


class _Tool(NamedTuple):
    """A tool of a Python project: its table, its own files, what starts it, its line length."""

    name: str
    topic: str
    files: tuple[str, ...]
    purpose: Purpose
    command: str
    length: str | None = None


_PYTHON_TOOLS = (
    _Tool("ruff", "linter", ("ruff.toml", ".ruff.toml"), "lint", "ruff check", "line-length"),
    _Tool("black", "formatter", (), "format", "black --check .", "line-length"),
    _Tool("isort", "formatter", (".isort.cfg",), "format", "isort --check .", "line_length"),
    _Tool("mypy", "types", ("mypy.ini", ".mypy.ini"), "types", "mypy"),
    _Tool("pyright", "types", ("pyrightconfig.json",), "types", "pyright"),
    _Tool("pylint", "linter", (".pylintrc", "pylintrc"), "lint", "pylint"),
    _Tool("flake8", "linter", (".flake8",), "lint", "flake8"),
)
_OWN_FILES = (
    ("formatter", "Prettier", r"(?:.*/)?(?:\.prettierrc(?:\.\w+)?|prettier\.config\.[cm]?[jt]s)"),
    ("linter", "ESLint", r"(?:.*/)?(?:\.eslintrc(?:\.\w+)?|eslint\.config\.[cm]?[jt]s)"),
    ("linter", "Biome", r"(?:.*/)?biome\.jsonc?"),
    ("linter", "Stylelint", r"(?:.*/)?(?:\.stylelintrc(?:\.\w+)?|stylelint\.config\.\w+)"),
    ("formatter", "rustfmt", r"\.?rustfmt\.toml"),
    ("linter", "Clippy", r"\.?clippy\.toml"),
    ("formatter", "clang-format", r"\.clang-format"),
    ("linter", "golangci-lint", r"\.golangci\.(?:ya?ml|toml)"),
    ("linter", "RuboCop", r"\.rubocop\.yml"),
    ("linter", "PHP_CodeSniffer", r"phpcs\.xml(?:\.dist)?"),
    ("linter", "Checkstyle", r"(?:.*/)?checkstyle\.xml"),
    ("linter", "commitlint", r"(?:\.commitlintrc(?:\.\w+)?|commitlint\.config\.\w+)"),
    ("hooks", "pre-commit", r"\.pre-commit-config\.yaml"),
    ("hooks", "Husky", r"\.husky/[^/_][^/]*"),
)
_OWN_FILE = re.compile("|".join(f"(?:{pattern})" for _, _, pattern in _OWN_FILES))


def look_at_conventions(tree: Tree) -> Found:
    """Conventions that settings, names of tests and commit subjects show, and what checks them."""
    looks = (
        *(_editorconfig(tree, path) for path in tree.named(".editorconfig")[:3]),
        *(_python(tree, path) for path in tree.named("pyproject.toml")),
        _python_files(tree),
        *(_typescript(tree, path) for path in tree.named("tsconfig.json")),
        _prettier(tree),
        Found(conventions=tuple(_by_own_files(tree))),
        Found(conventions=tuple(_test_layout(tree))),
        Found(conventions=tuple(_subjects(tree.subjects))),
    )
    return together(iter(looks))


def _editorconfig(tree: Tree, path: str) -> Found:
    value = parsed(tree, path, _parse_editorconfig)
    if isinstance(value, Found):
        return value
    text, rows = tree.texts[path], []
    for section, options in value.items():
        told = [f"{key} = {option}" for key, option in options.items() if option]
        if told:
            source = Source(path=path, line=line_of(text, f"[{section}]"), key=section)
            rows.append(Convention(topic="layout", text="; ".join(told), source=source))
    return Found(conventions=tuple(rows))


def _parse_editorconfig(text: str) -> dict[str, dict[str, str]]:
    """Sections and their options. Raises ValueError."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(f"[top]\n{text}")
    except configparser.Error as exc:
        raise ValueError(str(exc)) from exc
    names = (name for name in parser.sections() if name != "top")
    return {name: {key: one or "" for key, one in parser.items(name)} for name in names}


def _python(tree: Tree, path: str) -> Found:
    value = parsed(tree, path, parse_toml)
    if isinstance(value, Found):
        return Found()  # named by who looks for projects
    text = tree.texts[path]
    rows: list[Convention] = []
    commands: list[Command] = []
    for tool in _PYTHON_TOOLS:
        settings = at(value, "tool", tool.name)
        if settings is None:
            continue
        key = f"tool.{tool.name}"
        source = Source(path=path, line=line_of(text, f"[{key}"), key=key)
        rows += _tool_rows(tool, settings, source)
        commands += _tool_commands(tree, tool, settings, source)
    return Found(conventions=tuple(rows), commands=tuple(commands))


def _tool_rows(tool: _Tool, settings: object, source: Source) -> Iterator[Convention]:
    strict = ", strict" if at(settings, "strict") is True else ""
    yield Convention(topic=tool.topic, text=f"{tool.name}{strict}", source=source)
    length = at(settings, tool.length) if tool.length else None
    if isinstance(length, int):
        key = f"{source.key}.{tool.length}"
        said = source.model_copy(update={"key": key})
        yield Convention(topic="line length", text=str(length), source=said)


def _tool_commands(tree: Tree, tool: _Tool, settings: object, source: Source) -> Iterator[Command]:
    start = runner_of(tree, folder_of(source.path))
    named = tool.name != "mypy" or at(settings, "files") or at(settings, "packages")
    yield command(tool.purpose, f"{start}{tool.command}{'' if named else ' .'}", source, "inferred")
    if tool.name == "ruff" and at(settings, "format") is not None:
        yield command("format", f"{start}ruff format --check", source, "inferred")


def _python_files(tree: Tree) -> Found:
    rows, commands = [], []
    for tool in _PYTHON_TOOLS:
        path = tree.has(".", *tool.files)
        if path is not None:
            source = Source(path=path)
            text = f"{runner_of(tree, '.')}{tool.command}"
            rows.append(Convention(topic=tool.topic, text=tool.name, source=source))
            commands.append(command(tool.purpose, text, source, "inferred"))
    return Found(conventions=tuple(rows), commands=tuple(commands))


def _typescript(tree: Tree, path: str) -> Found:
    text = tree.texts[path]
    strict = re.search(r'"strict"\s*:\s*true', text)  # a file that may hold comments
    line = text.count("\n", 0, strict.start()) + 1 if strict else None
    words = "TypeScript, strict" if strict else "TypeScript"
    source = Source(path=path, line=line, key="compilerOptions.strict" if strict else None)
    return Found(conventions=(Convention(topic="types", text=words, source=source),))


def _prettier(tree: Tree) -> Found:
    for path in tree.named(".prettierrc", ".prettierrc.json"):
        value: Json | Found = parsed(tree, path, parse_json)
        if isinstance(value, Found):
            return value if path.endswith(".json") else Found()
        told = [f"{key} = {one}" for key, one in value.items() if isinstance(one, str | int | bool)]
        if told:
            text = "; ".join(told)
            row = Convention(topic="layout", text=text, source=Source(path=path))
            return Found(conventions=(row,))
    return Found()


def _by_own_files(tree: Tree) -> Iterator[Convention]:
    own = [file.path for file in tree.files if _OWN_FILE.fullmatch(file.path)]
    for topic, name, pattern in _OWN_FILES:
        path = next((path for path in own if re.fullmatch(pattern, path)), None)
        if path is not None:
            yield Convention(topic=topic, text=name, source=Source(path=path))


def _test_layout(tree: Tree) -> Iterator[Convention]:
    tests = [file.path for file in tree.files if _TEST_WORD.search(file.path)]
    for pattern, name in _TEST_NAMES:
        paths = [path for path in tests if pattern.fullmatch(path)]
        if paths:
            tops = Counter(path.split("/")[0] if "/" in path else "." for path in paths)
            top, most = tops.most_common(1)[0]
            beside = {folder_of(path).rpartition("/")[2] for path in paths}.isdisjoint(
                ("test", "tests", "spec", "__tests__")
            ) and top not in ("test", "tests", "spec")
            where = "beside the code" if beside else f"{most} of them in {top}/"
            text = f"{counted(len(paths), 'file')} named {name}, {where}"
            yield Convention(topic="tests", text=text, source=Source(path=paths[0]))


def _subjects(subjects: tuple[str, ...]) -> Iterator[Convention]:
    if len(subjects) < _ENOUGH:
        return
    source = Source(path=HISTORY, key=f"last {len(subjects)} subjects")
    conventional = [match for one in subjects if (match := _CONVENTIONAL.match(one))]
    tickets = [one for one in subjects if _TICKET.match(one)]
    if len(conventional) >= _MOSTLY * len(subjects):
        kinds = ", ".join(
            name for name, _ in Counter(m.group(1) for m in conventional).most_common(5)
        )
        text = f"Conventional Commits, {len(conventional)} of {len(subjects)} ({kinds})"
    elif len(tickets) >= _MOSTLY * len(subjects):
        text = f"subjects begin with a ticket, {len(tickets)} of {len(subjects)}"
    else:
        longest = max(map(len, subjects))
        text = f"plain subjects, the longest of {longest} characters"
    yield Convention(topic="commits", text=text, source=source)
