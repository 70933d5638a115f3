"""The plan as SVG and as Mermaid: what is drawn, and that no title can break out of its box."""

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from many_stories import many_stories
from qloop.plan.model import Json, Plan, parse_plan
from qloop.ui.dag_drawing import STATUSES, boxes_of, draw_dag
from qloop.ui.layout import BOX
from qloop.ui.mermaid import MOST_ARROWS, is_drawable, render_mermaid
from qloop.ui.svg import fitted, width_of, wrapped

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</text></svg><script>alert("1")</script> ]]> & \x1b[31m\u202e" --> end; #quot; `x` \n y'


def plan_of(*stories: Json, **fields: Any) -> Plan:
    """A plan of these stories."""
    return parse_plan({"branchName": "ql/x", "stories": list(stories), **fields})


def drawn(plan: Plan, **options: Any) -> ET.Element:
    """The drawing, read by a parser of XML."""
    words, chosen = options.pop("words", None), options.pop("chosen", ())
    made = draw_dag(plan, boxes_of(plan, words, chosen), **options)
    return ET.fromstring(made.markup.encode("utf-8"))


def texts(root: ET.Element) -> list[str]:
    """All lines of text in a drawing."""
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]


def groups(root: ET.Element, kind: str) -> list[ET.Element]:
    """The boxes of a class."""
    found = (one for one in root.iter(f"{SVG}g") if kind in one.get("class", "").split())
    return [one for one in found if one.find(f"{SVG}title") is not None]


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_has_colour_sign_and_word(status: str) -> None:
    """No status is told by colour alone: the sign's shape and the word differ too."""
    root = drawn(plan_of({"id": "A", "status": status}, {"id": "B", "status": "pending"}))
    (box, *_) = groups(root, status)
    shapes = {
        name: [path.get("d") for path in one.iter(f"{SVG}path")]
        for name in STATUSES
        for one in groups(drawn(plan_of({"id": "A", "status": name})), name)
    }

    assert status.replace("_", " ") in texts(box)
    assert list(shapes.values()).count(shapes[status]) == 1
    assert any(line.endswith(status.replace("_", " ")) for line in texts(root)[1:])


def test_a_stale_story_is_drawn_as_blocked() -> None:
    """Other writers' `stale` counts as blocked."""
    assert len(groups(drawn(plan_of({"id": "A", "status": "stale"})), "blocked")) == 1


def test_a_tooltip_tells_all() -> None:
    """A box names its story, its whole title, its status and what it needs."""
    title = "A title that is much too long for the two lines that a box has room for, by far"
    root = drawn(plan_of({"id": "A"}, {"id": "B", "title": title, "dependsOn": ["A", "gone"]}))
    tips = [one.findtext(f"{SVG}title") or "" for one in groups(root, "pending")]

    assert tips[1] == f"B: {title}\npending\nneeds A, gone"
    assert title not in texts(root)
    assert any(line.endswith("…") for line in texts(root))


def test_text_is_held_by_its_box() -> None:
    """What would be wider than estimated is cut off at the border."""
    root = drawn(plan_of({"id": "A" * 64, "title": "W" * 500}))
    (clip,) = root.iter(f"{SVG}clipPath")
    (rect,) = clip
    (box,) = groups(root, "pending")

    assert (float(rect.get("width", 0)), float(rect.get("height", 0))) == BOX
    held = [one for one in box.iter(f"{SVG}g") if one.get("clip-path") == f"url(#{clip.get('id')})"]
    assert texts(held[0]) == texts(box)
    assert all(width_of(line) <= BOX[0] for line in texts(box))


def test_a_drawing_loads_and_runs_nothing() -> None:
    """No script, no handler, no address but those of the page itself."""
    plan = plan_of({"id": "A", "title": HOSTILE}, project=HOSTILE)
    text = draw_dag(plan, boxes_of(plan), links="#story-").markup
    root = ET.fromstring(text.encode("utf-8"))
    names = {name for one in root.iter() for name in one.attrib}
    links = [one.get("href", "") for one in root.iter(f"{SVG}a")]

    assert root.find(f".//{SVG}script") is None
    assert [name for name in names if name.startswith("on")] == []
    assert links == ["#story-A"]
    assert re.findall(r"(?:https?:)?//[^\s\"]+", text) == ["http://www.w3.org/2000/svg"]
    assert "@import" not in text


@given(title=st.text(), project=st.text())
def test_any_title_is_drawn(title: str, project: str) -> None:
    """Whatever a title holds, the drawing is well-formed, and the same each time."""
    plan = plan_of({"id": "A", "title": title}, project=project)

    assert len(groups(drawn(plan), "pending")) == 1
    assert draw_dag(plan, boxes_of(plan)) == draw_dag(plan, boxes_of(plan))


