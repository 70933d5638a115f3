"""Where an intent stands, read from its folder alone: a function of the files, and of nothing else.

What cannot be read is `(unknown)`; nothing here raises for it.
"""

from dataclasses import dataclass
from pathlib import Path

from qloop.state.insights import read_insights
from qloop.state.intent import UNKNOWN, one_line, read_front
from qloop.state.lifecycle import Lifecycle, Stage, document_of, read_lifecycle
from qloop.state.savepoints import last_stage, read_ledger


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of an intent."""

    id: str
    line: str
    """What is wanted, in one line."""
    stage: Stage
    milestone: str
    """The newest one of that stage; empty where the ledger tells none."""
    files: Lifecycle
    document: str | None
    """The name of the file that says what is wanted."""

    @property
    def artifacts(self) -> tuple[str, ...]:
        """The names of the lifecycle files that are there."""
        return (
            *((self.document,) if self.document and self.files.document is not None else ()),
            *self.files.names,
        )

    @property
    def insight(self) -> str | None:
        """The newest insight."""
        told = read_insights(self.files.document or "")
        return told[-1] if told else None


def read_standing(folder: Path) -> Standing:
    """Where the intent of a folder stands; the ledger decides the stage, without it the files."""
    files = read_lifecycle(folder)
    front = read_front(files.document or "")
    newest = last_stage(read_ledger(folder))
    stage = files.stage if newest is None or newest.stage is None else newest.stage
    document = document_of(folder)
    return Standing(
        id=_one_line(front.get("id")),
        line=_one_line(front.get("intent")),
        stage=stage,
        milestone="" if newest is None else _one_line(newest.milestone),
        files=files,
        document=None if document is None else document.name,
    )


def _one_line(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return UNKNOWN
    return one_line(str(value)) or UNKNOWN
