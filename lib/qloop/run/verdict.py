"""What a reviewer's answer comes to: its word, less what nothing shows. Pure.

A criterion is met only where a place is cited that exists; a change passes only where the
reviewer says so, every criterion is met, and no issue is critical or major.
Errors: MalformedReview where the answer is not about what was asked.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qloop.agents.review import Criterion, Issue, MalformedReview, Review, parse_place

GRAVE = ("critical", "major")
_NUMBER = re.compile(r"\s*(\d{1,6})\s*(?:[.:)].*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A review as it counts."""

    passed: bool
    lines: tuple[str, ...]
    """What it says of each criterion, for people."""
    issues: tuple[str, ...]
    """What was found wanting: criteria that are not met, then what else the reviewer names."""


def cited_paths(review: Review) -> set[str]:
    """The files that a review cites."""
    cited = [text for one in review.criteria for text in one.evidence]
    cited += [text for one in review.issues for text in one.evidence]
    places = map(parse_place, cited)
    return {place[0] for place in places if place is not None}


def weigh(review: Review, asked: Sequence[str], lines_of: Mapping[str, int]) -> Verdict:
    """The verdict on criteria in the order asked; *lines_of* has the files that exist.

    *asked* is empty for a review that is not about criteria. Raises MalformedReview.
    """
    answers = _by_number(review.criteria, asked) if asked else {}
    told: list[str] = []
    issues: list[str] = []
    for number, text in enumerate(asked, start=1):
        met, words = _weigh_criterion(answers.get(number), lines_of)
        told.append(f"{number}. {'met' if met else 'not met'}: {words}")
        if not met:
            issues.append(f"not met: {_short(text)}: {words}")
    issues += [_issue_text(one, lines_of) for one in review.issues]
    grave = any(one.severity in GRAVE for one in review.issues)
    unmet = len(issues) > len(review.issues)
    passed = review.verdict == "passed" and not grave and not unmet
    if not passed and not issues:
        issues.append("the reviewer said failed, and named no reason")
    return Verdict(passed, tuple(told), tuple(issues))


def _by_number(criteria: Iterable[Criterion], asked: Sequence[str]) -> dict[int, Criterion]:
    numbers = {_plain(text): number for number, text in enumerate(asked, start=1)}
    found: dict[int, Criterion] = {}
    for one in criteria:
        number = _number_of(one.criterion, numbers)
        if number is None or not 1 <= number <= len(asked):
            raise MalformedReview(f"criterion {one.criterion!r} is not among those given")
        if number in found:
            raise MalformedReview(f"criterion {number} is answered twice")
        found[number] = one
    return found


def _number_of(name: int | str, numbers: Mapping[str, int]) -> int | None:
    """A criterion's number, from itself, from its text, or from a text that begins with it."""
    if isinstance(name, int):
        return name
    if _plain(name) in numbers:
        return numbers[_plain(name)]
    match = _NUMBER.fullmatch(name)
    return int(match.group(1)) if match else None


def _weigh_criterion(one: Criterion | None, lines_of: Mapping[str, int]) -> tuple[bool, str]:
    """Whether a criterion is met, and by what, or why not."""
    if one is None:
        return False, "the reviewer says nothing of it"
    if not one.met:
        return False, one.note or "the reviewer gives no reason"
    there = [text for text in one.evidence if _exists(text, lines_of)]
    if there:
        return True, ", ".join(there)
    if not one.evidence:
        return False, "the reviewer cites no place that shows it"
    return False, f"the reviewer cites {', '.join(one.evidence)}, and there is no such place"


def _issue_text(one: Issue, lines_of: Mapping[str, int]) -> str:
    places = [
        text if _exists(text, lines_of) else f"{text}, which is not there" for text in one.evidence
    ]
    where = f" ({'; '.join(places)})" if places else ""
    return f"{one.severity}: {one.text.strip()}{where}"


def _exists(text: str, lines_of: Mapping[str, int]) -> bool:
    place = parse_place(text)
    return place is not None and place[1] <= lines_of.get(place[0], 0)


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:100].rstrip()} …"
