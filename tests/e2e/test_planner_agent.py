"""`qloop plan --agent`: an agent makes the plan of a document in free prose."""

import json
import os
import signal
import sys
from typing import Any

import pytest

from world import AGENT, World, everything, wait_until

PROSE = "# A shop\n\nPrices are in cents from now on, and totals are sums of them.\n"
PLANNER = "planner"
FIRST: dict[str, Any] = {
    "id": "US-001",
    "title": "Prices in cents",
    "acceptanceCriteria": ["No float is left"],
    "tasks": [{"title": "Change it", "filePaths": ["shop/prices.py"]}],
    "verify": ["grep -q cents shop/prices.py"],
}
SECOND: dict[str, Any] = {
    "id": "US-002",
    "title": "Totals",
    "acceptanceCriteria": ["A total is a sum"],
    "dependsOn": ["US-001"],
    "tasks": [{"id": "T-1", "title": "Sum", "filePaths": ["shop/totals.py"]}],
    "verify": ["test -s shop/totals.py"],
}
LIMIT = "API Error: 429\nClaude AI usage limit reached|1999999999"


def answer(*stories: dict[str, Any], **top: Any) -> str:
    """What a planner says that made these stories."""
    plan = {"project": "A shop", **top, "stories": list(stories)}
    return f"I looked around.\n```json\n{json.dumps(plan, indent=2)}\n```"


GOOD = answer(FIRST, SECOND)
CIRCLE = answer({**FIRST, "dependsOn": ["US-002"]}, SECOND)
STRANGE = answer({**FIRST, "status": "passed", "title": 3}, SECOND)


def planned_by(world: World, *calls: Any, prose: str = PROSE) -> None:
    """A document, and what the planner prints, or does, call by call."""
    (world.path / "prd.md").write_text(prose, encoding="utf-8")
    steps = [[["print", one]] if isinstance(one, str) else one for one in calls]
    world.script.write_text(json.dumps({PLANNER: steps}), encoding="utf-8")


def prompts(world: World) -> list[str]:
    """The prompts of the last planning, in order."""
    folder = max((world.path / ".qloop" / "plans").iterdir())
    kept = sorted(folder.glob("planner-*.prompt.md"))
    return [path.read_text("utf-8") for path in kept]


def is_idle(world: World) -> bool:
    """Whether nothing of a planner is left: no checkout, no ref, and no holder."""
    holder = json.loads((world.path / ".qloop" / "run.json").read_text("utf-8"))
    return (
        world.worktrees() == []
        and world.refs("refs/") == {"refs/heads/main": world.repo.git("rev-parse", "main").strip()}
        and "endedAt" in holder
    )


def test_a_good_answer_becomes_the_plan(world: World) -> None:
    """In the form of a compiled one, with the document pinned; its review and cost are told."""
    look = f"git rev-parse HEAD > '{world.flags}/head'; pwd > '{world.flags}/place'"
    planned_by(world, [["sh", look], ["print", GOOD]])

    ran = world.qloop("plan", "--agent", "prd.md")

    plan, (told,) = world.document, prompts(world)
    first, second = plan["stories"]
    assert ran.code == 0, ran.err
    assert (plan["branchName"], plan["project"], plan["prdPath"]) == (
        "ql/a-shop",
        "A shop",
        "prd.md",
    )
    assert plan["prdHash"].startswith("sha256:")
    assert (first["id"], first["status"], first["tasks"][0]["id"]) == ("US-001", "pending", "T-001")
    assert (second["dependsOn"], second["tasks"][0]["id"]) == (["US-001"], "T-1")
    assert "plan review: 2 stories, 1 edge, 2 waves to come; nothing to remark" in ran.out
    assert "planning cost ~$0.25 (1 call)" in ran.err
    assert "| Prices are in cents from now on" in told
    assert (world.flags / "head").read_text("utf-8") == world.repo.git("rev-parse", "HEAD") + "\n"
    assert not (world.flags / "place").read_text("utf-8").startswith(str(world.path))
    assert world.qloop("validate").code == 0
    assert is_idle(world)


