"""Each acceptance criterion of a specification is met by a story, or the planner's gate says no."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.mission.coverage import (
    find_gaps,
    find_uncovered,
    identify,
    read_covered,
    read_criteria,
    told_gaps,
)
from qloop.mission.specification import render_specification, specification_of
from qloop.plan.action_text import render_action
from qloop.state.codebase import Facts, Size
from qloop.state.lifecycle import Lifecycle

SPEC = """\
# S

## Acceptance Criteria

- [ ] Rows come out
- [x] **R-7**: quotes are kept
  - as they are
* AC-1: `dates` are ISO.
1. AC-1: said twice

```
- [ ] code
```

## Open questions

- [ ] AC-9: nothing
"""
WORDS = st.text("abc `*_:.-1AC[](){}#", min_size=1, max_size=20).filter(
    lambda text: any(sign.isalnum() for sign in text)
)


def test_criteria_have_ids() -> None:
    """Their own, else by their place; a story's document has those of its stories."""
    assert list(map(str, read_criteria(SPEC))) == [
        "AC-2: Rows come out",
        "R-7: quotes are kept",
        "AC-1: `dates` are ISO.",
        "AC-4: AC-1: said twice",
    ]
    assert read_covered(SPEC) == read_criteria(SPEC)
    assert read_covered(f"{SPEC}\n### US-001: Rows\n") == ()
    assert read_criteria("## Acceptance criteria\n\nNone.\n- None.\n") == ()


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ([], ["AC-2", "R-7", "AC-1", "AC-4"]),
        (["ac-2: rows", "meets R-7 and AC-4"], ["AC-1"]),
        (["Rows  come out.", "quotes are kept", "X-1: dates are iso"], ["AC-4"]),
        (["AC-22", "XAC-2", "AC-2-b", "R-70"], ["AC-2", "R-7", "AC-1", "AC-4"]),
    ],
)
def test_a_criterion_is_covered_by_its_id_or_its_words(told: list[str], left: list[str]) -> None:
    """Whoever names it as a whole word, or says it word for word."""
    gaps = find_uncovered(read_criteria(SPEC), told)

    assert [one.id for one in gaps] == left
    assert told_gaps(gaps[:0]) == ()


@given(texts=st.lists(WORDS, min_size=1, max_size=8), cut=st.integers(0, 7))
def test_a_plan_that_names_every_criterion_covers_them(texts: list[str], cut: int) -> None:
    """Through the text of its actions and back; and where one is left out, just that is told."""
    criteria = identify(texts)
    numbers = {f"S-{at}": at for at in range(1, len(criteria) + 1)}
    actions = {
        f"ACTION_{at}.md": render_action(
            {"id": name, "title": "Do", "acceptanceCriteria": [str(criteria[at - 1])]},
            numbers,
            is_destructive=False,
        )
        for name, at in numbers.items()
    }
    spec = "## Acceptance criteria\n\n" + "".join(f"- [ ] {one}\n" for one in criteria)
    lost = criteria[cut % len(criteria)]
    rest = [one.id for one in criteria if one is not lost]

    assert len({one.id.casefold() for one in criteria}) == len(criteria)
    assert find_gaps(Lifecycle(spec=spec, actions=actions)) == ()
    assert find_uncovered([lost], rest) == (lost,)


def test_the_plan_that_code_makes_covers() -> None:
    """Its one story has the criteria with their ids."""
    wish = "A file says tea. It stands in the root."
    size = Size(files=0, bytes=0, source_files=0, source_bytes=0, set_apart=0)
    known = Facts(commit=None, fingerprint="", size=size)
    spec = render_specification(wish, specification_of(wish), known)

    told = [str(one) for one in read_covered(spec)]

    assert told == ["AC-1: A file says tea.", "AC-2: It stands in the root."]
    assert find_uncovered(read_covered(spec), told) == ()
