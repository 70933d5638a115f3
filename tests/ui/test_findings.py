"""Findings of the waves' ends, whoever wrote them."""

from typing import Any

import pytest

from qloop.plan.model import Plan, parse_plan
from qloop.state.journal import Event, EventKind
from qloop.ui.findings import count_findings, finding_lines, finding_text, findings_about

MOMENT = "2026-01-02T03:04:05Z"
FOUND = {"check": "names", "stories": ["A", "B"], "places": [], "text": "both define f"}


def plan(*findings: Any, wave: str = "wave-1") -> Plan:
    """A plan with one completed wave of the stories A, B and C."""
    waves = [{"id": wave, "stories": ["A", "B", "C"], "findings": list(findings)}]
    stories = [{"id": name} for name in ("A", "B", "C")]
    execution = {"completedWaves": waves}
    return parse_plan({"branchName": "b", "stories": stories, "execution": execution})


def events(*waves: str) -> list[Event]:
    """One event of each wave."""
    return [
        Event(seq=n, ts=MOMENT, run="r", event=EventKind.WAVE_STARTED, wave=wave, data={})
        for n, wave in enumerate(waves, start=1)
    ]


def test_findings_about_a_story() -> None:
    """Objects concern the stories they name, sentences all of their wave."""
    found = plan(FOUND, "A is not in progress", {"text": "broken", "stories": []})

    assert findings_about(found, "A") == [
        {"wave": "wave-1", **FOUND},
        {"wave": "wave-1", "text": "A is not in progress"},
        {"wave": "wave-1", "text": "broken", "stories": []},
    ]
    assert [one["text"] for one in findings_about(found, "C")] == ["A is not in progress", "broken"]


@pytest.mark.parametrize(
    ("finding", "text"),
    [("words", "words"), (FOUND, "both define f"), ({"other": 1}, '{"other": 1}'), (7, "7")],
)
def test_a_finding_in_words(finding: Any, text: str) -> None:
    """A sentence, a check's text, or what another writer put there as JSON."""
    assert finding_text(finding) == text


def test_lines_for_people() -> None:
    """Wave and check stand before the text, and after it whom it kept from landing."""
    one: dict[str, Any] = {"wave": "wave-1", **FOUND, "failed": "B"}

    assert list(finding_lines([one, {"wave": 2, "text": "x\ny"}])) == [
        "  wave-1 names: both define f (B did not land for it)",
        "  2: x",
        "    y",
    ]


def test_the_count_of_a_run() -> None:
    """What the checks found in this run's waves, and where to read it."""
    many = plan(FOUND, {**FOUND, "stories": ["C"]}, "a sentence")
    crowd = plan({**FOUND, "stories": [f"S-{n}" for n in range(6)]})

    assert count_findings(many, events("wave-1")) == (
        "2 findings of the checks at the waves' ends: qloop show A, qloop show B, qloop show C"
    )
    assert count_findings(crowd, events("wave-1")).startswith("1 finding of")
    assert count_findings(crowd, events("wave-1")).endswith("qloop show S-4, …")
    assert count_findings(many, events("wave-2")) == ""
    assert count_findings(plan("a sentence"), events("wave-1")) == ""