def test_the_plan_can_be_run(world: World) -> None:
    """And `budget` knows what the planner cost."""
    planned_by(world, answer(FIRST))
    world.qloop("plan", "--agent", "prd.md")
    world.agent(US_001=[[["write", "shop/prices.py", "cents = 1\n"], ["commit", "cents"]]])

    ran = world.run()

    spent = json.loads(world.qloop("budget", "--json").out)
    assert ran.code == 0, ran.err
    assert world.files("ql/a-shop")["shop/prices.py"] == "cents = 1"
    assert [row["name"] for row in spent["byRole"]] == ["implementer", PLANNER]


def test_faults_are_told_to_the_planner_until_it_is_right(world: World) -> None:
    """Each is named, beside the answer that has it; what it says then counts."""
    planned_by(world, CIRCLE, STRANGE, GOOD)

    ran = world.qloop("plan", "--agent", "prd.md")

    first, second, third = prompts(world)
    assert ran.code == 0, ran.err
    assert "cannot be used" not in first
    assert "US-001 → US-002 → US-001" in second
    assert '|       "dependsOn": [' in second
    assert "- stories[0].status: this is not yours to say" in third
    assert "- stories[0].title: 3" in third
    assert "correction 2 of 3" in ran.err
    assert "planning cost ~$0.75 (3 calls)" in ran.err
    assert [one["id"] for one in world.document["stories"]] == ["US-001", "US-002"]


def test_an_answer_that_is_never_right_is_refused_and_kept(world: World) -> None:
    """After three corrections: 65, all its faults, and a file with the answer; no plan."""
    broken = GOOD.replace('"verify": [', '"verify": ', 1)
    planned_by(world, "I cannot.", CIRCLE, CIRCLE, broken)

    ran = world.qloop("plan", "--agent", "prd.md")

    kept = next((world.path / ".qloop" / "plans").glob("*/answer.txt"))
    assert ran.code == 65
    assert str(kept.relative_to(world.path)) in ran.err
    assert "there is no JSON object with stories" in ran.err
    assert "its JSON breaks at line 20, column " in ran.err
    assert kept.read_text("utf-8").strip() == broken.strip()
    assert len(prompts(world)) == 4
    assert "planning cost ~$1.00 (4 calls)" in ran.err
    assert not world.quantum.exists()
    assert is_idle(world)


def test_a_planner_that_writes_files_is_told_to_answer(world: World) -> None:
    """What it wrote is thrown away, and in the person's checkout nothing changes."""
    plan = json.dumps({"branchName": "ql/x", "stories": [FIRST]})
    files = [["write", "quantum.json", plan], ["write", "docs/plan.json", plan]]
    writes = [["sh", "chmod -R u+w ."], *files, ["print", "Done."]]
    look = f"ls -A > '{world.flags}/files'"
    planned_by(world, writes, [["sh", look], ["print", GOOD]])

    ran = world.qloop("plan", "--agent", "prd.md")

    told = prompts(world)[1]
    assert ran.code == 0, ran.err
    assert "changed its checkout (docs/plan.json); that is thrown away" in ran.err
    assert "only the answer itself is read, no file that was written" in told
    assert "what was written into files is thrown away: docs/plan.json" in told
    assert (world.flags / "files").read_text("utf-8").split() == [".git", "README.md"]
    assert world.document["branchName"] == "ql/a-shop"
    assert world.repo.git("status", "--porcelain").strip() == "?? prd.md"


def test_what_its_git_does_to_the_repository_is_taken_back(world: World) -> None:
    """By absolute path: the branch that it moved stands where it stood."""
    move = f"git -C '{world.path}' branch escaped; git -C '{world.path}' tag t"
    planned_by(world, [["sh", move], ["print", GOOD]])
    before = world.refs("refs/heads") | world.refs("refs/tags")

    ran = world.qloop("plan", "--agent", "prd.md")

    assert ran.code == 0, ran.err
    assert "went into your repository: ref" in ran.err
    assert world.refs("refs/heads") | world.refs("refs/tags") == before


