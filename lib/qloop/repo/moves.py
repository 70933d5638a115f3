"""Refs and heads that moved, and who moved them.

Reflogs answer first: each entry bears its committer. Where a ref has none, the committer line of
the object that it points at answers, then the trace. What is put back is the value from before
the last unbroken run of agents' moves, so that a person's move or a landing in between stands.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from qloop.repo.abilities import moves_head, removes_ref, removes_worktree, writes_ref
from qloop.repo.changes import Change, Changes, Kind
from qloop.repo.checkout import Repository
from qloop.repo.git import QLOOP_NAME
from qloop.repo.marks import committer_mark, marked_attempt
from qloop.repo.person import LINE, OWN, SYMBOLIC, Snapshot
from qloop.repo.reflog import Entry, entries_since
from qloop.repo.trace import TracedCommand

PUT_BACK = "qloop: put back"
_LONGEST_HISTORY = "--max-count=1000"
_REWRITES = ("reset: ", "checkout: ")
_NOBODY = "no agent's mark"


@dataclass(frozen=True, slots=True)
class Case:
    """What there is to judge by."""

    repository: Repository
    before: Snapshot
    after: Snapshot
    attempt_id: str
    commands: tuple[TracedCommand, ...]
    """The attempt's commands in the person's repository."""

    @property
    def mark(self) -> str:
        """The attempt's committer name."""
        return committer_mark(self.attempt_id)

    @property
    def branches(self) -> frozenset[str]:
        """The branches that a checkout stood on at either moment."""
        return self.before.branches | self.after.branches

    def traced(self, able: Callable[[TracedCommand], bool]) -> str | None:
        """The first of the attempt's commands that is able to do something, as text."""
        return next((f"traced: {seen.text}" for seen in self.commands if able(seen)), None)


@dataclass(frozen=True, slots=True)
class _Move:
    """A ref or head at both moments, and what its reflog says about the time between."""

    name: str
    was: str | None
    now: str | None
    entries: tuple[Entry, ...]

    @property
    def explained(self) -> bool:
        """Whether the reflog leads to what the ref is now."""
        return bool(self.entries) and self.entries[-1].new == self.now


def ref_changes(case: Case) -> Changes:
    """The refs that an agent or a person made, moved or deleted."""
    moves = [_ref_move(case, ref) for ref in _touched_refs(case)]
    renamed = _renamed_away(moves, case.mark)
    marked, unmarked = [], []
    for move in moves:
        change = _marked_ref(case, move, renamed)
        if change is not None:
            marked.append(change)
        elif move.was != move.now and not _is_qloops(case, move):
            unmarked.append(Change("ref", move.name, move.was, move.now, _NOBODY))
    return Changes(tuple(marked), tuple(unmarked))


def head_changes(case: Case) -> Changes:
    """The checkouts that stand elsewhere, or were reset, or switched and switched back."""
    marked, unmarked = [], []
    for name in sorted(case.before.heads.keys() | case.after.heads.keys()):
        move = _head_move(case, name)
        change = _marked_head(case, move)
        if change is not None:
            marked.append(change)
        elif move.was != move.now and not _by_agents(move.entries):
            unmarked.append(Change("head", name, move.was, move.now, _NOBODY))
    return Changes(tuple(marked), tuple(unmarked))


def _touched_refs(case: Case) -> list[str]:
    before, after = case.before, case.after
    return [
        ref
        for ref in sorted(before.refs.keys() | after.refs.keys())
        if before.refs.get(ref) != after.refs.get(ref)
        or before.logs.get(ref, 0) != after.logs.get(ref, 0)
    ]


def _ref_move(case: Case, ref: str) -> _Move:
    was, now = case.before.refs.get(ref), case.after.refs.get(ref)
    size = case.before.logs.get(ref, 0)
    return _Move(ref, was, now, entries_since(case.repository.git_dir, ref, size, was))


def _head_move(case: Case, name: str) -> _Move:
    was, now = case.before.heads.get(name), case.after.heads.get(name)
    commit = was
    if was is not None and was.startswith(SYMBOLIC):
        commit = case.before.refs.get(was.removeprefix(SYMBOLIC))
    size = case.before.logs.get(name, 0)
    return _Move(name, was, now, entries_since(case.repository.git_dir, name, size, commit))


def _renamed_away(moves: Iterable[_Move], mark: str) -> dict[str, str]:
    """Refs that a marked entry of another ref's reflog says were renamed to it."""
    return {
        entry.renamed_from: _entry_text(entry)
        for move in moves
        for entry in move.entries
        if entry.committer == mark and entry.renamed_from is not None
    }


def _marked_ref(case: Case, move: _Move, renamed: dict[str, str]) -> Change | None:
    """The change that this attempt made of a ref, or None where it made none."""
    if move.name.startswith(OWN) and not move.name.startswith(LINE):
        # qloop itself moves these, without a reflog: only a command that names one counts.
        return _traced_change(case, move) if move.was != move.now else None
    if move.now is None:
        how = renamed.get(move.name) or _traced_how(case, move)
        return Change("ref", move.name, move.was, None, how, undo=True) if how else None
    if move.now.startswith(SYMBOLIC) or (move.was or "").startswith(SYMBOLIC):
        how = _traced_how(case, move)
        return Change("ref", move.name, move.was, move.now, how) if how else None
    change = _logged_change("ref", move, case.mark)
    if change is not None or move.explained or move.was == move.now:
        return change
    return _unlogged_change(case, move)


