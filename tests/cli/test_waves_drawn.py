"""`qloop waves --format mermaid|svg`: the plan as a drawing."""

import json
import xml.etree.ElementTree as ET

import pytest

from look_world import World, story
from qloop.cli.main import main
from repository import Repo

Captured = pytest.CaptureFixture[str]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def world(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> World:
    """A repository to stand in, with a plan of which one story has passed."""
    monkeypatch.chdir(repo.path)
    made = World(repo)
    made.plan(
        story("A", "passed"), story("B", "pending", "A"), story("C"), story("D", "pending", "B")
    )
    return made


def boxes(text: str) -> dict[str, list[str]]:
    """The lines of each box, by the story's id."""
    found = {}
    for group in ET.fromstring(text).iter(f"{SVG}g"):
        lines = ["".join(one.itertext()) for one in group.iter(f"{SVG}text")]
        if group.find(f"{SVG}title") is not None:
            found[lines[0]] = [*lines[1:], group.get("class", "")]
    return found


def drawn(capsys: Captured, *words: str) -> str:
    """What the command prints."""
    assert main(["waves", *words]) == 0
    return capsys.readouterr().out


def test_svg(world: World, capsys: Captured) -> None:
    """Each story is a box, with the wave it would run in or with its status."""
    found = boxes(drawn(capsys, "--format", "svg"))

    assert found == {
        "A": ["passed", "The A", "passed"],
        "B": ["wave 1", "The B", "pending"],
        "C": ["wave 1", "The C", "pending"],
        "D": ["wave 2", "The D", "pending"],
    }


def test_fewer_at_once(world: World, capsys: Captured) -> None:
    """`--max-parallel` decides the waves that are drawn."""
    found = boxes(drawn(capsys, "--format", "svg", "--max-parallel", "1"))

    assert [found[name][0] for name in "ABCD"] == ["passed", "wave 1", "wave 2", "wave 3"]


def test_the_next_wave(world: World, capsys: Captured) -> None:
    """With `--next` the stories of the next wave stand out."""
    found = boxes(drawn(capsys, "--next", "--format", "svg", "--max-parallel", "1"))

    assert found["B"] == ["next", "The B", "pending chosen"]
    assert found["C"] == ["pending", "The C", "pending"]


def test_mermaid(world: World, capsys: Captured) -> None:
    """The same as a flowchart's text."""
    text = drawn(capsys, "--format", "mermaid")
    marked = drawn(capsys, "--format", "mermaid", "--next")

    assert text.splitlines()[:3] == [
        "flowchart LR",
        '  s1["✓ A: The A<br/>passed"]:::passed',
        '  s2["○ B: The B<br/>wave 1"]:::pending',
    ]
    assert "  style s2 stroke-width:4px" in marked.splitlines()


def test_json_stays_json(world: World, capsys: Captured) -> None:
    """`--json` is not overruled by a form that draws."""
    assert json.loads(drawn(capsys, "--json", "--format", "svg")) == {
        "waves": [["B", "C"], ["D"]],
    }
