"""Delegates between the attempts of a run: long traces compressed, known fixes for workers."""

import json
from typing import Any

from world import World

FILLER = "".join(f"# line {number}\n" for number in range(60))
WRONG = f"{FILLER}def total(prices):\n    return sum(prices) + 1\n"
RIGHT = f"{FILLER}def total(prices):\n    return sum(prices)\n"
DIFF = (
    "--- a/shop.py\n+++ b/shop.py\n@@ -60,3 +60,3 @@\n # line 59\n def total(prices):\n"
    "-    return sum(prices) + 1\n+    return sum(prices)\n"
)
JUDGE = "python3 judge.py"
JUDGE_FILE = """
import sys
from pathlib import Path
text = Path("shop.py").read_text()
Path("junk.tmp").touch()
if "prices) + 1" in text or "half" in text:
    for number in range(148):
        print(f"calling {number}")
    print('  File "' + str(Path("shop.py").resolve()) + '", line 62, in total')
    print("AssertionError: assert 7 == 6")
    sys.exit(1)
"""
MADE = [["write", "shop.py", WRONG], ["write", "made.txt", "made"], ["commit", "a shop"]]
STORY: dict[str, Any] = {
    "id": "A-1",
    "title": "A shop",
    "tasks": [{"id": "T-1", "title": "total", "filePaths": ["shop.py", "made.txt"]}],
    "verify": [JUDGE],
}


def set_up(world: World, extra: str = "", **calls: Any) -> None:
    """A story whose first attempt leaves something wrong, and what delegates then answer."""
    world.repo.commit("a judge", {"judge.py": JUDGE_FILE})
    world.configure(f"{extra}\n[runners.double.toolless]")
    world.plan(STORY)
    mended = [["write", "shop.py", RIGHT], ["commit", "mended"]]
    answers = {role: [[["print", one]] for one in said] for role, said in calls.items()}
    world.script.write_text(json.dumps({"A-1": [MADE, mended], **answers}), encoding="utf-8")


def roles(world: World) -> list[str]:
    """Who was started, in order."""
    return [one["data"]["role"] for one in world.events("agent.started")]


def records(world: World) -> list[dict[str, Any]]:
    """What became of each delegate's call."""
    return [one["data"] for one in world.events("delegate.ended")]


def prompt(world: World, attempt: int, name: str = "prompt.md") -> str:
    """What an agent of an attempt was told."""
    return (world.path / f".qloop/logs/A-1/{attempt}/{name}").read_text("utf-8")


def test_a_known_fix_lands_without_another_implementer(world: World) -> None:
    """The trace is compressed, a worker mends the file that it names, and `show` tells all that."""
    set_up(world, qa=["total adds one too much, see shop.py:62"], worker=[DIFF])

    ran = world.run()

    qa, worker = records(world)
    shown = world.qloop("show", "A-1")
    asked = {one["name"] for one in json.loads(world.qloop("budget", "--json").out)["byRole"]}
    assert ran.code == 0, ran.err
    assert roles(world) == ["implementer", "qa", "worker"]
    assert (qa["lines_in"], qa["reason"]) == (150, "a trace of 150 lines, more than 100")
    assert (worker["lines_in"], worker["outcome"]) == (62, "applied")
    assert world.files() == {
        "README.md": "start",
        "judge.py": JUDGE_FILE.removesuffix("\n"),
        "made.txt": "made",
        "shop.py": RIGHT.rstrip("\n"),
    }
    assert "| AssertionError: assert 7 == 6" in prompt(world, 2, "qa.prompt.md")
    assert "import sys" not in prompt(world, 2, "worker.prompt.md")
    assert "qa compressed 150 lines to" in shown.out
    assert "total adds one too much, see shop.py:62" in shown.out
    assert "worker changed shop.py: 1 command green" in shown.out
    assert "qa compressed 150 lines" in ran.err
    assert asked == {"implementer", "qa", "worker"}
    assert world.worktrees() == []


def test_a_worker_that_fails_leaves_the_implementer_a_clean_start(world: World) -> None:
    """Nothing of the failed work or the worker's is there; the finding stands in its prompt."""
    set_up(world, qa=["see shop.py:62"], worker=[DIFF.replace("+    return", "+    half =")])
    script = json.loads(world.script.read_text("utf-8"))
    look = "git status --porcelain; git branch --show-current; git rev-parse HEAD; ls"
    script["A-1"][1].insert(0, ["sh", f"{{ {look}; }} > '{world.flags}/seen'"])
    world.script.write_text(json.dumps(script), encoding="utf-8")

    ran = world.run()

    told = prompt(world, 2)
    seen = (world.flags / "seen").read_text("utf-8").splitlines()
    assert ran.code == 0, ran.err
    assert roles(world) == ["implementer", "qa", "worker", "implementer"]
    assert seen[:2] == ["ql-wt/A-1", world.repo.git("rev-parse", "main").strip()]
    assert seen[2:] == ["README.md", "judge.py"]
    assert "Its log of 150 lines comes to:\n\n  see shop.py:62" in told
    assert "calling 147" not in told
    assert records(world)[1]["outcome"] == "put back"


def test_without_anybody_to_ask_an_extract_is_told(world: World) -> None:
    """No agent is called for it; a shorter trace stays as it is."""
    set_up(world)
    world.configure()

    ran = world.run()

    (record,) = records(world)
    assert ran.code == 0, ran.err
    assert roles(world) == ["implementer", "implementer"]
    assert (record["runner"], record["source"], record["usd"]) == (None, "extract", 0.0)
    assert "shop.py:62: AssertionError: assert 7 == 6" in prompt(world, 2)
