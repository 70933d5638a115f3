"""Ending a tree of processes for certain, however its members hid.

A member is what descends from a root, what is in a session or group that a root leads, what bears
a mark and is no older than the roots, and what descends from those. Never a member: the calling
process, its ancestors, the children that `process` has under way, and what the caller spares, with
all that these started.
Units: seconds. Errors: InternalFailure as in `table`.
Source: prctl(2) PR_SET_CHILD_SUBREAPER, credentials(7), pidfd_send_signal(2).
"""

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from qloop.system.clock import monotonic_s
from qloop.system.identity import ProcessId, id_of, is_alive, send_signal
from qloop.system.process import await_exit, own_children
from qloop.system.table import (
    Row,
    files_written,
    lineage,
    read_environment,
    read_folder,
    read_table,
)

KILL_LIMIT_S = 10.0
"""How long members are killed anew before those left are named as survivors."""

_KILL_WAIT_S = 0.5
_QUIET_SCANS = 3
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Marks:
    """What tells a member that no longer descends from its root."""

    env: tuple[str, ...] = ()
    """Whole `NAME=value` entries of the environment; one of them is enough."""
    folders: tuple[Path, ...] = ()
    """Folders that only members work in, or have files open for writing in."""


def become_subreaper() -> bool:
    """Let orphaned descendants become children of this process; False where that cannot be."""
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def find_members(roots: Iterable[int], marks: Marks, spare: Container[int]) -> set[ProcessId]:
    """The living members of a tree, from one look at the table of processes."""
    return {id_of(row) for row in _Family(frozenset(roots), marks, spare).look().living}


def end_tree(
    roots: Iterable[int],
    marks: Marks,
    *,
    grace_s: float,
    spare: Container[int] = (),
    orphans: bool = False,
) -> tuple[ProcessId, ...]:
    """End all members; return those that outlived even SIGKILL.

    With *orphans*, members are also what `find_orphans` finds, and all that descends from it.

    They get SIGTERM and *grace_s* to go, then SIGKILL until three looks in a row find none.
    Members that became children of this process are reaped; roots are not, whoever started them
    waits for them. A root that is no longer running is to be left unreaped until then, so that
    its pid is no other's.
    """
    return _end(_Family(frozenset(roots), marks, spare, adopt=orphans), grace_s)


def find_orphans(spare: Container[int]) -> set[ProcessId]:
    """Living children of this process that neither `process` started nor the caller spares.

    What a tree that still runs has orphaned is among them, so that this is for when none does.
    """
    seen = _Family(frozenset(), Marks(), spare, adopt=True).look()
    return {id_of(row) for row in seen.living if row.parent == os.getpid()}


@dataclass(frozen=True, slots=True)
class _Sight:
    """One look at the table."""

    table: dict[int, Row]
    members: list[Row]
    """Those that live, and those that are dead and not reaped yet."""
    fresh: list[Row]
    """Those never seen before: even when they are dead, something may go on forking."""

    @property
    def living(self) -> list[Row]:
        return [row for row in self.members if row.living]


