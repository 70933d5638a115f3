"""The journal: appended to by many, followed by others, whole in spite of crashes."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from qloop.plan.schema import render_schema
from qloop.state.event_schema import event_schema
from qloop.state.journal import EventKind, Journal
from state.documents import start

SCHEMA = Path(__file__).resolve().parents[2] / "schemas" / "event.schema.json"
WRITERS = 8
TIMES = 100


def lines_of(journal: Journal) -> list[bytes]:
    """The journal's lines."""
    return journal.path.read_bytes().splitlines()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """A journal whose folder is not there yet."""
    return Journal(tmp_path / "a run" / "events.jsonl", "r-1")


def test_an_event_is_a_line(journal: Journal) -> None:
    """A line has the fields that are known, and no others."""
    journal.append(EventKind.RUN_STARTED)
    event = journal.append(
        EventKind.STORY_LANDED, wave="wave-1", story="US-1", attempt=2, commit="c", tree=None
    )

    first, second = (json.loads(line) for line in lines_of(journal))
    assert list(first) == ["seq", "ts", "run", "event", "data"]
    assert (first["seq"], first["run"], first["event"]) == (1, "r-1", "run.started")
    assert second == {
        "seq": 2,
        "ts": event.ts,
        "run": "r-1",
        "event": "story.landed",
        "wave": "wave-1",
        "story": "US-1",
        "attempt": 2,
        "data": {"commit": "c", "tree": None},
    }
    assert event.to_line() == lines_of(journal)[1] + b"\n"
    assert journal.events()[1] == event


def test_the_kinds_of_events() -> None:
    """The events are those that scripts rely on."""
    assert " ".join(EventKind) == (
        "run.started run.ended run.handed_over wave.started wave.ended wave.recognized "
        "attempt.started agent.started agent.ended guard.breached gate.ended "
        "review.ended merge.ended delegate.ended story.landed story.settled state.repaired "
        "person.changed runner.paused runner.resumed phase.started phase.ended checkpoint.opened "
        "checkpoint.answered budget.reserved budget.settled"
    )


def test_the_schema_in_the_file_is_the_one_in_the_code() -> None:
    """`schemas/event.schema.json` is what `event_schema` makes."""
    assert SCHEMA.read_text("utf-8") == render_schema(event_schema())


@pytest.mark.parametrize("kind", EventKind)
def test_every_event_is_valid(journal: Journal, kind: EventKind) -> None:
    """What is appended, with and without its optional fields, is as the schema says."""
    journal.append(kind)
    journal.append(kind, wave="wave-1", story="US-1", attempt=1, deep={"a": [1, None]})

    schema = Draft202012Validator(event_schema())
    for line in lines_of(journal):
        schema.validate(json.loads(line))


@pytest.mark.parametrize(
    "change",
    [
        {"event": "story.dreamt"},
        {"seq": 0},
        {"seq": "1"},
        {"run": ""},
        {"story": None},
        {"attempt": 0},
        {"data": None},
    ],
)
def test_the_schema_refuses(journal: Journal, change: dict[str, object]) -> None:
    """Lines of another form are not valid; null stands for nothing."""
    journal.append(EventKind.RUN_STARTED)
    line = {**json.loads(lines_of(journal)[0]), **change}

    assert not Draft202012Validator(event_schema()).is_valid(line)


def test_text_that_is_no_unicode_is_written_visibly(journal: Journal) -> None:
    """Names of files that are not UTF-8 do not keep an event from being written."""
    journal.append(EventKind.GATE_ENDED, names=["caf\udce9", {"\udcff": 1}], number=1)

    assert journal.events()[0].data == {"names": ["caf\\udce9", {"\\udcff": 1}], "number": 1}


def test_a_reader_cannot_append(tmp_path: Path) -> None:
    """A journal that was opened without a run's id only reads."""
    with pytest.raises(ValidationError):
        Journal(tmp_path / "events.jsonl").append(EventKind.RUN_STARTED)


