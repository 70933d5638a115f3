"""The live board's sources on the disk, whatever state they are in."""

import os
from pathlib import Path

import pytest

from look_world import RUN, World, failed, story
from qloop.state.journal import EventKind
from qloop.ui.board import State
from qloop.ui.board_reader import BoardReader, last_line
from repository import Repo


@pytest.fixture
def world(repo: Repo) -> World:
    """A repository with a plan of one story that is at work."""
    made = World(repo)
    made.plan(story("A", "in_progress"))
    return made


def begin(world: World, run: str = RUN) -> None:
    """Start a run."""
    world.tell(EventKind.RUN_STARTED, run=run, branch="ql/x", max_parallel=2)


def test_nothing_before_the_run_begins(world: World) -> None:
    """Until the next run starts there is no board; what an earlier run told does not count."""
    begin(world, "earlier")
    world.attempt("A", 1)
    offset = (world.private / "events.jsonl").stat().st_size
    reader = BoardReader(world.private, world.quantum, offset=offset)
    before = reader.read()
    begin(world)
    view = reader.read()

    assert before is None
    assert view is not None
    assert reader.run == RUN
    assert [card.doing for card in view.cards] == ["starts"]


def test_what_was_told_before_the_run_began_is_its_own(world: World) -> None:
    """Repairs made while a run is opened are shown, those of other runs are not."""
    world.tell(EventKind.STATE_REPAIRED, run="other", text="not this one")
    world.tell(EventKind.STATE_REPAIRED, text="put back")
    begin(world)
    view = BoardReader(world.private, world.quantum).read()

    assert view is not None
    assert [text.split(maxsplit=1)[1] for text in view.recent] == ["put back"]


def test_of_structured_output_the_readable_line_is_shown(world: World) -> None:
    """What the agent does last, in words, and no JSON."""
    begin(world)
    world.tell(EventKind.ATTEMPT_STARTED, story="A", attempt=1, wave="wave-1", runner="claude")
    world.tell(EventKind.AGENT_STARTED, story="A", attempt=1)
    readable = b"I look around\n> Bash: ls\n"
    world.log("A", 1, {"output.log": b'{"type":"user"}\n', "output.readable.log": readable})

    view = BoardReader(world.private, world.quantum).read()

    assert view is not None
    assert view.cards[0].line == "> Bash: ls"


def test_it_follows_the_run(world: World) -> None:
    """Events, the state file and logs are read anew each time."""
    begin(world)
    reader = BoardReader(world.private, world.quantum)
    world.tell(EventKind.ATTEMPT_STARTED, story="A", attempt=1, wave="wave-1", runner="claude")
    world.tell(EventKind.AGENT_STARTED, story="A", attempt=1)
    world.log("A", 1, {"output.log": b"one\ntwo\n\n"})
    first = reader.read()
    world.plan(story("A", "failed", retries=failed(1, "verify: red")))
    world.tell(EventKind.STORY_SETTLED, story="A", attempt=1, status="failed")
    second = reader.read()

    assert first is not None
    assert second is not None
    assert (first.cards[0].doing, first.cards[0].line) == ("claude at work", "two")
    assert (second.cards[0].state, second.cards[0].line) == (State.FAILED, "")


@pytest.mark.parametrize("content", ["", "{", '{"stories": 1}', "[]", None])
def test_a_broken_state_file_changes_nothing(world: World, content: str | None) -> None:
    """Half a file, no plan, or no file: the plan stands as it was."""
    begin(world)
    reader = BoardReader(world.private, world.quantum)
    reader.read()
    if content is None:
        world.quantum.unlink()
    else:
        world.quantum.write_text(content, encoding="utf-8")
    view = reader.read()

    assert view is not None
    assert [card.id for card in view.cards] == ["A"]


def test_no_board_without_a_plan(world: World) -> None:
    """A plan that is still to be made is waited for."""
    begin(world)
    world.quantum.unlink()

    assert BoardReader(world.private, world.quantum).read() is None


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", ""),
        (b"\n \n", ""),
        (b"one\ntwo", "two"),
        (b"one\r\n\r\n", "one"),
        (b"10%\r50%\r90%", "90%"),
        (b"\x1b[1mbold\x1b[0m\n\x1b[K", "bold"),
        (b"\xff\xfe\n", "\ufffd\ufffd"),
        (b"x" * 9_000 + b"\nlast\n", "last"),
        (b"y" * 9_000, "y" * 4_096),
    ],
)
def test_the_last_line_of_a_log(tmp_path: Path, content: bytes, line: str) -> None:
    """The last that says something, as a terminal would show it, however long the log."""
    (tmp_path / "output.log").write_bytes(content)

    assert last_line(tmp_path, "output.log") == line


def test_no_log(tmp_path: Path) -> None:
    """A log that is not there says nothing."""
    assert last_line(tmp_path / "nowhere", "output.log") == ""


def test_the_end_of_a_capped_log_lies_beside_it(tmp_path: Path) -> None:
    """What goes beyond a log's first half is kept by turns in two files; the newer one counts."""
    for name, text, seconds in (("", "head", 1), (".tail0", "newest", 9), (".tail1", "older", 5)):
        path = tmp_path / f"output.log{name}"
        path.write_text(text, encoding="utf-8")
        os.utime(path, (seconds, seconds))
    first = last_line(tmp_path, "output.log")
    (tmp_path / "output.log.tail0").write_bytes(b"")

    assert (first, last_line(tmp_path, "output.log")) == ("newest", "older")
