"""Refinement from outside: by itself, in a mission, asked about, mended, killed."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from loaded import Loaded
from qloop.system.web import find_server
from world import World

PAGE = """<!doctype html>
<html lang="en"><head><title>Tea</title><meta name="viewport" content="width=device-width">
</head><body>Tea <a href="{link}">more</a></body></html>
"""
SERVE = f"exec '{sys.executable}' -m http.server --bind 127.0.0.1 $QLOOP_PORT"
PLAN = {
    "branchName": "ql/tea",
    "stories": [{"id": "US-001", "title": "The page", "verify": ["test -f index.html"]}],
}
PLANNED = {"event": "phase.complete", "phase_id": "PLANNING", "summary": "planned"}
PLANNING = f"""[phases.PLANNING]
command = '''cat > "$QLOOP_INTENT_DIR/quantum.json" <<< '{json.dumps(PLAN)}'
echo '{json.dumps(PLANNED)}''''
"""


ROLES = ("visual-inspector", "e2e-exerciser", "persona-simulator", "refinement-synth")
NO_AGENTS = "\n".join(f'[roles.{role}]\nrunner = "shell"' for role in ROLES)


def settings(serve: str | None = None, flows: dict[str, list[str]] | None = None) -> str:
    """The tables of qloop.toml, for code alone."""
    return f"{tables(serve, flows)}\n{NO_AGENTS}"


def tables(serve: str | None = None, flows: dict[str, list[str]] | None = None) -> str:
    """The tables of qloop.toml."""
    lines = ["[refinement]", "screenshots = false"]
    if serve is not None:
        lines += [f"serve = {json.dumps(serve)}", 'routes = ["/", "/gone"]']
    for name, commands in (flows or {}).items():
        lines += ["[[refinement.flows]]", f"name = {json.dumps(name)}"]
        lines += [f"commands = {json.dumps(commands)}"]
    return "\n".join(lines)


@pytest.fixture
def world(tmp_path: Path, loaded: Loaded) -> World:
    """A repository with a page."""
    made = World(tmp_path, loaded)
    made.repo.commit("page", {"index.html": PAGE.format(link="index.html")})
    return made


def test_what_is_served_is_looked_at_and_tried(world: World) -> None:
    """Routes are fetched, flows use the server; what is critical makes the exit code 1."""
    visit = (
        f"'{sys.executable}' -c 'import os, urllib.request as u; "
        'print(u.urlopen(os.environ["QLOOP_URL"] + "/index.html").read())\''
    )
    port = 'echo "$QLOOP_PORT" > "$KEPT"; test -f index.html'
    world.configure(
        'env_pass = ["KEPT"]\n'
        + settings(SERVE, {"read": [visit, port], "buy": ["echo no; false"]})
    )
    world.plan()
    kept = world.flags / "port"

    ran = world.qloop("refine", "--json", KEPT=str(kept))

    assert ran.code == 1, ran.err
    found = json.loads(ran.out)
    assert found["summary"] == "visual: 1 critical, 0 minor; flows: 1 of 2; personas: none declared"
    assert [(page["name"], page["status"]) for page in found["visual"]["pages"]] == [
        ("/", 200),
        ("/gone", 404),
    ]
    assert [one["rule"] for one in found["findings"]] == ["flow", "status"]
    folder = world.path / ".qloop" / "refinement"
    assert "no" in (folder / "e2e" / "02-buy" / "step-1.log").read_text("utf-8")
    assert "Tea" in (folder / "e2e" / "01-read" / "step-1.log").read_text("utf-8")
    assert "status 404" in (folder / "REFINEMENT_PLAN.md").read_text("utf-8")
    assert find_server(int(kept.read_text("utf-8"))) is None
    document = world.qloop("plan", str(folder / "refinement-prd.md"), "--out", "later.json")
    assert document.code == 0, document.err
    stories = json.loads((world.path / "later.json").read_text("utf-8"))["stories"]
    assert [(one["id"], one["verify"]) for one in stories] == [("REF-001", []), ("REF-002", [])]


def test_a_server_that_does_not_come_up_is_found(world: World) -> None:
    """Nothing else is looked at or tried then, and its output is the evidence."""
    world.configure(settings("echo cannot; exit 3", {"read": ["true"]}))
    world.plan()

    ran = world.qloop("refine", "--json")

    assert ran.code == 1, ran.err
    found = json.loads(ran.out)
    assert [(one["rule"], "cannot" in one["evidence"]) for one in found["findings"]] == [
        ("serve", True)
    ]
    assert found["summary"] == "visual: 1 critical, 0 minor; flows: 0 of 1; personas: none declared"


def answers(*said: dict[str, Any]) -> list[Any]:
    """An agent's steps in each of its calls: it says an answer."""
    return [[["print", json.dumps(one)]] for one in said]


