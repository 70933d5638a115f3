"""What a reviewer's word comes to, less what nothing shows."""

from typing import Any

import pytest

from qloop.agents.review import MalformedReview, Review
from qloop.run.verdict import cited_paths, weigh

ASKED = ("It adds", "It `takes` floats")
LINES = {"a.py": 10}


def answer(*criteria: dict[str, Any], verdict: str = "passed", issues: Any = ()) -> Review:
    """A review of these criteria."""
    return Review.model_validate(
        {"verdict": verdict, "criteria": list(criteria), "issues": list(issues)}
    )


def met(name: int | str, *evidence: str) -> dict[str, Any]:
    """A criterion said to be met."""
    return {"criterion": name, "met": True, "evidence": list(evidence)}


@pytest.mark.parametrize(
    "names", [(1, 2), ("It adds", "It takes  floats"), ("1", "2. It takes floats")]
)
def test_every_criterion_met_with_a_place_passes(names: tuple[int | str, int | str]) -> None:
    """Criteria go by number, by text, or by a text that begins with the number."""
    verdict = weigh(answer(met(names[0], "a.py:1"), met(names[1], "a.py:3-10")), ASKED, LINES)

    assert verdict.passed
    assert verdict.lines == ("1. met: a.py:1", "2. met: a.py:3-10")
    assert verdict.issues == ()


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (met(2), "cites no place"),
        (met(2, "a.py:11"), "a.py:11, and there is no such place"),
        (met(2, "b.py:1", "a.py"), "b.py:1, a.py, and there is no such place"),
        ({"criterion": 2, "met": False, "note": "ints only"}, "ints only"),
        ({"criterion": 2, "met": False}, "gives no reason"),
    ],
)
def test_a_criterion_that_nothing_shows_is_not_met(second: dict[str, Any], why: str) -> None:
    """Whatever the verdict says."""
    verdict = weigh(answer(met(1, "a.py:1"), second), ASKED, LINES)

    assert not verdict.passed
    assert verdict.issues[0].startswith("not met: It `takes` floats: ")
    assert why in verdict.issues[0]


def test_one_place_that_exists_is_enough() -> None:
    """Others beside it do not count against it."""
    verdict = weigh(answer(met(1, "gone.py:1", "a.py:2")), ASKED[:1], LINES)

    assert verdict.passed
    assert verdict.lines == ("1. met: a.py:2",)


def test_a_criterion_that_is_left_out_is_not_met() -> None:
    """Silence is no evidence."""
    verdict = weigh(answer(met(1, "a.py:1")), ASKED, LINES)

    assert not verdict.passed
    assert "says nothing of it" in verdict.issues[0]


@pytest.mark.parametrize(
    ("severity", "passes"), [("critical", False), ("major", False), ("minor", True)]
)
def test_a_grave_issue_outweighs_the_verdict(severity: str, passes: bool) -> None:
    """Only minor ones let a change pass; a place that does not exist is said to be none."""
    issues = [{"severity": severity, "text": "it leaks", "evidence": ["a.py:1", "a.py:99"]}]
    verdict = weigh(answer(issues=issues), (), LINES)

    assert verdict.passed is passes
    assert verdict.issues == (f"{severity}: it leaks (a.py:1; a.py:99, which is not there)",)


def test_failed_is_failed_with_or_without_a_reason() -> None:
    """A verdict that nothing explains says so."""
    bare = weigh(answer(verdict="failed"), (), LINES)
    minor = weigh(answer(verdict="failed", issues=[{"severity": "minor", "text": "x"}]), (), LINES)

    assert not bare.passed
    assert "no reason" in bare.issues[0]
    assert not minor.passed
    assert minor.issues == ("minor: x",)


@pytest.mark.parametrize(
    "criteria", [(met(3, "a.py:1"),), (met("Else", "a.py:1"),), (met(1), met("It adds")), (met(0),)]
)
def test_an_answer_about_something_else_is_none(criteria: tuple[dict[str, Any], ...]) -> None:
    """Criteria that were not given, or one that is answered twice."""
    with pytest.raises(MalformedReview):
        weigh(answer(*criteria), ASKED, LINES)


def test_cited_files_are_those_of_criteria_and_issues() -> None:
    """What is no place is left out."""
    issues = [{"severity": "minor", "text": "x", "evidence": ["b.py:2", "nowhere"]}]
    review = answer(met(1, "a.py:1", "/etc/passwd:1"), issues=issues)

    assert cited_paths(review) == {"a.py", "b.py"}
