"""Gemini CLI: `-o stream-json`, a line for each event, and `-o json`, one object at the end.

It tells no cost. An error with `-o json` stands on standard error.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from qloop.agents.readers.fields import (
    Json,
    clean,
    count_at,
    dict_at,
    status_at,
    status_in,
    text_at,
)
from qloop.agents.readers.shown import failed_tool, said, spent, used
from qloop.agents.reading import Line, Reading, Refusal
from qloop.agents.usage import Usage, sum_usage

_DENIED = ("policy_violation", "execution_denied", "permission_denied")


@dataclass(slots=True)
class GeminiStreamTale:
    """What the events came to so far."""

    _session: str | None = None
    _model: str | None = None
    _answer: list[str] = field(default_factory=list)
    """The pieces of what was said since a tool was used last."""
    _line: str = ""
    """The end of it that was not told yet."""
    _tools: dict[str, str] = field(default_factory=dict)
    _denials: list[str] = field(default_factory=list)
    _refusals: list[Refusal] = field(default_factory=list)
    _usage: Usage = field(default_factory=Usage)
    _error: str = ""
    _is_over: bool = False

    def take(self, value: Json) -> list[Line]:
        """Take the next event; unknown ones tell nothing."""
        if value.get("type") == "message" and value.get("role") == "assistant":
            return self._say(text_at(value, "content"))
        return [*self._flush(), *self._other(value)]

    def take_stray(self, text: str) -> None:
        """Text around the events tells this form nothing."""

    def reading(self) -> Reading:
        """What it said last, and what the session cost."""
        return Reading(
            answer="".join(self._answer),
            session=self._session,
            usage=self._usage,
            model=self._model,
            refusals=tuple(self._refusals),
            failed=not self._is_over,
            error=self._error,
            denials=tuple(self._denials),
        )

    def _other(self, value: Json) -> list[Line]:
        match value.get("type"):
            case "init":
                self._session = text_at(value, "session_id") or None
                self._model = text_at(value, "model") or None
                return [Line("note", f"model {self._model}")] if self._model else []
            case "tool_use":
                self._answer = []
                name = text_at(value, "tool_name")
                self._tools[text_at(value, "tool_id")] = name
                return [used(name, value.get("parameters"))]
            case "tool_result":
                return self._tool_end(value)
            case "error":
                text = text_at(value, "message")
                return said(text, "error" if value.get("severity") == "error" else "note")
            case "result":
                return self._end(value)
            case _:
                return []

    def _say(self, text: str) -> list[Line]:
        self._answer.append(text)
        *lines, self._line = (self._line + text).split("\n")
        return said("\n".join(lines))

    def _flush(self) -> list[Line]:
        line, self._line = self._line, ""
        return said(line)

    def _tool_end(self, value: Json) -> list[Line]:
        if value.get("status") != "error":
            return []
        if text_at(value, "error", "type") in _DENIED:
            self._denials.append(self._tools.get(text_at(value, "tool_id"), ""))
        return failed_tool(text_at(value, "error", "message") or text_at(value, "output"))

    def _end(self, value: Json) -> list[Line]:
        self._is_over = value.get("status") == "success"
        stats = dict_at(value, "stats")
        self._usage = _usage_of(stats)
        told: list[Line] = []
        if not self._is_over:
            self._error = text_at(value, "error", "message")
            self._refusals.append(_refusal(dict_at(value, "error")))
            told = said(self._error, "error")
        return told + spent(self._usage, None)


@dataclass(slots=True)
class GeminiTale:
    """The one object of `-o json`."""

    _reading: Reading = field(default_factory=lambda: Reading(failed=True))

    def take(self, value: Json) -> list[Line]:
        """Take an object; it is the result where it has an answer or an error."""
        session = text_at(value, "session_id") or None
        if dict_at(value, "error"):
            refusal = _refusal(dict_at(value, "error"))
            self._reading = Reading(
                session=session, refusals=(refusal,), failed=True, error=refusal.text
            )
            return said(refusal.text, "error")
        if "response" not in value:
            return []
        models = dict_at(value, "stats", "models")
        usage = sum_usage(_usage_of_model(one) for one in models.values())
        answer = text_at(value, "response")
        self._reading = Reading(
            answer=answer, session=session, usage=usage, model=_busiest(models.items())
        )
        return [*said(answer), *spent(usage, None)]

    def take_stray(self, text: str) -> None:
        """Text around the object tells this form nothing."""

    def reading(self) -> Reading:
        """What the last such object says."""
        return self._reading


def _usage_of(stats: Json) -> Usage:
    return _usage(stats, "input_tokens", "cached", "output_tokens", "total_tokens")


def _usage_of_model(model: object) -> Usage:
    return _usage(dict_at(model, "tokens"), "prompt", "cached", "candidates", "total")


def _usage(counts: Json, read: str, cached: str, written: str, total: str) -> Usage:
    """Thoughts are written too; only the total has them."""
    input_tokens = count_at(counts, read)
    return Usage(
        input_tokens=input_tokens,
        cached_tokens=count_at(counts, cached),
        output_tokens=max(count_at(counts, written), count_at(counts, total) - input_tokens),
    )


def _busiest(models: Iterable[tuple[str, object]]) -> str | None:
    """The model that wrote most: smaller ones choose and sum up beside it."""
    written = {clean(name): _usage_of_model(one).output_tokens for name, one in models}
    return max(written, key=lambda name: written[name]) if written else None


def _refusal(error: Json) -> Refusal:
    text = text_at(error, "message")
    kind = text_at(error, "type")
    return Refusal(text, status_at(error, "code") or status_in(text), kind)
