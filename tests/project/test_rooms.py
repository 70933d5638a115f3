"""The house's order, read from the source: who imports whom, and who may touch the machine."""

import ast
import functools
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "lib" / "qloop"
FLOORS = {
    "cli": 6,
    "mission": 5,
    "run": 4,
    "ui": 4,
    "agents": 3,
    "state": 3,
    "repo": 2,
    "plan": 2,
    "system": 1,
}
MODULES = sorted(PACKAGE.rglob("*.py"))
IN_ROOMS = [path for path in MODULES if path.parent != PACKAGE]

PROCESS_CALLS = {
    "kill", "killpg", "fork", "forkpty", "system", "popen", "wait", "waitpid", "waitid",
    "execv", "execve", "execvp", "execvpe", "posix_spawn", "posix_spawnp",
}  # fmt: skip
PRINTING = {"print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"}


def label(path: Path) -> str:
    """A module's path within the package, as a test's id."""
    return str(path.relative_to(PACKAGE))


def room(path: Path) -> str:
    """The room that a module lives in."""
    return path.relative_to(PACKAGE).parts[0]


def dotted(path: Path) -> str:
    """A module's name as it is imported."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {dotted(path): path for path in MODULES}


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    """All that a module's source is made of."""
    return list(ast.walk(ast.parse(path.read_text("utf-8"))))


def imported(path: Path) -> Iterator[str]:
    """What a module imports, at whatever depth: modules, or modules with a name in them."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def roots(path: Path) -> set[str]:
    """The packages that a module imports from."""
    return {name.partition(".")[0] for name in imported(path)}


@functools.cache
def neighbours(path: Path) -> set[str]:
    """The package's own modules that a module imports."""
    found = set()
    for name in imported(path):
        if name in NAMES:
            found.add(name)
        elif name.rpartition(".")[0] in NAMES:
            found.add(name.rpartition(".")[0])
    return found - {dotted(path), "qloop"}


@functools.cache
def calls(path: Path) -> set[str]:
    """All that a module calls, as it is written: `print`, `os.kill`."""
    return {ast.unparse(node.func) for node in nodes(path) if isinstance(node, ast.Call)}


def test_every_room_has_a_floor() -> None:
    """No room grows beside the house."""
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}

    assert rooms <= FLOORS.keys()


def test_imports_point_down() -> None:
    """A module imports from its own room and from the floors below, never from a peer."""
    wrong = [
        f"{label(path)}: {name}"
        for path in IN_ROOMS
        for name in neighbours(path)
        if (other := room(NAMES[name])) != (me := room(path)) and FLOORS[other] >= FLOORS[me]
    ]

    assert wrong == []


@pytest.mark.parametrize("name", FLOORS)
def test_no_circles_in_a_room(name: str) -> None:
    """Modules of one room can be put into an order, imports inside functions included."""
    graph = {
        dotted(path): {other for other in neighbours(path) if room(NAMES[other]) == name}
        for path in IN_ROOMS
        if room(path) == name
    }
    try:
        list(TopologicalSorter(graph).static_order())
        circle = None
    except CycleError as exc:
        circle = exc.args[1]

    assert circle is None


def test_one_door_to_git() -> None:
    """GitPython is imported in repo only."""
    others = [path for path in IN_ROOMS if room(path) != "repo"]

    assert [label(path) for path in others if "git" in roots(path)] == []


def test_one_door_to_processes() -> None:
    """They are started and signalled in system only."""
    others = [path for path in IN_ROOMS if room(path) != "system"]
    acts = {f"os.{name}" for name in PROCESS_CALLS}

    assert [label(path) for path in others if roots(path) & {"subprocess", "multiprocessing"}] == []
    assert [label(path) for path in others if acts & calls(path)] == []


def test_only_ui_prints() -> None:
    """Words leave the program in ui; all others hand values on."""
    others = [path for path in IN_ROOMS if room(path) != "ui"]

    assert [label(path) for path in others if PRINTING & calls(path)] == []


def test_driver_and_coordinator_are_two_processes() -> None:
    """What the driver imports, directly or not, holds nothing of the coordinator's work."""
    seen: set[str] = set()
    waiting = {"qloop.run.driver"} & NAMES.keys()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting |= neighbours(NAMES[name]) - seen

    assert not {"qloop.run.coordinator", "qloop.run.attempt"} & seen
