"""The stories as a graph: what may run now, what is next, what can never run, and why. Pure.

All of it is linear in stories and edges, or nearly so, and free of recursion. It expects plans
that passed validation; in others, what depends on itself or on nothing known is never ready.
"""

from __future__ import annotations

import heapq
from collections import deque
from typing import TYPE_CHECKING, Literal

from qloop.plan.clashes import Ground, Token
from qloop.plan.values import Status
from qloop.system.counting import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from qloop.plan.likeness import AnyPlan, AnyStory, S

Standing = Literal["ready", "running", "complete", "blocked"]

_LONGEST_CHAIN = 3


def ranks(stories: Sequence[AnyStory]) -> dict[str, int]:
    """By id: the stories not passed on the longest chain of dependants, itself included."""
    by_id = {story.id: story for story in stories}
    own = {name: int(story.status is not Status.PASSED) for name, story in by_id.items()}
    needed_by = dict.fromkeys(by_id, 0)
    for story in by_id.values():
        for needed in _known(story, by_id):
            needed_by[needed] += 1
    longest = dict(own)
    ends = [name for name, count in needed_by.items() if count == 0]
    while ends:
        name = ends.pop()
        for needed in _known(by_id[name], by_id):
            longest[needed] = max(longest[needed], own[needed] + longest[name])
            needed_by[needed] -= 1
            if needed_by[needed] == 0:
                ends.append(needed)
    return longest


def levels(stories: Sequence[AnyStory]) -> dict[str, int]:
    """By id: the stories on the longest chain of what it needs, itself included; 1 needs none."""
    by_id = {story.id: story for story in stories}
    dependants = _dependants(stories)
    missing = {name: len(_known(story, by_id)) for name, story in by_id.items()}
    level = dict.fromkeys(by_id, 1)
    free = [name for name, count in missing.items() if count == 0]
    while free:
        name = free.pop()
        for story in dependants.get(name, ()):
            level[story.id] = max(level[story.id], level[name] + 1)
            missing[story.id] -= 1
            if missing[story.id] == 0:
                free.append(story.id)
    return level


def ready(plan: AnyPlan[S]) -> list[S]:
    """The stories that may start, by priority, longest remaining path first, then file order."""
    passed = _passed(plan)
    return _in_order(plan, [story for story in plan.stories if _is_ready(story, passed)])


def next_wave(
    plan: AnyPlan[S],
    *,
    free_slots: int,
    running: Collection[str],
    excluded: Collection[str] = (),
) -> list[S]:
    """The ready stories to dispatch next, none clashing with another or with one at work.

    *running* are ids at work, beside those `in_progress`; *excluded* ids are passed over.
    """
    busy = set(running) | {story.id for story in plan.stories if _is_busy(story)}
    barred = busy.union(excluded)
    ground = Ground(plan.file_conflicts)
    for story in plan.stories:
        if story.id in busy:
            ground.take(story)
    wave: list[S] = []
    for story in ready(plan):
        if len(wave) >= free_slots:
            break
        if story.id not in barred and ground.find_clash(story) is None:
            ground.take(story)
            wave.append(story)
    return wave


def standing(plan: AnyPlan[AnyStory]) -> Standing:
    """Where the plan stands as a whole; one without stories is complete."""
    passed = _passed(plan)
    if all(story.status is Status.PASSED for story in plan.stories):
        return "complete"
    if any(_is_ready(story, passed) for story in plan.stories):
        return "ready"
    if any(_is_busy(story) for story in plan.stories):
        return "running"
    return "blocked"


def blockers(plan: AnyPlan[AnyStory], excluded: Collection[str] = ()) -> dict[str, str]:
    """For each story that can never run as things stand, in the file's order: a sentence why.

    *excluded* ids are stories that this run has given up.
    """
    barred = set(excluded)
    ends = {story.id: end for story in plan.stories if (end := _find_end(story, barred))}
    dependants = _dependants(plan.stories)
    root_of = {name: name for name in ends}
    waits_for: dict[str, str] = {}
    queue = deque(ends)
    while queue:
        name = queue.popleft()
        for story in dependants.get(name, ()):
            if story.id not in root_of and is_waiting(story):
                root_of[story.id] = root_of[name]
                waits_for[story.id] = name
                queue.append(story.id)
    blocked = [story.id for story in plan.stories if story.id in root_of]
    return {name: _chain(name, waits_for, root_of[name]) + ends[root_of[name]] for name in blocked}


def waves_preview(plan: AnyPlan[AnyStory], slots: int) -> list[list[str]]:
    """The ids that would run, wave by wave, if each story that can run passes at its first try.

    A story in progress counts as one still to run.
    """
    preview = _Preview(plan)
    waves = []
    while wave := preview.next_wave(slots):
        waves.append([story.id for story in wave])
        preview.pass_all(wave)
    return waves


