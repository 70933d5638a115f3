"""mini-swe-agent: the trajectory that `-o` writes, one object with all messages."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from qloop.agents.readers.fields import (
    Json,
    amount_at,
    count_at,
    dict_at,
    dicts_at,
    status_in,
    text_at,
)
from qloop.agents.readers.shown import failed_tool, said, spent, used
from qloop.agents.reading import Line, Reading, Refusal
from qloop.agents.usage import Usage, sum_usage

_DONE = "Submitted"
_OWN_LIMITS = ("LimitsExceeded", "TimeExceeded", "UserInterruption", "")


@dataclass(slots=True)
class MiniTale:
    """The trajectory as it was written last."""

    _reading: Reading = field(default_factory=lambda: Reading(failed=True))

    def take(self, value: Json) -> list[Line]:
        """Take an object; it is a trajectory where it has messages."""
        if not isinstance(value.get("messages"), list):
            return []
        info = dict_at(value, "info")
        messages = dicts_at(value, "messages")
        status = text_at(info, "exit_status")
        error = "" if status == _DONE else _error(status, messages)
        refused = status not in (_DONE, *_OWN_LIMITS)
        self._reading = Reading(
            answer=text_at(info, "submission"),
            turns=count_at(info, "model_stats", "api_calls") or None,
            usage=_usage(info, messages),
            model=text_at(info, "config", "model", "model_name") or None,
            refusals=(Refusal(error, status_in(error), status),) if refused else (),
            failed=status != _DONE,
            error=error,
        )
        told = [line for message in messages for line in _told(message)]
        return [*told, *said(error, "error"), *spent(self._reading.usage, self._reading.turns)]

    def take_stray(self, text: str) -> None:
        """Text around the trajectory tells this form nothing."""

    def reading(self) -> Reading:
        """What the last trajectory says."""
        return self._reading


def _error(status: str, messages: list[Json]) -> str:
    last = text_at(messages[-1], "content").strip() if messages else ""
    if not status:
        return "it did not come to an end"
    return status if last in ("", status) else f"{status}: {last}"


def _usage(info: Json, messages: list[Json]) -> Usage:
    """Tokens by the answers; a cost of 0 is that of a model whose price it does not know."""
    told = (dict_at(message, "extra", "response", "usage") for message in messages)
    usage = sum_usage(
        Usage(
            input_tokens=count_at(one, "prompt_tokens"),
            cached_tokens=count_at(one, "prompt_tokens_details", "cached_tokens"),
            output_tokens=count_at(one, "completion_tokens"),
        )
        for one in told
    )
    cost = amount_at(info, "model_stats", "instance_cost")
    return replace(usage, cost_usd=cost or None)


def _told(message: Json) -> Iterator[Line]:
    match message.get("role"):
        case "assistant":
            yield from said(text_at(message, "content"))
            for action in dicts_at(message, "extra", "actions"):
                yield used("bash", text_at(action, "command"))
        case "tool" if count_at(message, "extra", "returncode"):
            yield from failed_tool(text_at(message, "extra", "raw_output"))
        case "exit":
            yield from said(text_at(message, "extra", "submission"))
        case _:
            pass
