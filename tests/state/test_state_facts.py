"""The journal read light: the same lines count, and say the same."""

import json
from pathlib import Path

from qloop.state.facts import EventKind, read_facts
from qloop.state.journal import Journal

LINE = {"seq": 1, "ts": "2026-01-02T03:04:05.000Z", "run": "r-1", "event": "run.ended", "data": {}}
LINES: list[object] = [
    LINE,
    {**LINE, "wave": "wave-1", "story": "A", "attempt": 2, "data": {"x": [None, 1.5]}, "new": 1},
    {**LINE, "wave": None, "story": None, "attempt": None},
    {**LINE, "seq": 0},
    {**LINE, "seq": 1.0},
    {**LINE, "seq": True},
    {**LINE, "ts": 1},
    {**LINE, "run": ""},
    {**LINE, "event": "run.invented"},
    {**LINE, "event": None},
    {**LINE, "wave": 1},
    {**LINE, "story": []},
    {**LINE, "attempt": 0},
    {**LINE, "attempt": True},
    {**LINE, "data": None},
    {key: value for key, value in LINE.items() if key != "data"},
    [],
    None,
    "text",
]


def test_the_same_lines_count(tmp_path: Path) -> None:
    """Facts are the events that the journal itself finds, in order."""
    path = tmp_path / "events.jsonl"
    text = "\n".join(json.dumps(line) for line in LINES)
    path.write_text(f'{text}\n\n{{"seq": 1, "ts\n{json.dumps(LINE)}\n{{"seq"', encoding="utf-8")
    events = Journal(path).events()

    assert len(events) == 4
    assert [tuple(fact) for fact in read_facts(path)] == [
        (one.ts, one.run, one.event, one.wave, one.story, one.attempt, one.data) for one in events
    ]


def test_what_the_journal_writes_is_read(tmp_path: Path) -> None:
    """An appended event comes back; without a file there is none."""
    journal = Journal(tmp_path / "events.jsonl", "r-1")

    assert read_facts(journal.path) == []

    journal.append(EventKind.STORY_SETTLED, story="A", attempt=1, status="passed", why=None)
    (fact,) = read_facts(journal.path)
    assert fact.event is EventKind.STORY_SETTLED
    assert fact.data == {"status": "passed", "why": None}
