"""The desk of a delegate: an empty folder to stand in, and an environment that tells it nothing.

Without tools it gets at nothing; one whose tools were not taken away would find nothing here.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from qloop.repo.removal import remove_all
from qloop.repo.workspace import Workspace
from qloop.run.desk import Desk, logs_folder
from qloop.run.inside import DEPTH


@dataclass(frozen=True, slots=True)
class DelegateDesk(Desk):
    """Where a delegate is called from."""

    folder: Path | None = None
    """Where its output is kept; None for the attempt's own folder."""

    @property
    def logs(self) -> Path:
        """Where its output is kept."""
        return logs_folder(self.terms, self.dispatch) if self.folder is None else self.folder

    @property
    def marking(self) -> dict[str, str]:
        """The variables by which what was started for it is found again."""
        return {"QLOOP_ATTEMPT_ID": self.dispatch.attempt_id, "QLOOP_RUN": self.terms.run_id}

    def _own(self) -> dict[str, str]:
        return {DEPTH: "1", **self.marking, "TMPDIR": str(self.workspace.tmp)}


@contextmanager
def desk_within(desk: Desk) -> Iterator[DelegateDesk]:
    """The desk of an attempt's delegate; its folders are gone in the end."""
    place = desk.workspace.tmp / "delegates"
    own = desk.workspace
    made = empty_workspace(place, desk.dispatch.attempt_id, own.person, own.start)
    try:
        yield DelegateDesk(
            desk.terms, desk.wave, desk.dispatch, made, desk.emit, desk.cancel, desk.tickets
        )
    finally:
        remove_all(place)


def empty_workspace(base: Path, name: str, person: Path, start: str = "") -> Workspace:
    """Folders to work in, without any repository; *person* is the person's git directory.

    *start* is the commit that the attempt starts from, where it is for one.
    """
    made = Workspace(
        name=name,
        base=base,
        branch=None,
        start=start,
        admin=base / f"{name}.git",
        author=("", ""),
        person=person,
        pristine={},
    )
    for folder in (made.tree, made.tmp):
        folder.mkdir(mode=0o700, parents=True)
    return made
