"""What the end of EXECUTION's run comes to: an event, or a question for a person. Pure.

Each way out that a person is offered is acted on by the next coordinator (`execution_answers`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qloop.mission.flow import asking
from qloop.plan.likeness import AnyPlan, AnyStory
from qloop.plan.model import Json, Status
from qloop.run.ending import Ending
from qloop.run.purse import RAISE_IT
from qloop.state.journal import Event, EventKind
from qloop.state.phase_events import (
    Option,
    PartialWork,
    PhaseCheckpoint,
    PhaseFailure,
)
from qloop.state.phases import PhaseName
from qloop.ui.history import first_line, in_one_line

GO_ON = Option(id="go-on", description="go on")
RETRY = Option(id="retry", description="give the stories that failed all their attempts anew")
ADJUST = Option(
    id="adjust", description="change the plan (quantum.json) first, then have it tried anew"
)
ACCEPT = Option(id="accept", description="go on without what has not passed")
EDIT = Option(id="edit", description="stop here: change the plan (quantum.json), then go on")
REPAIR = Option(id="repair", description="a story more, which is to make the red command green")
LOOK_AGAIN = Option(id="retry", description="it is mended on the feature branch: look again")
CORRECTED = Option(id="retry", description="it is corrected: go on")
ACCEPT_RED = Option(id="accept", description="go on although it is red; it counts no more")

WAVE_END = "wave_end"
BUDGET = "budget"
WAITING = "waiting"
RECOGNIZER_RED = "recognizer_red"
BLOCKED = "blocked"
STUCK = "stuck"
INTERRUPTED = "interrupted"
UNUSABLE = "unusable"
PHASE = PhaseName.EXECUTION
MOST_CAUSES = 5


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run of the mission's plan ended, and where its stories stand."""

    ending: Ending
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    left: tuple[str, ...]
    """Those that have not passed, the failed ones included."""
    stuck: tuple[str, ...]
    """Those whose agent the gate denied the same thing until it ended."""
    red: Json | None
    """The red recognition that ended it, as the journal has it."""
    waves: tuple[str, ...]
    """What became of each of its waves, in a line."""
    causes: tuple[str, ...]
    """Why each failed story did so last, in a line."""
    plan_option: str
    """What names the plan to commands that look further; empty where they find it themselves."""

    @property
    def partial(self) -> PartialWork:
        """How far it came."""
        reds = self.red["red"] if self.red is not None else []
        blamed = next((one["story"] for one in reds if one.get("story")), None)
        failed = blamed or next(iter(self.failed), None)
        return PartialWork(
            completed_blocks=tuple(one for one in self.passed if one != blamed),
            failed_block=failed,
            pending_blocks=tuple(one for one in self.left if one != failed),
        )


def read_end(
    ending: Ending, plan: AnyPlan[AnyStory], events: Sequence[Event], plan_option: str = ""
) -> RunEnd:
    """The end of a run whose plan stands so; *events* are the run's."""
    seen = [one for one in events if one.event is EventKind.WAVE_RECOGNIZED]
    is_red = bool(seen) and seen[-1].data.get("green") is False and ending.signal == "WAITING"
    return RunEnd(
        ending=ending,
        passed=tuple(one.id for one in plan.stories if one.status is Status.PASSED),
        failed=tuple(one.id for one in plan.stories if one.status is Status.FAILED),
        left=tuple(one.id for one in plan.stories if one.status is not Status.PASSED),
        stuck=_stuck(plan, events),
        red={**seen[-1].data, "wave": seen[-1].wave} if is_red else None,
        waves=tuple(_wave(one, events) for one in events if one.event is EventKind.WAVE_ENDED),
        causes=tuple(
            f"{one.id}: {first_line(one.last_reason)}"
            for one in plan.stories
            if one.status is Status.FAILED and one.last_reason
        ),
        plan_option=plan_option,
    )


