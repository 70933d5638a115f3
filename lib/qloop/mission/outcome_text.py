"""The text of an intent's outcome: what was delivered, what shows it, what is left.

A function of the intent's folder, but for the words that are given. Errors: OSError.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from qloop.mission.follow_ups import find_follow_ups, find_plan, find_verdicts
from qloop.plan.model import Plan, Status
from qloop.state.intent import encodable, front_text, one_line
from qloop.state.lifecycle import Disposition
from qloop.ui.report_markdown import code, plain


def render_outcome(folder: Path, number: int, disposition: Disposition, note: str) -> str:
    """The outcome of an intent whose makers left none; *note* says what became of it."""
    plan = find_plan(folder)
    is_wanted = disposition is Disposition.DELIVERED
    sections = {
        "Delivered": _passed(plan),
        "Verification": _evidence(folder, plan),
        "Needs you": _needs(plan),
        "Follow-ups": find_follow_ups(folder) if is_wanted else (),
    }
    front = front_text({"disposition": disposition.value, "intent": number})
    summary = encodable(note).strip() or f"{disposition.value.capitalize()}."
    rest = "\n".join(f"## {name}\n\n{_list(lines)}" for name, lines in sections.items())
    return f"{front}\n## Summary\n\n{summary}\n\n{rest}"


def _list(lines: Iterable[str]) -> str:
    """A section's body, which is an item for each line, or says that there is none."""
    return "".join(f"- {one_line(encodable(one))}\n" for one in lines) or "None.\n"


def _passed(plan: Plan | None) -> list[str]:
    """The stories that landed."""
    stories = () if plan is None else plan.stories
    passed = (one for one in stories if one.status is Status.PASSED)
    return [f"{one.id}: {plain(one.title)}" if one.title else one.id for one in passed]


def _evidence(folder: Path, plan: Plan | None) -> Iterator[str]:
    """What was run, and what was said of the whole."""
    if plan is not None and _passed(plan) and plan.test_command:
        yield f"{code(plan.test_command)}: run on each tree before it landed"
    words = {True: "passed", False: "found wanting", None: "not judged"}
    for role, found in find_verdicts(folder).items():
        who = str(found.get("note") or "").removeprefix(f"{role}: ")
        note = f" ({plain(who)})" if who else ""
        yield f"the {role}: {words.get(found.get('passed'), 'not judged')}{note}"


def _needs(plan: Plan | None) -> Iterator[str]:
    """What only a person does: what landed is on a branch of its own."""
    if plan is not None and _passed(plan):
        yield f"take it into your branch: {code(f'git merge {plan.branch_name}')}"
