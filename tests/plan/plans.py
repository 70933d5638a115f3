"""Plans for tests: short to write down, or drawn at random."""

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from qloop.plan.model import Json, Plan, Status, parse_plan
from qloop.plan.paths import normalise

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For property tests: a busy machine is no fault."""


def document(*stories: Json, **fields: Any) -> Json:
    """A document with these stories, and other top-level fields."""
    return {"branchName": "ql/x", "stories": list(stories), **fields}


def story(story_id: str, *needs: str, files: list[str] | None = None, **fields: Any) -> Json:
    """A story that depends on *needs* and touches *files*."""
    made: Json = {"id": story_id, "dependsOn": list(needs), **fields}
    if files is not None:
        made["tasks"] = [{"id": "T-1", "filePaths": files}]
    return made


def plan(*stories: Json, **fields: Any) -> Plan:
    """The same as a value."""
    return parse_plan(document(*stories, **fields))


def with_status(value: Plan, story_id: str, status: Status, *, charge: int = 0) -> Plan:
    """The plan after one story's status changed and *charge* attempts were charged to it."""
    stories = [
        item.model_copy(
            update={
                "status": status,
                "retries": item.retries.model_copy(
                    update={"attempts": item.retries.attempts + charge}
                ),
            }
        )
        if item.id == story_id
        else item
        for item in value.stories
    ]
    return value.model_copy(update={"stories": stories})


def overlap(one: str, other: str) -> bool:
    """Whether two paths are the same or one holds the other, in the contract's plain words."""
    left, right = (f"/{normalise(path)}".rstrip("/") + "/" for path in (one, other))
    return left.startswith(right) or right.startswith(left)


FILES = ("a", "a/b", "./a//b/c.py", "d/", "d/x.py", "e.py", "f.py")


STATUSES = ("pending", "pending", "failed", "passed", "in_progress", "blocked", "stale")


@st.composite
def plans(draw: st.DrawFn, *, fresh: bool = False) -> Plan:
    """A plan without cycles, its stories in any order; a *fresh* one has only pending ones."""
    made = []
    for number in range(draw(st.integers(0, 7))):
        retries = {"attempts": draw(st.integers(0, 2)), "maxAttempts": draw(st.integers(0, 3))}
        made.append(
            story(
                f"S{number}",
                *[f"S{needed}" for needed in range(number) if draw(st.integers(0, 3)) == 0],
                files=draw(st.lists(st.sampled_from(FILES), max_size=2)),
                priority=draw(st.integers(1, 2)),
                status="pending" if fresh else draw(st.sampled_from(STATUSES)),
                retries=retries,
            )
        )
    ids = [item["id"] for item in made] or ["S0"]
    entries = draw(st.lists(st.lists(st.sampled_from(ids), max_size=3), max_size=2))
    return plan(
        *draw(st.permutations(made)),
        fileConflicts=[{"file": "z", "stories": entry} for entry in entries],
    )
