"""Pauses as a run keeps them: begun and ended in the journal, and what they hold back.

The driver asks here which stories wait for a runner, until when, and how that ends a run.
"""

import random
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from qloop.agents.hindrances import Cause
from qloop.plan.dag import ready
from qloop.plan.model import Story
from qloop.plan.outline import Outline
from qloop.run.call_end import PASSING
from qloop.run.opening import Opened
from qloop.run.orders import Failed, Hindered, Settled
from qloop.run.pauses import Pauses, charge, kept
from qloop.state.journal import EventKind
from qloop.state.pauses import Pause, find_pauses
from qloop.system.alarm import Alarm
from qloop.system.clock import epoch_s, monotonic_s
from qloop.system.errors import BadInput, RunnerUnavailable


@dataclass(slots=True)
class Pausing:
    """The pauses of one run."""

    opened: Opened
    pauses: Pauses = field(default_factory=Pauses)
    in_a_row: dict[str, int] = field(default_factory=dict)
    """How often in a row a passing hindrance kept each story from being worked on."""
    alarm: Alarm = field(default_factory=Alarm)
    """Rings when a pause ends, also where the machine slept meanwhile."""
    refused: BadInput | None = None
    """The model or option that a runner refused: nothing more may start."""

    def charge(self, told: Settled | None) -> Settled | None:
        """What a coordinator told of an attempt, with its failure as it counts.

        A limit between two overloads neither counts as one nor parts them.
        """
        hindered = told.failed.hindered if told is not None and told.failed is not None else None
        if told is None or told.failed is None or hindered is None:
            if told is not None:
                self.in_a_row.pop(told.story, None)
            return told
        if hindered.cause not in PASSING:
            return told
        count = self.in_a_row[told.story] = self.in_a_row.get(told.story, 0) + 1
        return told.model_copy(update={"failed": charge(told.failed, count)})

    def note(self, runner: str, failed: Failed | None, met: Iterable[Hindered] = ()) -> bool:
        """What the end of an attempt tells of its runner, or of a reviewer's.

        *met* kept agents from working for whom others stood in. Returns whether the run has to
        end, because a model or an option was refused.
        """
        for one in met:
            self._pause(one)
        hindered = failed.hindered if failed is not None else None
        if hindered is None:
            if failed is None or failed.charged:
                self.pauses = self.pauses.worked(runner)
        elif hindered.cause is Cause.CONFIGURATION:
            self.refused = self.refused or _refusal(hindered)
            return True
        else:
            self._pause(hindered)
        return False

    def _pause(self, hindered: Hindered) -> None:
        former = self.pauses
        self.resume(former.hindered(hindered, epoch_s(), random.random()))
        if self.pauses is not former:
            self._journal(self.pauses.by_runner[hindered.runner])

    def resume(self, pauses: Pauses) -> None:
        """Go on with these pauses."""
        self.pauses = pauses
        self.opened.paused = frozenset(pauses.by_runner)

    def end_due(self) -> None:
        """End the pauses whose time has come."""
        pauses, over = self.pauses.ended(epoch_s())
        self.resume(pauses)
        for runner in over:
            self.opened.journal.append(EventKind.RUNNER_RESUMED, runner=runner)

    def held(self, plan: Outline) -> dict[str, Pause]:
        """The ready stories of which an agent pauses and has no stand-in, and the pause."""
        if not self.pauses.by_runner:
            return {}
        names: dict[tuple[object, ...], tuple[str, ...]] = {}
        found = {}
        order = [one.id for one in ready(plan)]
        stories = {one.id: one for one in self.opened.chosen(order).stories}
        for story in (stories[name] for name in order if name in stories):
            paused = [one for one in self._runners_of(story, names) if self.pauses.is_paused(one)]
            if paused:
                found[story.id] = self.pauses.by_runner[paused[0]]
        return found

    def next_end(self, plan: Outline, excluded: Container[str]) -> float | None:
        """On the monotonic clock, when a pause ends that stories wait for; None for never.

        With `--no-wait` nobody waits for a usage limit, but for what passes soon.
        """
        ends = [
            pause.until_s
            for story, pause in self.held(plan).items()
            if story not in excluded and pause.until_s is not None and self._is_waited_for(pause)
        ]
        end_s = min(ends, default=None)
        self.alarm.set(end_s)
        return None if end_s is None else monotonic_s() + max(0.0, end_s - epoch_s())

    def _is_waited_for(self, pause: Pause) -> bool:
        return pause.cause != Cause.USAGE_LIMIT or not self.opened.wanted.no_wait

    def reasons(self, plan: Outline, excluded: Container[str]) -> tuple[str, ...]:
        """Why stories are held back that could run otherwise, a sentence for each runner."""
        held = {story: one for story, one in self.held(plan).items() if story not in excluded}
        pauses = {pause.runner: pause for pause in held.values()}
        return tuple(
            _sentence(pause, [story for story, one in held.items() if one == pause])
            for pause in pauses.values()
        )

    def _journal(self, pause: Pause) -> None:
        self.opened.journal.append(EventKind.RUNNER_PAUSED, **pause.to_json())

    def _runners_of(
        self, story: Story, names: dict[tuple[object, ...], tuple[str, ...]]
    ) -> tuple[str, ...]:
        key = (story.runner, bool(story.tasks) and all(task.run for task in story.tasks))
        if key not in names:
            try:
                names[key] = self.opened.chooser.choose(story).runners
            except (BadInput, RunnerUnavailable):
                names[key] = ()  # it is refused where it would be handed out
        return names[key]


def take_up(opened: Opened) -> Pausing:
    """The pauses that a run begins with: the limits of a run that died, where they still last."""
    pausing = Pausing(opened)
    pausing.resume(kept(find_pauses(opened.journal.events()), epoch_s()))
    for pause in pausing.pauses.by_runner.values():
        opened.journal.append(EventKind.RUNNER_PAUSED, **pause.to_json(), kept=True)
    return pausing


def _refusal(hindered: Hindered) -> BadInput:
    return BadInput(
        f"the runner {hindered.runner!r} was refused its model or an option: {hindered.text}",
        where=f"[runners.{hindered.runner}]",
        fix="correct the model (--model, `model`, the story's) or the argv, then run qloop again",
    )


def _sentence(pause: Pause, stories: list[str]) -> str:
    which = ", ".join(stories)
    if pause.cause == Cause.AUTHENTICATION:
        return (
            f"{pause.runner} is not let in: {pause.why}; log in or give its key, then run qloop "
            f"again ({which})"
        )
    return f"{pause.runner} pauses until {pause.until}: {pause.why} ({which})"
