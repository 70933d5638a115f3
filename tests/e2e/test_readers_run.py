"""Whole runs with agents whose output has structure."""

import json

import pytest

from agents.agent_outputs import FOLDER, form_of, recorded
from world import Steps, World

WRITES: Steps = [["write", "a.txt", "a\n"], ["commit", "add a"]]
PASSED = "<quantum>STORY_PASSED</quantum>"


def prints(world: World, form: str, extra: str = "") -> None:
    """Write qloop.toml for an agent whose output has that form."""
    world.output = form
    world.configure(extra)


def printing(name: str, code: int = 0) -> Steps:
    """Steps that do the work and print what an agent command line really printed."""
    return [*WRITES, ["quiet"], ["sh", f"cat '{FOLDER}/{name}.out'"], ["exit", code]]


@pytest.mark.parametrize("name", ["claude-passed", "codex-passed", "opencode-passed"])
def test_a_structured_answer_lands(world: World, name: str) -> None:
    """The signal in its final answer counts, and what it cost is journaled."""
    prints(world, form_of(name))
    world.agent(A_1=[printing(name)])
    world.plan({"id": "A-1"})

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.files()["a.txt"] == "a"
    ended = world.events("agent.ended")[0]["data"]
    assert (ended["input_tokens"], ended["output_tokens"]) == (3000, 300)
    assert ended["cost_usd"] == (None if name.startswith("codex") else pytest.approx(0.0135))
    assert ended["session"]


def test_people_read_what_it_did_and_the_bytes_are_kept(world: World) -> None:
    """`logs` shows words, tools and cost; `--raw` every byte; the other logs are named."""
    prints(world, "claude-stream-json")
    world.agent(A_1=[printing("claude-passed")])
    world.plan({"id": "A-1"})
    world.run()

    shown = world.qloop("logs", "A-1")
    raw = world.qloop("logs", "A-1", "--raw", "--follow")

    assert shown.out.splitlines() == [
        "# model claude-sonnet-5",
        "Working on it.",
        "> Write: /tree/story.txt",
        "Working on it.",
        "> Bash: git add -A && git commit -q -m 'story: done' && git log --oneline | head -1",
        PASSED,
        "cost: 3 turns, 3,000 tokens in, 300 out, $0.0135",
    ]
    assert "output.log, prompt.md" in shown.err
    assert raw.out.encode() == recorded("claude-passed")
    assert "output.readable.log" in raw.err


def test_the_next_attempt_is_told_in_words(world: World) -> None:
    """The last failure's log in a prompt is the readable one."""
    prints(world, "claude-stream-json")
    world.agent(A_1=[printing("claude-max-turns", 1), printing("claude-passed")])
    world.plan({"id": "A-1"})

    world.run()
    prompt = world.path / ".qloop/logs/A-1/2/prompt.md"

    assert "error: Reached maximum number of turns" in prompt.read_text(encoding="utf-8")
    assert "num_turns" not in prompt.read_text(encoding="utf-8")


def test_a_signal_outside_of_the_answer_does_not_count(world: World) -> None:
    """What an agent quotes, or prints beside its events, is no claim."""
    quoted = json.dumps({"type": "item.completed", "item": {"type": "reasoning", "text": PASSED}})
    done = json.dumps({"type": "turn.completed", "usage": {}})
    prints(world, "codex-jsonl")
    world.agent(A_1=[[*WRITES, ["print", quoted], ["print", PASSED], ["print", done]]])
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}})

    ran = world.run()

    assert ran.code == 1, ran.err
    assert world.failures("A-1") == ["no_signal"]


def test_a_call_that_its_own_output_says_failed_does_not_pass(world: World) -> None:
    """Exit code 0 and a signal are not enough."""
    result = {"type": "result", "subtype": "success", "is_error": True, "result": PASSED}
    prints(world, "claude-json")
    world.agent(A_1=[[*WRITES, ["print", json.dumps(result)]]])
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}})

    ran = world.run()

    assert ran.code == 1, ran.err
    assert world.refs("refs/qloop/landed/") == {}


def test_an_answer_in_the_middle_of_much_output_is_found(world: World) -> None:
    """What the log's cap leaves out was read all the same."""
    result = {"type": "result", "is_error": False, "result": PASSED}
    much = ["sh", "yes 'a warning that nobody reads' | head -c 200000"]
    prints(world, "claude-json", "[limits]\nlog_bytes = 10000")
    world.agent(A_1=[[*WRITES, much, ["print", json.dumps(result)], much]])
    world.plan({"id": "A-1"})

    ran = world.run()
    log = world.path / ".qloop/logs/A-1/1/output.log"

    assert ran.code == 0, ran.err
    assert PASSED not in log.read_text(encoding="utf-8")


def test_output_in_a_file_of_its_own_is_read(world: World) -> None:
    """The file's answer counts; what was printed is a log."""
    argv = ["sh", "-c", f"echo a > a; cp '{FOLDER}/mini-passed.out' \"$1\"; echo seen", "sh"]
    table = json.dumps([*argv, "{output_file}"])
    extra = f'[runners.mini]\nargv = {table}\noutput = "mini-trajectory"'
    prints(world, "text", extra)
    world.plan({"id": "A-1", "runner": "mini"})

    ran = world.run()
    folder = world.path / ".qloop/logs/A-1/1"

    assert ran.code == 0, ran.err
    assert (folder / "output.log").read_text(encoding="utf-8") == "seen\n"
    assert "trajectory_format" in (folder / "output.answer").read_text(encoding="utf-8")
    assert world.events("agent.ended")[0]["data"]["turns"] == 3
    assert "> bash: git add -A" in world.qloop("logs", "A-1").out
    assert world.qloop("logs", "A-1", "--raw").out == "seen\n"


@pytest.mark.parametrize("how", ["", "mkfifo", "mkdir", "ln -s /dev/zero"])
def test_an_output_file_that_never_came_is_no_answer(world: World, how: str) -> None:
    """Whatever lies there instead, the attempt ends without a signal."""
    table = json.dumps(
        ["sh", "-c", f'echo a > a; {how or "test"} "$1"; true', "sh", "{output_file}"]
    )
    extra = f'[runners.mini]\nargv = {table}\noutput = "mini-trajectory"'
    prints(world, "text", extra)
    world.plan({"id": "A-1", "runner": "mini", "retries": {"maxAttempts": 1}})

    ran = world.run()

    assert ran.code == 1, ran.err
    assert world.failures("A-1") == ["no_signal"]


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("claude-steam-json", "did you mean 'claude-stream-json'?"),
        ("???", "write one of text, claude-json"),
    ],
)
def test_an_unknown_form_is_refused(world: World, word: str, told: str) -> None:
    """Before anything runs, with the nearest name."""
    prints(world, word)
    world.plan({"id": "A-1"})

    ran = world.run()

    assert ran.code == 65
    assert f"runners.double.output: '{word}' is unknown" in ran.err
    assert told in ran.err
