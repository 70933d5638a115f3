"""The stage's rules for a tool call of an agent: what its file would hold, and whether it may.

It reads the intent's folder, and the file that would be changed.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qloop.mission.stage_gate import Refusal, Write, deliverable_of, judge_write
from qloop.state.intent import parse_folder_name, plain_lines
from qloop.state.lifecycle import document_of, read_lifecycle
from qloop.system.files import read_optional


def judge_call(role: str, args: Mapping[str, Any], path: Path) -> Refusal | None:
    """The rule against writing *path*, as a writing tool's *args* say; None where it may be.

    *path* is resolved. Nothing is said of what lies in no intent's folder.
    """
    folder = next((one for one in path.parents if _is_intents(one)), None)
    if folder is None:
        return None
    inner = path.relative_to(folder).as_posix()
    if deliverable_of(inner) is None:
        return None
    before = plain_lines((read_optional(path) or b"").decode("utf-8", "replace"))
    return judge_write(read_lifecycle(folder), Write(inner, text_after(before, args), role))


def text_after(before: str, args: Mapping[str, Any]) -> str:
    """What a file holds after a call: all of it given, or places of it replaced."""
    content = args.get("content")
    if isinstance(content, str):
        return plain_lines(content)
    edits = args.get("edits")
    text = before
    for edit in edits if isinstance(edits, list) else [args]:
        if isinstance(edit, Mapping):
            text = _replaced(text, edit)
    return text


def _replaced(text: str, edit: Mapping[str, Any]) -> str:
    old, new = edit.get("old_string"), edit.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return text
    if not old:
        return text + plain_lines(new)
    count = -1 if edit.get("replace_all") is True else 1
    return text.replace(plain_lines(old), plain_lines(new), count)


def _is_intents(folder: Path) -> bool:
    return parse_folder_name(folder.name) is not None and document_of(folder) is not None