def _logged_change(kind: Kind, move: _Move, mark: str) -> Change | None:
    mine = [entry for entry in move.entries if entry.committer == mark]
    if not mine:
        return None
    how = _entry_text(mine[-1])
    run = _last_run(move.entries) if move.explained else ()
    before = run[0].old if run else mine[0].old
    undo = before != move.now and any(entry in run for entry in mine)
    kept = move.now if undo else mine[-1].new
    return Change(kind, move.name, before, move.now, how, kept, undo)


def _last_run(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The last moves, as far as agents made them or qloop took them back."""
    start = len(entries)
    while start and _is_agents(entries[start - 1]):
        start -= 1
    return entries[start:]


def _unlogged_change(case: Case, move: _Move) -> Change | None:
    """A move without a reflog, judged by the object that the ref points at, or by the trace."""
    assert move.now is not None  # a deletion was judged before
    committer = _committer(case, move.name)
    if marked_attempt(committer) not in (None, case.attempt_id):
        return None
    if committer == case.mark:
        how = f"committer line of {move.now}: {committer}"
        return Change("ref", move.name, _base(case, move), move.now, how, move.now, undo=True)
    below = _marked_below(case, move)
    if below is not None:
        how = f"committer line of {below}: {case.mark}"
        return Change("ref", move.name, move.was, move.now, how, below)
    return _traced_change(case, move)


def _traced_change(case: Case, move: _Move) -> Change | None:
    how = _traced_how(case, move)
    if how is None:
        return None
    return Change("ref", move.name, move.was, move.now, how, move.now, undo=True)


def _traced_how(case: Case, move: _Move) -> str | None:
    able = removes_ref if move.now is None else writes_ref
    return case.traced(lambda command: able(command, move.name, case.branches))


def _committer(case: Case, ref: str) -> str:
    """The tagger or committer of the object that a ref points at."""
    return case.repository.git.text(
        "for-each-ref", "--format=%(taggername)%(committername)", ref
    ).strip()


def _base(case: Case, move: _Move) -> str | None:
    """What a ref without a reflog pointed at before agents committed on top of it."""
    git = case.repository.git
    history = git.attempt(
        "log", "--first-parent", _LONGEST_HISTORY, "--format=%H%x00%cn", str(move.now), "--"
    )
    commits = [line.split("\0") for line in history.text.split("\n") if "\0" in line]
    base = next((commit for commit, name in commits if marked_attempt(name) is None), None)
    if move.was is None:
        return None if _traced_how(case, move) or move.name.startswith("refs/tags/") else base
    return base if base is not None and git.is_ancestor(move.was, base) else move.was


def _marked_below(case: Case, move: _Move) -> str | None:
    """This attempt's newest commit in what a ref gained, where it has gained commits."""
    if move.was is None:
        return None
    history = case.repository.git.attempt(
        "log", _LONGEST_HISTORY, "--format=%H%x00%cn", str(move.now), f"^{move.was}", "--"
    )
    lines = (line.partition("\0") for line in history.text.split("\n"))
    return next((commit for commit, _, name in lines if name == case.mark), None)


def _marked_head(case: Case, move: _Move) -> Change | None:
    mine = [entry for entry in move.entries if entry.committer == case.mark]
    if move.was == move.now:
        # The checkout stands on the same branch, but its files were written.
        mine = [entry for entry in mine if entry.message.startswith(_REWRITES)]
    elif move.was and move.now and not _is_symbolic(move):
        return _logged_change("head", move, case.mark)
    how = _entry_text(mine[-1]) if mine else _switched(case, move)
    return Change("head", move.name, move.was, move.now, how) if how else None


def _switched(case: Case, move: _Move) -> str | None:
    if move.was == move.now or move.entries:
        return None
    if move.now is None:
        name = move.name.removeprefix("worktrees/").removesuffix("/HEAD")
        return case.traced(lambda command: removes_worktree(command, name))
    return case.traced(moves_head)


def _is_symbolic(move: _Move) -> bool:
    return any((value or "").startswith(SYMBOLIC) for value in (move.was, move.now))


def _is_qloops(case: Case, move: _Move) -> bool:
    """Whether qloop itself or the agent of another attempt made a change."""
    if move.was and (move.name, move.was) in case.after.escaped:
        return True
    if move.name.startswith(OWN) and not (move.name.startswith(LINE) and move.explained):
        return True
    if move.explained:
        return _by_agents(move.entries)
    return move.now is not None and marked_attempt(_committer(case, move.name)) is not None


def _by_agents(entries: tuple[Entry, ...]) -> bool:
    return bool(entries) and all(
        entry.committer == QLOOP_NAME or _is_agents(entry) for entry in entries
    )


def _is_agents(entry: Entry) -> bool:
    return marked_attempt(entry.committer) is not None or (
        entry.committer == QLOOP_NAME and entry.message == PUT_BACK
    )


def _entry_text(entry: Entry) -> str:
    return f"reflog: {entry.message or 'moved'!r} by {entry.committer}"
