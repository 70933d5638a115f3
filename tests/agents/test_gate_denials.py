"""What the gate notes of a call, and when an agent is stuck there."""

from dataclasses import replace
from pathlib import Path

import pytest

from qloop.agents.gate.decision import Decision
from qloop.agents.gate.denials import find_stuck, note_decision

PUSH = Decision(False, "push", "git push is never an agent's to do", "git push")
OTHER = Decision(False, "destructive", "rm -r of / is never an agent's to do", "rm -r of /")
FINE = Decision(True, "shell-work", "it may")


def note(log: Path, *decisions: Decision) -> list[int]:
    """Note decisions on calls of their own; the rows that they came to."""
    start = len(log.read_bytes().splitlines()) if log.exists() else 0
    return [
        note_decision(log, "Bash", one, f"call-{start + at}") for at, one in enumerate(decisions)
    ]


def test_three_equal_denials_in_a_row(tmp_path: Path) -> None:
    """The third is where an agent is stuck; it is told by rule, tool and what it was about."""
    log = tmp_path / "denied.jsonl"

    assert note(log, PUSH, PUSH) == [1, 2]
    assert find_stuck(log) is None
    assert note(log, PUSH) == [3]
    found = find_stuck(log)
    assert found is not None
    assert (found.rule, found.tool, found.subject, found.count) == ("push", "Bash", "git push", 3)
    assert "denied 3 times by push" in found.text


def test_another_call_breaks_the_row(tmp_path: Path) -> None:
    """One that is allowed, or denied for something else, is a step on."""
    log = tmp_path / "denied.jsonl"

    assert note(log, PUSH, PUSH, FINE, PUSH, OTHER, PUSH, PUSH) == [1, 2, 0, 1, 1, 1, 2]
    assert note(log, PUSH, FINE) == [3, 0]
    assert find_stuck(log) is None


def test_a_call_that_is_asked_about_twice_counts_once(tmp_path: Path) -> None:
    """As where a person's own settings hold the hook as well."""
    log = tmp_path / "denied.jsonl"

    assert [note_decision(log, "Bash", PUSH, "same") for _ in range(4)] == [1, 1, 1, 1]
    assert find_stuck(log) is None


def test_nothing_is_written_while_all_is_allowed(tmp_path: Path) -> None:
    """The log is there only where something was denied."""
    log = tmp_path / "denied.jsonl"

    assert note(log, FINE, FINE) == [0, 0]
    assert not log.exists()
    assert find_stuck(log) is None


def test_secrets_are_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the agent's environment, which a command may hold."""
    monkeypatch.setenv("SERVICE_TOKEN", "s3cret-s3cret-s3cret")
    log = tmp_path / "denied.jsonl"

    note(log, replace(PUSH, subject="git push https://s3cret-s3cret-s3cret@host"))

    assert "s3cret" not in log.read_text("utf-8")
    assert "git push" in log.read_text("utf-8")


def test_lines_of_another_form_are_skipped(tmp_path: Path) -> None:
    """An agent can write there too; it only cannot make anything break."""
    log = tmp_path / "denied.jsonl"
    log.write_bytes(b'{"allow": false}\n[1]\nno json \xff\n{"allow": "yes"}\n')

    assert note(log, PUSH, PUSH, PUSH) == [1, 2, 3]
