"""The review of a plan, for people and scripts."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from qloop.plan.critique import CHECKS, Remark
from qloop.plan.model import Plan
from qloop.system.counting import counted


def critique_lines(plan: Plan, remarks: Sequence[Remark], waves: int) -> Iterator[str]:
    """The review in lines: how large the plan is, then what was found, by check."""
    edges = sum(len(story.depends_on) for story in plan.stories)
    size = f"{counted(len(plan.stories), 'story')}, {counted(edges, 'edge')}"
    ahead = f", {counted(waves, 'wave')} to come" if waves else ", nothing left to run"
    found = counted(len(remarks), "remark") if remarks else "nothing to remark"
    yield f"plan review: {size}{ahead}; {found}"
    for check, group in groupby(remarks, key=lambda one: one.check):
        yield f"{check}: {CHECKS[check]}"
        for remark in group:
            names = ", ".join(remark.stories)
            yield f"  {names}: {remark.text}" if names else f"  {remark.text}"


def critique_json(remarks: Sequence[Remark]) -> dict[str, Any]:
    """The review as data: `remarks`, each with check, stories, text and files."""
    rows = [asdict(one) for one in remarks]
    return {
        "remarks": [
            {**row, "stories": list(row["stories"]), "files": list(row["files"])} for row in rows
        ]
    }
