"""Agent command lines played by shell scripts of their names."""

import json
from pathlib import Path
from typing import Any

PASSED = "<quantum>STORY_PASSED</quantum>"

ANSWERS: dict[str, list[dict[str, Any]]] = {
    "claude": [{"type": "result", "subtype": "success", "is_error": False, "result": PASSED}],
    "codex": [
        {"type": "item.completed", "item": {"type": "agent_message", "text": PASSED}},
        {"type": "turn.completed", "usage": {}},
    ],
    "gemini": [
        {"type": "message", "role": "assistant", "content": PASSED},
        {"type": "result", "status": "success", "stats": {}},
    ],
}
"""How each says that it passed; all others by the line alone."""


def install(programs: Path, flags: Path, name: str, *steps: str) -> None:
    """Install a program that notes its words, takes *steps*, and says that it passed.

    Without steps it changes something.
    """
    answers = [json.dumps(line) for line in ANSWERS.get(name, [])] or [PASSED]
    lines = [
        "#!/bin/sh",
        'test "$1" = --version && echo "the agent 1.2.3 (fake)" && exit 0',
        f"for word; do printf '%s\\n' \"$word\"; done > '{flags}/{name}.words'",
        "cat > prompt.txt",
        *(steps or ("echo x > work.txt",)),
        *(f"echo '{answer}'" for answer in answers),
    ]
    path = programs / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o755)
