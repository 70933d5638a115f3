"""Claude Code: `--output-format json`, and `stream-json`, whose last line is the same object.

Qwen Code speaks alike; what differs is in `Dialect`. Costs and counts of a resumed session are
those of the whole session.
"""

import re
from dataclasses import dataclass, field, replace

from qloop.agents.readers.fields import (
    Json,
    amount_at,
    count_at,
    dict_at,
    dicts_at,
    status_at,
    status_in,
    text_at,
    texts_at,
)
from qloop.agents.readers.shown import failed_tool, said, shorten, spent, used
from qloop.agents.reading import Line, Reading, Refusal
from qloop.agents.usage import Usage, sum_usage


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where two speakers of this form differ."""

    cached_apart: bool
    """`input_tokens` leaves out what came from a cache."""
    error_text: re.Pattern[str] | None
    """A result that is nothing but an error, though it claims success."""


CLAUDE = Dialect(cached_apart=True, error_text=None)
QWEN = Dialect(cached_apart=False, error_text=re.compile(r"\s*\[API Error: (.*)\]\s*", re.DOTALL))


@dataclass(slots=True)
class ClaudeTale:
    """What the events came to so far."""

    dialect: Dialect = CLAUDE
    _session: str | None = None
    _model: str | None = None
    _by_message: dict[str, Usage] = field(default_factory=dict)
    _refusals: list[Refusal] = field(default_factory=list)
    _recovered: int = 0
    _resets_at_s: float | None = None
    _result: Reading | None = None

    def take(self, value: Json) -> list[Line]:
        """Take the next event; unknown ones tell nothing."""
        self._session = text_at(value, "session_id") or self._session
        match value.get("type"):
            case "system":
                return self._system(value)
            case "assistant":
                return self._assistant(value)
            case "user":
                return _tool_results(value)
            case "rate_limit_event":
                return self._rate_limit(dict_at(value, "rate_limit_info"))
            case "result":
                return self._end(value)
            case _:
                return []

    def take_stray(self, text: str) -> None:
        """Text around the events tells this form nothing."""

    def reading(self) -> Reading:
        """The result, or what is known without one: then the call broke off."""
        if self._result is not None:
            return replace(
                self._result,
                session=self._session,
                refusals=tuple(self._refusals),
                recovered=self._recovered,
            )
        return Reading(
            session=self._session,
            usage=sum_usage(self._by_message.values()),
            model=self._model,
            refusals=tuple(self._refusals),
            recovered=self._recovered,
            failed=True,
        )

    def _system(self, value: Json) -> list[Line]:
        match value.get("subtype"):
            case "init":
                self._model = text_at(value, "model") or None
                return [Line("note", f"model {self._model}")] if self._model else []
            case "api_retry":
                kind = text_at(value, "error")
                refusal = Refusal(kind, status_at(value, "error_status"), kind)
                self._refusals.append(refusal)
                return [Line("error", shorten(f"tried again: {kind} {refusal.status or ''}"))]
            case "model_fallback":
                model = text_at(value, "fallback_model")
                return [Line("note", shorten(f"went on with {model}"))]
            case _:
                return []

    def _assistant(self, value: Json) -> list[Line]:
        message = dict_at(value, "message")
        name = text_at(message, "id") or str(len(self._by_message))
        self._by_message[name] = self._usage(dict_at(message, "usage"))
        told: list[Line] = []
        if value.get("error"):
            return told  # the result says it again
        self._recovered = len(self._refusals)
        for block in dicts_at(message, "content"):
            if block.get("type") == "text":
                told += said(text_at(block, "text"))
            elif block.get("type") == "tool_use":
                told.append(used(text_at(block, "name"), block.get("input")))
        return told

    def _rate_limit(self, info: Json) -> list[Line]:
        if info.get("status") != "rejected":
            return []
        self._resets_at_s = amount_at(info, "resetsAt")
        kind = text_at(info, "rateLimitType")
        text = f"usage limit reached ({kind})"
        self._refusals.append(Refusal(text, None, "usage_limit_reached", self._resets_at_s))
        return [Line("error", text)]

    def _end(self, value: Json) -> list[Line]:
        answer = text_at(value, "result")
        error = self._error_of(value, answer)
        if error is not None:
            self._refuse(value, error)
        turns = count_at(value, "num_turns") or None
        self._result = Reading(
            answer=answer if error is None else "",
            turns=turns,
            usage=self._total(value),
            model=self._model,
            failed=error is not None,
            error=error or "",
            denials=tuple(
                text_at(one, "tool_name") for one in dicts_at(value, "permission_denials")
            ),
        )
        told = said(error, "error") if error else []
        told += [Line("note", f"was not allowed: {name}") for name in self._result.denials]
        return told + spent(self._result.usage, turns)

    def _error_of(self, value: Json, answer: str) -> str | None:
        """What the result says went wrong; None where nothing did."""
        pattern = self.dialect.error_text
        listed = "; ".join(texts_at(value, "errors"))
        alone = text_at(value, "error") or text_at(value, "error", "message")
        told = answer or listed or alone
        match = pattern.fullmatch(told) if pattern is not None else None
        if match is not None:
            return match.group(1)
        subtype = text_at(value, "subtype")
        failed = value.get("is_error") is True or subtype.startswith("error")
        return told or subtype if failed else None

    def _refuse(self, value: Json, error: str) -> None:
        """Note the error where it came from the model's service: its own have names of theirs."""
        status = status_at(value, "api_error_status") or status_in(f"error {error}")
        kind = text_at(value, "api_error")
        own = str(value.get("subtype")).startswith("error_max")
        if status or kind or not own:
            self._refusals.append(Refusal(error, status, kind, self._resets_at_s))

    def _usage(self, told: Json) -> Usage:
        cached = count_at(told, "cache_read_input_tokens")
        new = count_at(told, "input_tokens")
        apart = cached + count_at(told, "cache_creation_input_tokens")
        return Usage(
            input_tokens=new + apart if self.dialect.cached_apart else new,
            cached_tokens=cached,
            output_tokens=count_at(told, "output_tokens"),
        )

    def _total(self, value: Json) -> Usage:
        """What the call cost, helpers and their models included where they are told apart."""
        models = [one for one in dict_at(value, "modelUsage").values() if isinstance(one, dict)]
        told = [
            {
                "input_tokens": one.get("inputTokens"),
                "cache_read_input_tokens": one.get("cacheReadInputTokens"),
                "cache_creation_input_tokens": one.get("cacheCreationInputTokens"),
                "output_tokens": one.get("outputTokens"),
            }
            for one in models
        ] or [dict_at(value, "usage")]
        usage = sum_usage([self._usage(one) for one in told])
        return replace(usage, cost_usd=amount_at(value, "total_cost_usd"))


def _tool_results(value: Json) -> list[Line]:
    told: list[Line] = []
    for block in dicts_at(value, "message", "content"):
        if block.get("type") == "tool_result" and block.get("is_error") is True:
            content = block.get("content")
            parts = [text_at(part, "text") for part in dicts_at(block, "content")]
            told += failed_tool(content if isinstance(content, str) else "\n".join(parts))
    return told
