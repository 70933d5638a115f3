"""`qloop delegate`: a person asks a worker or a compressor, each without tools."""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from world import Ran, World, everything, wait_until

OLD = "def total(prices):\n    return sum(prices) + 1\n"
NEW = "def total(prices):\n    return sum(prices)\n"
BLOCK = f"```python\n{NEW}```"
DIFF = (
    "--- a/shop.py\n+++ b/shop.py\n@@ -1,2 +1,2 @@\n def total(prices):\n"
    "-    return sum(prices) + 1\n+    return sum(prices)\n"
)
TRACE = "\n".join(
    [
        *("collecting" for _ in range(140)),
        *('  File "shop.py", line 2, in total', "AssertionError: assert 7 == 6"),
    ]
)
GREEN = "! grep -q 'prices) + 1' shop.py"


def shop(world: World, **answers: list[Any]) -> None:
    """A file to change, and what delegates do, call by call."""
    world.configure("[runners.double.toolless]")
    world.repo.commit("a shop", {"shop.py": OLD, "other.py": "CANARY = 1\n"})
    calls = {
        role: [[["print", one]] if isinstance(one, str) else one for one in steps]
        for role, steps in answers.items()
    }
    world.script.write_text(json.dumps(calls), encoding="utf-8")


def work(world: World, *words: str, target: str = "shop.py") -> Ran:
    """Ask a worker to mend the shop."""
    ticket = ("--prompt", "The total is one too much.")
    return world.qloop("delegate", "worker", "--target", target, *ticket, *words)


def text_of(world: World, name: str = "shop.py") -> str:
    """What a file of the checkout holds."""
    return (world.path / name).read_text("utf-8")


def records(world: World) -> list[dict[str, Any]]:
    """The records of all calls."""
    return [one["data"] for one in world.events("delegate.ended")]


def prompt_of(world: World, role: str) -> str:
    """What a delegate was told."""
    (path,) = (world.path / ".qloop" / "delegates").glob(f"*/{role}.prompt.md")
    return path.read_text("utf-8")


def test_a_worker_changes_one_file_and_is_tested(world: World) -> None:
    """It sees that file and its ticket; the change stands once the command is green."""
    look = f"env > '{world.flags}/env'; ls -A > '{world.flags}/here'"
    shop(world, worker=[[["sh", look], ["print", BLOCK]]])

    ran = work(world, "--verify", GREEN, "--json")

    told, env = json.loads(ran.out), (world.flags / "env").read_text("utf-8")
    (record,) = records(world)
    assert ran.code == 0, ran.err
    assert text_of(world) == NEW
    assert world.repo.git("status", "--porcelain").split() == ["M", "shop.py"]
    assert told == {**record, "kept": told["kept"]}
    assert (record["role"], record["outcome"], record["depth"]) == ("worker", "applied", 1)
    assert (record["reason"], record["lines_in"], record["tokens_out"]) == ("asked by hand", 2, 18)
    assert (record["usd"], record["cost_source"]) == (0.25, "estimated")
    assert Path(told["kept"]).read_text("utf-8") == OLD
    assert "one too much" in prompt_of(world, "worker")
    assert OLD in prompt_of(world, "worker")
    assert "CANARY" not in prompt_of(world, "worker")
    assert "QLOOP_DEPTH=1" in env
    assert "GIT_" not in env
    assert (world.flags / "here").read_text("utf-8") == ""


def test_a_red_command_puts_the_file_back(world: World) -> None:
    """Bytes and mode are what they were; the answer stays in the log, and the exit code is 1."""
    shop(world, worker=[DIFF.replace("+    return sum(prices)\n", "+    return 0\n")])
    (world.path / "shop.py").chmod(0o755)

    ran = work(world, "--verify", "grep -q 'sum(prices)$' shop.py")

    assert ran.code == 1
    assert "shop.py is as it was: verify-1" in ran.err
    assert text_of(world) == OLD
    assert (world.path / "shop.py").stat().st_mode & 0o777 == 0o755
    assert records(world)[0]["outcome"] == "put back"


def test_the_stories_that_name_the_file_judge_it(world: World) -> None:
    """Without --verify their commands run; where none names it the change is unverified."""
    shop(world, worker=[DIFF, "```\nCANARY = 2\n```"])
    task = {"id": "T-1", "filePaths": ["./shop.py"], "commands": [GREEN]}
    world.plan({"id": "A-1", "tasks": [task], "verify": ["touch judged"]})

    judged = work(world)
    other = work(world, target="other.py")

    assert judged.code == other.code == 0, judged.err + other.err
    assert "2 commands green" in judged.out
    assert (world.path / "judged").exists()
    assert "unverified" in other.out
    assert text_of(world) == NEW


def test_an_answer_of_another_form_changes_nothing(world: World) -> None:
    """Nor do targets that are nobody's to give: the whole checkout is as it was."""
    shop(world, worker=["Here it is:\n" + NEW])
    outside = world.flags / "outside.py"
    outside.write_text(OLD, encoding="utf-8")
    (world.path / "link.py").symlink_to(outside)
    before = everything(world.path)

    prose = work(world)
    links = [work(world, target=name) for name in ("link.py", "../flags/outside.py")]

    after = everything(world.path)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert (prose.code, [one.code for one in links]) == (1, [65, 65])
    assert "neither a fenced block nor a diff" in prose.err
    assert {name.split("/")[0] for name in changed} <= {".qloop"}
    assert outside.read_text("utf-8") == OLD
    assert [one["outcome"] for one in records(world)] == ["rejected"]


