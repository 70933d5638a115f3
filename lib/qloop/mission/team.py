"""The team of an intent: who does what, in which stage, and what has to be there afterwards.

One role each for the steps from wish to deed, in their order; the reviewer comes at the final
gate only, and qloop itself is the enforcer. Nothing here acts.
"""

from collections.abc import Callable
from dataclasses import dataclass

from qloop.state.lifecycle import Lifecycle, Stage
from qloop.state.sections import section_text
from qloop.system.errors import UsageWrong

ENFORCER = "enforcer"
REVIEWER = "reviewer"
ALIASES = {"implementer": "executor"}


@dataclass(frozen=True, slots=True)
class TeamRole:
    """One role of the team."""

    name: str
    stage: Stage
    """The stage that it works in."""
    deliverable: str
    """What it hands over, in words."""
    payload: tuple[str, ...]
    """What its report tells beside what all reports tell."""
    lacks: Callable[[Lifecycle], str | None]
    """What its deliverable lacks; None where it is there."""


def _lacks_context(files: Lifecycle) -> str | None:
    return None if section_text(files.document or "", "Context") else "## Context is empty"


def _lacks_spec(files: Lifecycle) -> str | None:
    return "spec.md is not there" if files.spec is None else None


def _lacks_plan(files: Lifecycle) -> str | None:
    if files.plan is None:
        return "plan.md is not there"
    if not files.actions:
        return "actions/ has no action"
    return "checklist.md is not there" if files.checklist is None else None


def _lacks_deed(files: Lifecycle) -> str | None:
    if files.checklist is None:
        return "checklist.md is not there"
    left = len(files.open_boxes)
    return f"{left} of {len(files.boxes)} boxes of checklist.md are open" if left else None


def _lacks_word(files: Lifecycle) -> str | None:
    return None if files.outcome is not None else "only the reviewer's own report is a verdict"


TEAM: tuple[TeamRole, ...] = (
    TeamRole(
        "brainstorming",
        Stage.WHY,
        "## Context with ### Decisions",
        ("Decisions", "Findings", "Open questions"),
        _lacks_context,
    ),
    TeamRole(
        "spec-specialist",
        Stage.WHY,
        "spec.md",
        ("Sections", "Decisions resolved", "Criteria"),
        _lacks_spec,
    ),
    TeamRole(
        "planner",
        Stage.HOW,
        "plan.md, actions/ACTION_N.md, checklist.md",
        ("Actions", "Order", "Coverage"),
        _lacks_plan,
    ),
    TeamRole(
        "executor",
        Stage.EXEC,
        "the code, a checklist without open boxes, ## Insights",
        ("Actions done", "Change", "Tests"),
        _lacks_deed,
    ),
)
REVIEW = TeamRole(REVIEWER, Stage.EXEC, "a verdict", ("Verdict", "Criteria", "Gaps"), _lacks_word)
MEMBERS = {role.name: role for role in (*TEAM, REVIEW)}


def find_member(name: str) -> TeamRole | None:
    """A role of the team by its name or alias; None for the enforcer and for anybody else."""
    return MEMBERS.get(ALIASES.get(name, name))


def check_role(word: str, others: tuple[str, ...]) -> str:
    """The name of a role of the team or of *others*. Raises UsageWrong, which names the nearest."""
    name = word.strip().casefold().replace("_", "-").replace(" ", "-")
    known = (*MEMBERS, *ALIASES, ENFORCER, *others)
    if name in known:
        return ALIASES.get(name, name)
    import difflib  # only where something is wrong

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    everybody = ", ".join(dict.fromkeys([*MEMBERS, ENFORCER]))
    fix = f"did you mean {near[0]!r}?" if near else f"the team is {everybody}"
    raise UsageWrong(f"there is no role {word!r}", where="--role", fix=fix)
