"""Waves: what is dispatched together, and what a whole run would look like."""

import itertools
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from plan.plans import overlap, plan, plans, story, unhurried, with_status
from qloop.plan.dag import next_wave, ready, standing, waves_preview
from qloop.plan.model import Plan, Status, Story


def wave(value: Plan, free_slots: int = 9, **options: list[str]) -> list[str]:
    """The ids of the next wave."""
    running = options.pop("running", [])
    return [s.id for s in next_wave(value, free_slots=free_slots, running=running, **options)]


def clash(value: Plan, one: Story, other: Story) -> bool:
    """Whether two stories must not be at work together, by the contract's words."""
    return any(
        overlap(left, right) for left in one.file_paths for right in other.file_paths
    ) or any({one.id, other.id} <= set(entry.stories) for entry in value.file_conflicts)


def test_a_wave_takes_no_two_stories_that_share_files() -> None:
    """Files are compared normalised, and a folder covers what is in it."""
    value = plan(
        story("A", files=["src//x.py"]),
        story("B", files=["./src/x.py"]),
        story("C", files=["src/"]),
        story("D", files=["src2/x.py", "doc"]),
        story("E", files=["doc/a.md"]),
    )

    assert wave(value) == ["A", "D"]


def test_a_wave_takes_no_two_stories_of_a_conflict_entry() -> None:
    """Who stands in one entry is kept apart, whatever its file says."""
    value = plan(
        story("A"),
        story("B"),
        story("C"),
        fileConflicts=[{"stories": ["A", "B", "ghost"]}, {"file": "f", "stories": ["C", "ghost"]}],
    )

    assert wave(value) == ["A", "C"]


def test_what_is_at_work_keeps_its_ground() -> None:
    """A story at work, by status or by the caller's word, bars what clashes with it."""
    value = plan(
        story("A", files=["a"], status="in_progress"),
        story("B", files=["b"]),
        story("C", files=["a/x"]),
        story("D", files=["b/x"]),
        story("E", files=["e"]),
        story("F"),
        fileConflicts=[{"stories": ["A", "F"]}],
    )

    assert wave(value, running=["B"]) == ["E"]


def test_a_wave_fills_the_free_slots_and_no_more() -> None:
    """The first in order are taken; without a slot nothing is."""
    value = plan(story("A", priority=2), story("B", priority=1), story("C"))

    assert wave(value, 2) == ["B", "A"]
    assert wave(value, 0) == []


def test_excluded_stories_are_passed_over() -> None:
    """A story that the driver has given up leaves its place to the next."""
    value = plan(story("A", files=["a"]), story("B", files=["a"]))

    assert wave(value, excluded=["A"]) == ["B"]


@unhurried
@given(plans(), st.integers(0, 4))
def test_every_wave_may_run_together(value: Plan, slots: int) -> None:
    """All dependencies passed, nothing clashes, and nothing that fits was left out."""
    taken = next_wave(value, free_slots=slots, running=())
    busy = [item for item in value.stories if item.status is Status.IN_PROGRESS]

    passed = {item.id for item in value.stories if item.status is Status.PASSED}
    assert all(passed.issuperset(item.depends_on) for item in taken)
    assert not any(clash(value, *pair) for pair in itertools.combinations(taken, 2))
    assert not any(clash(value, one, other) for one in taken for other in busy)
    assert len(taken) <= slots
    if len(taken) < slots:
        left = [item for item in ready(value) if item not in taken]
        assert all(any(clash(value, item, other) for other in taken + busy) for item in left)


@unhurried
@given(plans(), st.integers(1, 3), st.randoms(use_true_random=False))
def test_a_run_always_ends(value: Plan, slots: int, chance: Random) -> None:
    """Whatever passes or fails, the plan ends complete or blocked within its attempts."""
    for item in value.stories:
        if item.status is Status.IN_PROGRESS:
            value = with_status(value, item.id, Status.PENDING)
    before = {item.id: item.retries.attempts for item in value.stories}
    runs = dict.fromkeys(before, 0)
    while taken := next_wave(value, free_slots=slots, running=()):
        for item in taken:
            runs[item.id] += 1
            passes = chance.random() < 0.5
            status = Status.PASSED if passes else Status.FAILED
            value = with_status(value, item.id, status, charge=0 if passes else 1)

    assert standing(value) in ("complete", "blocked")
    for item in value.stories:
        # A pending story runs once whatever was charged to it before.
        assert runs[item.id] <= max(1, item.retries.max_attempts - before[item.id])


@unhurried
@given(plans(fresh=True), st.integers(1, 3))
def test_a_preview_covers_a_fresh_plan_in_order(value: Plan, slots: int) -> None:
    """Each story is in exactly one wave, after all that it depends on, and fits its wave."""
    waves = waves_preview(value, slots)

    at = {name: number for number, names in enumerate(waves) for name in names}
    assert sorted(itertools.chain(*waves)) == sorted(item.id for item in value.stories)
    assert all(at[needed] < at[item.id] for item in value.stories for needed in item.depends_on)
    assert all(1 <= len(names) <= slots for names in waves)


@unhurried
@given(plans(), st.integers(1, 3))
def test_a_preview_is_what_next_wave_would_take(value: Plan, slots: int) -> None:
    """Played through with next_wave, all passing, the waves are the same."""
    for item in value.stories:
        if item.status is Status.IN_PROGRESS or (item.status is Status.PASSED and item.depends_on):
            value = with_status(value, item.id, Status.PENDING)
    expected = []
    played = value
    while taken := next_wave(played, free_slots=slots, running=()):
        expected.append([item.id for item in taken])
        for item in taken:
            played = with_status(played, item.id, Status.PASSED)

    assert waves_preview(value, slots) == expected


def test_a_preview_leaves_out_what_cannot_run() -> None:
    """Blocked stories and what waits for them are in no wave; one in progress is to be run."""
    value = plan(
        story("A", status="blocked"),
        story("B", "A"),
        story("C", status="in_progress"),
        story("D", "C"),
        story("E", status="passed"),
    )

    assert waves_preview(value, 4) == [["C"], ["D"]]


def test_ten_thousand_stories_that_share_a_file_run_one_by_one() -> None:
    """A file that every story touches makes waves of one, in time that grows with the stories."""
    count = 10_000
    value = plan(*(story(f"S{n}", files=[f"src/{n}.py", "CHANGELOG.md"]) for n in range(count)))

    assert waves_preview(value, 8) == [[f"S{n}"] for n in range(count)]
