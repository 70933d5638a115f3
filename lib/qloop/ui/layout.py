"""Where the boxes of a graph stand and how its arrows run: layers, few crossings, straight lanes.

Pure and deterministic. Units: pixels; a box's place is its upper left corner. `along` is the
direction of the arrows, `across` the one in which the items of a layer follow each other.
Source: Sugiyama's method, with barycentres, and least squares under order for the places.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from qloop.ui.layering import Item, Layered, Needs, layer, split_alone
from qloop.ui.ordering import Layers, order_layers, place_items

BOX = (224.0, 62.0)
SCREEN = 1500.0
"""Drawings up to this width are not turned."""
GAP_RIGHT, GAP_DOWN = 56.0, 40.0
"""Between two layers, for arrows that run to the right or down."""
SPACE, LANE = 16.0, 9.0
"""Between two boxes of a layer; what a lane takes."""
FEWEST_COLUMNS = 4

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Arrow:
    """A piece of an arrow: from a box or a lane's end to a box or a lane's start."""

    start: Point
    end: Point
    faint: bool
    """It says nothing new: a longer way leads there too."""
    ends: bool
    """It ends at a box."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing's places; boxes do not overlap, and all arrows run the same way."""

    boxes: dict[str, Point]
    arrows: tuple[Arrow, ...]
    width: float
    height: float
    down: bool
    """Arrows run down rather than to the right."""
    implied: int
    """How many arrows say nothing new."""


def lay_out(needs: Needs) -> Layout:
    """Places for the nodes of a graph without circles; those without any arrow stand below."""
    joined, alone = split_alone(needs)
    right = _one_way(joined, down=False)
    if right.width > SCREEN:
        down = _one_way(joined, down=True)
        if down.width < right.width:  # pages scroll down
            right = down
    return _with_alone(right, alone)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The drawing's measures in terms of along and across."""

    along: float
    across: float
    gap: float
    down: bool

    def half(self, item: Item) -> float:
        """Half of what is drawn of an item."""
        return LANE / 2 if item.is_lane else self.across / 2

    def room(self, item: Item) -> float:
        """Half of the room that an item takes in its layer."""
        return LANE / 2 if item.is_lane else (self.across + SPACE) / 2

    def point(self, along: float, across: float) -> Point:
        return (across, along) if self.down else (along, across)


def _one_way(needs: Needs, *, down: bool) -> Layout:
    width, height = BOX
    frame = _Frame(height, width, GAP_DOWN, True)
    if not down:
        frame = _Frame(width, height, GAP_RIGHT, False)
    layered = layer(needs)
    layers = order_layers([list(items) for items in layered.layers])
    middles = place_items(layers, frame.room)
    first = min((middles[item] - frame.half(item) for item in middles), default=0.0)
    middles = {item: middle - first for item, middle in middles.items()}
    return _drawn(layered, layers, middles, frame)


def _drawn(layered: Layered, layers: Layers, middles: dict[Item, float], frame: _Frame) -> Layout:
    pitch = frame.along + frame.gap
    boxes: dict[str, Point] = {}
    arrows: list[Arrow] = []
    for number, items in enumerate(layers):
        start, end = number * pitch, number * pitch + frame.along
        for item in items:
            middle = middles[item]
            if item.is_lane:
                line = (frame.point(start, middle), frame.point(end, middle))
                arrows.append(Arrow(*line, faint=item.faint, ends=False))
            else:
                boxes[item.node] = frame.point(start, middle - frame.across / 2)
            for other in item.after:
                line = (frame.point(end, middle), frame.point(start + pitch, middles[other]))
                faint = _is_faint(item, other, layered)
                arrows.append(Arrow(*line, faint=faint, ends=not other.is_lane))
    far = max((middles[item] + frame.half(item) for item in middles), default=0.0)
    size = frame.point(max(0.0, len(layers) * pitch - frame.gap), far)
    return Layout(boxes, tuple(arrows), *size, frame.down, len(layered.implied))


def _is_faint(item: Item, other: Item, layered: Layered) -> bool:
    return other.faint if other.is_lane else (item.node, other.node) in layered.implied


def _with_alone(layout: Layout, alone: Sequence[str]) -> Layout:
    """The nodes without any arrow, in rows below the others."""
    if not alone:
        return layout
    across, down = BOX[0] + SPACE, BOX[1] + SPACE
    columns = max(FEWEST_COLUMNS, int((layout.width + SPACE) / across))
    top = layout.height + (SPACE * 2 if layout.boxes else 0.0)
    boxes = dict(layout.boxes)
    for at, node in enumerate(alone):
        boxes[node] = (at % columns * across, top + at // columns * down)
    rows = (len(alone) - 1) // columns + 1
    width = min(columns, len(alone)) * across - SPACE
    return replace(
        layout,
        boxes=boxes,
        width=max(layout.width, width),
        height=top + rows * down - SPACE,
    )
