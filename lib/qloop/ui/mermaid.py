"""The plan as a Mermaid flowchart, for pages that draw one from text, such as those of GitHub.

Pure; deterministic. Source: https://mermaid.js.org/syntax/flowchart.html
"""

from collections.abc import Sequence

from qloop.plan.model import Plan
from qloop.system.counting import counted
from qloop.ui.dag_drawing import STATUSES, Box, needs_of
from qloop.ui.layering import layer
from qloop.ui.markup import clean

MOST_ARROWS = 500
"""Mermaid refuses to draw more, unless the page it stands in says otherwise."""
MOST_TEXT = 50_000
"""Characters, likewise."""
LONGEST_TITLE = 60
WIDEST = 6
"""Layers up to which arrows run to the right."""

_MARKS = {"passed": "✓", "in_progress": "▶", "pending": "○", "failed": "✗", "blocked": "■"}
_COLOURS = {
    "passed": "fill:#dafbe1,stroke:#1a7f37,color:#1f2328",
    "in_progress": "fill:#ddf4ff,stroke:#0969da,color:#1f2328",
    "pending": "fill:#f6f8fa,stroke:#6e7781,color:#1f2328,stroke-dasharray:4 3",
    "failed": "fill:#ffebe9,stroke:#c21f2a,color:#1f2328",
    "blocked": "fill:#fff8c5,stroke:#9a6700,color:#1f2328",
}
_SPECIAL = frozenset('"#&<>`*_~\\[](){}|;')


def render_mermaid(plan: Plan, boxes: Sequence[Box]) -> str:
    """The flowchart's text; arrows that say nothing new are dotted, or left out of large plans."""
    needs = {node: list(dict.fromkeys(others)) for node, others in needs_of(plan).items()}
    layered = layer(needs)
    names = {box.id: f"s{number}" for number, box in enumerate(boxes, start=1)}
    count = sum(map(len, needs.values()))
    dropped = layered.implied if count > MOST_ARROWS else frozenset()
    lines = [f"flowchart {'LR' if len(layered.layers) <= WIDEST else 'TD'}"]
    if dropped:
        lines.append(
            f"  %% left out, since they follow from others: {counted(len(dropped), 'arrow')}"
        )
    lines += [f'  {names[box.id]}["{_label(box)}"]:::{box.status}' for box in boxes]
    for node, others in needs.items():
        for other in others:
            if (other, node) not in dropped:
                arrow = "-.->" if (other, node) in layered.implied else "-->"
                lines.append(f"  {names[other]} {arrow} {names[node]}")
    used = {box.status for box in boxes}
    lines += [f"  classDef {name} {_COLOURS[name]}" for name in STATUSES if name in used]
    lines += [f"  style {names[box.id]} stroke-width:4px" for box in boxes if box.chosen]
    return "\n".join(lines)


def is_drawable(chart: str) -> bool:
    """Whether Mermaid draws such a chart with its default limits."""
    arrows = sum(" --> " in line or " -.-> " in line for line in chart.splitlines())
    return len(chart) <= MOST_TEXT and arrows <= MOST_ARROWS


def _label(box: Box) -> str:
    title = " ".join(clean(box.title).split())
    if len(title) > LONGEST_TITLE:
        title = f"{title[: LONGEST_TITLE - 1].rstrip()}…"
    words = f"{_MARKS[box.status]} {box.id}" + (f": {title}" if title else "")
    return f"{escape(words)}<br/>{escape(box.word)}"


def escape(words: str) -> str:
    """Text inside a quoted label: Mermaid's own entities for what it or HTML would read."""
    return "".join(f"#{ord(letter)};" if letter in _SPECIAL else letter for letter in clean(words))