def test_an_empty_journal(journal: Journal) -> None:
    """Where there is no file, or nothing in it, there is nothing to tell."""
    assert journal.events() == []
    assert journal.read_from(0) == ([], 0)
    journal.path.parent.mkdir()
    journal.path.touch()
    assert journal.events() == []
    assert journal.append(EventKind.RUN_STARTED).seq == 1


def test_runs_are_told_apart(journal: Journal) -> None:
    """Numbers go on over all runs; events can be had by run."""
    journal.append(EventKind.RUN_STARTED)
    other = Journal(journal.path, "r-2")
    other.append(EventKind.RUN_STARTED)
    other.append(EventKind.RUN_ENDED)

    assert [event.seq for event in journal.events()] == [1, 2, 3]
    assert [event.seq for event in journal.events("r-2")] == [2, 3]


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_a_torn_line_is_closed(journal: Journal, cut: int) -> None:
    """What a crash cut short is skipped; the next event has a line, and the next number."""
    for _ in range(3):
        journal.append(EventKind.RUN_STARTED)
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-cut])
    torn_before = [event.seq for event in journal.events()]

    event = journal.append(EventKind.RUN_ENDED)

    lost_only_its_end = cut == 1
    assert torn_before == [1, 2]
    assert [one.seq for one in journal.events()] == (
        [1, 2, 3, 4] if lost_only_its_end else [1, 2, 3]
    )
    assert event.seq == (4 if lost_only_its_end else 3)
    assert journal.path.read_bytes().startswith(whole[:-cut] + b"\n")


def test_lines_that_are_no_events_are_skipped(journal: Journal) -> None:
    """Strange lines, also very many of them at the end, stand in nobody's way."""
    journal.append(EventKind.RUN_STARTED)
    with journal.path.open("ab") as file:
        file.write(b'[]\n{"seq": 9}\n\xff\n\n' + b"x" * 300_000 + b"\n" * 100_000)

    assert journal.append(EventKind.RUN_ENDED).seq == 2
    assert [event.seq for event in journal.events()] == [1, 2]


def test_following(journal: Journal) -> None:
    """A follower gets each event once, and no half of one."""
    journal.append(EventKind.RUN_STARTED)
    first, offset = journal.read_from(0)
    journal.append(EventKind.WAVE_STARTED)
    line = journal.path.read_bytes()[offset:]
    with journal.path.open("ab") as file:
        file.write(line[:20])
    second, after_half = journal.read_from(offset)
    with journal.path.open("ab") as file:
        file.write(line[20:])
    third, end = journal.read_from(after_half)

    assert [len(found) for found in (first, second, third)] == [1, 1, 1]
    assert after_half == offset + len(line)
    assert journal.read_from(end) == ([], end)


def test_processes_share_the_numbers(tmp_path: Path) -> None:
    """Eight processes append at once: numbers without gap, each process's events in order."""
    journal = Journal(tmp_path / "events.jsonl")
    writers = [start("journal", journal.path, f"w{one}", str(TIMES)) for one in range(WRITERS)]
    codes = []
    for writer in writers:
        with writer:
            codes.append(writer.wait())

    events = journal.events()
    assert codes == [0] * WRITERS
    assert [event.seq for event in events] == list(range(1, WRITERS * TIMES + 1))
    for one in range(WRITERS):
        mine = [event.attempt for event in events if event.story == f"w{one}"]
        assert mine == list(range(1, TIMES + 1))


def test_a_killed_appender_harms_nothing(tmp_path: Path) -> None:
    """Killed at any instant, a process leaves a journal that the next one goes on with."""
    journal = Journal(tmp_path / "events.jsonl", "r-1")
    for number in range(8):
        with start("journal", journal.path, "w", "100000") as writer:
            while len(journal.events()) < 3 * (number + 1):
                pass
            writer.kill()
            writer.wait()
        journal.append(EventKind.RUN_ENDED)

    seqs = [event.seq for event in journal.events()]
    assert seqs == list(range(1, len(seqs) + 1))
