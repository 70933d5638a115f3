"""How far an intent has come, by the files in its folder.

A file that is empty, or whose first line is the placeholder's comment, is not there yet; nor is
an `actions/` without an action of its own. Links lead out of the folder and are not followed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from qloop.state.intent import Intent, parse_folder_name, plain_lines, read_front
from qloop.state.sections import Box, read_boxes
from qloop.system.files import read_blocks

PLACEHOLDER = "<!-- placeholder -->"
SPEC = "spec.md"
PLAN = "plan.md"
CHECKLIST = "checklist.md"
OUTCOME = "outcome.md"
ACTIONS = "actions"

_LARGEST_BYTES = 2_000_000
_PLACEHOLDER = re.compile(r"<!--\s*(?:[\w-]+\s*:\s*)?placeholder\b.*", re.IGNORECASE)
_ACTION = re.compile(r"ACTION_([0-9]{1,6})\.md")


class Stage(StrEnum):
    """Where an intent stands between wish and deed, in order."""

    WHAT = "What"
    WHY = "Why"
    HOW = "How"
    EXEC = "Exec"
    DONE = "Done"


class Disposition(StrEnum):
    """How an intent ended."""

    DELIVERED = "delivered"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The texts of an intent's lifecycle files; None for one that is not there yet."""

    document: str | None = None
    spec: str | None = None
    plan: str | None = None
    actions: Mapping[str, str] = field(default_factory=dict)
    """By file name, in the order of their numbers."""
    checklist: str | None = None
    outcome: str | None = None

    @property
    def stage(self) -> Stage:
        """The stage that the files have reached."""
        if self.outcome is not None:
            return Stage.DONE
        if self.plan is not None and self.actions and self.checklist is not None:
            return Stage.EXEC
        if self.spec is not None:
            return Stage.HOW
        return Stage.WHAT if self.document is None else Stage.WHY

    @property
    def names(self) -> list[str]:
        """The names of the files that are there, but for the document's own."""
        known = [
            (SPEC, self.spec),
            (PLAN, self.plan),
            *((f"{ACTIONS}/{name}", text) for name, text in self.actions.items()),
            (CHECKLIST, self.checklist),
            (OUTCOME, self.outcome),
        ]
        return [name for name, text in known if text is not None]

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The boxes of the checklist."""
        return read_boxes(self.checklist or "")

    @property
    def open_boxes(self) -> tuple[Box, ...]:
        """Those that nobody has ticked."""
        return tuple(box for box in self.boxes if not box.is_ticked)

    @property
    def disposition(self) -> Disposition | None:
        """How the outcome says that the intent ended."""
        word = read_front(self.outcome or "").get("disposition")
        known = {one.value: one for one in Disposition}
        return known.get(word) if isinstance(word, str) else None


def read_lifecycle(folder: Path) -> Lifecycle:
    """The lifecycle files of an intent's folder; what cannot be read is not there."""
    document = document_of(folder)
    return Lifecycle(
        document=None if document is None else read_real(document),
        spec=read_real(folder / SPEC),
        plan=read_real(folder / PLAN),
        actions=_read_actions(folder / ACTIONS),
        checklist=read_real(folder / CHECKLIST),
        outcome=read_real(folder / OUTCOME),
    )


def document_of(folder: Path) -> Path | None:
    """The file that says what is wanted, also in a folder that was renamed or copied."""
    own = folder / f"{folder.name}.md"
    if own.is_file():
        return own
    paths = folder.glob("*--*.md") if folder.is_dir() else ()
    found = [path for path in paths if parse_folder_name(path.stem) is not None]
    return found[0] if len(found) == 1 else None


def read_real(path: Path) -> str | None:
    """A file's text with plain line ends; None for none, and for a placeholder of one."""
    data = b"".join(read_blocks(path, _LARGEST_BYTES))
    text = plain_lines(data.decode("utf-8", "replace"))
    return None if is_placeholder(text) else text


def is_placeholder(text: str) -> bool:
    """Whether a text only keeps a place: nothing but blanks, or the comment in its first line."""
    lines = plain_lines(text).split("\n", 1)
    return not text.strip() or _PLACEHOLDER.fullmatch(lines[0].strip()) is not None


def action_number(name: str) -> int | None:
    """The number in an action's file name; None for any other name."""
    found = _ACTION.fullmatch(name)
    return None if found is None else int(found[1])


def _read_actions(folder: Path) -> dict[str, str]:
    if folder.is_symlink() or not folder.is_dir():
        return {}
    numbers = ((action_number(path.name), path) for path in folder.iterdir())
    known = sorted((number, path.name) for number, path in numbers if number is not None)
    texts = ((name, read_real(folder / name)) for _, name in known)
    return {name: text for name, text in texts if text is not None}


def lifecycle_of(intent: Intent) -> Lifecycle:
    """The lifecycle files of an intent."""
    return read_lifecycle(intent.folder)
