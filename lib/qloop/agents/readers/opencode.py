"""OpenCode: `opencode run --format json`, a line for each part of a message."""

import re
from dataclasses import dataclass, field

from qloop.agents.readers.fields import (
    Json,
    amount_at,
    count_at,
    dict_at,
    status_at,
    text_at,
)
from qloop.agents.readers.shown import failed_tool, said, spent, used
from qloop.agents.reading import Line, Reading, Refusal
from qloop.agents.usage import Usage, sum_usage

_DENIED = re.compile(r"permission requested: (\S+) .*auto-rejecting")


@dataclass(slots=True)
class OpencodeTale:
    """What the events came to so far."""

    _session: str | None = None
    _answer: list[str] = field(default_factory=list)
    """The texts of the step that runs, or that ended last."""
    _steps: list[Usage] = field(default_factory=list)
    _refusals: list[Refusal] = field(default_factory=list)
    _recovered: int = 0
    _denials: list[str] = field(default_factory=list)
    _error: str = ""
    _is_over: bool = False
    """The last step was not one that goes on after its tools."""

    def take(self, value: Json) -> list[Line]:
        """Take the next event; unknown ones tell nothing."""
        self._session = text_at(value, "sessionID") or self._session
        part = dict_at(value, "part")
        match value.get("type"):
            case "step_start":
                self._answer = []
                self._is_over = False
                return []
            case "text":
                self._recovered = len(self._refusals)
                self._answer.append(text_at(part, "text"))
                return said(text_at(part, "text"))
            case "tool_use":
                return _tool(part)
            case "step_finish":
                return self._finish_step(part)
            case "error":
                return self._refuse(dict_at(value, "error"))
            case _:
                return []

    def take_stray(self, text: str) -> None:
        """Take a line of standard error: a tool that was refused is told there only."""
        match = _DENIED.search(text)
        if match is not None:
            self._denials.append(match.group(1))

    def reading(self) -> Reading:
        """What it said last, and what all steps cost."""
        return Reading(
            answer="\n".join(self._answer),
            session=self._session,
            turns=len(self._steps) or None,
            usage=sum_usage(self._steps),
            refusals=tuple(self._refusals),
            recovered=self._recovered,
            failed=not self._is_over,
            error=self._error,
            denials=tuple(self._denials),
        )

    def _finish_step(self, part: Json) -> list[Line]:
        cache = dict_at(part, "tokens", "cache")
        cached = count_at(cache, "read")
        new = count_at(part, "tokens", "input")
        step = Usage(
            input_tokens=new + cached + count_at(cache, "write"),
            cached_tokens=cached,
            output_tokens=count_at(part, "tokens", "output")
            + count_at(part, "tokens", "reasoning"),
            cost_usd=amount_at(part, "cost"),
        )
        self._steps.append(step)
        self._recovered = len(self._refusals)
        self._error = ""
        self._is_over = text_at(part, "reason") != "tool-calls"
        return spent(sum_usage(self._steps), len(self._steps)) if self._is_over else []

    def _refuse(self, error: Json) -> list[Line]:
        data = dict_at(error, "data")
        text = text_at(data, "message") or text_at(error, "name")
        wait = text_at(data, "responseHeaders", "retry-after")
        self._error = f"{text} (retry-after: {wait})" if wait else text
        self._is_over = False
        status = status_at(data, "statusCode")
        self._refusals.append(Refusal(self._error, status, text_at(error, "name")))
        return said(self._error, "error")


def _tool(part: Json) -> list[Line]:
    state = dict_at(part, "state")
    told = [used(text_at(part, "tool"), state.get("input"))]
    if state.get("status") == "error":
        told += failed_tool(text_at(state, "error") or text_at(state, "output"))
    return told
