"""The house's order, read from the source: who imports whom, and who may touch the machine."""

import ast
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


def imported(path: Path) -> Iterator[str]:
    """What a module imports, at whatever depth: modules, or modules with a name in them."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def neighbours(path: Path) -> set[str]:
    """The package's own modules that a module imports."""
    found = set()
    for name in imported(path):
        if name in NAMES:
            found.add(name)
        elif name.rpartition(".")[0] in NAMES:
            found.add(name.rpartition(".")[0])
    return found - {dotted(path), "qloop"}


def calls(path: Path) -> set[str]:
    """All that a module calls, as it is written: `print`, `os.kill`."""
    tree = ast.walk(ast.parse(path.read_text("utf-8")))
    return {ast.unparse(node.func) for node in tree if isinstance(node, ast.Call)}


def test_every_room_has_a_floor() -> None:
    """No room grows beside the house."""
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}

    assert rooms <= FLOORS.keys()


@pytest.mark.parametrize("path", IN_ROOMS, ids=label)
def test_imports_point_down(path: Path) -> None:
    """A module imports from its own room and from the floors below, never from a peer."""
    me = room(path)
    others = {room(NAMES[name]) for name in neighbours(path)} - {me}

    assert {other for other in others if FLOORS[other] >= FLOORS[me]} == set()


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


@pytest.mark.parametrize("path", IN_ROOMS, ids=label)
def test_one_door_to_git_and_processes(path: Path) -> None:
    """GitPython is imported in repo only; processes are started and signalled in system only."""
    roots = {name.partition(".")[0] for name in imported(path)}
    acts = {call for call in calls(path) if call.startswith("os.") and call[3:] in PROCESS_CALLS}

    assert room(path) == "repo" or "git" not in roots
    assert room(path) == "system" or not {"subprocess", "multiprocessing"} & roots
    assert room(path) == "system" or acts == set()


@pytest.mark.parametrize("path", IN_ROOMS, ids=label)
def test_only_ui_prints(path: Path) -> None:
    """Words leave the program in ui; all others hand values on."""
    assert room(path) == "ui" or not PRINTING & calls(path)


def test_driver_and_coordinator_are_two_processes() -> None:
    """What the driver imports, directly or not, holds nothing of the coordinator's work."""
    seen: set[str] = set()
    waiting = {"qloop.run.driver"} & NAMES.keys()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting |= neighbours(NAMES[name]) - seen

    assert not {"qloop.run.coordinator", "qloop.run.attempt"} & seen
