"""Cursor CLI: `--output-format stream-json`, after Claude Code's with tool calls of its own.

Its result is all that it said, run together without line ends, so its last message is the answer.
Source: cursor.com/docs/cli/reference/output-format. It tells neither turns nor cost.
"""

from dataclasses import dataclass, field, replace

from qloop.agents.readers.claude import ClaudeTale
from qloop.agents.readers.fields import Json, clean, dict_at, dicts_at, text_at
from qloop.agents.readers.shown import failed_tool, used
from qloop.agents.reading import Line, Reading


@dataclass(slots=True)
class CursorTale:
    """What the events came to so far."""

    _tale: ClaudeTale = field(default_factory=ClaudeTale)
    _answer: str = ""
    _denials: list[str] = field(default_factory=list)

    def take(self, value: Json) -> list[Line]:
        """Take the next event; unknown ones tell nothing."""
        if value.get("type") == "tool_call":
            return self._tool(value)
        if value.get("type") == "assistant":
            texts = (text_at(one, "text") for one in dicts_at(value, "message", "content"))
            self._answer = "".join(texts)
        return self._tale.take(value)

    def take_stray(self, text: str) -> None:
        """Text around the events tells this form nothing."""

    def reading(self) -> Reading:
        """The last message of a call that ended well."""
        told = self._tale.reading()
        answer = "" if told.failed else self._answer or told.answer
        return replace(told, answer=answer, denials=tuple(self._denials))

    def _tool(self, value: Json) -> list[Line]:
        told: list[Line] = []
        for key, call in dict_at(value, "tool_call").items():
            name = clean(key).removesuffix("ToolCall")
            result = dict_at(call, "result")
            if value.get("subtype") == "started":
                told.append(used(name, dict_at(call, "args")))
            elif "rejected" in result:
                self._denials.append(name)
                told.append(Line("note", f"was not allowed: {name}"))
            elif result and "success" not in result:
                told += failed_tool(str(next(iter(result.values()))))
        return told
