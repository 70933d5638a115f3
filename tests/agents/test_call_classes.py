"""How calls end, as a table: what each agent command line was seen to print, and its class."""

from typing import Any

import orjson
import pytest

from qloop.agents.classes import Call, CallClass, classify, find_hindrance
from qloop.agents.hindrances import RULES, Cause
from qloop.agents.readers.table import open_reader
from qloop.agents.reading import Reading, Refusal
from qloop.agents.signals import parse_signal

NOW_S = 1_796_050_000.0
"""2026-11-30T14:46:40Z."""
PASSED = "<quantum>STORY_PASSED</quantum>"
FAILED = "<quantum>STORY_FAILED</quantum>"


def text(printed: str, code: int = 1, runner: str = "mytool", **more: Any) -> Call:
    """A call of a runner whose output is plain text."""
    said = parse_signal(printed, code)
    return Call(runner, "python", "text", code, Reading(answer=printed), said, **more)


def structured(
    runner: str, *refusals: Refusal, code: int = 1, stray: str = "", answer: str = "", **more: Any
) -> Call:
    """A call of one whose output has a form; it says that it failed unless told otherwise."""
    fields = {"failed": bool(refusals), **more}
    reading = Reading(answer=answer, refusals=refusals, stray=stray, **fields)
    return Call(runner, runner, f"{runner}-form", code, reading, parse_signal(answer, code))


LIMIT_LINE = "You've hit your 5-hour limit · resets 3:53pm (UTC)"
AIDER_401 = """Aider v0.86.2
litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided
The API provider is not able to authenticate you. Check your API key.
"""
AIDER_429 = """Aider v0.86.2
litellm.RateLimitError: RateLimitError: OpenAIException - Rate limited
The API provider has rate limited you. Try again later or check your quotas.
Retrying in 0.2 seconds...
litellm.RateLimitError: RateLimitError: OpenAIException - Rate limited
The API provider has rate limited you. Try again later or check your quotas.
"""
AIDER_500 = """Aider v0.86.2
litellm.InternalServerError: InternalServerError: OpenAIException - boom
The API provider's servers are down or overloaded.
Retrying in 32.0 seconds...
"""
GEMINI_JSON = """{
  "session_id": "1",
  "error": {
    "type": "Error",
    "message": "quota or not, it is the code that tells",
    "code": 401
  }
}
"""
GEMINI_CUT = """Ripgrep is not available. Falling back to GrepTool.
Error when talking to Gemini API Full report available at: /tmp/e.json TypeError: terminated
    at Fetch.onAborted (node:internal/deps/undici/undici:13842:53)
    at Fetch.emit (node:events:509:28)
    at Fetch.terminate (node:internal/deps/undici/undici:12972:14)
    at Object.onError (node:internal/deps/undici/undici:13976:38)
    at Request.onError (file:///gemini-cli/bundle/chunk-JDPZ4CE3.js:211613:31)
    at Object.errorRequest (file:///gemini-cli/bundle/chunk-JDPZ4CE3.js:211020:17)
    at Socket.onHttpSocketClose (file:///gemini-cli/bundle/chunk-JDPZ4CE3.js:216234:15)
    at Socket.emit (node:events:521:24)
    at TCP.<anonymous> (node:net:355:12) {
  [cause]: SocketError: other side closed
      at Socket.onHttpSocketEnd (file:///gemini-cli/bundle/chunk-JDPZ4CE3.js:216209:27)
      at Socket.emit (node:events:521:24)
      at endReadableNT (node:internal/streams/readable:1736:12)
      at process.processTicksAndRejections (node:internal/process/task_queues:90:21) {
    code: 'UND_ERR_SOCKET',
    socket: {
      localAddress: '127.0.0.1',
      localPort: 50740,
      remoteAddress: '127.0.0.1',
      remotePort: 44299,
      remoteFamily: 'IPv4',
      timeout: undefined,
      bytesWritten: 86984,
      bytesRead: 977
    }
  }
}
An unexpected critical error occurred:[object Object]
"""
MINI_429 = """Traceback (most recent call last):
  File "mini.py", line 1, in <module>
litellm.exceptions.RateLimitError: litellm.RateLimitError: OpenAIException - slow down
"""
QWEN_PACED = (
    "[API Error: 429 Rate limit reached]\nPossible quota limitations in place or slow response "
    "times detected. Please wait and try again later."
)
CODEX_BUSY = """warning: Model metadata for `gpt-5` not found. Defaulting to fallback metadata.
ERROR: Reconnecting... 1/1
ERROR: We're currently experiencing high demand, which may cause temporary errors.
ERROR: We're currently experiencing high demand, which may cause temporary errors.
"""
CODEX_LIMIT = (
    "ERROR: You've hit your usage limit. Upgrade to Pro or try again in 2 days 3 hours 5 minutes."
)
MODEL = (
    "There's an issue with the selected model (nope). It may not exist or you may not have "
    "access to it. Run --model to pick a different model."
)

