"""Where each story stands in the graph."""

from hypothesis import given

from plan.plans import plan, plans, story, unhurried
from qloop.plan.dag import levels
from qloop.plan.model import Plan


@unhurried
@given(plans())
def test_a_level_is_one_below_what_it_needs(value: Plan) -> None:
    """A story that needs nothing is on level 1, any other right behind the last that it needs."""
    found = levels(value.stories)

    for one in value.stories:
        assert found[one.id] == 1 + max((found[name] for name in one.depends_on), default=0)


def test_a_plan_with_faults_has_levels_too() -> None:
    """Unknown dependencies do not count, and what depends on itself ends nowhere, but is there."""
    value = plan(story("a", "nobody"), story("b", "a"), story("c", "d"), story("d", "c"))

    assert levels(value.stories) == {"a": 1, "b": 2, "c": 1, "d": 1}
