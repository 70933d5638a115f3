"""The names of the forms that an agent's output can have; `readers.table` has their readers."""

from typing import Literal, get_args

Form = Literal[
    "text",
    "claude-json",
    "claude-stream-json",
    "codex-jsonl",
    "cursor-stream-json",
    "gemini-json",
    "gemini-stream-json",
    "opencode-json",
    "qwen-stream-json",
    "mini-trajectory",
]

TEXT: Form = "text"

FORMS: tuple[Form, ...] = get_args(Form)
