"""RECON's scout and PLANNING from outside: agents that add, a plan that a person approves."""

import json
from pathlib import Path
from typing import Any

import pytest

from qloop.plan.prd_names import prd_hash
from world import World

WISH = "Prices are in cents from now on. Totals are sums of them, not of floats."
MAKEFILE = "test:\n\tsh test.sh\n"
COMPLETE = json.dumps({"event": "phase.complete", "phase_id": "EXECUTION", "summary": "done"})
DONE = f"head -1 > order.json; echo '{COMPLETE}'"
EXECUTED = f"[phases.EXECUTION]\ncommand = {json.dumps(DONE)}"
SURVEY = {
    "patterns": [
        {"text": "Amounts are plain numbers", "evidence": ["shop/prices.py:1"]},
        {"text": "All is cached", "evidence": ["shop/cache.py:4"]},
    ],
    "gotchas": [{"text": "Tests need sh", "evidence": ["Makefile:2", "Makefile:90"]}],
}
STORIES: list[dict[str, Any]] = [
    {
        "id": "US-001",
        "title": "Prices in cents",
        "acceptanceCriteria": ["No float is left"],
        "tasks": [{"title": "Change it", "filePaths": ["shop/prices.py"]}],
        "verify": ["grep -q cents shop/prices.py"],
    },
    {"id": "US-002", "title": "Totals", "dependsOn": ["US-001"]},
]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository with a program and a test command."""
    made = World(tmp_path)
    files = {"shop/prices.py": "price = 1.5\n", "Makefile": MAKEFILE, "test.sh": "exit 0\n"}
    made.repo.commit("shop", files)
    made.configure(EXECUTED)
    return made


def specification(*kept: int) -> dict[str, Any]:
    """What an upscaler says that keeps these sentences."""
    return {
        "title": "Cents",
        "problem": "Floats lose cents.",
        "goals": [{"text": "Prices are whole cents", "sentences": list(kept)}],
        "acceptanceCriteria": [{"text": "A total is a sum of cents"}],
    }


def play(world: World, **calls: list[Any]) -> None:
    """What the agents of each role answer, or do, call by call."""
    script = {
        role: [one if isinstance(one, list) else [["print", json.dumps(one)]] for one in said]
        for role, said in calls.items()
    }
    world.script.write_text(json.dumps(script), encoding="utf-8")


def count(world: World, role: str) -> int:
    """How often a role was asked."""
    calls = world.script.with_suffix(f".{role}")
    return len(calls.read_text("utf-8").split()) if calls.exists() else 0


def begin(world: World, *words: str) -> Path:
    """Begin a mission of the wish; its folder."""
    ran = world.qloop("mission", "new", WISH, "--json", "--skip", "REFINEMENT", *words)
    assert ran.code == 0, ran.err
    return Path(json.loads(ran.out)["folder"])


def waiting(world: World) -> dict[str, Any]:
    """The question that waits."""
    known = json.loads(world.qloop("mission", "status", "--json").out)
    found: dict[str, Any] = next(one for one in known["checkpoints"] if not one["answer"])
    return found


def answer(world: World, option: str, *words: str) -> int:
    """Answer the question that waits, and go on; the exit code."""
    ran = world.qloop("answer", waiting(world)["id"], option, *words)
    assert ran.code == 0, ran.err
    return world.qloop("mission", "resume").code


def read(folder: Path, name: str) -> str:
    """A page of the mission, or a prompt that an agent got."""
    suffix = "" if name.endswith(".md") else ".prompt.md"
    return (folder / f"{name}{suffix}").read_text("utf-8")


def check_report(report: str) -> None:
    """What the scout could show is in it, and nothing else."""
    assert "Amounts are plain numbers (`shop/prices.py:1`)" in report
    assert "All is cached" not in report
    assert "Makefile:90" not in report


def edit(folder: Path, **fields: Any) -> None:
    """Change the mission's plan as a person does."""
    path = folder / "quantum.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **fields}), "utf-8")


