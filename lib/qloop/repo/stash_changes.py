"""The person's stash: entries that came and went, and putting back what an agent dropped.

An agent's own entry stays: it may hold the person's uncommitted work. Source: git-stash(1).
"""

from collections.abc import Iterable, Sequence

from qloop.repo.abilities import has_flag, leads_to, names_in
from qloop.repo.changes import Change, Changes
from qloop.repo.checkout import Repository
from qloop.repo.git import QLOOP_NAME
from qloop.repo.marks import marked_attempt
from qloop.repo.moves import Case
from qloop.repo.person import STASH, read_stash
from qloop.repo.trace import TracedCommand

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


def dropped_by(
    commands: Iterable[TracedCommand], stash: Sequence[str], gone: frozenset[str]
) -> frozenset[str]:
    """The entries among *gone* that *commands* dropped from *stash* (newest first).

    The commands are followed one by one, so that an agent that took back what it had stashed
    itself is not taken for having dropped the person's entry.
    """
    stack: list[str | None] = list(stash)
    dropped: set[str] = set()
    astray = 0
    for command in commands:
        removed, missed = _taken_off(command, stack)
        found = {entry for entry in removed if entry in gone}
        dropped |= found
        # What it removed still stands, or was not there to begin with: something that the person
        # stashed meanwhile moved the entries under it.
        astray += missed + sum(entry is not None for entry in removed) - len(found)
    clears = any(_clears(command) for command in commands)
    rest = [entry for entry in stash if entry in gone and entry not in dropped]
    return frozenset(dropped | set(rest[: 0 if clears else astray]))


def _taken_off(command: TracedCommand, stack: list[str | None]) -> tuple[list[str | None], int]:
    """Do to *stack* what *command* did: what came off, and how many entries it does not know."""
    if _clears(command):
        removed, stack[:] = list(stack), []
        return removed, 0
    verb, rest = _stash_verb(command)
    # Without a child a push found nothing to stash and made no entry.
    if verb == "store" or (verb in ("push", "save") and command.children):
        stack.insert(0, None)
    elif verb in ("pop", "drop", "branch"):
        at = _stash_index(rest)
        return ([stack.pop(at)], 0) if at < len(stack) else ([], 1)
    return [], 0


def _clears(command: TracedCommand) -> bool:
    if command.failed:
        return False
    words = command.args
    if command.name == "update-ref":
        return has_flag(words, "d") and STASH in words
    if command.name == "reflog":
        return words[:1] == ("expire",) and ("--all" in words or leads_to(words, STASH))
    return _stash_verb(command)[0] == "clear"


def _stash_verb(command: TracedCommand) -> tuple[str, Sequence[str]]:
    if command.failed:
        return "", ()
    if command.name == "reflog" and command.args[:1] == ("delete",):
        return "drop", command.args[1:]
    if command.name != "stash":
        return "", ()
    if not command.args or command.args[0].startswith("-"):
        return "push", command.args
    return command.args[0], command.args[1:]


def _stash_index(words: Sequence[str]) -> int:
    for word in reversed(names_in(words)):
        number = word.removeprefix("refs/").removeprefix("stash@{").removesuffix("}")
        if number.isdecimal():
            return int(number)
    return 0
