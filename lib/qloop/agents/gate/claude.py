"""The gate as the PreToolUse hook of Claude Code: its question, and the answer in its form.

An allowed call is answered by nothing, so that the command line's own permissions still count.
Source: https://code.claude.com/docs/en/hooks, PreToolUse. Errors: UnclearCall.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from qloop.agents.gate.act import UnclearCall
from qloop.agents.gate.decision import Decision
from qloop.agents.gate.denials import LIMIT


@dataclass(frozen=True, slots=True)
class HookCall:
    """One tool call as the hook is asked about it."""

    tool: str
    args: dict[str, Any] = field(default_factory=dict)
    cwd: str = ""
    call: str = ""
    """The id of the tool call."""
    scratch: str = ""
    """The folder that the command line gives the agent for its own files."""


def parse_hook_call(data: bytes) -> HookCall:
    """The question on the hook's standard input. Raises UnclearCall."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise UnclearCall(f"the hook's input is no JSON: {exc}") from exc
    if not isinstance(value, dict):
        raise UnclearCall("the hook's input is no JSON object")
    tool, args = value.get("tool_name"), value.get("tool_input", {})
    if not isinstance(tool, str) or not tool or not isinstance(args, dict):
        raise UnclearCall("the hook's input has no tool_name, or a tool_input that is no object")
    texts = (value.get(key) for key in ("cwd", "tool_use_id", "scratchpad_dir"))
    return HookCall(tool, args, *(one if isinstance(one, str) else "" for one in texts))


def render_answer(decision: Decision, count: int) -> str:
    """What the hook prints; *count* equal denials stand in a row, this one included."""
    if decision.allow:
        return ""
    reason = f"qloop gate, {decision.rule}: {decision.reason}"
    answer: dict[str, Any] = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    }
    if count >= LIMIT:
        stop = f"denied {count} times in a row, so the agent is stopped: {reason}"
        answer = {"continue": False, "stopReason": stop, **answer}
    return json.dumps(answer, ensure_ascii=False)
