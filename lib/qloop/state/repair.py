"""What becomes of a state file that somebody else saved: merged, restored, or taken as it stands.

Decides; writes nothing. Source: contract, Who owns which field. Errors: BadInput for a file that
does not parse where there is no generation to restore.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qloop.plan.document import parse_document
from qloop.plan.memory import collector_paused
from qloop.plan.model import Json
from qloop.plan.validate import find_faults
from qloop.state.generations import Generations
from qloop.state.merge import find_unmergeable, merge_edit
from qloop.system.errors import BadInput, Faults

_MOST_NAMED = 12
_MOST_FAULTS = 3


@dataclass(frozen=True, slots=True)
class Repair:
    """What the state file shall hold, and what to say of it."""

    document: Json
    text: str
    """For people; empty where there is nothing to say."""
    aside: bytes | None = None
    """What the file held and must not be lost."""


_Otherwise = Callable[[Json, str, bytes], Repair]


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges what a state file holds against its last generation."""

    where: str
    """The state file, in messages."""
    generations: Generations

    def during_run(self, disk: bytes | None, ours: Json) -> Repair:
        """A file that is not the last generation, *ours*, while a run is on."""
        if disk is None:
            return self._restored(ours, "was gone", None)
        theirs = self._parse(disk, ours)
        if isinstance(theirs, Repair):
            return theirs
        if theirs.get("branchName") != ours.get("branchName"):
            return self._restored(ours, f"was of branch {theirs.get('branchName')!r}", disk)
        return self._merged(theirs, disk, ours, self._restored)

    def between_runs(self, disk: bytes, last: str | None) -> Repair:
        """A file that is not the last generation, whose stamp is *last*, before a run."""
        if last is None:
            return Repair(parse_document(disk, self.where), "")
        ours = load_own(self.generations.load(last))
        theirs = self._parse(disk, ours)
        if isinstance(theirs, Repair):
            return theirs
        as_it_stands = Repair(theirs, "")
        if theirs.get("branchName") != ours.get("branchName") or theirs.get("updatedAt") == last:
            return as_it_stands
        return self._merged(theirs, disk, ours, lambda *_: as_it_stands)

    def _parse(self, disk: bytes, ours: Json) -> Json | Repair:
        try:
            return parse_document(disk, self.where)
        except BadInput as exc:
            faults = exc.faults if isinstance(exc, Faults) else (exc.what,)
            return self._restored(ours, f"did not parse ({_join(faults)})", disk)

    def _merged(self, theirs: Json, disk: bytes, ours: Json, otherwise: _Otherwise) -> Repair:
        """Merged from the generation that theirs names, where that can be."""
        stamp = theirs.get("updatedAt")
        if not isinstance(stamp, str) or not self.generations.has(stamp):
            return otherwise(ours, "names no kept generation by its updatedAt", disk)
        unmergeable = find_unmergeable(theirs)
        if unmergeable is not None:
            return otherwise(ours, unmergeable, disk)
        merged = merge_edit(load_own(self.generations.load(stamp)), theirs, ours)
        faults = find_faults(merged.document)
        if faults:
            return otherwise(ours, f"is no plan that can be run ({_join(faults)})", disk)
        parts = []
        if merged.taken:
            parts.append(f"taken: {_names(merged.taken)}")
        if merged.put_back:
            parts.append(f"put back, since qloop writes it: {', '.join(merged.put_back)}")
        return Repair(
            merged.document, f"{self.where} was edited; {'; '.join(parts)}" if parts else ""
        )

    def _restored(self, ours: Json, why: str, disk: bytes | None) -> Repair:
        return Repair(ours, f"{self.where} {why}; the last generation is restored", disk)


def load_own(data: bytes) -> Json:
    """The document in bytes that qloop itself wrote."""
    with collector_paused():
        document: Json = json.loads(data)
    return document


def _join(faults: Sequence[object]) -> str:
    more = ("…",) if len(faults) > _MOST_FAULTS else ()
    return "; ".join(str(fault) for fault in (*faults[:_MOST_FAULTS], *more))


def _names(paths: tuple[str, ...]) -> str:
    shown = ", ".join(paths[:_MOST_NAMED])
    more = len(paths) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown
