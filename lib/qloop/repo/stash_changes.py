"""The person's stash: entries that came and went, and putting back what an agent dropped.

An agent's own entry stays: it may hold the person's uncommitted work. Source: git-stash(1).
"""

from qloop.repo.abilities import dropped_by
from qloop.repo.changes import Change, Changes
from qloop.repo.checkout import Repository
from qloop.repo.git import QLOOP_NAME
from qloop.repo.marks import marked_attempt
from qloop.repo.moves import Case
from qloop.repo.person import read_stash

_DROPPED = "traced: a command that drops it"


def stash_changes(case: Case) -> Changes:
    """Entries that were added, judged by their committer, and dropped, judged by the trace."""
    was = {entry.commit for entry in case.before.stash}
    now = {entry.commit for entry in case.after.stash}
    marked, unmarked = [], []
    for entry in case.after.stash:
        if entry.commit in was or entry.committer == QLOOP_NAME:
            continue
        change = Change("stash", entry.message, None, entry.commit, f"by {entry.committer}")
        if entry.committer == case.mark:
            marked.append(change)
        elif marked_attempt(entry.committer) is None:
            unmarked.append(change)
    newest_first = [entry.commit for entry in reversed(case.before.stash)]
    dropped = dropped_by(case.commands, newest_first, frozenset(was - now))
    for entry in case.before.stash:
        if entry.commit in dropped:
            marked.append(Change("stash", entry.message, entry.commit, None, _DROPPED, undo=True))
        elif entry.commit not in now:
            unmarked.append(Change("stash", entry.message, entry.commit, None, "no trace"))
    return Changes(tuple(marked), tuple(unmarked))


def restore_entry(repository: Repository, change: Change) -> bool:
    """Put a dropped entry back on top of the stash; True once it is there."""
    commit = str(change.before)
    if any(entry.commit == commit for entry in read_stash(repository)):
        return True
    git = repository.git.using(work_tree=repository.root)
    return git.attempt("stash", "store", "-m", change.name, commit).code == 0
