"""The order of the items in each layer, for few crossings, and their places, for straight arrows.

Pure and deterministic. Places are least squares under that order, found by pooling neighbours.
"""

from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from itertools import pairwise

from qloop.ui.layering import Item

SWEEPS = 12
ROUNDS = 8
LANE_WEIGHT = 6.0
LOOSE_WEIGHT = 0.01
"""Of an item that nothing pulls: it gives way to all others."""

Layers = list[list[Item]]


def order_layers(layers: Layers) -> Layers:
    """The same layers, each sorted so that few arrows cross."""
    current = [list(items) for items in layers]
    best, fewest = current, count_crossings(current)
    for sweep in range(SWEEPS):
        if fewest == 0:
            break
        current = _swept(current, forward=sweep % 2 == 0)
        crossings = count_crossings(current)
        if crossings < fewest:
            best, fewest = current, crossings
    return best


def count_crossings(layers: Sequence[Sequence[Item]]) -> int:
    """How many pairs of arrows between two layers cross."""
    total = 0
    for earlier, later in pairwise(layers):
        place = {item: number for number, item in enumerate(later)}
        seen: list[int] = []
        for item in earlier:
            ends = sorted(place[target] for target in item.after)
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def place_items(layers: Layers, half: Callable[[Item], float]) -> dict[Item, float]:
    """The middle of each item across its layer; *half* is half of the room that it needs."""
    middles: dict[Item, float] = {}
    for items in layers:
        middles.update(zip(items, _spread([0.0] * len(items), items, half), strict=True))
    for number in range(ROUNDS):
        forward = number % 2 == 0
        for items in layers if forward else reversed(layers):
            _pull(items, half, middles, lambda one: one.before if forward else one.after)  # noqa: B023 -- used at once
    for items in layers:
        _pull(items, half, middles, lambda one: [*one.before, *one.after])
    return middles


def _swept(layers: Layers, *, forward: bool) -> Layers:
    """Each layer sorted by the mean place of what its items hang on, one layer after the other."""
    sorted_layers = list(layers)
    numbers = range(1, len(layers)) if forward else range(len(layers) - 2, -1, -1)
    for number in numbers:
        beside = sorted_layers[number - 1 if forward else number + 1]
        place = {item: float(at) for at, item in enumerate(beside)}
        sorted_layers[number] = _by_means(sorted_layers[number], place, forward=forward)
    return sorted_layers


def _by_means(items: list[Item], place: dict[Item, float], *, forward: bool) -> list[Item]:
    """Items by the mean place of their neighbours; one without any stays where it is."""
    means = {}
    for at, item in enumerate(items):
        near = item.before if forward else item.after
        means[item] = sum(place[one] for one in near) / len(near) if near else float(at)
    return sorted(items, key=means.__getitem__)


def _pull(
    items: list[Item],
    half: Callable[[Item], float],
    middles: dict[Item, float],
    near: Callable[[Item], Sequence[Item]],
) -> None:
    """Move the items of a layer to the means of what they hang on, as far as the order allows."""
    wanted, weights = [], []
    for item in items:
        others = near(item)
        wanted.append(
            sum(middles[one] for one in others) / len(others) if others else middles[item]
        )
        weights.append(_weight(item) if others else LOOSE_WEIGHT)
    middles.update(zip(items, _spread(wanted, items, half, weights), strict=True))


def _weight(item: Item) -> float:
    return LANE_WEIGHT if item.is_lane else 1.0


def _spread(
    wanted: Sequence[float],
    items: Sequence[Item],
    half: Callable[[Item], float],
    weights: Sequence[float] | None = None,
) -> list[float]:
    """The places nearest to the wanted ones in which all have their room, in the order given."""
    offsets, reached = [], 0.0
    for item in items:
        reached += half(item)
        offsets.append(reached)
        reached += half(item)
    pools: list[list[float]] = []  # mean, weight, count; the means rise
    for at, offset in enumerate(offsets):
        pool = [wanted[at] - offset, weights[at] if weights else 1.0, 1.0]
        while pools and pools[-1][0] >= pool[0]:
            mean, weight, count = pools.pop()
            both = weight + pool[1]
            pool = [(mean * weight + pool[0] * pool[1]) / both, both, count + pool[2]]
        pools.append(pool)
    bases = [mean for mean, _, count in pools for _ in range(int(count))]
    return [base + offset for base, offset in zip(bases, offsets, strict=True)]