def test_a_trace_is_compressed(world: World) -> None:
    """The words are cut at 50 tokens, and the first place is kept; an empty answer is replaced."""
    shop(world, qa=["word " * 5000, ""])

    long = world.qloop("delegate", "qa", "--prompt", TRACE)
    none = world.qloop("delegate", "qa", "--prompt", TRACE, "--json")

    first, second = records(world)
    assert long.code == none.code == 0
    assert long.out.startswith("shop.py:2: word word")
    assert (first["tokens_out"], first["truncated"], first["lines_in"]) == (50, True, 142)
    assert second["text"] == "shop.py:2: AssertionError: assert 7 == 6"
    assert json.loads(none.out)["source"] == "extract"


def test_a_runner_with_tools_is_no_delegate(world: World) -> None:
    """It is refused by name, before anything is asked, by `delegate` and by a run."""
    shop(world, qa=["fine"])
    world.configure('[roles.qa]\nrunner = "double"')
    world.plan({"id": "A-1"})

    by_hand = world.qloop("delegate", "qa", "--prompt", TRACE)
    by_run = world.run()

    assert (by_hand.code, by_run.code) == (69, 69), by_run.err
    assert "cannot be called without tools" in by_hand.err
    assert "claude, codex, gemini, qwen can" in by_run.err


def test_a_delegate_asks_no_other(world: World) -> None:
    """Neither by itself, nor without its variables, nor through a command that judges it."""
    ask = f"'{sys.executable}' -P -m qloop delegate qa --prompt x"
    hidden = f"env -i PATH=$PATH HOME=$HOME {ask}"
    nested = f"cd '{world.path}'; {{ {ask}; echo $?; {hidden}; echo $?; }} > '{world.flags}/n' 2>&1"
    shop(world, worker=[[["sh", nested], ["print", BLOCK]]], qa=["fine"])

    ran = work(world, "--verify", f"{ask}; test $? = 64")

    said = (world.flags / "n").read_text("utf-8")
    assert ran.code == 0, ran.err
    assert said.count("inside a delegate's process tree") == 2
    assert said.count("64\n") == 2
    assert [one["role"] for one in records(world)] == ["worker"]


def test_one_that_was_killed_leaves_nothing_behind(world: World) -> None:
    """Killed while its change was tried out: the next one puts that back and ends its commands."""
    wait = f"touch '{world.flags}/tried'; sleep 1000"
    shop(world, worker=[BLOCK], qa=["fine"])
    words = ("--target", "shop.py", "--prompt", "x", "--verify", wait)
    first = world.start("delegate", "worker", *words)
    wait_until((world.flags / "tried").exists)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    tried = text_of(world)

    then = world.qloop("delegate", "qa", "--prompt", TRACE)

    assert tried == NEW
    assert then.code == 0
    assert "put back what" in then.err
    assert text_of(world) == OLD
    assert [one["outcome"] for one in records(world)] == ["killed", "compressed"]
    assert list(Path(os.environ["TMPDIR"]).glob("qloop-delegate-*")) == []


def test_one_that_is_interrupted_changes_nothing(world: World) -> None:
    """Its agent is ended, its record says so, and the exit code is that of Ctrl-C."""
    shop(world, worker=[[["touch", str(world.flags / "asked")], ["sleep", 1000]]])
    asked = world.start("delegate", "worker", "--target", "shop.py", "--prompt", "x")
    wait_until((world.flags / "asked").exists)

    os.kill(asked.pid, signal.SIGINT)
    asked.communicate()

    assert asked.returncode == 130
    assert text_of(world) == OLD
    assert [one["outcome"] for one in records(world)] == ["cancelled"]


def test_the_budget_counts_for_delegates(world: World) -> None:
    """What cannot be paid is not asked for, and a person decides."""
    shop(world, qa=["fine"])
    world.configure("[limits]\nbudget_usd = 0.2\n[runners.double.toolless]")
    spend = {"call": "c-1", "role": "qa", "runner": "double", "model": None, "usd": 0.5}
    event = {"seq": 1, "ts": "2026-01-02T03:04:05.000Z", "run": "r-1", "event": "budget.settled"}
    (world.path / ".qloop").mkdir()
    line = json.dumps({**event, "data": {**spend, "source": "reported"}})
    (world.path / ".qloop" / "events.jsonl").write_text(line + "\n", encoding="utf-8")

    ran = world.qloop("delegate", "qa", "--prompt", TRACE)

    assert ran.code == 3
    assert "the next agent is taken to cost $0.50" in ran.err
    assert world.events("agent.started") == []


def test_the_model_grows_with_the_failures_before(world: World) -> None:
    """A delegate begins with the smallest of `models`, and takes the next for each failure."""
    shop(world, worker=[BLOCK], qa=["fine"] * 3)
    text = (world.path / "qloop.toml").read_text("utf-8")
    more = 'models = ["small", "middle", "large"]\n' + text
    (world.path / "qloop.toml").write_text(more, encoding="utf-8")

    for count in ("0", "1", "9"):
        asked = world.qloop("delegate", "qa", "--prompt", "x", "--failure-count", count)
        assert asked.code == 0, asked.err
    assert work(world, "--verify", GREEN, "--failure-count", "2").code == 0

    assert [one["model"] for one in records(world)] == ["small", "middle", "large", "large"]