def test_chosen_stories_stand_out() -> None:
    """Stories can be marked, and given other words than their status."""
    plan = plan_of({"id": "A"}, {"id": "B"})
    root = drawn(plan, words={"B": "wave 3"}, chosen=["B"])
    (chosen,) = groups(root, "chosen")

    assert "wave 3" in texts(chosen)
    assert (chosen.findtext(f"{SVG}title") or "").splitlines()[1] == "pending, wave 3"


def test_implied_arrows_are_in_the_legend() -> None:
    """Where there are faint arrows, the legend says what they are."""
    plain = drawn(plan_of({"id": "A"}, {"id": "B", "dependsOn": ["A"]}))
    knot = drawn(
        plan_of({"id": "A"}, {"id": "B", "dependsOn": ["A"]}, {"id": "C", "dependsOn": ["A", "B"]})
    )

    assert "follows from other arrows" in texts(knot)
    assert "follows from other arrows" not in texts(plain)


def test_an_empty_plan_is_drawn() -> None:
    """A plan without stories is a drawing without boxes."""
    assert texts(drawn(plan_of(project="Nothing"))) == ["Nothing"]


def test_three_hundred_stories() -> None:
    """A large plan is drawn whole."""
    root = drawn(plan_of(*many_stories(300)))

    assert sum(len(groups(root, status)) for status in STATUSES) == 300


@pytest.mark.parametrize(
    "words", ["short", "", "a very long line of words, much longer than it may be"]
)
def test_fitted(words: str) -> None:
    """A line is as long as there is room, and says where it was cut."""
    line = fitted(words, 120)

    assert width_of(line) <= 120
    assert line == words or line.endswith("…")


def test_wrapped() -> None:
    """Lines break between words, long words anywhere; the last line tells of what is left out."""
    assert wrapped("one two", 500, 2) == ["one two"]
    assert wrapped("one two three", width_of("one two "), 2) == ["one two", "three"]
    assert wrapped("x" * 50, width_of("x" * 10), 2) == ["x" * 10, "x" * 8 + "…"]
    assert wrapped("日本語日本語", width_of("日本語"), 2) == ["日本語", "日本語"]
    assert wrapped("", 50, 2) == []


def test_mermaid() -> None:
    """Stories, arrows, statuses; a chosen one has a thick border, an implied arrow is dotted."""
    plan = plan_of(
        {"id": "A", "title": "First", "status": "passed"},
        {"id": "B", "dependsOn": ["A"]},
        {"id": "end", "dependsOn": ["A", "B", "A"]},
    )

    assert render_mermaid(plan, boxes_of(plan, {"B": "next"}, ["B"])).splitlines() == [
        "flowchart LR",
        '  s1["✓ A: First<br/>passed"]:::passed',
        '  s2["○ B<br/>next"]:::pending',
        '  s3["○ end<br/>pending"]:::pending',
        "  s1 --> s2",
        "  s1 -.-> s3",
        "  s2 --> s3",
        "  classDef passed fill:#dafbe1,stroke:#1a7f37,color:#1f2328",
        "  classDef pending fill:#f6f8fa,stroke:#6e7781,color:#1f2328,stroke-dasharray:4 3",
        "  style s2 stroke-width:4px",
    ]


@given(title=st.text() | st.just(HOSTILE))
def test_no_title_breaks_out_of_its_label(title: str) -> None:
    """In a label nothing is left that Mermaid, HTML or a fence of Markdown would read."""
    plan = plan_of({"id": "A", "title": title})
    lines = render_mermaid(plan, boxes_of(plan)).splitlines()
    label = re.fullmatch(r'  s1\["○ A(.*)<br/>pending"\]:::pending', lines[1])

    assert label is not None
    assert re.search(r'["<>`&\[\]{}|;]', re.sub(r"#\d+;", "", label[1])) is None


def test_mermaid_leaves_out_what_it_would_not_draw() -> None:
    """Above Mermaid's limit implied arrows are left out; what is still too much is known."""
    stories: list[Json] = [{"id": f"S{at}"} for at in range(40)]
    for at, story in enumerate(stories):
        story["dependsOn"] = [f"S{other}" for other in range(at)]
    plan = plan_of(*stories)
    chart = render_mermaid(plan, boxes_of(plan))
    long = plan_of(*({"id": f"S{at}", "title": "x" * 60} for at in range(600)))

    assert chart.count(" --> ") == 39
    assert "%% left out, since they follow from others: 741 arrows" in chart
    assert MOST_ARROWS < 39 + 741
    assert is_drawable(chart)
    assert not is_drawable(render_mermaid(long, boxes_of(long)))