SEEN: list[tuple[str, Call, CallClass]] = [
    # Claude Code
    (
        "claude, usage limit",
        structured(
            "claude",
            Refusal("", kind="five_hour", resets_at_s=NOW_S + 4030),
            Refusal(LIMIT_LINE, 429, "usage_limit_reached"),
        ),
        CallClass.USAGE_LIMIT,
    ),
    ("claude, text, usage limit", text(LIMIT_LINE), CallClass.USAGE_LIMIT),
    (
        "claude, older",
        text(f"Claude AI usage limit reached|{int(NOW_S) + 60}"),
        CallClass.USAGE_LIMIT,
    ),
    (
        "claude, 429",
        structured("claude", Refusal("API Error: Request rejected (429) · slow", 429)),
        CallClass.OVERLOAD,
    ),
    (
        "claude, text, 429",
        text("API Error: Request rejected (429) · this is not your usage"),
        CallClass.OVERLOAD,
    ),
    (
        "claude, 529",
        structured("claude", Refusal("API Error: 529 Overloaded. Try again.", 529)),
        CallClass.OVERLOAD,
    ),
    ("claude, text, 529", text("API Error: 529 Overloaded. Try again."), CallClass.OVERLOAD),
    (
        "claude, 403",
        structured("claude", Refusal("Failed to authenticate. API Error: 403 no", 403)),
        CallClass.AUTHENTICATION,
    ),
    (
        "claude, text, 403",
        text("Failed to authenticate. API Error: 403 no"),
        CallClass("authentication"),
    ),
    (
        "claude, wrong key",
        text("Invalid API key · Fix external API key"),
        CallClass.AUTHENTICATION,
    ),
    ("claude, no key", text("Not logged in · Please run /login"), CallClass.AUTHENTICATION),
    (
        "claude, no credit",
        structured("claude", Refusal("Credit balance is too low", 400)),
        CallClass.AUTHENTICATION,
    ),
    (
        "claude, connection",
        structured("claude", Refusal("API Error: Connection dropped (ECONNRESET)…", None)),
        CallClass.NETWORK,
    ),
    (
        "claude, connection, its word",
        structured("claude", Refusal("API Error: gone", None, "connection_failed")),
        CallClass.NETWORK,
    ),
    ("claude, hang", text("Request timed out. Check your connection"), CallClass.NETWORK),
    ("claude, model", structured("claude", Refusal(MODEL, 404)), CallClass.CONFIGURATION),
    ("claude, text, model", text(MODEL), CallClass.CONFIGURATION),
    (
        "claude, flag",
        structured("claude", stray="error: unknown option '--nope'\n"),
        CallClass.CONFIGURATION,
    ),
    (
        "claude, root",
        text(
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security"
        ),
        CallClass.CONFIGURATION,
    ),
    (
        "claude, turns",
        structured(
            "claude", Refusal("Reached maximum number of turns (1)", None, "error_max_turns")
        ),
        CallClass.FAILED,
    ),
    ("claude, long", structured("claude", Refusal("Prompt is too long", 400)), CallClass.FAILED),
    (
        "claude, session",
        text("Session limit reached ∙ resets 3pm (America/New_York)"),
        CallClass.USAGE_LIMIT,
    ),
    ("claude, opus", text("You've reached your Opus limit ∙ resets 3pm"), CallClass.USAGE_LIMIT),
    ("claude, extra", text("You're out of extra usage · resets 3pm"), CallClass.USAGE_LIMIT),
    # Codex
    (
        "codex, 429",
        structured("codex", Refusal("exceeded retry limit, last status: 429 Too Many Requests")),
        CallClass.OVERLOAD,
    ),
    (
        "codex, quota",
        structured("codex", Refusal("Quota exceeded. Check your plan and billing details.")),
        CallClass.USAGE_LIMIT,
    ),
    ("codex, text, limit", text(CODEX_LIMIT), CallClass.USAGE_LIMIT),
    (
        "codex, text, limit, typeset",
        text(CODEX_LIMIT.replace("'", "\u2019")),
        CallClass.USAGE_LIMIT,
    ),
    (
        "codex, busy",
        structured(
            "codex", Refusal("We\u2019re currently experiencing high demand, which may cause…")
        ),
        CallClass.OVERLOAD,
    ),
    (
        "codex, 401",
        structured("codex", Refusal("unexpected status 401 Unauthorized: no key", 401)),
        CallClass.AUTHENTICATION,
    ),
    (
        "codex, text, 401",
        text("ERROR: unexpected status 401 Unauthorized: no key, url: http://x"),
        CallClass.AUTHENTICATION,
    ),
    (
        "codex, 500",
        structured("codex", Refusal("unexpected status 500 Internal Server Error: x")),
        CallClass.OVERLOAD,
    ),
    (
        "codex, model",
        structured("codex", Refusal("The 'x' model is not supported when using Codex", 400)),
        CallClass.CONFIGURATION,
    ),
    (
        "codex, flag",
        structured(
            "codex",
            stray="error: unexpected argument '--nope' found\n\n  tip: x\n\nUsage: codex exec\n",
            code=2,
        ),
        CallClass.CONFIGURATION,
    ),
    ("codex, text, busy", text(CODEX_BUSY, 1, "codex"), CallClass.OVERLOAD),
    (
        "codex, stream",
        structured("codex", Refusal("stream disconnected before completion: x")),
        CallClass.NETWORK,
    ),
    # Gemini CLI: its exit code is the status modulo 256
    ("gemini, 401", structured("gemini", code=145), CallClass.AUTHENTICATION),
    ("gemini, 401, json", text(GEMINI_JSON, 145, "gemini"), CallClass.AUTHENTICATION),
    ("gemini, 429", structured("gemini", code=173), CallClass.OVERLOAD),
    ("gemini, 500", structured("gemini", code=244), CallClass.OVERLOAD),
    ("gemini, 404", structured("gemini", code=148), CallClass.CONFIGURATION),
    (
        "gemini, no auth",
        structured("gemini", code=41, stray="Invalid auth method selected.\n"),
        CallClass.AUTHENTICATION,
    ),
    (
        "gemini, quota",
        structured(
            "gemini",
            Refusal(
                "You have exhausted your capacity on this model. Your quota will reset after 3h."
            ),
            code=173,
        ),
        CallClass.USAGE_LIMIT,
    ),
    ("gemini, text, cut", text(GEMINI_CUT, 1, "gemini"), CallClass.NETWORK),
    ("gemini, cut", structured("gemini", stray=GEMINI_CUT), CallClass.NETWORK),
    (
        "gemini, paced",
        structured(
            "gemini",
            Refusal("[API Error: Rate limit reached] To increase it, request a quota increase"),
            code=173,
        ),
        CallClass.OVERLOAD,
    ),
    ("gemini, turns", structured("gemini", code=53), CallClass.FAILED),
    # OpenCode, Qwen Code
    (
        "opencode, 429",
        structured("opencode", Refusal("Too Many Requests", 429)),
        CallClass.OVERLOAD,
    ),
    (
        "opencode, 401",
        structured("opencode", Refusal("Unauthorized", 401, "APIError")),
        CallClass.AUTHENTICATION,
    ),
    (
        "opencode, model",
        structured("opencode", Refusal("Model not found: fake/x.", None, "UnknownError")),
        CallClass.CONFIGURATION,
    ),
    ("qwen, 401", text("[API Error: 401 Incorrect API key provided]"), CallClass.AUTHENTICATION),
    ("qwen, 429", structured("qwen", Refusal(QWEN_PACED)), CallClass.OVERLOAD),
    ("qwen, 500", text("[API Error: 500 status code (no body)]"), CallClass.OVERLOAD),
    (
        "qwen, flag",
        text("Usage: qwen [options]\n\nUnknown argument: nope"),
        CallClass.CONFIGURATION,
    ),
    (
        "copilot, allowance",
        text("You have exceeded your premium request allowance. Upgrade to go on."),
        CallClass.USAGE_LIMIT,
    ),
    (
        "copilot, paced",
        text("Sorry, you've been rate-limited. Please wait 2 hours before trying again."),
        CallClass.USAGE_LIMIT,
    ),
    ("amp, credits", text("Out of credits. Add some to go on."), CallClass.AUTHENTICATION),
    # mini-swe-agent
    ("mini, 429", text(MINI_429), CallClass.OVERLOAD),
    (
        "mini, trajectory",
        structured("mini", Refusal("slow down", None, "RateLimitError")),
        CallClass.OVERLOAD,
    ),
    (
        "mini, 401",
        text("litellm.exceptions.AuthenticationError: litellm.AuthenticationError: no"),
        CallClass.AUTHENTICATION,
    ),
    # aider ends with 0 on every error
    ("aider, 401", text(AIDER_401, 0, "aider"), CallClass.AUTHENTICATION),
    ("aider, 429", text(AIDER_429, 0, "aider"), CallClass.OVERLOAD),
    ("aider, 500", text(AIDER_500, 0, "aider"), CallClass.OVERLOAD),
    (
        "aider, network",
        text("litellm.APIConnectionError: APIConnectionError: Connection error.", 0, "aider"),
        CallClass.NETWORK,
    ),
    # whatever else
    ("claims to have passed", text(PASSED, 0), CallClass.PASSED),
    ("claims to have failed", text(FAILED, 0), CallClass.FAILED),
    ("is blocked", text("<quantum>BLOCKED</quantum>", 0), CallClass.BLOCKED),
    ("says nothing", text("done", 0), CallClass.NO_SIGNAL),
    ("fails without a word", text("", 1), CallClass.FAILED),
    ("passed, it said, and failed", text(PASSED, 3), CallClass.FAILED),
    ("killed", text("", -9), CallClass.CRASH),
    ("out of time", text("", -15, timed_out=True), CallClass.TIMEOUT),
    ("stuck", text("", -15, stalled=True), CallClass.STALL),
]