class _Preview:
    """Plays a plan through, each story passing.

    A story that clashed waits in the queue of the token it clashed on. Only the first of a queue
    is ever looked at: while the token is occupied, the whole queue has to wait.
    """

    def __init__(self, plan: AnyPlan[AnyStory]) -> None:
        self._order = _in_order(plan, [s for s in plan.stories if is_waiting(s) or _is_busy(s)])
        self._place = {story.id: place for place, story in enumerate(self._order)}
        self._ground = Ground(plan.file_conflicts)
        passed = _passed(plan)
        self._missing = {s.id: len(set(s.depends_on) - passed) for s in self._order}
        self._dependants = _dependants(self._order)
        self._queues: dict[Token | None, list[int]] = {}
        for story in self._order:
            if self._missing[story.id] == 0:
                self._enqueue(None, self._place[story.id])

    def next_wave(self, slots: int) -> list[AnyStory]:
        self._ground.clear()
        heads = [(queue[0], token) for token, queue in self._queues.items()]
        heapq.heapify(heads)
        wave: list[AnyStory] = []
        while heads and len(wave) < slots:
            _, token = heapq.heappop(heads)
            if token is not None and self._ground.holds(token):
                continue
            story = self._order[self._dequeue(token)]
            clash = self._ground.find_clash(story)
            if clash is None:
                self._ground.take(story)
                wave.append(story)
            else:
                self._enqueue(clash, self._place[story.id])
            if token in self._queues:
                heapq.heappush(heads, (self._queues[token][0], token))
        return wave

    def pass_all(self, wave: Iterable[AnyStory]) -> None:
        for story in wave:
            for dependant in self._dependants.get(story.id, ()):
                self._missing[dependant.id] -= 1
                if self._missing[dependant.id] == 0:
                    self._enqueue(None, self._place[dependant.id])

    def _enqueue(self, token: Token | None, place: int) -> None:
        heapq.heappush(self._queues.setdefault(token, []), place)

    def _dequeue(self, token: Token | None) -> int:
        place = heapq.heappop(self._queues[token])
        if not self._queues[token]:
            del self._queues[token]
        return place


def _in_order(plan: AnyPlan[S], stories: list[S]) -> list[S]:
    rank = ranks(plan.stories)
    return sorted(stories, key=lambda story: (story.priority, -rank[story.id]))


def _is_ready(story: AnyStory, passed: set[str]) -> bool:
    return is_waiting(story) and passed.issuperset(story.depends_on)


def is_waiting(story: AnyStory) -> bool:
    """Whether the story may run as soon as its dependencies allow."""
    if story.status is Status.FAILED:
        return story.attempts < story.max_attempts
    return story.status is Status.PENDING


def _is_busy(story: AnyStory) -> bool:
    return story.status is Status.IN_PROGRESS


def _passed(plan: AnyPlan[AnyStory]) -> set[str]:
    return {story.id for story in plan.stories if story.status is Status.PASSED}


def _known(story: AnyStory, by_id: dict[str, AnyStory]) -> set[str]:
    return {needed for needed in story.depends_on if needed in by_id}


def _dependants(stories: Iterable[AnyStory]) -> dict[str, list[AnyStory]]:
    found: dict[str, list[AnyStory]] = {}
    for story in stories:
        for needed in set(story.depends_on):
            found.setdefault(needed, []).append(story)
    return found


def _find_end(story: AnyStory, barred: set[str]) -> str | None:
    """Why nothing comes of a story whatever the others do, or None where something may."""
    if story.status in (Status.BLOCKED, Status.STALE):
        return f"is {story.status}"
    if story.status is Status.FAILED and not is_waiting(story):
        if 0 < story.attempts == story.max_attempts:
            return f"failed {story.attempts} of {story.max_attempts} attempts"
        return f"failed after {counted(story.attempts, 'attempt')}, allowed: {story.max_attempts}"
    return "was given up in this run" if story.id in barred and is_waiting(story) else None


def _chain(name: str, waits_for: dict[str, str], root: str) -> str:
    """A sentence from a story to its root, up to the verb; the middle of a long one is left out."""
    names = [name]
    while names[-1] != root and len(names) < _LONGEST_CHAIN:
        names.append(waits_for[names[-1]])
    if names[-1] != root:
        gap = [] if waits_for[names[-1]] == root else ["…"]
        names += [*gap, root]
    waits = " waits for " + ", which waits for ".join(names[1:]) + ", which " if names[1:] else " "
    return names[0] + waits
