"""The one door to quantum.json: locked, owned, whole on disk, and no edit of a person's lost.

Every write is a transaction: lock, read, take in what somebody else saved meanwhile, let the
caller change a draft, check that each changed field is the writer's own, then replace the file.
Readers need no lock and never see half a file. No child process may be started in a transaction.

Errors: InputMissing where there is no file, BadInput for one that does not parse and cannot be
restored, NotOwner, StateLocked. Units: seconds, bytes.
"""

import hashlib
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from qloop.plan.document import load_document, parse_document, render_document
from qloop.plan.outline import Outline
from qloop.plan.values import Json
from qloop.state.generations import Generations, Swap, next_stamp, settled
from qloop.state.locking import StateLocked as StateLocked
from qloop.state.locking import locked
from qloop.state.ownership import Writer, check_ownership
from qloop.state.parts import Outliner, Part, read_part
from qloop.state.repair import Judge, Repair, load_own
from qloop.state.snapshot import Snapshot
from qloop.system import clock, files
from qloop.system.errors import BadInput, InputMissing, InternalFailure

LOCK_TIMEOUT_S = 60.0
FOLDER_NAME = ".qloop"
QUANTUM_NAME = "quantum.json"


def _say_nothing(_: str) -> None:
    """For who does not want to know of repairs."""


@dataclass(frozen=True, slots=True)
class _Version:
    """The last generation as this process knows it."""

    stamp: str
    data: bytes
    document: Json
    snapshot: Snapshot


@dataclass(slots=True)
class _Work:
    """A transaction at work: the draft, how it was, and what stands in the file."""

    document: Json
    snapshot: Snapshot
    disk: bytes | None
    repairs: list[Repair]