@pytest.mark.parametrize(("call", "expected"), [pytest.param(*row[1:], id=row[0]) for row in SEEN])
def test_each_end_has_its_class(call: Call, expected: CallClass) -> None:
    """What each command line was seen to do, and what any may do."""
    assert classify(call, NOW_S) is expected


def test_every_cause_has_a_rule() -> None:
    """And no rule is for nothing: each is met by an end in the table."""
    met = {classify(call, NOW_S) for _, call, _ in SEEN}

    assert {rule.cause for rule in RULES} == set(Cause)
    assert met == set(CallClass)


PROSE = f"""I made the client obey rate limits.
API Error: 429 is now retried, and so is 529 Overloaded.
You've hit your limit is shown when the usage limit is reached.
Error: invalid API key has its own exit code; unknown option is refused.
{PASSED}
"""


@pytest.mark.parametrize("runner", ["mytool", "aider", "claude"])
def test_what_a_successful_agent_says_of_limits_is_prose(runner: str) -> None:
    """Not even the very words of an error count where the call ended well."""
    answered = structured(runner, answer=PROSE, code=0)

    assert classify(text(PROSE, 0, runner), NOW_S) is CallClass.PASSED
    assert classify(answered, NOW_S) is CallClass.PASSED


@pytest.mark.parametrize(
    "printed",
    [
        PROSE.replace(PASSED, FAILED),
        PROSE.replace(PASSED, "<quantum>BLOCKED</quantum>"),
    ],
)
def test_a_claim_to_have_failed_is_a_claim(printed: str) -> None:
    """An agent that says so is charged for it, whatever else it wrote."""
    assert find_hindrance(text(printed, 0), NOW_S) is None


