"""Circles in graphs."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from plan.plans import unhurried
from qloop.plan.cycles import find_knots, shortest_circle

NODES = "abcdef"
GRAPHS = st.fixed_dictionaries(
    {node: st.lists(st.sampled_from(NODES), max_size=3, unique=True) for node in NODES}
).map(lambda graph: {node: graph[node] for node in NODES})


def leads(graph: dict[str, list[str]], start: str, goal: str) -> bool:
    """Whether a way of at least one step leads from *start* to *goal*."""
    seen, stack = set(), [*graph[start]]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += graph[node]
    return goal in seen


@unhurried
@given(GRAPHS)
def test_knots_are_the_nodes_that_lead_to_each_other(graph: dict[str, list[str]]) -> None:
    """Two nodes are in one knot exactly if each leads to the other."""
    knots = find_knots(graph)

    for one, other in itertools.combinations(NODES, 2):
        together = sum(one in knot and other in knot for knot in knots)
        assert together == (leads(graph, one, other) and leads(graph, other, one))
    assert [sorted(knot) for knot in knots] == knots
    assert sorted(knots) == knots


@unhurried
@given(GRAPHS)
def test_a_circle_is_a_way_back_to_where_it_starts(graph: dict[str, list[str]]) -> None:
    """The circle follows the edges, visits nothing twice, and starts with the knot's first."""
    for knot in find_knots(graph):
        circle = shortest_circle(graph, knot)

        assert circle[0] == circle[-1] == knot[0]
        assert all(later in graph[earlier] for earlier, later in itertools.pairwise(circle))
        assert len(set(circle)) == len(circle) - 1 >= 2


def test_a_shortest_circle_is_taken() -> None:
    """Of two ways back, the one with fewer steps is shown."""
    graph = {"a": ["b", "c"], "b": ["d"], "c": ["a"], "d": ["a"]}

    assert shortest_circle(graph, ["a", "b", "c", "d"]) == ["a", "c", "a"]