class Store:
    """One state file. Several processes and threads may each have a store of the same file."""

    def __init__(
        self, path: Path, private: Path, on_repair: Callable[[str], None] = _say_nothing
    ) -> None:
        self.path = path
        self.private = private
        self._on_repair = on_repair
        self._generations = Generations(private / "generations", path)
        self._judge = Judge(path.name, self._generations)
        self._known: _Version | None = None
        self._outliner = Outliner()

    def read(self) -> Json:
        """The file as it stands, without a lock. Raises InputMissing, BadInput."""
        return load_document(self.path)

    def current(self) -> Json:
        """The document during a run: what a person saved is taken in, or put back, first.

        It must not be changed; that is what a transaction is for. Raises InputMissing, BadInput.
        """
        with self._locked():
            work = self._begin()
            if work.repairs:
                self._tell(self._write(work))
            return work.document

    def adopt(self) -> list[str]:
        """Take the file over at the start of a run; returns what was put back or restored.

        A person's edits since the last run count entirely, unless they were made in an older
        generation; then fields of driver and coordinators stay as they were. Raises InputMissing.
        """
        with self._locked():
            disk, last = self._look()
            if disk is None:
                raise _missing(self.path)
            if last is not None and disk == last.data:
                return []
            repair = self._judge.between_runs(disk, None if last is None else last.stamp)
            return self._write(_Work(repair.document, Snapshot(repair.document), disk, [repair]))

    def replace(self, document: Json) -> None:
        """Write a whole new plan, in the name of `qloop plan`; never while a run is on."""
        with self._locked():
            disk, _ = self._look()
            self._write(_Work(document, Snapshot(document), disk, []))

    @contextmanager
    def transaction(self, writer: Writer, stories: Collection[str] | None = None) -> Iterator[Json]:
        """Yield the document to be changed in place; write it when the block ends well.

        With *stories*, ids of those that may change, others need not be in the document, and
        stay as they are. The document must not be used after the block. Nothing is written where
        the block raises, where nothing changed, or where a field changed that is not the
        writer's (NotOwner). What was repaired on the way is told to `on_repair`.
        """
        with self._locked():
            part = None if stories is None else self._begin_part(stories)
            if part is not None:
                yield part.document
                if check_ownership(part.before(), part.document, writer):
                    self._write_part(part)
                return
            work = self._begin()
            try:
                yield work.document
                if _is_changed(work, writer) or work.repairs:
                    self._tell(self._write(work))
            except BaseException:
                self._known = None  # its document may be half changed
                raise

    def part(self, stories: Collection[str]) -> Json:
        """A copy of the document with these stories, as `current` has them; others may miss."""
        with self._locked():
            part = self._begin_part(stories)
        if part is not None:
            return part.document
        self.current()
        return self.read()

    def outline(self) -> Outline | None:
        """What the graph knows of the last generation; None where it stands to be repaired."""
        with self._locked():
            found = self._begin_part(())
        return None if found is None else self._outliner.read(found.data)

    def _locked(self) -> AbstractContextManager[None]:
        return locked(self.path, self.private, LOCK_TIMEOUT_S)

    def _begin_part(self, stories: Collection[str]) -> Part | None:
        """Some stories of the last generation; None where all must be looked at."""
        disk = self._read_disk()
        self._generations.recover(disk)
        stamp = self._generations.last()
        if disk is None or stamp is None or not self._generations.holds(stamp, disk):
            return None
        return read_part(disk, stories)

    def _write_part(self, part: Part) -> None:
        stamp = next_stamp(self._generations.last(), part.document.get("updatedAt"))
        part.document["updatedAt"] = stamp
        data = part.render()
        self._known = None
        swap = self._swap(stamp, data, part.data)
        if swap.found == part.data:
            return
        repair = self._judge.during_run(swap.found, load_own(data))
        disk = data if swap.replaced else swap.found
        self._tell(self._write(_Work(repair.document, Snapshot(repair.document), disk, [repair])))

    def _begin(self) -> _Work:
        disk, last = self._look()
        if last is not None and disk == last.data:
            return _Work(last.document, last.snapshot, disk, [])
        if last is not None:
            repair = self._judge.during_run(disk, last.document)
            return _Work(repair.document, Snapshot(repair.document), disk, [repair])
        if disk is None:
            raise _missing(self.path)
        document = parse_document(disk, str(self.path))
        return _Work(document, Snapshot(document), disk, [])

    def _look(self) -> tuple[bytes | None, _Version | None]:
        """What the file holds, and the last generation, once a cut-short write is dealt with."""
        disk = self._read_disk()
        self._generations.recover(disk)
        last = self._load_last()
        expected = None if last is None else last.data
        return (disk if disk == expected else settled(self._read_disk, expected)), last

    def _load_last(self) -> _Version | None:
        stamp = self._generations.last()
        if stamp is None:
            self._known = None
        elif self._known is None or self._known.stamp != stamp:
            data = self._generations.load(stamp)
            document = load_own(data)
            self._known = _Version(stamp, data, document, Snapshot(document))
        return self._known

    def _write(self, work: _Work) -> list[str]:
        """Write the draft as a new generation; returns what there is to say of repairs."""
        said = [self._keep_aside(repair) for repair in work.repairs]
        while True:
            stamp = next_stamp(self._generations.last(), work.document.get("updatedAt"))
            work.document["updatedAt"] = stamp
            data = render_document(work.document)
            swap = self._swap(stamp, data, work.disk)
            if swap.found == work.disk:
                break
            repair = self._judge.during_run(swap.found, work.document)
            said.append(self._keep_aside(repair))
            work.document, work.snapshot = repair.document, Snapshot(repair.document)
            work.disk = data if swap.replaced else swap.found
        work.snapshot.note_field("updatedAt", stamp)
        self._known = _Version(stamp, data, work.document, work.snapshot)
        return [text for text in said if text]

    def _swap(self, stamp: str, data: bytes, expected: bytes | None) -> Swap:
        try:
            return self._generations.write(stamp, data, expected)
        except OSError as exc:
            raise InternalFailure(
                f"cannot be written: {exc.strerror}", where=str(self.path)
            ) from exc

    def _keep_aside(self, repair: Repair) -> str:
        """Keep what a repair takes out of the file; returns what there is to say of it."""
        if repair.aside is None:
            return repair.text
        moment = clock.utc_after(None).replace(":", "_")
        kept = self.private / "aside" / f"{self.path.stem}.{moment}{self.path.suffix}"
        files.write_atomic(kept, repair.aside)
        return f"{repair.text}; what it held is kept as {kept}"

    def _read_disk(self) -> bytes | None:
        try:
            return files.read_optional(self.path)
        except OSError as exc:
            raise BadInput(f"cannot be read: {exc.strerror}", where=str(self.path)) from exc

    def _tell(self, texts: list[str]) -> None:
        for text in texts:
            self._on_repair(text)


def store_for(
    quantum: Path, root: Path | None, on_repair: Callable[[str], None] = _say_nothing
) -> Store:
    """The store of a state file; *root* is the main checkout, where there is one.

    Its lock, generations and temporary files lie in the checkout's `.qloop/`, or in one beside
    the file where that is on another file system.
    """
    path = quantum.resolve()
    folder = beside = path.parent / FOLDER_NAME
    if root is not None and _device(root / FOLDER_NAME) == _device(path.parent):
        folder = root.resolve() / FOLDER_NAME
    if folder != beside or path.name != QUANTUM_NAME:
        digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
        folder = folder / "state" / f"{path.stem}-{digest}"
    return Store(path, folder, on_repair)


def _device(path: Path) -> int:
    """The file system of *path*, or of the nearest folder above it that is there."""
    while not path.exists():
        path = path.parent
    return path.stat().st_dev


def _is_changed(work: _Work, writer: Writer) -> bool:
    """Whether the draft was changed; raises NotOwner. Brings its snapshot up to date."""
    now = Snapshot(work.document)
    before = work.snapshot.rebuild(now, work.document)
    changes = check_ownership(before, work.document, writer)
    work.snapshot = now
    return bool(changes)


def _missing(path: Path) -> InputMissing:
    return InputMissing("there is no state file", where=str(path), fix="make one: qloop plan PRD")