@pytest.mark.parametrize(
    ("said", "code", "told"),
    [
        (LIMIT, 3, "has reached its usage limit"),
        ("API Error: 401 Invalid API key", 3, "is not let in"),
        ("API Error: 404 model_not_found", 65, "was refused its model"),
        ("API Error: 529 Overloaded", 69, "a service that is overloaded"),
        ("Segmentation fault", 1, "ended with exit code 1"),
        ("slow", 1, "ran longer than its limit of 1.0s"),
    ],
)
def test_a_planner_that_cannot_work_ends_it_clearly(
    world: World, said: str, code: int, told: str
) -> None:
    """The exit code is that of the cause; the log is named, and no plan is written."""
    last = ["sleep", 600] if said == "slow" else ["exit", 1]
    planned_by(world, [["print", said], last])
    limit = "1s" if said == "slow" else "15m"

    ran = world.qloop("plan", "--agent", "prd.md", QLOOP_TIMEOUT=limit)

    assert (ran.code, len(prompts(world))) == (code, 1), ran.err
    assert told in ran.err
    assert "/planner-1.log" in ran.err
    assert not world.quantum.exists()
    assert is_idle(world)


def test_a_stand_in_plans_where_a_limit_is_reached(world: World) -> None:
    """`fallback` names it; corrections are not used up by that."""
    spare = world.script.with_name("spare.json")
    spare.write_text(json.dumps({PLANNER: [[["print", GOOD]]]}), encoding="utf-8")
    argv = json.dumps([sys.executable, str(AGENT), str(spare)])
    world.configure(f'fallback = "spare"\n[runners.spare]\nargv = {argv}')
    planned_by(world, [["print", LIMIT], ["exit", 1]])

    ran = world.qloop("plan", "--agent", "prd.md")

    assert ran.code == 0, ran.err
    assert "spare takes over" in ran.err


def test_the_role_has_a_runner_of_its_own(world: World) -> None:
    """`[roles.planner]` wins over the default, and its model is handed over."""
    own = world.script.with_name("own.json")
    own.write_text(json.dumps({PLANNER: [[["print", GOOD]]]}), encoding="utf-8")
    argv = json.dumps([sys.executable, str(AGENT), str(own), "{model}"])
    table = f"[runners.own]\nargv = {argv}"
    role = '[roles.planner]\nrunner = "own"\nmodel = "big"'
    world.configure(f'permissions = "full"\n{role}\n{table}')
    planned_by(world, "no plan")

    ran = world.qloop("plan", "--agent", "prd.md")

    assert ran.code == 0, ran.err
    assert "own (big) plans prd.md" in ran.err
    assert 'permissions = "full": own may do whatever you may' in ran.err


def test_a_planner_is_paid_from_the_budget(world: World) -> None:
    """Where nothing is left for a correction, it ends with 3, and the agent is not started."""
    world.configure("[limits]\nbudget_usd = 0.3")
    planned_by(world, CIRCLE, GOOD)

    ran = world.qloop("plan", "--agent", "prd.md")

    assert ran.code == 3, ran.err
    assert (
        "--budget" not in ran.err.split("planning cost")[0].split("[limits]")[0]
        or "$0.3" in ran.err
    )
    assert not world.quantum.exists()


def test_an_update_keeps_what_was_done(world: World) -> None:
    """The planner sees the plan as it stands, on the line's tip; unchanged stories stay passed."""
    planned_by(world, answer(FIRST))
    world.qloop("plan", "--agent", "prd.md")
    world.agent(US_001=[[["write", "shop/prices.py", "cents = 1\n"], ["commit", "cents"]]])
    world.run()
    look = f"cat shop/prices.py > '{world.flags}/seen'"
    planned_by(world, [["sh", look], ["print", GOOD]], prose=PROSE + "\nAnd totals.\n")

    ran = world.qloop("plan", "--agent", "--update", "prd.md")

    (told,) = prompts(world)
    assert ran.code == 0, ran.err
    assert world.statuses() == {"US-001": "passed", "US-002": "pending"}
    assert '"status": "passed"' in told
    assert (world.flags / "seen").read_text("utf-8") == "cents = 1\n"
    assert "kept: US-001" in ran.err


