"""Each form of output, as agent command lines really wrote it."""

import json

import pytest

from agents.agent_outputs import NAMES, form_of, read, recorded
from qloop.agents.signals import parse_signal
from qloop.agents.usage import Usage

PASSED = "<quantum>STORY_PASSED</quantum>"
THREE_CALLS = Usage(input_tokens=3000, output_tokens=300)

GOOD: list[tuple[str, int | None, float | None, str | None]] = [
    ("claude-passed", 3, 0.0135, "claude-sonnet-5"),
    ("claude-partial", 3, 0.0135, "claude-sonnet-5"),
    ("claude-recovered", 3, 0.0135, "claude-sonnet-5"),
    ("codex-passed", 1, None, None),
    ("gemini-json-passed", None, None, "fake"),
    ("gemini-stream-passed", None, None, "gemini-2.5-flash"),
    ("mini-passed", 3, 0.0105, "openai/gpt-4o"),
    ("opencode-passed", 3, 0.0135, None),
    ("qwen-array-passed", 3, None, "fake-model"),
    ("qwen-passed", 3, None, "fake-model"),
]
BAD: list[tuple[str, str, list[tuple[int | None, str]]]] = [
    ("claude-401", "Invalid API key · Fix external API key",
     [(401, "authentication_failed"), (401, "authentication_failed"), (401, "")]),
    ("claude-429", "API Error: Request rejected (429) · Rate limit reached, try later",
     [(429, "rate_limit"), (429, "rate_limit"), (429, "")]),
    ("claude-max-turns", "Reached maximum number of turns (1)", []),
    ("codex-401", "unexpected status 401 Unauthorized: invalid x-api-key", [(401, ""), (401, "")]),
    ("codex-429", "exceeded retry limit, last status: 429 Too Many Requests", [(429, "")]),
    ("gemini-json-401", '{"error":{"code":401,"message":"invalid x-api-key"', [(401, "Error")]),
    ("gemini-stream-401", "[API Error: ", [(401, "unknown")]),
    ("gemini-stream-429", "[API Error: Rate limit reached", [(None, "unknown")]),
    ("mini-401", "AuthenticationError: litellm.", [(None, "AuthenticationError")]),
    ("mini-step-limit", "LimitsExceeded", []),
    ("opencode-401", "invalid x-api-key", [(401, "APIError")]),
    ("qwen-401", "401 invalid x-api-key", [(401, "")]),
    ("qwen-max-turns", "", []),
]  # fmt: skip


def event(**fields: object) -> bytes:
    """One line of JSON."""
    return json.dumps(fields).encode() + b"\n"


def test_each_recorded_output_is_judged() -> None:
    """None lies here unread."""
    assert sorted([row[0] for row in GOOD] + [row[0] for row in BAD]) == NAMES


@pytest.mark.parametrize(("name", "turns", "cost_usd", "model"), GOOD)
def test_a_good_call(
    name: str, turns: int | None, cost_usd: float | None, model: str | None
) -> None:
    """Its answer, its signal, and what it cost."""
    reading, _ = read(form_of(name), recorded(name))
    usage = reading.usage

    assert (reading.answer.strip(), reading.failed, reading.error) == (PASSED, False, "")
    assert parse_signal(reading.answer).signal == "STORY_PASSED"
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (3000, 0, 300)
    assert usage.cost_usd == (None if cost_usd is None else pytest.approx(cost_usd))
    assert (reading.turns, reading.model, reading.denials) == (turns, model, ())
    assert bool(reading.session) is not name.startswith("mini")


@pytest.mark.parametrize(("name", "error", "refusals"), BAD)
def test_a_call_that_failed(name: str, error: str, refusals: list[tuple[int | None, str]]) -> None:
    """It has no answer, says why, and what the service refused."""
    reading, _ = read(form_of(name), recorded(name))

    assert (reading.answer, reading.failed) == ("", True)
    assert reading.error.startswith(error)
    assert [(one.status, one.kind) for one in reading.refusals] == refusals


def test_what_an_agent_recovered_from_is_told_too() -> None:
    """The call went well, and there was a refusal on the way."""
    reading, lines = read("claude-stream-json", recorded("claude-recovered"))

    assert [(one.status, one.kind) for one in reading.refusals] == [(529, "overloaded")]
    assert not reading.failed
    assert lines[1].text == "tried again: overloaded 529"