def test_agents_add_to_what_code_knows_and_a_person_approves(world: World) -> None:
    """Scout, upscaler and planner are believed as far as it can be checked."""
    play(
        world,
        scout=[SURVEY],
        upscaler=[specification(1), specification(1, 2)],
        planner=[{"stories": STORIES}],
    )
    folder = begin(world, "--autonomy", "guided", "--constraint", "no new packages")
    assert world.qloop("mission", "run").code == 3

    assert answer(world, "go-on") == 3

    spec, corrected = read(folder, "spec.md"), read(folder, "logs/planning/upscaler-1/upscaler-2")
    told = read(folder, "logs/planning/planner-1/planner-1")
    plan = json.loads((folder / "quantum.json").read_text("utf-8"))
    asked = waiting(world)
    check_report(read(folder, "recon/RECON_REPORT.md"))
    assert "sentence 2 stands in no point's sentences: Totals are sums of them" in corrected
    assert f"> {WISH}" in spec
    assert "- [ ] AC-1: A total is a sum of cents" in spec
    assert "no new packages" in told
    assert "Amounts are plain numbers (shop/prices.py:1)" in told
    assert "| - test: `make test` (Makefile:1" in told
    assert (plan["branchName"], plan["testCommand"]) == (f"ql/{folder.name}", "make test")
    assert plan["prdPath"].endswith("spec.md")
    assert asked["type"] == "plan_approval"
    assert "widest wave 1. Carry it out?\nupscaler: double\nmade by double\n" in asked["question"]
    assert "testCommand from Makefile:1" in asked["question"]
    assert "US-002" in asked["question"]
    assert "flowchart" in read(folder, "plans/EXECUTION_DAG.md")
    assert "- Needed by: US-002" in read(folder, "plans/blocks/US-001.md")

    edit(folder, stories=[STORIES[0]])
    assert answer(world, "approve") == 3  # the end of EXECUTION

    assert [path.name for path in (folder / "plans/blocks").iterdir()] == ["US-001.md"]
    assert [count(world, role) for role in ("scout", "upscaler", "planner")] == [1, 2, 1]
    assert world.worktrees() == []


def test_a_finished_agent_is_not_asked_again(world: World) -> None:
    """Killed at the planner, PLANNING goes on there; a new plan is made once for each answer."""
    first, other = {"stories": STORIES}, {"stories": [STORIES[0]]}
    killed = [["kill-parent"]]
    play(world, upscaler=[specification(1, 2)], planner=[killed, first, killed, other])
    folder = begin(world, "--autonomy", "guided", "--skip", "RECON")
    assert world.qloop("mission", "run").code == 3
    assert waiting(world)["context"]["failure_type"] == "crash"

    assert answer(world, "retry") == 3

    assert (count(world, "upscaler"), count(world, "planner")) == (1, 2)
    assert waiting(world)["type"] == "plan_approval"
    shown = world.qloop("prompt", "1", "--role", "upscaler")
    assert shown.out.strip() == read(folder, "logs/planning/upscaler-1/upscaler-1").strip()
    assert answer(world, "replan", "--note", "one story is enough") == 3
    assert answer(world, "retry") == 3
    assert (count(world, "upscaler"), count(world, "planner")) == (1, 4)
    assert "one story is enough" in read(folder, "logs/planning/planner-4/planner-1")
    edit(folder, stories=[{**STORIES[0], "dependsOn": ["US-009"]}])
    assert answer(world, "approve") == 3
    assert "US-009" in waiting(world)["question"]
    edit(folder, stories=[STORIES[0]])
    assert answer(world, "retry") == 3
    (folder / "spec.md").write_text("# Cents\n\nAs we said.\n", "utf-8")
    assert answer(world, "approve") == 3
    plan = json.loads((folder / "quantum.json").read_text("utf-8"))
    assert plan["prdHash"] == prd_hash(b"# Cents\n\nAs we said.\n")
    assert count(world, "planner") == 4
    assert world.worktrees() == []


def test_without_an_agent_a_directive_is_one_story(world: World) -> None:
    """On autopilot nothing is asked; what nobody judged is said, and commands come from facts."""
    world.configure(f'{EXECUTED}\n[roles.scout]\nrunner = "shell"')
    config = world.path / "qloop.toml"
    config.write_text(config.read_text("utf-8").replace('"double"', '"shell"', 1), "utf-8")
    folder = begin(world, "--autonomy", "autopilot")

    ran = world.qloop("mission", "run")

    plan = json.loads((folder / "quantum.json").read_text("utf-8"))
    (story,) = plan["stories"]
    assert ran.code == 0, ran.err
    assert (story["id"], story["description"]) == ("US-001", WISH)
    assert plan["testCommand"] == "make test"
    assert "no agent is set for the scout" in (folder / "recon/RECON_REPORT.md").read_text("utf-8")
    assert f"> {WISH}" in (folder / "spec.md").read_text("utf-8")
    assert (folder / "plans/blocks/US-001.md").exists()
    assert not (folder / "logs/planning").exists()


def test_an_agent_that_cannot_work_ends_no_phase(world: World) -> None:
    """What it would have added is missing, and that is said; a planner is needed."""
    world.script.write_text(json.dumps({"*": [[["exit", 3]]]}), encoding="utf-8")
    folder = begin(world, "--autonomy", "autopilot")

    ran = world.qloop("mission", "run")

    asked = waiting(world)
    assert ran.code == 3
    report = (folder / "recon/RECON_REPORT.md").read_text("utf-8")
    assert "the scout \\(double\\) ended with exit code 3" in report
    assert asked["context"]["failure_type"] == "reader_failed"
    assert "the planner (double) ended with exit code 3" in asked["question"]