@pytest.mark.parametrize(
    "line",
    [
        "Error handling of rate limits is still red",
        "Rate limit handling is done, but a test fails",
        "The usage limit test fails",
        "the network error test does not pass",
        "error: 3 tests failed",
        "AssertionError: 429 != 200 once the service said Too Many",
        "fatal: Authentication failed for 'https://example.invalid/x.git'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'tea.txt'",
        "ModuleNotFoundError: No module named 'tea'",
        "Error: NameNotFoundError while the page is made",
    ],
)
def test_prose_and_errors_of_tools_at_the_end_of_a_failed_call_are_its_own(line: str) -> None:
    """A failed call is charged unless an error of the agent's service ended it."""
    assert classify(text(f"work\n{line}\n", 1), NOW_S) is CallClass.FAILED


def test_a_structured_answer_is_never_searched_for_errors() -> None:
    """What a failed agent says in its answer is what it says; only what stands beside counts."""
    line = "API Error: 529 Overloaded. Try again."

    assert classify(structured("claude", answer=line), NOW_S) is CallClass.FAILED
    assert classify(structured("claude", stray=line), NOW_S) is CallClass.OVERLOAD


def test_a_refusal_that_the_agent_recovered_from_is_none() -> None:
    """Neither where it ended well, nor where something else ended it."""
    overloaded = Refusal("Overloaded", 529, "overloaded")
    turns = Refusal("Reached maximum number of turns (9)", None, "error_max_turns")
    well = structured("claude", overloaded, code=0, answer=PASSED, failed=False)
    silent = structured("claude", overloaded, code=0, answer="done", failed=False)
    failed = structured("claude", overloaded, answer="no", failed=False)
    later = structured("claude", overloaded, answer="no", recovered=1)

    assert classify(well, NOW_S) is CallClass.PASSED
    assert classify(silent, NOW_S) is CallClass.NO_SIGNAL
    assert classify(failed, NOW_S) is CallClass.FAILED
    assert classify(later, NOW_S) is CallClass.FAILED
    assert classify(structured("claude", overloaded, turns), NOW_S) is CallClass.FAILED