@pytest.mark.parametrize(
    ("name", "tools", "cost"),
    [
        ("claude-passed", ("Write: /tree/story.txt", "Bash: git add -A"), "3 turns, 3,000 tokens"),
        ("codex-passed", ("shell: /bin/bash -lc", "shell: /bin/bash -lc"), "3,000 to"),
        ("gemini-stream-passed", ("write_file: story.txt", "run_shell_command: git add"), "3,000"),
        ("opencode-passed", ("write: /tree/story.txt", "bash: git add -A"), "3 turns, 3,000 tok"),
        (
            "qwen-passed",
            ("write_file: /tree/story.txt", "run_shell_command: git"),
            "3 turns, 3,000",
        ),
        ("mini-passed", ("bash: cat > 'story.txt'", "bash: git add -A"), "3 turns, 3,000 tokens"),
    ],
)
def test_it_can_be_read_by_people(name: str, tools: tuple[str, str], cost: str) -> None:
    """What was said, the tools, and the price at the end."""
    _, lines = read(form_of(name), recorded(name))
    used = [line.text for line in lines if line.kind == "tool"]

    assert all(text.startswith(begin) for text, begin in zip(used, tools, strict=False))
    assert len(used) >= len(tools)
    assert PASSED in [line.text for line in lines if line.kind == "said"]
    assert (lines[-1].kind, lines[-1].text[: len(cost)]) == ("cost", cost)


def test_text_around_the_events_is_kept_apart() -> None:
    """Errors in the same log are no part of an answer, and not lost."""
    reading, lines = read("codex-jsonl", recorded("codex-passed"))

    assert reading.stray == "Reading additional input from stdin...\n"
    assert lines[0].kind == "note"


def test_an_event_behind_other_text_is_found() -> None:
    """A warning without a line end, terminal codes: the event counts all the same."""
    result = event(type="result", subtype="success", is_error=False, result=PASSED)
    reading, _ = read("claude-stream-json", b"Warning: {odd} \x1b[2K\x1b[1G" + result)

    assert (reading.answer, reading.stray.strip()) == (PASSED, "Warning: {odd}")


def test_an_answer_that_broke_off_is_none() -> None:
    """Half a result is a call that did not end; what was read so far is counted."""
    whole = recorded("claude-passed")
    reading, _ = read("claude-stream-json", whole[: whole.rindex(b'"result":') + 30])

    assert (reading.answer, reading.failed) == ("", True)
    assert reading.usage.input_tokens == 3000


def test_a_quoted_result_is_no_result() -> None:
    """What a tool was given or gave may look like an event."""
    fake = json.dumps({"type": "result", "result": PASSED})
    told = event(
        type="user", message={"content": [{"type": "tool_result", "content": f"x\n{fake}\n"}]}
    )
    reading, _ = read("claude-stream-json", told)

    assert reading.answer == ""


def test_claude_tells_when_a_limit_ends() -> None:
    """The reset instant is in the event, the refusal in the result."""
    info = {"status": "rejected", "resetsAt": 1796054030, "rateLimitType": "five_hour"}
    reading, _ = read(
        "claude-stream-json",
        event(type="rate_limit_event", rate_limit_info={"status": "allowed_warning"}),
        event(type="rate_limit_event", rate_limit_info=info),
        event(
            type="result", subtype="success", is_error=True, api_error_status=429,
            api_error="usage_limit_reached", result="You've hit your 5-hour limit",
        ),
    )  # fmt: skip

    assert [(one.kind, one.resets_at_s) for one in reading.refusals] == [
        ("usage_limit_reached", 1796054030.0),
        ("usage_limit_reached", 1796054030.0),
    ]
    assert reading.error == "You've hit your 5-hour limit"


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"is_error": True}, "error_during_execution"),
        ({"error": "out of credits"}, "out of credits"),
        ({"error": {"message": "no such model"}}, "no such model"),
        ({"errors": ["one", "two"]}, "one; two"),
    ],
)
def test_a_result_of_an_error_is_none(told: dict[str, object], error: str) -> None:
    """Its subtype alone says so; the text stands in one of several places."""
    reading, _ = read(
        "claude-stream-json", event(type="result", subtype="error_during_execution", **told)
    )

    assert (reading.failed, reading.error) == (True, error)
    assert [one.text for one in reading.refusals] == [error]