def test_an_update_is_shown_what_it_may_say_again(world: World) -> None:
    """What other writers know of a story is not shown, and is not lost."""
    task = {"id": "T 1", "title": "Change it", "testFirst": True, "run": ["true"]}
    mine = {**FIRST, "tasks": [task], "timeout": "5m", "notes": "mine", "status": "passed"}
    world.plan(mine)
    told = {**FIRST, "tasks": [{"id": "T 1", "title": "Change it"}]}
    planned_by(world, answer(told))

    ran = world.qloop("plan", "--agent", "--update", "prd.md")

    (shown,) = prompts(world)
    (story,) = world.document["stories"]
    former = shown.partition("The plan as it stands")[2].partition("## How to plan")[0]
    assert ran.code == 0, ran.err
    assert "kept: US-001" in ran.err
    assert [name for name in ("testFirst", '"run"', "timeout", "notes") if name in former] == []
    assert story["tasks"][0]["testFirst"]
    assert (story["timeout"], story["notes"], story["status"]) == ("5m", "mine", "passed")


def test_an_unfinished_plan_stays_and_nothing_is_spent(world: World) -> None:
    """A finished one is archived."""
    planned_by(world, GOOD)
    world.plan({"id": "A-1"})
    refused = world.qloop("plan", "--agent", "prd.md")
    world.plan({"id": "A-1", "status": "passed"})

    ran = world.qloop("plan", "--agent", "prd.md")

    assert refused.code == 65
    assert "qloop plan --agent --update prd.md" in refused.err
    assert "planning cost" not in refused.err
    assert ran.code == 0, ran.err
    assert [*(world.path / ".qloop" / "archive").iterdir()]


def test_front_matter_holds_whatever_the_planner_says(world: World) -> None:
    """Its faults are told before anything is spent; `--out` and `--json` do as ever."""
    planned_by(
        world,
        answer(FIRST, testCommand="true"),
        prose=f"---\nbranchName: ql/mine\ntestCommand: sh test.sh\n---\n{PROSE}",
    )

    ran = world.qloop("plan", "--agent", "prd.md", "--out", "other.json", "--json")

    made = json.loads(ran.out)
    assert ran.code == 0, ran.err
    assert (made["branchName"], made["testCommand"]) == ("ql/mine", "sh test.sh")
    assert (world.path / "other.json").exists()
    assert not world.quantum.exists()
    assert "plan review: 1 story" in ran.err


@pytest.mark.parametrize(
    ("prose", "told"),
    [
        ("", "line 1: the document says nothing"),
        ("---\nbranchName: a b\n---\nText\n", "line 2: branchName"),
        ("---\nstories: []\n---\nText\n", "line 2: front matter: stories"),
    ],
)
def test_a_document_that_cannot_be_planned_costs_nothing(
    world: World, prose: str, told: str
) -> None:
    """65, with the line."""
    planned_by(world, GOOD, prose=prose)

    ran = world.qloop("plan", "--agent", "prd.md")

    assert ran.code == 65
    assert told in ran.err
    assert not (world.path / ".qloop" / "plans").exists()


def test_an_interrupt_ends_the_planner(world: World) -> None:
    """130; its processes and its checkout are gone. Meanwhile no run may begin."""
    wait = [["touch", f"{world.flags}/up"], ["spawn", 600], ["sleep", 600]]
    planned_by(world, wait)
    process = world.start("plan", "--agent", "prd.md")
    wait_until(lambda: (world.flags / "up").exists())
    world.plan({"id": "A-1"})
    busy = world.run()

    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=60)

    assert process.returncode == 130
    assert busy.code == 75
    assert ", planner, since" in busy.err
    assert is_idle(world)


