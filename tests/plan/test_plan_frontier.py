"""Ready stories counted as stories change: the same as looking for them anew, always."""

from hypothesis import given
from hypothesis import strategies as st

from plan.plans import plan, plans, story, unhurried, with_status
from qloop.plan.dag import next_wave
from qloop.plan.frontier import Frontier
from qloop.plan.model import Plan, Status, Story
from qloop.plan.outline import outline_of


def answers(frontier: Frontier[Story], value: Plan, data: st.DataObject) -> bool:
    """Whether both say the same of the next wave, for slots, running and excluded as drawn."""
    ids = [one.id for one in value.stories] or ["S0"]
    some = st.lists(st.sampled_from([*ids, "gone"]), max_size=2)
    slots, running, excluded = data.draw(st.tuples(st.integers(0, 4), some, some))
    wanted = next_wave(value, free_slots=slots, running=running, excluded=excluded)

    return frontier.next_wave(free_slots=slots, running=running, excluded=excluded) == wanted


@unhurried
@given(plans(), st.data())
def test_any_history_is_followed(value: Plan, data: st.DataObject) -> None:
    """Statuses and charges change at random, in an order that no run would make, too."""
    frontier = Frontier(value)
    for _ in range(data.draw(st.integers(0, 8))):
        if value.stories:
            name = data.draw(st.sampled_from([one.id for one in value.stories]))
            status = data.draw(st.sampled_from(list(Status)))
            value = with_status(value, name, status, charge=data.draw(st.integers(0, 1)))
            frontier.follow(value)
        assert answers(frontier, value, data)


@unhurried
@given(plans(fresh=True), st.data())
def test_a_run_is_counted_without_a_look_at_the_whole(value: Plan, data: st.DataObject) -> None:
    """A run that starts what is ready and passes what it started never begins anew."""
    frontier = Frontier(value)
    while wave := next_wave(value, free_slots=data.draw(st.integers(1, 3)), running=()):
        for status in (Status.IN_PROGRESS, Status.PASSED):
            for one in wave:
                value = with_status(value, one.id, status)
                changed = value.story(one.id)
                assert changed is not None
                assert frontier.update(changed)
                assert answers(frontier, value, data)


@unhurried
@given(plans(), plans(), st.data())
def test_another_plan_is_taken_in_anew(one: Plan, other: Plan, data: st.DataObject) -> None:
    """Stories that come, go or change places, and other priorities, dependencies and conflicts."""
    frontier = Frontier(one)
    frontier.follow(other)

    assert answers(frontier, other, data)


def test_a_clash_lasts_as_long_as_the_other_is_at_work() -> None:
    """A story that shares a file waits in its place, and starts when the file is free."""
    value = plan(story("A", files=["x"]), story("B", files=["x"]), story("C"))
    frontier = Frontier(outline_of(value))

    assert [one.id for one in frontier.next_wave(free_slots=3, running=())] == ["A", "C"]
    assert [one.id for one in frontier.next_wave(free_slots=3, running=["A"])] == ["C"]
    frontier.follow(outline_of(with_status(value, "A", Status.PASSED)))
    assert [one.id for one in frontier.next_wave(free_slots=3, running=())] == ["B", "C"]
