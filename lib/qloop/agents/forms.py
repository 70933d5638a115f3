"""The names of the forms that an agent's output can have; `readers.table` has their readers."""

TEXT = "text"

FORMS = (
    TEXT,
    "claude-json",
    "claude-stream-json",
    "codex-jsonl",
    "gemini-json",
    "gemini-stream-json",
    "opencode-json",
    "qwen-stream-json",
    "mini-trajectory",
)
