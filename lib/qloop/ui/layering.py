"""A graph in layers: each node behind all that it needs, arrows broken up at the layers between.

Pure and deterministic; all orders follow the order in which nodes are given. The graph is free of
circles. Long arrows from one node share a lane: one item in each layer that they pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Needs = Mapping[str, Sequence[str]]
"""For each node the nodes that it needs; all of them are nodes of the graph."""


@dataclass(slots=True, eq=False)
class Item:
    """Something that takes room in a layer: a node, or the lane of a node's arrows."""

    node: str
    layer: int
    is_lane: bool = False
    before: list["Item"] = field(default_factory=list)
    """What leads here from the layer before."""
    after: list["Item"] = field(default_factory=list)
    faint: bool = False
    """A lane of arrows that say nothing new."""


@dataclass(frozen=True, slots=True)
class Layered:
    """The items of each layer, in no particular order within it."""

    layers: tuple[tuple[Item, ...], ...]
    implied: frozenset[tuple[str, str]]
    """Arrows (needed, node) that say nothing new, as a longer way leads there too."""


def split_alone(needs: Needs) -> tuple[dict[str, list[str]], list[str]]:
    """The nodes that arrows lead to or from, and the others."""
    needed = {other for others in needs.values() for other in others}
    joined = {node: list(dict.fromkeys(others)) for node, others in needs.items()}
    alone = [node for node, others in joined.items() if not others and node not in needed]
    for node in alone:
        del joined[node]
    return joined, alone


def layer(needs: Needs) -> Layered:
    """Put the nodes into the earliest layers that they can be in, and lanes for long arrows."""
    place = _longest_ways(needs)
    implied = find_implied(needs, place)
    items = {node: Item(node, place[node]) for node in needs}
    layers: list[list[Item]] = [[] for _ in range(max(place.values(), default=-1) + 1)]
    for node in needs:
        layers[place[node]].append(items[node])
    targets: dict[str, list[str]] = {node: [] for node in needs}
    for node, others in needs.items():
        for other in others:
            targets[other].append(node)
    for node, found in targets.items():
        strong = {one for one in found if (node, one) not in implied}
        for lane in _connect(items[node], [items[one] for one in found], strong):
            layers[lane.layer].append(lane)
    return Layered(tuple(map(tuple, layers)), implied)


def find_implied(needs: Needs, place: Mapping[str, int]) -> frozenset[tuple[str, str]]:
    """Arrows (needed, node) for which a longer way leads from the one to the other."""
    bit = {node: 1 << number for number, node in enumerate(needs)}
    above = dict.fromkeys(needs, 0)  # for each node, all that it needs at whatever distance
    for node in sorted(needs, key=place.__getitem__):
        for other in needs[node]:
            above[node] |= above[other] | bit[other]
    found: set[tuple[str, str]] = set()
    for node, others in needs.items():
        behind = 0
        for other in others:
            behind |= above[other]
        found.update((other, node) for other in others if behind & bit[other])
    return frozenset(found)


def _longest_ways(needs: Needs) -> dict[str, int]:
    place = dict.fromkeys(needs, 0)
    missing = {node: len(others) for node, others in needs.items()}
    targets: dict[str, list[str]] = {node: [] for node in needs}
    for node, others in needs.items():
        for other in others:
            targets[other].append(node)
    free = [node for node, count in missing.items() if count == 0]
    for node in free:  # grows meanwhile
        for target in targets[node]:
            place[target] = max(place[target], place[node] + 1)
            missing[target] -= 1
            if missing[target] == 0:
                free.append(target)
    return place


def _connect(source: Item, targets: Sequence[Item], strong: set[str]) -> list[Item]:
    """Lead from an item to its targets; returns the lane, an item for each layer passed."""
    last = max((target.layer for target in targets), default=0)
    told = max((target.layer for target in targets if target.node in strong), default=0)
    way = [source]
    for number in range(source.layer + 1, last):
        step = Item(source.node, number, is_lane=True, faint=number >= told)
        _join(way[-1], step)
        way.append(step)
    for target in targets:
        _join(way[target.layer - source.layer - 1], target)
    return way[1:]


def _join(earlier: Item, later: Item) -> None:
    earlier.after.append(later)
    later.before.append(earlier)
