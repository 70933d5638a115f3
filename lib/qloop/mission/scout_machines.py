"""What files for other machines tell: CI (its commands are hints), containers, processes. Pure.

Source: the documentation of GitHub Actions, GitLab CI, CircleCI, Travis CI; Dockerfile(5).
"""

import re
from collections.abc import Iterator

import yaml

from qloop.mission.scout_tree import Found, Tree, command, is_beside, parsed, together
from qloop.state.codebase import Command, EntryPoint, Purpose, Source

_CI = (
    r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|\.circleci/config\.yml|\.travis\.yml|"
    r"azure-pipelines\.yml|\.woodpecker(?:/[^/]+)?\.yml|bitbucket-pipelines\.yml"
)
_STEPS = frozenset(("run", "script", "before_script", "install", "command", "commands"))
MOST_NODES = 20_000
"""Values of one YAML file that are looked at."""
_TOOLS = (
    "npm|pnpm|yarn|bun|deno|cargo|go|mvn|mvnw|gradle|gradlew|dotnet|make|just|task|mix|swift|zig"
    "|composer|bazel|sbt"
)
_TESTERS = (
    "pytest|tox|nox|unittest|jest|vitest|mocha|playwright test|cypress run|rspec|phpunit|ctest"
)
_LINTERS = (
    "ruff(?! format)|flake8|pylint|eslint|clippy|golangci-lint|rubocop|shellcheck|pre-commit|lint"
)
_USES: tuple[tuple[Purpose, re.Pattern[str]], ...] = (
    (
        "test",
        re.compile(
            rf"\b(?:{_TESTERS})\b"
            rf"|\b(?:{_TOOLS})\s+(?:-\S+\s+)*(?:run\s+)?(?:test|check|verify)(?![\w-])"
        ),
    ),
    ("types", re.compile(r"\b(?:mypy|pyright|tsc|phpstan|typecheck)\b")),
    ("format", re.compile(r"\b(?:ruff format|black|prettier|cargo fmt|gofmt)\b")),
    ("lint", re.compile(rf"\b(?:{_LINTERS})\b")),
    (
        "build",
        re.compile(
            rf"\b(?:{_TOOLS})\s+(?:-\S+\s+)*(?:run\s+(?:-\S+\s+)*)?"
            r"(?:build|package|compile|assemble)(?![\w-])"
            r"|\bpython3? -m build\b|\bcmake --build\b"
        ),
    ),
)
_DOCKERFILE = r"(?:.*/)?(?:Dockerfile(?:\.[\w-]+)?|Containerfile)"
_START = re.compile(r"^(CMD|ENTRYPOINT)\s+(.+?)\s*$", re.MULTILINE | re.IGNORECASE)
_PROCESS = re.compile(r"^([\w-]+):\s*(\S.*)$", re.MULTILINE)


def look_at_machines(tree: Tree) -> Found:
    """Commands that CI runs, and how containers and process lists start the program."""
    return together(
        iter(
            (
                *(_ci(tree, path) for path in tree.like(_CI)),
                Found(entry_points=tuple(_containers(tree))),
                Found(entry_points=tuple(_processes(tree))),
            )
        )
    )


def _ci(tree: Tree, path: str) -> Found:
    value = parsed(tree, path, _parse_yaml)
    if isinstance(value, Found):
        return value
    commands: dict[str, Command] = {}
    for text, line in _steps(value):
        for shift, part in enumerate(text.splitlines()):
            for purpose, pattern in _USES:
                if pattern.search(part) and "echo" not in part:
                    source = Source(path=path, line=line + shift)
                    made = command(purpose, part.strip(), source, "seen", ".")
                    commands.setdefault(made.command, made)
                    break
    return Found(commands=tuple(commands.values()))


def _parse_yaml(text: str) -> yaml.Node | None:
    """The document as nodes with their lines: aliases stay links. Raises ValueError."""
    try:
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as exc:
        raise ValueError(str(exc)) from exc
    return node


def _steps(root: yaml.Node | None) -> Iterator[tuple[str, int]]:
    """Command texts of a document, each with the line that it begins at."""
    waiting: list[yaml.Node | None] = [root]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_NODES:
        node = waiting.pop(0)
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value in _STEPS:
                    yield from _texts(value)
                waiting.append(value)


def _texts(node: yaml.Node) -> Iterator[tuple[str, int]]:
    parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
    for part in parts:
        if isinstance(part, yaml.ScalarNode):
            is_block = part.style in ("|", ">")
            yield part.value, part.start_mark.line + (2 if is_block else 1)


def _containers(tree: Tree) -> Iterator[EntryPoint]:
    for path in tree.like(_DOCKERFILE):
        text = tree.texts[path]
        for match in _START.finditer(text):
            word = match.group(1).upper()
            source = Source(path=path, line=text.count("\n", 0, match.start()) + 1, key=word)
            yield EntryPoint(kind="container", name=word, target=match.group(2), source=source)


def _processes(tree: Tree) -> Iterator[EntryPoint]:
    for path in tree.named("Procfile"):
        if is_beside(path):
            continue
        text = tree.texts[path]
        for match in _PROCESS.finditer(text):
            source = Source(path=path, line=text.count("\n", 0, match.start()) + 1)
            yield EntryPoint(
                kind="server", name=match.group(1), target=match.group(2), source=source
            )
