"""The end of a mission's intent, killed after each of its steps: whoever comes next finishes it."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from loaded import Loaded
from mission.ended_mission import mission_at_its_end
from qloop.mission.hub import Shelf
from qloop.mission.intent_end import Ending, end_intent, finish_end
from qloop.mission.project_loop import work_round
from qloop.state.delivery_lock import LOCK
from qloop.state.intent import Intent
from qloop.state.intent_index import parse_index
from qloop.state.intents import change_index, create_intent, list_intents, read_index
from qloop.state.lifecycle import Disposition
from qloop.state.mission import MissionStatus
from qloop.state.mission_store import STATE_LOCK, read_mission
from qloop.state.savepoints import FOLDER_LOCK
from qloop.system.errors import BadInput
from qloop.system.files import locked
from world import World, wait_until


def group_of(folder: Path) -> Disposition | None:
    """How the index says that it ended."""
    return parse_index(read_index(folder.parent)).ending_of(1)


def ledger_end(folder: Path) -> str:
    """The newest line of the ledger, without its time."""
    return (folder / "savepoint.md").read_text("utf-8").splitlines()[-1].partition("  ")[2]


@dataclass
class Gates:
    """Locks that keep a process from its next step, so that it is killed after just this one."""

    folder: Path
    _held: dict[str, ExitStack] = field(default_factory=dict)

    def close(self, name: str) -> None:
        """Let nobody past."""
        self._held[name] = ExitStack()
        self._held[name].enter_context(locked(self.folder / name))

    def open(self, name: str) -> None:
        """Let them pass."""
        self._held.pop(name).close()

    def open_all(self) -> None:
        """Let everybody pass."""
        for name in list(self._held):
            self.open(name)


INDEX_LOCK = "../.index.lock"


def stop_after_document(gates: Gates) -> None:
    """The outcome is written, and told of in the document."""
    wait_until(lambda: "Delivered, see" in (gates.folder / "1--tea.md").read_text("utf-8"))


def stop_after_index(gates: Gates) -> None:
    """The index has it under Completed, the ledger not yet."""
    stop_after_document(gates)
    gates.close(FOLDER_LOCK)
    gates.open(INDEX_LOCK)
    wait_until(lambda: group_of(gates.folder) is Disposition.DELIVERED)


def stop_after_ledger(gates: Gates) -> None:
    """Its mission still counts as going on."""
    stop_after_document(gates)
    gates.close(STATE_LOCK)
    gates.open(INDEX_LOCK)
    wait_until(lambda: ledger_end(gates.folder) == "Done  delivered")


def stop_after_state(gates: Gates) -> None:
    """Only the lock is left."""
    stop_after_ledger(gates)
    gates.close(FOLDER_LOCK)
    gates.open(STATE_LOCK)
    wait_until(lambda: read_mission(gates.folder).status is MissionStatus.COMPLETED)


STOPS: list[tuple[Callable[[Gates], None], tuple[str, ...]]] = [
    (stop_after_document, ("auto", "1")),
    (stop_after_index, ("auto", "1")),
    (stop_after_ledger, ("mission", "run")),
    (stop_after_state, ("mission", "resume", "1")),
]


@pytest.fixture
def gates() -> Iterator[list[Gates]]:
    """Gates that are opened at the end, whatever happens."""
    made: list[Gates] = []
    yield made
    for one in made:
        one.open_all()


@pytest.mark.parametrize(("stop", "next_command"), STOPS)
def test_a_killed_end_is_finished(
    tmp_path: Path,
    loaded: Loaded,
    gates: list[Gates],
    stop: Callable[[Gates], None],
    next_command: tuple[str, ...],
) -> None:
    """By `auto` and `mission run` alike, to the same end; after that there is nothing to do."""
    world = World(tmp_path, loaded)
    made = world.qloop("intent", "new", "Tea", "--json")
    folder = Path(json.loads(made.out)["folder"])
    mission_at_its_end(folder)
    gate = Gates(folder)
    gates.append(gate)
    gate.close(INDEX_LOCK)
    killed = world.start("auto", "1")
    stop(gate)
    killed.kill()
    killed.communicate()
    gate.open_all()
    outcome = (folder / "outcome.md").read_bytes()
    ran = world.qloop(*next_command)

    assert ran.code == 0, ran.err
    assert (group_of(folder), ledger_end(folder)) == (Disposition.DELIVERED, "Done  delivered")
    assert (folder / "outcome.md").read_bytes() == outcome
    assert read_mission(folder).status is MissionStatus.COMPLETED
    assert not (folder / LOCK).exists()
    assert world.qloop("auto", "1").code == 65


def test_main_finishes_ends_as_well(tmp_path: Path) -> None:
    """Those that the index has as over, of its own projects."""
    shelf = Shelf(tmp_path / "tea/.qloop/intents", "tea", tmp_path / "tea/.qloop")
    intent = create_intent(shelf.root, "Tea", author="ada")
    steps = end_intent(Ending(shelf.private, intent, Disposition.ABANDONED))
    for _ in range(3):
        next(steps)
    steps.close()
    said: list[str] = []

    def deliver(one: Intent) -> int:
        raise AssertionError(one)

    work_round(shelf, tmp_path / "hub", "ada", deliver, said.append)
    work_round(shelf, tmp_path / "hub", "ada", deliver, said.append)

    assert said == ["1--tea: its end was cut off, and is whole now"]
    assert ledger_end(intent.folder) == "Done  abandoned"


@pytest.mark.parametrize("status", [MissionStatus.ABANDONED, MissionStatus.COMPLETED])
def test_a_mission_that_is_over_ends_its_intent(tmp_path: Path, status: MissionStatus) -> None:
    """Where it was killed between the two; what is in the way of a delivery is named."""
    intent = create_intent(tmp_path / "intents", "Tea", author="ada")
    mission_at_its_end(intent.folder, status)
    (intent.folder / "checklist.md").write_text("- [ ] sugar\n")
    is_abandoned = status is MissionStatus.ABANDONED
    if not is_abandoned:
        with pytest.raises(BadInput, match="open boxes"):
            finish_end(tmp_path, intent, print)
        (intent.folder / "checklist.md").write_text("- [x] sugar\n")

    how = finish_end(tmp_path, intent, print)

    assert how is (Disposition.ABANDONED if is_abandoned else Disposition.DELIVERED)
    assert group_of(intent.folder) is how
    assert finish_end(tmp_path, intent, print) is None


def test_what_a_person_changed_after_the_end_is_left_alone(tmp_path: Path) -> None:
    """An outcome that says something else, or a box opened again: the check-up names that."""
    intent = create_intent(tmp_path / "intents", "Tea", author="ada")
    change_index(intent.folder.parent, lambda text: text.replace("Active", "Completed"))

    assert group_of(intent.folder) is Disposition.DELIVERED
    assert finish_end(tmp_path, intent, print) is None
    (intent.folder / "outcome.md").write_text("---\ndisposition: delivered\n---\n")
    (intent.folder / "checklist.md").write_text("- [ ] sugar\n")
    assert finish_end(tmp_path, intent, print) is None
    assert [one.id for one in list_intents(intent.folder.parent)] == [1]