def question_of(end: RunEnd, *, by_wave: bool) -> PhaseCheckpoint | PhaseFailure | None:
    """The event of a run's end that is no success; None where every story has passed.

    *by_wave* tells whether a person looks at each wave.
    """
    ending = end.ending
    if ending.signal == "COMPLETE":
        return None
    if end.red is not None:
        return _failure(end, RECOGNIZER_RED, (REPAIR, LOOK_AGAIN, ACCEPT_RED))
    if ending.error is not None:
        return _failure(end, UNUSABLE, (CORRECTED,))
    match ending.signal:
        case "WAITING" if any(RAISE_IT in reason for reason in ending.reasons):
            return _ask(end, BUDGET, "Raise the budget (`qloop budget set USD`), then go on?")
        case "WAITING":
            return _ask(end, WAITING, "Is that settled, so that it may go on?")
        case "MAX_ITERATIONS" if by_wave:
            return _ask_after_wave(end)
        case "INTERRUPTED":
            return _failure(end, INTERRUPTED, ())
        case _:
            return _blocked(end)


def _blocked(end: RunEnd) -> PhaseCheckpoint | PhaseFailure:
    ways = (RETRY, ADJUST, ACCEPT)
    if end.ending.signal == "BLOCKED" and end.stuck:
        return _ask(end, STUCK, f"How to go on with {', '.join(end.stuck)}?", ways)
    return _failure(end, BLOCKED, ways)


def _failure(end: RunEnd, kind: str, options: tuple[Option, ...]) -> PhaseFailure:
    return PhaseFailure(
        phase_id=PHASE,
        failure_type=kind,
        reason="\n".join((*_reasons(end), *_look(end))),
        partial_work=end.partial,
        recovery_options=options,
    )


def _stuck(plan: AnyPlan[AnyStory], events: Sequence[Event]) -> tuple[str, ...]:
    """The failed stories whose newest agent was stuck at the gate."""
    ended = {one.story: one.data for one in events if one.event is EventKind.AGENT_ENDED}
    failed = (one.id for one in plan.stories if one.status is Status.FAILED)
    return tuple(name for name in failed if ended.get(name, {}).get("denied"))


def _ask(
    end: RunEnd, kind: str, question: str, options: tuple[Option, ...] = (GO_ON,)
) -> PhaseCheckpoint:
    return PhaseCheckpoint(
        phase_id=PHASE,
        checkpoint_type=kind,
        question=asking("\n".join(_reasons(end)), question),
        options=options,
        context=_context(end),
    )


def _ask_after_wave(end: RunEnd) -> PhaseCheckpoint:
    told = "\n".join(end.waves) or "no wave has ended"
    left = f"{len(end.left)} left: {', '.join(end.left[:10])}{', …' if len(end.left) > 10 else ''}"
    return PhaseCheckpoint(
        phase_id=PHASE,
        checkpoint_type=WAVE_END,
        question=asking(told, f"Go on with the next wave ({left})?"),
        options=(GO_ON, EDIT),
        context=_context(end),
    )


def _context(end: RunEnd) -> Json:
    return {"signal": end.ending.signal, "partial_work": end.partial.model_dump(mode="json")}


def _reasons(end: RunEnd) -> list[str]:
    """Why it ended, and why stories failed; what is told already is told once."""
    known = (*(end.ending.error.parts if end.ending.error else ()), *end.ending.reasons)
    reasons = [in_one_line(one) for one in known] or [f"the run ended {end.ending.signal}"]
    return [*reasons, *(one for one in end.causes[:MOST_CAUSES] if one not in reasons)]


def _look(end: RunEnd) -> Iterator[str]:
    """How to look further into the story that failed."""
    failed = end.partial.failed_block
    if failed is not None:
        story = f"{failed}{end.plan_option}"
        yield f"look: qloop show {story}; have it looked into: qloop debug {story}"


def _wave(ended: Event, events: Sequence[Event]) -> str:
    landed = [str(one) for one in ended.data.get("landed") or ()]
    failed = [
        f"{one.story} did not ({first_line(str(one.data.get('reason')))})"
        for one in events
        if one.event is EventKind.STORY_SETTLED
        and one.wave == ended.wave
        and one.data.get("status") != Status.PASSED
    ]
    how = f"{', '.join(landed)} landed" if landed else "nothing landed"
    return f"{ended.wave} has ended: {', '.join([how, *failed])}"
