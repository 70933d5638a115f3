"""The ready stories of a plan, kept up as stories change: counted, not looked for again. Pure.

For each story the dependencies that have not passed are counted. A story that passes lowers the
counts of its dependants, and one whose count comes to nothing is queued. What a step costs depends
on the stories that changed, and on those that could start but for a clash, not on the plan's size.
It answers as `dag.next_wave` does.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Generic

from qloop.plan.clashes import Ground
from qloop.plan.dag import is_waiting, ranks
from qloop.plan.likeness import AnyPlan, S
from qloop.plan.values import Status

if TYPE_CHECKING:
    from collections.abc import Collection

Place = tuple[int, int, int, str]
"""By what ready stories are ordered: priority, rank negated, position; and the id."""


class Frontier(Generic[S]):
    """The stories of one plan, and which of them may start."""

    def __init__(self, plan: AnyPlan[S]) -> None:
        self._begin(plan)

    def follow(self, plan: AnyPlan[S]) -> None:
        """Take in the plan as it stands now."""
        if len(plan.stories) != len(self._stories) or plan.file_conflicts != self._conflicts:
            self._begin(plan)
            return
        for now, (name, before) in zip(plan.stories, list(self._stories.items()), strict=True):
            if now is before:
                continue
            if now.id != name or not self.update(now):
                self._begin(plan)
                return

    def update(self, story: S) -> bool:
        """Take in what became of one story; False where the whole plan must be taken in anew."""
        name = story.id
        before = self._stories[name]
        if (before.priority, before.depends_on) != (story.priority, story.depends_on):
            return False
        self._stories[name] = story
        was, now = (one.status is Status.PASSED for one in (before, story))
        if was and not now:
            return False
        if now and not was:
            if self._missing[name] or self._odd:
                return False  # the ranks of others may change
            self._pass(name)
        if story.status is Status.IN_PROGRESS:
            self._busy.add(name)
        else:
            self._busy.discard(name)
        self._enqueue(name)
        return True

    def next_wave(
        self, *, free_slots: int, running: Collection[str], excluded: Collection[str] = ()
    ) -> list[S]:
        """The ready stories to dispatch next, as `dag.next_wave` says."""
        busy = self._busy.union(running)
        self._ground.clear()
        for name in busy:
            if name in self._stories:
                self._ground.take(self._stories[name])
        looked_at: list[Place] = []
        wave: list[S] = []
        while self._queue and len(wave) < free_slots:
            place = heapq.heappop(self._queue)
            story = self._stories[place[-1]]
            if not self._is_ready(story):
                self._queued.discard(story.id)
                continue
            looked_at.append(place)
            if story.id in busy or story.id in excluded or self._clashes(story):
                continue
            self._ground.take(story)
            wave.append(story)
        for place in looked_at:
            heapq.heappush(self._queue, place)
        return wave

    def _begin(self, plan: AnyPlan[S]) -> None:
        self._stories = {story.id: story for story in plan.stories}
        self._conflicts = plan.file_conflicts
        self._ground = Ground(plan.file_conflicts)
        self._ranks = ranks(plan.stories)
        self._position = {story.id: at for at, story in enumerate(plan.stories)}
        self._dependants: dict[str, list[str]] = {}
        passed = {story.id for story in plan.stories if story.status is Status.PASSED}
        self._missing: dict[str, int] = {}
        for story in plan.stories:
            needs = set(story.depends_on)
            self._missing[story.id] = len(needs - passed)
            for needed in needs:
                self._dependants.setdefault(needed, []).append(story.id)
        self._odd = sum(1 for name in passed if self._missing[name])
        """Stories that passed before what they depend on."""
        busy = (one.id for one in plan.stories if one.status is Status.IN_PROGRESS)
        self._busy = set(busy)
        self._queue: list[Place] = []
        self._queued: set[str] = set()
        for name in self._stories:
            self._enqueue(name)

    def _pass(self, name: str) -> None:
        for dependant in self._dependants.get(name, ()):
            self._missing[dependant] -= 1
            self._enqueue(dependant)

    def _enqueue(self, name: str) -> None:
        if name not in self._queued and self._is_ready(self._stories[name]):
            self._queued.add(name)
            place = (-self._ranks[name], self._position[name], name)
            heapq.heappush(self._queue, (self._stories[name].priority, *place))

    def _is_ready(self, story: S) -> bool:
        return is_waiting(story) and self._missing[story.id] == 0

    def _clashes(self, story: S) -> bool:
        return self._ground.find_clash(story) is not None
