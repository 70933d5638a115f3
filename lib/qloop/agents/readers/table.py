"""Which reader reads which form of output."""

from collections.abc import Callable

from qloop.agents.forms import TEXT
from qloop.agents.readers.claude import QWEN, ClaudeTale
from qloop.agents.readers.codex import CodexTale
from qloop.agents.readers.cursor import CursorTale
from qloop.agents.readers.gemini import GeminiStreamTale, GeminiTale
from qloop.agents.readers.json_reader import JsonReader
from qloop.agents.readers.mini import MiniTale
from qloop.agents.readers.opencode import OpencodeTale
from qloop.agents.readers.text import TextReader
from qloop.agents.reading import Reader

READERS: dict[str, Callable[[], Reader]] = {
    TEXT: TextReader,
    "claude-json": lambda: JsonReader(ClaudeTale()),
    "claude-stream-json": lambda: JsonReader(ClaudeTale()),
    "codex-jsonl": lambda: JsonReader(CodexTale()),
    "cursor-stream-json": lambda: JsonReader(CursorTale()),
    "gemini-json": lambda: JsonReader(GeminiTale()),
    "gemini-stream-json": lambda: JsonReader(GeminiStreamTale()),
    "opencode-json": lambda: JsonReader(OpencodeTale()),
    "qwen-stream-json": lambda: JsonReader(ClaudeTale(QWEN)),
    "mini-trajectory": lambda: JsonReader(MiniTale()),
}


def open_reader(form: str) -> Reader:
    """A reader for one call's output of that form (see `forms.FORMS`)."""
    return READERS[form]()