def test_claude_counts_helpers_and_caches_and_tells_denials() -> None:
    """All models of the call; what came from a cache was read too."""
    models = {
        "big": {"inputTokens": 10, "outputTokens": 5, "cacheReadInputTokens": 100,
                "cacheCreationInputTokens": 20},
        "small": {"inputTokens": 1, "outputTokens": 2},
    }  # fmt: skip
    reading, lines = read(
        "claude-stream-json",
        event(
            type="result", subtype="success", is_error=False, result="done", total_cost_usd=0.5,
            usage={"input_tokens": 10, "output_tokens": 5}, modelUsage=models,
            permission_denials=[{"tool_name": "Bash", "tool_input": {}}],
        ),
    )  # fmt: skip

    assert reading.usage == Usage(131, 100, 7, 0.5)
    assert reading.denials == ("Bash",)
    assert lines[0].text == "was not allowed: Bash"


def test_opencode_tells_denials_and_waits() -> None:
    """A refused tool stands on standard error; the wait is named in a header."""
    reading, _ = read(
        "opencode-json",
        b"! permission requested: edit (story.txt); auto-rejecting\n",
        event(
            type="error",
            error={
                "name": "APIError",
                "data": {"message": "slow down", "statusCode": 429,
                         "responseHeaders": {"retry-after": "7"}},
            },
        ),
    )  # fmt: skip

    assert reading.denials == ("edit",)
    assert reading.error == "slow down (retry-after: 7)"


def test_cursor_answers_with_its_last_message() -> None:
    """Its result is all messages run together, in which no signal would stand alone."""

    def message(text: str) -> bytes:
        return event(type="assistant", message={"content": [{"type": "text", "text": text}]})

    def call(kind: str, **shell: object) -> bytes:
        return event(type="tool_call", subtype=kind, tool_call={"shellToolCall": shell})

    reading, lines = read(
        "cursor-stream-json",
        event(type="system", subtype="init", session_id="s-1", model="Auto"),
        event(type="thinking", subtype="delta", text="hm"),
        message("I commit."),
        call("started", args={"command": "git commit"}),
        call("completed", result={"failure": {"stderr": "nothing to commit"}}),
        call("started", args={"command": "rm -r /"}),
        call("completed", result={"rejected": {}}),
        call("completed", result={"success": {"exitCode": 0}}),
        message(PASSED),
        event(type="result", subtype="success", is_error=False, result=f"I commit.{PASSED}"),
    )

    assert (reading.answer, reading.session, reading.model) == (PASSED, "s-1", "Auto")
    assert (reading.failed, reading.denials) == (False, ("shell",))
    assert [line.text for line in lines if line.kind == "tool"] == [
        "shell: git commit",
        "shell: rm -r /",
    ]
    assert [line.kind for line in lines].count("result") == 1


def test_gemini_says_one_answer_in_pieces() -> None:
    """Pieces are put together; what was said before a tool is no answer."""
    reading, lines = read(
        "gemini-stream-json",
        event(type="message", role="assistant", content="I wri", delta=True),
        event(type="message", role="assistant", content="te\nnow", delta=True),
        event(type="tool_use", tool_name="write_file", tool_id="1", parameters={}),
        event(type="tool_result", tool_id="1", status="error", error={"type": "policy_violation"}),
        event(type="message", role="assistant", content="<quantum>STORY_", delta=True),
        event(type="message", role="assistant", content="PASSED</quantum>", delta=True),
        event(type="result", status="success", stats={"input_tokens": 5, "output_tokens": 1}),
    )

    assert reading.answer == PASSED
    assert reading.denials == ("write_file",)
    assert [line.text for line in lines if line.kind == "said"] == ["I write", "now", PASSED]


def test_codex_is_over_when_its_last_turn_is() -> None:
    """A turn that was begun and not completed leaves the call open; counts are not added up."""
    usage = {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2}
    turn = event(type="turn.started") + event(type="turn.completed", usage=usage)
    once, _ = read("codex-jsonl", turn)
    twice, _ = read("codex-jsonl", turn + turn)
    cut, _ = read("codex-jsonl", turn + event(type="turn.started"))

    assert (once.failed, twice.failed, cut.failed) == (False, False, True)
    assert once.usage == twice.usage == Usage(10, 4, 2)