def remark(severity: str, text: str, place: str) -> dict[str, Any]:
    """One of an agent's findings."""
    return {"severity": severity, "text": text, "places": [place]}


def improvement(title: str, *findings: int) -> dict[str, Any]:
    """What an agent would do about findings."""
    return {"title": title, "severity": "critical", "text": "So.", "findings": findings}


def test_agents_add_what_they_see_and_are_marked(world: World) -> None:
    """Code's findings stay; an agent's answer is checked, one that breaks off ends nothing."""
    people = '[{name = "ann", about = "is new"}, {name = "bob", about = "is blind"}]'
    world.configure(tables().replace("screenshots", f"personas = {people}\nscreenshots"))
    world.repo.commit("broken", {"index.html": PAGE.format(link="gone.html")})
    world.plan({"id": "US-001", "status": "passed", "verify": ["true"]})
    world.agent(
        visual_inspector=answers({"findings": [remark("minor", "Too pale", "index.html:3")]}),
        e2e_exerciser=[[["exit", 3]]],
        persona_simulator=answers(
            {"wouldRecommend": True, "why": "Tea is what I came for."},
            {"wouldRecommend": False, "why": "No.", "findings": [remark("critical", "x", "/")]},
        ),
        refinement_synth=answers(
            {"improvements": [improvement("a", 1, 9)]},
            {"improvements": [improvement("One page", 1), improvement("Talk", 2, 3)]},
        ),
    )

    ran = world.qloop("refine", "--json")

    assert ran.code == 1, ran.err
    found = json.loads(ran.out)
    assert found["summary"] == (
        "visual: 1 critical, 1 minor; flows: 1 of 1; personas: 1 of 2 would recommend"
    )
    assert [(one["source"], one["rule"]) for one in found["findings"]] == [
        ("visual", "link"),
        ("persona", "judgement"),
        ("visual", "judgement"),
    ]
    assert any("e2e-exerciser added nothing" in note for note in found["notes"])
    folder = world.path / ".qloop" / "refinement"
    assert "Would not recommend it." in (folder / "personas" / "bob.md").read_text("utf-8")
    page = (folder / "REFINEMENT_PLAN.md").read_text("utf-8")
    assert "the visual inspector, an agent's judgement" in page
    assert "What an agent would do" in page
    prd = (folder / "refinement-prd.md").read_text("utf-8")
    assert "## REF-001: One page" in prd
    assert "## REF-002: Talk" in prd
    prompt = next((folder / "logs").glob("refinement-synth-1/*.prompt*")).read_text("utf-8")
    assert "gone.html" in prompt
    paid = {event["data"]["role"] for event in world.events("budget.settled")}
    assert paid == set(ROLES)


def test_without_a_plan_there_is_nothing_to_refine(world: World) -> None:
    """That is said, with what to do."""
    ran = world.qloop("refine")

    assert ran.code == 66
    assert "qloop mission new" in ran.err


def begin(world: World, *words: str) -> Path:
    """Begin a mission; its folder."""
    ran = world.qloop("mission", "new", "Tea", "--skip", "RECON", "--json", *words)
    assert ran.code == 0, ran.err
    return Path(json.loads(ran.out)["folder"])


def waiting(world: World) -> dict[str, Any]:
    """The question that waits."""
    known = json.loads(world.qloop("mission", "status", "--json").out)
    found: dict[str, Any] = next(one for one in known["checkpoints"] if one["answer"] is None)
    return found


def answer(world: World, option: str) -> int:
    """Answer it, and go on; the exit code of that."""
    assert world.qloop("answer", waiting(world)["id"], option).code == 0
    return world.qloop("mission", "resume").code


def write(link: str) -> list[Any]:
    """An agent's steps that make the page."""
    return [["write", "index.html", PAGE.format(link=link)], ["commit", "page"]]


def test_what_is_critical_is_asked_about_and_mended(world: World) -> None:
    """Fixed, it is a story that goes through EXECUTION."""
    world.configure(f"{settings()}\n{PLANNING}")
    world.agent(US_001=[write("gone.html")], REF_001=[write("index.html")])
    folder = begin(world, "--autonomy", "guided")
    assert world.qloop("mission", "run").code == 3
    assert answer(world, "go-on") == 3
    asked = waiting(world)

    assert answer(world, "fix") == 3

    assert asked["type"] == "findings"
    assert [one["id"] for one in asked["options"]] == ["fix", "accept", "abandon"]
    assert "gone.html" in asked["question"]
    assert waiting(world)["type"] == "phase_end"
    plan = json.loads((folder / "quantum.json").read_text("utf-8"))
    assert {one["id"]: one["status"] for one in plan["stories"]} == {
        "US-001": "passed",
        "REF-001": "passed",
    }
