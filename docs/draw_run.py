"""Draw a run as a timeline: `python docs/draw_run.py CHECKOUT > docs/run.svg`.

CHECKOUT is a repository in which qloop ran, such as the demo's. Each story is a row, each attempt
a bar, green where it landed and red where it failed; lines lead from what a story waited for.
"""

import json
import sys
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

ROW, BAR, LEFT, RIGHT, TOP, WIDTH = 34, 18, 240, 24, 44, 960
LANDED, FAILED, INK, FAINT = "#2e8b57", "#c8553d", "#24292f", "#b9c0c8"
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:" + INK + "}"
    ".small{font-size:11px;fill:#57606a}.title{font-weight:600}"
)


@dataclass(frozen=True)
class Attempt:
    """One bar: seconds since the run's start, and whether it landed."""

    start: float
    end: float
    landed: bool
    why: str


def main() -> None:
    """Print the picture of the run in the folder that the command line names."""
    root = Path(sys.argv[1])
    plan = json.loads((root / "quantum.json").read_text("utf-8"))
    lines = (root / ".qloop" / "events.jsonl").read_text("utf-8").splitlines()
    sys.stdout.write(draw(plan, [json.loads(line) for line in lines]))


def draw(plan: dict[str, Any], events: list[dict[str, Any]]) -> str:
    """The picture as SVG text."""
    bars = attempts(events)
    total = max(one.end for row in bars.values() for one in row)
    scale = (WIDTH - LEFT - RIGHT) / total
    rows = {story["id"]: TOP + ROW * number for number, story in enumerate(plan["stories"])}
    height = TOP + ROW * len(rows) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(plan.get('project') or 'a run')}</title><style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#fff" stroke="#d0d7de"/>',
        f'<text class="title" x="16" y="26">{escape(plan.get("project") or "")}</text>',
        *_axis(total, scale, height),
    ]
    for story in plan["stories"]:
        parts += _edges(story, rows, bars, scale)
    for story in plan["stories"]:
        parts += _row(story, rows[story["id"]], bars.get(story["id"], []), scale)
    return "\n".join([*parts, "</svg>\n"])


def attempts(events: list[dict[str, Any]]) -> dict[str, list[Attempt]]:
    """Each story's attempts, from the journal."""
    zero = _moment(events[0])
    found: dict[str, list[Attempt]] = {}
    begun: dict[str, float] = {}
    for event in events:
        story = event.get("story")
        if event["event"] == "attempt.started":
            begun[story] = _moment(event) - zero
        elif event["event"] == "story.settled" and story in begun:
            data = event["data"]
            landed = data.get("status") == "passed"
            why = "" if landed else str(data.get("phase", ""))
            end = _moment(event) - zero
            found.setdefault(story, []).append(Attempt(begun.pop(story), end, landed, why))
    return found


def _row(story: dict[str, Any], y: int, row: list[Attempt], scale: float) -> list[str]:
    name = f"{story['id']}  {story.get('title') or ''}"
    parts = [f'<text x="16" y="{y + 13}">{escape(name[:32])}</text>']
    for one in row:
        x, width = LEFT + one.start * scale, max(4.0, (one.end - one.start) * scale)
        colour = LANDED if one.landed else FAILED
        tip = "landed" if one.landed else one.why
        parts.append(
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" rx="4" '
            f'fill="{colour}"><title>{escape(tip)}</title></rect>'
        )
        if one.why:
            parts.append(
                f'<text class="small" x="{x:.1f}" y="{y + BAR + 11}">{escape(one.why)}</text>'
            )
    return parts


def _edges(
    story: dict[str, Any],
    rows: dict[str, int],
    bars: dict[str, list[Attempt]],
    scale: float,
) -> list[str]:
    if story["id"] not in bars:
        return []
    x2, y2 = LEFT + bars[story["id"]][0].start * scale, rows[story["id"]] + BAR / 2
    parts = []
    for other in story.get("dependsOn") or []:
        if other in bars:
            x1, y1 = LEFT + bars[other][-1].end * scale, rows[other] + BAR / 2
            bend = max(12.0, (x2 - x1) / 2)
            parts.append(
                f'<path d="M{x1:.1f} {y1}C{x1 + bend:.1f} {y1} {x2 - bend:.1f} {y2} '
                f'{x2:.1f} {y2}" fill="none" stroke="{FAINT}" stroke-width="1.4"/>'
            )
    return parts


def _axis(total: float, scale: float, height: int) -> list[str]:
    step = max(1, round(total / 10))
    parts = []
    for second in range(0, int(total) + 1, step):
        x = LEFT + second * scale
        parts.append(
            f'<line x1="{x:.1f}" y1="34" x2="{x:.1f}" y2="{height - 10}" stroke="#eef1f4"/>'
        )
        parts.append(f'<text class="small" x="{x + 3:.1f}" y="30">{second} s</text>')
    return parts


def _moment(event: dict[str, Any]) -> float:
    return datetime.fromisoformat(event["ts"]).timestamp()


if __name__ == "__main__":
    main()
