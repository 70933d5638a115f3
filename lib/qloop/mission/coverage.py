"""Whether a plan covers its specification: each acceptance criterion is met by a story. Pure.

A criterion's id begins it (`AC-2: text`), else it is `AC-` and its place in the list. A story
covers what its own criteria name by id, or say word for word; an action also what it names under
`covers`. Errors: Faults for actions that are no plan.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from qloop.mission.direct_plan import has_stories
from qloop.plan.actions import parse_actions, render_actions
from qloop.plan.model import Json
from qloop.plan.prd import compile_prd
from qloop.state.intent import demoted
from qloop.state.lifecycle import Lifecycle
from qloop.state.sections import outside_code, section_text

SECTION = "Acceptance criteria"
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,9}[.)])\s+(\[[ xX]\]\s+)?(.*\w.*?)\s*")
_NAMED = re.compile(r"[*_`]*([A-Za-z]{1,8}-?[0-9]{1,5})[*_`]*\s*[:.)][*_`]*\s+(.*\w.*)")
_NONE = "none"


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing that is to hold of the whole."""

    id: str
    text: str
    """Without its id."""

    def __str__(self) -> str:
        return f"{self.id}: {self.text}"


def read_criteria(spec: str) -> tuple[Criterion, ...]:
    """What a specification asks of the whole."""
    return identify(_items(section_text(spec, SECTION) or ""))


def read_covered(spec: str) -> tuple[Criterion, ...]:
    """The criteria that stories have to cover; none where the specification has its own stories."""
    return () if has_stories(spec) else read_criteria(spec)


def identify(texts: Sequence[str]) -> tuple[Criterion, ...]:
    """Criteria by their texts, each with an id of its own."""
    named = [_NAMED.fullmatch(text) for text in texts]
    ids = [None if one is None else one[1] for one in named]
    taken = {one.casefold() for one in ids if one is not None}
    made: list[Criterion] = []
    for at, (text, one) in enumerate(zip(texts, named, strict=True)):
        known = {criterion.id.casefold() for criterion in made}
        if one is not None and one[1].casefold() not in known:
            made.append(Criterion(one[1], one[2]))
        else:
            made.append(Criterion(_free_id(at + 1, taken | known), text))
    return tuple(made)


def find_uncovered(criteria: Iterable[Criterion], told: Iterable[str]) -> tuple[Criterion, ...]:
    """The criteria that nothing of *told*, what stories are to meet, names or says."""
    words = list(told)
    said = {_plain(text) for text in words} | {
        _plain(one[2]) for one in map(_NAMED.fullmatch, words) if one is not None
    }
    return tuple(
        one
        for one in criteria
        if _plain(one.text) not in said and not any(_names(text, one.id) for text in words)
    )


def criteria_of_plan(plan: Json) -> list[str]:
    """What the stories of a plan are to meet."""
    return [
        str(text) for story in plan["stories"] for text in story.get("acceptanceCriteria") or ()
    ]


def find_gaps(files: Lifecycle) -> tuple[Criterion, ...]:
    """The criteria of an intent's specification that no action covers."""
    criteria = read_covered(files.spec or "")
    if not criteria:
        return ()
    actions = parse_actions({name: demoted(text) for name, text in files.actions.items()})
    plan = compile_prd(render_actions("Plan", "", actions), path="actions", now="")
    named = (word for one in actions for word in one.covers)
    return find_uncovered(criteria, [*criteria_of_plan(plan), *named])


def told_gaps(gaps: Iterable[Criterion]) -> tuple[str, ...]:
    """What to say of criteria that nobody covers."""
    return tuple(f"no story covers {one}" for one in gaps)


def _items(body: str) -> list[str]:
    """Boxes, and other items that stand in no item themselves."""
    lines = (_ITEM.fullmatch(line) for _, line in outside_code(body.splitlines()))
    found = [one[3] for one in lines if one is not None and (one[2] or len(one[1]) < 2)]
    return [text for text in found if text.strip(". ").casefold() != _NONE]


def _names(text: str, word: str) -> bool:
    pattern = rf"(?<![\w-]){re.escape(word)}(?![\w-])"
    return re.search(pattern, text, re.IGNORECASE) is not None


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "").split()).rstrip(".").casefold()


def _free_id(number: int, taken: set[str]) -> str:
    while f"ac-{number}" in taken:
        number += 1
    return f"AC-{number}"