@dataclass(slots=True)
class _Family:
    """The members of one tree, remembered from look to look."""

    roots: frozenset[int]
    marks: Marks
    spare: Container[int]
    adopt: bool = False
    """Whether every child of this process that is not spared is a member."""
    since: float | None = None
    """When the first root started: what is older bears no mark of it. None where a root is gone."""
    known: dict[int, str] = field(default_factory=dict)
    """The start of each member ever seen, by pid: it stays one when its parent dies."""
    entries: frozenset[bytes] = field(init=False)
    folders: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.entries = frozenset(os.fsencode(entry) for entry in self.marks.env if entry)
        self.folders = tuple(f"{folder.resolve()}/" for folder in self.marks.folders)

    def look(self) -> _Sight:
        """Who is a member now."""
        table = read_table()
        # Asked after the table was read: a child that is in the table is in here too.
        kept = own_children() - self.roots
        above = {row.pid for row in lineage(table[os.getpid()], table)}
        self.roots -= above
        if not self.known:
            self.since = _first_start(self.roots, table)
        spared = {pid for pid in table if pid in kept or pid in self.spare}
        standing = self._standings(table, above, spared)
        members = [row for row in table.values() if standing[row.pid]]
        fresh = [row for row in members if self.known.get(row.pid) != row.start]
        self.known.update((row.pid, row.start) for row in members)
        return _Sight(table, members, fresh)

    def reap(self, sight: _Sight) -> None:
        """Reap the dead that became children of this process."""
        for row in sight.members:
            if not row.living and row.parent == os.getpid() and row.pid not in self.roots:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(row.pid, os.WNOHANG)

    def _standings(
        self, table: dict[int, Row], above: set[int], spared: set[int]
    ) -> dict[int, bool | None]:
        """For each pid, parents before children: member (True), spared (False), or neither."""
        found: dict[int, bool | None] = dict.fromkeys(above)
        for row in table.values():
            for one in reversed(tuple(lineage(row, table))):
                if one.pid not in found:
                    found[one.pid] = self._standing(one, table, found.get(one.parent), spared)
        return found

    def _standing(
        self, row: Row, table: dict[int, Row], inherited: bool | None, spared: set[int]
    ) -> bool | None:
        if row.pid in spared:
            return False
        if row.pid in self.roots:
            return True
        if inherited is not None:
            return inherited
        return True if self._is_kin(row, table) or self._is_marked(row, table) else None

    def _is_kin(self, row: Row, table: dict[int, Row]) -> bool:
        if self.adopt and row.parent == os.getpid():
            return True
        if self.roots & {row.pid, row.session, row.group}:
            return True
        return any(self._is_known(pid, table) for pid in (row.session, row.group)) or (
            self.known.get(row.pid) == row.start
        )

    def _is_known(self, leader: int, table: dict[int, Row]) -> bool:
        """Whether a session or group is led by a member, which may be gone by now."""
        if leader not in self.known:
            return False
        return leader not in table or table[leader].start == self.known[leader]

    def _is_marked(self, row: Row, table: dict[int, Row]) -> bool:
        if not (self.entries or self.folders) or self._is_older(row):
            return False
        environment = read_environment(row.pid)
        if environment is None:  # what hides its environment hides its folder too
            return False
        if not self.entries.isdisjoint(environment):
            return True
        return not _is_at_a_terminal(row, table) and self._holds_a_folder(row.pid)

    def _is_older(self, row: Row) -> bool:
        return self.since is not None and float(row.start) < self.since

    def _holds_a_folder(self, pid: int) -> bool:
        if not self.folders:
            return False
        working = read_folder(pid)
        if working is not None and self._is_inside(working):
            return True
        return any(self._is_inside(path) for path in files_written(pid))

    def _is_inside(self, path: str) -> bool:
        return f"{path}/".startswith(self.folders)


def _first_start(roots: frozenset[int], table: dict[int, Row]) -> float | None:
    """When the first of the roots started; None where there is none, or one is gone."""
    if not roots or not roots <= table.keys():
        return None
    return min(float(table[pid].start) for pid in roots)


def _is_at_a_terminal(row: Row, table: dict[int, Row]) -> bool:
    """Whether it is a person's: a shell that went into a folder to look, or an editor there."""
    own = os.getpid()
    return row.terminal and all(ancestor.pid != own for ancestor in lineage(row, table))


def _end(family: _Family, grace_s: float) -> tuple[ProcessId, ...]:
    sight = family.look()
    _signal(sight, signal.SIGTERM)
    _await_gone(sight.living, grace_s)
    return _kill_until_quiet(family, 0 if sight.living else 1)


def _kill_until_quiet(family: _Family, quiet: int) -> tuple[ProcessId, ...]:
    """Kill until *quiet* looks in a row, counting those there were, have found nothing alive."""
    deadline = monotonic_s() + KILL_LIMIT_S
    while quiet < _QUIET_SCANS:
        sight = family.look()
        restless = sight.living or sight.fresh
        if restless and monotonic_s() >= deadline:
            return tuple(id_of(row) for row in restless)
        quiet = 0 if restless else quiet + 1
        _signal(sight, signal.SIGKILL)
        family.reap(sight)  # only now: a zombie keeps the number of its group from others
        _await_gone(sight.living, _KILL_WAIT_S)
    return ()


def _signal(sight: _Sight, signum: int) -> None:
    """Signal whole groups at once, so that no fork slips through, then what is in none."""
    groups = _whole_groups(sight)
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signum)
    for row in sight.living:
        if row.group not in groups:
            send_signal(id_of(row), signum)
        if row.state in "Tt":  # a stopped process takes SIGTERM only once it goes on
            send_signal(id_of(row), signal.SIGCONT)


def _whole_groups(sight: _Sight) -> set[int]:
    """The process groups in which there is nobody but members.

    Never 0, the group of one that came in from another namespace, nor 1: killpg(2) takes them
    for the caller's own group, and for everybody.
    """
    pids = {row.pid for row in sight.members}
    others = {row.group for row in sight.table.values() if row.pid not in pids}
    return {row.group for row in sight.members} - others - {0, 1}


def _await_gone(members: list[Row], timeout_s: float) -> None:
    """Wait until all have exited, or the time is over."""
    deadline = monotonic_s() + timeout_s
    for row in members:
        left_s = deadline - monotonic_s()
        if left_s > 0 and is_alive(id_of(row)):
            await_exit(row.pid, timeout_s=left_s)