def test_what_a_killed_planning_left_is_put_in_order(world: World) -> None:
    """The next one ends its agent and clears its place."""
    planned_by(world, [["touch", f"{world.flags}/up"], ["sleep", 600]], GOOD)
    process = world.start("plan", "--agent", "prd.md")
    wait_until(lambda: (world.flags / "up").exists())
    process.kill()
    process.communicate(timeout=60)
    shown = world.qloop("doctor")

    ran = world.qloop("plan", "--agent", "prd.md")

    assert "planner, since" in shown.out
    assert ran.code == 0, ran.err
    assert [one["id"] for one in world.document["stories"]] == ["US-001", "US-002"]
    assert is_idle(world)


def test_a_planning_is_no_run(world: World) -> None:
    """Neither the last one, nor one that the next run takes up, nor one of the report."""
    planned_by(world, GOOD, [["touch", f"{world.flags}/up"], ["sleep", 600]])
    world.qloop("plan", "--agent", "prd.md")
    process = world.start("plan", "--agent", "--update", "prd.md")
    wait_until(lambda: (world.flags / "up").exists())
    meanwhile = world.qloop("status")
    process.kill()
    process.communicate(timeout=60)

    status, watched = world.qloop("status"), world.qloop("watch")
    report = world.qloop("report", "--format", "markdown", "--out", "-")

    ran = world.run("--max-iterations", "0")
    assert ", planner, for" in meanwhile.out
    assert "no run is on" in status.out
    assert "none was made of this plan yet" in watched.out
    assert "p-20" not in report.out + watched.out
    assert ran.code == 2, ran.err
    assert world.worktrees() == []


def test_secrets_do_not_reach_what_is_kept(world: World) -> None:
    """Neither prompt nor log, answer or journal hold a key's value."""
    key = "sk-very-secret-value-123456"
    world.configure("", env=["DOUBLE_API_KEY"])
    planned_by(world, [["sh", "echo key $DOUBLE_API_KEY"]], prose=f"{PROSE}\nkey: {key}\n")

    ran = world.qloop("plan", "--agent", "prd.md", DOUBLE_API_KEY=key)

    kept = everything(world.path / ".qloop")
    assert ran.code == 65
    assert any(name.endswith("answer.txt") for name in kept)
    assert [name for name, data in kept.items() if key.encode() in data] == []


def test_a_planner_stuck_at_the_gate_is_named(world: World) -> None:
    """With the rule and the command; its silence is no answer to correct."""
    asked = json.dumps({"tool_name": "Bash", "tool_input": {"command": "npm install"}})
    hook = f"echo '{asked}' | eval \"$QLOOP_GATE gate hook\""
    planned_by(world, [["sh", f"{hook}; {hook}; {hook}"], ["quiet"]])

    ran = world.qloop("plan", "--agent", "prd.md")

    assert ran.code == 1
    assert "the planner (double) was stuck at the gate" in ran.err
    assert "shell-not-listed: npm install" in ran.err
    assert len(prompts(world)) == 1
    assert is_idle(world)


def test_what_goes_together_and_what_does_not(world: World) -> None:
    """A missing document is 66 before all else; options that exclude each other are 64."""
    planned_by(world, GOOD)

    missing = world.qloop("plan", "--agent", "nothing.md")
    both = world.qloop("plan", "--review", "prd.md")
    none = world.qloop("plan")
    compiled = world.qloop("plan", "prd.md")

    assert [one.code for one in (missing, both, none, compiled)] == [66, 64, 64, 65]
    assert "qloop plan --agent" in compiled.err


def test_a_plan_that_there_is_can_be_reviewed(world: World) -> None:
    """For people and as data; it informs only."""
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"], "acceptanceCriteria": ["x"]})

    ran = world.qloop("plan", "--review")
    data = world.qloop("plan", "--review", "--json", "--quantum", str(world.quantum))

    found = [(one["check"], one["stories"]) for one in json.loads(data.out)["remarks"]]
    assert (ran.code, data.code) == (0, 0)
    assert "plan review: 2 stories, 1 edge, 2 waves to come; 3 remarks" in ran.out
    assert "  A-1: nothing says what must hold for it to be done" in ran.out
    assert found == [("criteria", ["A-1"]), ("unverified", ["A-1"]), ("unverified", ["B-1"])]
