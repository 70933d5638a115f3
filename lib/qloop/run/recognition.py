"""What is recognized of a line: the evidence of all that landed, run again, and what it says. Pure.

A gate judges a story where it was made; what lands later may break what it showed. Here all of
it is looked at together, on the line's tip.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from qloop.plan.model import Json, Plan, Status
from qloop.repo.history import LineCommit
from qloop.run.briefing import checks_of
from qloop.run.gates import numbered
from qloop.run.orders import Terms, Value
from qloop.run.proving import TEST
from qloop.state.journal import Event, EventKind

CHECK = "recognizer"
"""What found it, among a wave's findings."""
TREE = "tree"
"""The folder of what judges the tree as a whole; no story's id can be taken for it."""
MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Evidence:
    """Commands that belong together, in their order, by the names of their logs."""

    story: str | None
    """Whose they are; None for the plan's own."""
    commands: dict[str, str]

    @property
    def folder(self) -> str:
        """Where their logs lie."""
        return TREE if self.story is None else f"stories/{self.story}"


class RecognizeOrder(Value):
    """The tip of a line is to be recognized."""

    wave: str
    terms: Terms
    accepted: tuple[str, ...] = ()
    """Commands that a person has let be red."""


class RedCommand(Value):
    """A command that was red."""

    gate: str
    command: str
    line: str
    """How it ended, in one line."""
    story: str | None = None
    """Whose evidence it is; None for the plan's own."""
    logs: tuple[str, ...] = ()
    """Of each time that it ran, in that order."""

    @property
    def words(self) -> str:
        """The command and whose it is, for people."""
        return self.line if self.story is None else f"{self.story}'s {self.line}"


class Recognition(Value):
    """What a recognizer saw of one tip."""

    tip: str | None = None
    """None where it did not come so far."""
    checked: int = 0
    """How many commands ran."""
    seconds: float = 0.0
    red: tuple[RedCommand, ...] = ()
    """Those that were red twice."""
    flaky: tuple[RedCommand, ...] = ()
    """Those that were red at first, and green when they ran again."""
    accepted: tuple[RedCommand, ...] = ()
    """Those that were red, as a person has allowed."""
    mending: tuple[RedCommand, ...] = ()
    """Those that were red, and that a story is to make green which has not passed yet."""
    fault: str | None = None
    """Why it could not be seen, by no fault of what landed."""

    @property
    def green(self) -> bool | None:
        """Whether all held; None where that could not be seen, or is still being mended."""
        if self.red:
            return False
        return True if self.fault is None and not self.mending else None


@dataclass(frozen=True, slots=True)
class Standing:
    """What the journal tells of the line's last recognition."""

    since: str | None = None
    """The tip that was last seen green, or that the line had when it was first looked at."""
    is_green: bool = False
    """Whether *since* was seen green, and nothing else was seen later."""
    is_red: bool = False
    """Whether the newest one was red."""


def evidence_of(plan: Plan) -> tuple[Evidence, ...]:
    """All commands that judged what has landed: the plan's, then each passed story's own."""
    test = {} if plan.test_command is None else {TEST: plan.test_command}
    whole = {**test, **numbered("quality", tuple(plan.quality_commands))}
    own = (
        Evidence(story.id, numbered("verify", checks_of((), story)))
        for story in plan.stories
        if story.status is Status.PASSED
    )
    return tuple(one for one in (Evidence(None, whole), *own) if one.commands)


def standing_of(events: Iterable[Event], branch: str) -> Standing:
    """What is known of the line of *branch*; *events* are in their order."""
    found = Standing()
    for event in events:
        if event.event is not EventKind.WAVE_RECOGNIZED or event.data.get("branch") != branch:
            continue
        green = event.data.get("green")
        since = event.data.get("tip") if green is True else event.data.get("since")
        is_open = green is None and not event.data.get("mending")
        is_red = green is False or (is_open and found.is_red)
        found = Standing(since if isinstance(since, str) else None, green is True, is_red)
    return found


def being_mended(plan: Plan, command: str) -> bool:
    """Whether a story that may still pass is to make *command* green."""
    return any(
        command in story.verify
        and (
            story.status in (Status.PENDING, Status.IN_PROGRESS)
            or (story.status is Status.FAILED and story.attempts < story.max_attempts)
        )
        for story in plan.stories
    )


def sort_out(
    red: Iterable[RedCommand], accepted: Container[str], is_mended: Callable[[str], bool]
) -> dict[str, tuple[RedCommand, ...]]:
    """Red commands by what they mean: `accepted`, `mending`, or `red`."""
    found: dict[str, list[RedCommand]] = {"red": [], "accepted": [], "mending": []}
    for one in red:
        if one.command in accepted:
            found["accepted"].append(one)
        else:
            found["mending" if is_mended(one.command) else "red"].append(one)
    return {name: tuple(some) for name, some in found.items()}


def facts_of(seen: Recognition, landed: Sequence[LineCommit], finding: Json | None) -> Json:
    """What the journal notes of it; *landed* is what came since the line was last green."""
    facts: dict[str, Any] = seen.model_dump(mode="json")
    listed = [{"commit": one.name, "story": one.story, "subject": one.subject} for one in landed]
    text = {} if finding is None else {"text": finding["text"]}
    return {**facts, "green": seen.green, "landed": listed, **text}


def red_words(wave: str, seen: Recognition, landed: Sequence[LineCommit]) -> str:
    """That a wave is red, and all that is known of why, in one sentence."""
    what = "; ".join(f"{one.words}, its output: {one.logs[-1]}" for one in seen.red)
    came = [_named(one) for one in landed[:MOST_NAMED]]
    more = f" and {len(landed) - MOST_NAMED} more" if len(landed) > MOST_NAMED else ""
    since = f"; landed since it was last green: {', '.join(came)}{more}" if came else ""
    return f"{wave} is red at {_short(seen.tip)}: {what}{since}"


def way_out(branch: str) -> str:
    """What a person does about a red wave."""
    return (
        f"commit what mends it on {branch}, or correct the command in the plan, and run qloop again"
    )


def finding_of(wave: str, seen: Recognition, landed: Sequence[LineCommit]) -> Json | None:
    """What is written among the wave's findings; None where all is green."""
    if seen.fault is not None:
        text = f"{wave} could not be recognized: {seen.fault}"
    elif seen.red:
        text = red_words(wave, seen, landed)
    elif seen.mending:
        text = f"{wave}: still red, and being mended: {_listed(seen.mending)}"
    elif seen.flaky:
        text = f"red once, then green: {_listed(seen.flaky)}"
    else:
        return None
    named = [one.story for one in (*seen.red, *seen.flaky) if one.story is not None]
    blamed = [one.story for one in landed if one.story is not None] if seen.red else []
    told: Json = {"check": CHECK, "stories": list(dict.fromkeys([*named, *blamed]))}
    return {**told, "text": text, "red": bool(seen.red)}


def _listed(commands: Iterable[RedCommand]) -> str:
    return "; ".join(one.words for one in commands)


def _named(one: LineCommit) -> str:
    return f"{_short(one.name)} ({one.story or one.subject})"


def _short(commit: str | None) -> str:
    return (commit or "?")[:10]