def test_a_call_that_ran_out_of_time_between_refusals_was_hindered() -> None:
    """One that tried again and again is not the story's fault; one at work is out of time."""
    busy = Refusal("Overloaded", 529)
    tried = structured("claude", busy, code=-15)
    working = structured("claude", busy, code=-15, recovered=1)

    assert classify(_late(tried), NOW_S) is CallClass.OVERLOAD
    assert classify(_late(working), NOW_S) is CallClass.TIMEOUT


def _late(call: Call) -> Call:
    return Call(call.runner, call.program, call.form, -15, call.reading, call.said, timed_out=True)


def test_a_refused_option_counts_only_at_the_start() -> None:
    """A tool that an agent used refuses options too, but later, and amid other lines."""
    line = "error: unknown option '--nope'"
    around = "\n".join(["one", "two", line, "three"])

    assert classify(text(line, seconds=1), NOW_S) is CallClass.CONFIGURATION
    assert classify(text(line, seconds=600), NOW_S) is CallClass.FAILED
    assert classify(text(around, seconds=1), NOW_S) is CallClass.FAILED
    assert classify(text("\n".join(["x"] * 300 + [line])), NOW_S) is CallClass.FAILED


@pytest.mark.parametrize(
    ("call", "after_s"),
    [
        (SEEN[0][1], 4030.0),
        (SEEN[1][1], 3980.0),
        (SEEN[2][1], 60.0),
        (text(CODEX_LIMIT), 2 * 86400 + 3 * 3600 + 300.0),
        (text("API Error: 429\nPlease retry in 34.5s"), 34.5),
        (structured("codex", Refusal("Too Many Requests", 429, "", NOW_S + 9)), 9.0),
        (structured("codex", Refusal("limit, try again in 9s", 429, "", 1e17)), 9.0),
    ],
)
def test_a_limit_knows_when_it_ends(call: Call, after_s: float) -> None:
    """By the agent's own instant, else by what it printed; pacing with an end is a limit."""
    found = find_hindrance(call, NOW_S)

    assert found is not None
    assert found.cause is Cause.USAGE_LIMIT
    assert found.resets_at_s == pytest.approx(NOW_S + after_s)


