"""Layouts: boxes never overlap, arrows run one way and lead from each box to what needs it."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from many_stories import many_stories
from qloop.ui.layering import Item, find_implied, layer
from qloop.ui.layout import BOX, SCREEN, Layout, Point, lay_out
from qloop.ui.ordering import count_crossings, order_layers

Graph = dict[str, list[str]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """A graph without circles, its nodes in any order."""
    count = draw(st.integers(0, 16))
    names = [f"n{number}" for number in range(count)]
    needs = {
        name: draw(st.lists(st.sampled_from(names[:at]), unique=True, max_size=4)) if at else []
        for at, name in enumerate(names)
    }
    return {name: needs[name] for name in draw(st.permutations(names))}


def large(count: int) -> Graph:
    """The graph of a large plan."""
    return {story["id"]: story["dependsOn"] for story in many_stories(count)}


def overlapping(layout: Layout) -> list[tuple[str, str]]:
    """Pairs of boxes that share a place."""
    width, height = BOX
    return [
        (one, other)
        for (one, (x1, y1)), (other, (x2, y2)) in combinations(layout.boxes.items(), 2)
        if abs(x1 - x2) < width - 0.01 and abs(y1 - y2) < height - 0.01
    ]


def ports(layout: Layout, at: Point) -> tuple[Point, Point]:
    """Where arrows reach a box, and where they leave it."""
    (x, y), (width, height) = at, BOX
    if layout.down:
        return (x + width / 2, y), (x + width / 2, y + height)
    return (x, y + height / 2), (x + width, y + height / 2)


def close(point: Point) -> tuple[int, int]:
    """A point, so that it can be found again."""
    return round(point[0] * 10), round(point[1] * 10)


def dependants(layout: Layout) -> dict[str, set[str]]:
    """By box, the boxes that its arrows lead to, followed from piece to piece."""
    entries = {close(ports(layout, at)[0]): name for name, at in layout.boxes.items()}
    pieces: dict[tuple[int, int], list[tuple[tuple[int, int], bool]]] = {}
    for arrow in layout.arrows:
        pieces.setdefault(close(arrow.start), []).append((close(arrow.end), arrow.ends))
    found = {}
    for name, at in layout.boxes.items():
        reached, points = set(), [close(ports(layout, at)[1])]
        while points:
            for end, is_last in pieces.get(points.pop(), []):
                if is_last:
                    reached.add(entries[end])
                else:
                    points.append(end)
        found[name] = reached
    return found


def crossed(layout: Layout) -> list[str]:
    """Boxes that a lane runs through."""
    width, height = BOX
    lanes = [arrow for arrow in layout.arrows if not arrow.ends]
    hit = []
    for name, (x, y) in layout.boxes.items():
        for lane in lanes:
            middle_x = (lane.start[0] + lane.end[0]) / 2
            middle_y = (lane.start[1] + lane.end[1]) / 2
            if x < middle_x < x + width and y < middle_y < y + height:
                hit.append(name)
    return hit


def check(needs: Graph, layout: Layout) -> None:
    """All that a layout promises."""
    axis = 1 if layout.down else 0
    wanted: dict[str, set[str]] = {name: set() for name in needs}
    for name, others in needs.items():
        for other in others:
            wanted[other].add(name)

    assert layout.boxes.keys() == needs.keys()
    assert overlapping(layout) == []
    assert crossed(layout) == []
    assert all(arrow.start[axis] < arrow.end[axis] for arrow in layout.arrows)
    assert dependants(layout) == wanted
    for x, y in layout.boxes.values():
        assert -0.01 <= x <= layout.width - BOX[0] + 0.01
        assert -0.01 <= y <= layout.height - BOX[1] + 0.01


@given(needs=graphs())
def test_any_graph(needs: Graph) -> None:
    """No two boxes overlap, all arrows run the same way, and lead where they should."""
    layout = lay_out(needs)

    check(needs, layout)
    assert lay_out(needs) == layout


@pytest.mark.parametrize(
    "needs",
    [
        large(300),
        {f"n{at}": [f"n{at - 1}"] if at else [] for at in range(100)},
        {f"n{at:03d}": ["n000"] if at else [] for at in range(100)},
        {f"n{at}": [] for at in range(30)},
    ],
    ids=["large", "chain", "fan", "alone"],
)
def test_large_graphs(needs: Graph) -> None:
    """The promises hold at any size and shape."""
    check(needs, lay_out(needs))


def test_a_long_chain_runs_down() -> None:
    """A drawing that would be too wide for a screen is turned, as pages scroll down."""
    short = lay_out({"a": [], "b": ["a"]})
    long = lay_out({f"n{at}": [f"n{at - 1}"] if at else [] for at in range(50)})

    assert not short.down
    assert long.down
    assert long.width < SCREEN < long.height


def test_a_wide_fan_runs_to_the_right() -> None:
    """Where turning would make it wider, it is not turned."""
    layout = lay_out({f"n{at:02d}": ["n00"] if at else [] for at in range(50)})

    assert not layout.down
    assert layout.width < SCREEN


def test_stories_without_arrows_stand_below() -> None:
    """What needs nothing and is needed by nothing does not stand in the way."""
    layout = lay_out({"a": [], "alone": [], "b": ["a"]})

    assert layout.boxes["alone"][1] > max(layout.boxes["a"][1], layout.boxes["b"][1])


def test_each_node_stands_in_its_earliest_layer() -> None:
    """A node's layer is the longest way to it."""
    layered = layer({"a": [], "b": ["a"], "c": ["b"], "d": ["a", "c"], "e": []})
    places = {
        item.node: item.layer for items in layered.layers for item in items if not item.is_lane
    }

    assert places == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 0}


@given(needs=graphs())
def test_implied_arrows(needs: Graph) -> None:
    """An arrow says nothing new exactly when a longer way leads there too."""

    def reach(name: str) -> set[str]:
        return {one for other in needs[name] for one in (other, *reach(other))}

    place = {name: len(reach(name)) for name in needs}
    longer = {
        (needed, name)
        for name, others in needs.items()
        for needed in others
        if any(needed in reach(other) for other in others)
    }

    assert find_implied(needs, place) == longer


def test_implied_arrows_are_faint() -> None:
    """They are drawn, but do not stand out; a lane is faint where no other arrow uses it."""
    layout = lay_out({"a": [], "b": ["a"], "c": ["b", "a"]})

    assert layout.implied == 1
    assert [arrow.faint for arrow in layout.arrows].count(True) == 3


@given(needs=graphs())
def test_sorting_never_adds_crossings(needs: Graph) -> None:
    """The order that is kept is the best one met, at worst the first."""
    before: list[list[Item]] = [list(items) for items in layer(needs).layers]
    after = order_layers(before)

    assert count_crossings(after) <= count_crossings(before)
    assert [set(items) for items in after] == [set(items) for items in before]


def test_sorting_unties_a_knot() -> None:
    """Arrows that need not cross do not."""
    layout = layer({"a": [], "b": [], "c": ["b"], "d": ["a"]})
    before = [list(items) for items in layout.layers]

    assert count_crossings(before) == 1
    assert count_crossings(order_layers(before)) == 0
