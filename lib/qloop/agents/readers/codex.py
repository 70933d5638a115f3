"""Codex: `codex exec --json`, a line for each event.

Counts of a resumed thread are those of the whole thread. Codex tells no cost and no model.
"""

from dataclasses import dataclass, field

from qloop.agents.readers.fields import Json, count_at, dict_at, status_in, text_at
from qloop.agents.readers.shown import failed_tool, said, spent, used
from qloop.agents.reading import Line, Reading, Refusal
from qloop.agents.usage import Usage

_ASKED = {
    "command_execution": ("shell", "command"),
    "web_search": ("search", "query"),
    "mcp_tool_call": ("tool", "tool"),
}
"""What items of a kind are called, and the field that tells most of one."""


@dataclass(slots=True)
class CodexTale:
    """What the events came to so far."""

    _session: str | None = None
    _turns: int = 0
    _answer: str = ""
    _usage: Usage = field(default_factory=Usage)
    _refusals: list[Refusal] = field(default_factory=list)
    _recovered: int = 0
    _error: str = ""
    _is_over: bool = False
    """The last turn that began was completed."""

    def take(self, value: Json) -> list[Line]:
        """Take the next event; unknown ones tell nothing."""
        match value.get("type"):
            case "thread.started":
                self._session = text_at(value, "thread_id") or None
            case "turn.started":
                self._turns += 1
                self._is_over = False
            case "turn.completed":
                return self._complete(dict_at(value, "usage"))
            case "turn.failed":
                self._error = text_at(value, "error", "message") or "the turn failed"
                return self._refuse(self._error)
            case "error":
                return self._refuse(text_at(value, "message"))
            case "item.started":
                self._recovered = len(self._refusals)
                return _begun(dict_at(value, "item"))
            case "item.completed":
                return self._item(dict_at(value, "item"))
            case _:
                pass
        return []

    def take_stray(self, text: str) -> None:
        """Text around the events tells this form nothing."""

    def reading(self) -> Reading:
        """The last message, and what the thread cost."""
        return Reading(
            answer=self._answer,
            session=self._session,
            turns=self._turns or None,
            usage=self._usage,
            refusals=tuple(self._refusals),
            recovered=self._recovered,
            failed=not self._is_over,
            error=self._error,
        )

    def _complete(self, told: Json) -> list[Line]:
        self._is_over = True
        self._error = ""
        self._usage = Usage(
            input_tokens=count_at(told, "input_tokens"),
            cached_tokens=count_at(told, "cached_input_tokens"),
            output_tokens=count_at(told, "output_tokens"),
        )
        return spent(self._usage, None)

    def _refuse(self, text: str) -> list[Line]:
        """Note an error; a turn that fails repeats the one that made it fail."""
        is_new = len(self._refusals) == self._recovered
        if is_new or self._refusals[-1].text != text:
            self._refusals.append(Refusal(text, status_in(text)))
            return said(text, "error")
        return []

    def _item(self, item: Json) -> list[Line]:
        kind = text_at(item, "type")
        text = text_at(item, "text")
        if kind != "error":
            self._recovered = len(self._refusals)
        match kind:
            case "agent_message":
                self._answer = text
                return said(text)
            case "reasoning":
                return said(text, "note")
            case "error":
                return said(text_at(item, "message"), "note")
            case "command_execution":
                failed = item.get("exit_code") not in (0, None)
                return failed_tool(text_at(item, "aggregated_output")) if failed else []
            case "file_change":
                changes = item.get("changes")
                paths = [text_at(one, "path") for one in changes or [] if isinstance(one, dict)]
                return [used("edit", ", ".join(paths))]
            case _:
                return []


def _begun(item: Json) -> list[Line]:
    name, asked = _ASKED.get(text_at(item, "type"), ("", ""))
    return [used(name, item.get(asked))] if name else []