def test_a_limit_without_a_readable_end_has_none() -> None:
    """How long to wait is then for the run to decide."""
    found = find_hindrance(text("You've hit your weekly limit · resets soon"), NOW_S)

    assert found is not None
    assert (found.cause, found.resets_at_s) == (Cause.USAGE_LIMIT, None)


RETRY = {"type": "system", "subtype": "api_retry", "error_status": 529, "error": "overloaded"}
SAID = {"type": "assistant", "message": {"content": [{"type": "text", "text": "I look."}]}}
TURNS = {"type": "result", "subtype": "error_max_turns", "is_error": True, "errors": ["9 turns"]}
AGAIN = {"type": "error", "message": "unexpected status 503 Service Unavailable"}
ITEM = {"type": "item.completed", "item": {"type": "agent_message", "text": "I look."}}
GONE = {"type": "turn.failed", "error": {"message": "unexpected status 503 Service Unavailable"}}
OPEN = {"type": "error", "error": {"name": "APIError", "data": {"message": "x", "statusCode": 529}}}
TEXT = {"type": "text", "part": {"text": "I look."}}


@pytest.mark.parametrize(
    ("form", "events", "late", "expected"),
    [
        ("claude-stream-json", [RETRY, RETRY], True, CallClass.OVERLOAD),
        ("claude-stream-json", [RETRY, SAID], True, CallClass.TIMEOUT),
        ("claude-stream-json", [RETRY, SAID], False, CallClass.FAILED),
        ("claude-stream-json", [RETRY, SAID, TURNS], False, CallClass.FAILED),
        ("claude-stream-json", [RETRY, SAID, RETRY], True, CallClass.OVERLOAD),
        ("codex-jsonl", [AGAIN], True, CallClass.OVERLOAD),
        ("codex-jsonl", [AGAIN, ITEM], True, CallClass.TIMEOUT),
        ("codex-jsonl", [AGAIN, ITEM, GONE], False, CallClass.OVERLOAD),
        ("opencode-json", [OPEN], False, CallClass.OVERLOAD),
        ("opencode-json", [OPEN, TEXT], False, CallClass.FAILED),
    ],
)
def test_only_a_refusal_after_which_nothing_came_ended_a_call(
    form: str, events: list[dict[str, Any]], late: bool, expected: CallClass
) -> None:
    """As the readers tell it, where a call broke off, ran out of time, or met limits of its own."""
    reader = open_reader(form)
    for event in events:
        reader.feed(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE))
    reading = reader.finish()
    said = parse_signal(reading.answer, 1)
    call = Call("x", "x", form, -15 if late else 1, reading, said, timed_out=late)

    assert classify(call, NOW_S) is expected
