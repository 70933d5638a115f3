"""What an agent did to the person's repository by absolute path: found, kept, taken back.

A marked change is the attempt's doing. Its refs are kept under `refs/qloop/escaped/` and put back
by compare-and-swap against the value that was seen; a stash entry that it dropped is stored
again; a configuration file is put back whole if all that changed in it is marked. Hooks, the
branch that a checkout stands on, files and index are left as they are, and said. Nothing unmarked
is ever touched.
"""

from collections.abc import Iterable

from qloop.repo.changes import Change, Changes
from qloop.repo.checkout import Repository
from qloop.repo.config_changes import config_changes, hook_changes
from qloop.repo.git import Git
from qloop.repo.moves import PUT_BACK, Case, head_changes, ref_changes
from qloop.repo.person import ESCAPED, SYMBOLIC, Snapshot, read_heads
from qloop.repo.starts import PATIENT
from qloop.repo.stash_changes import restore_entry, stash_changes
from qloop.repo.swap import swap_back
from qloop.repo.trace import TracedCommand, commands_in
from qloop.repo.worktree_changes import worktree_changes


def find_changes(
    repository: Repository,
    before: Snapshot,
    after: Snapshot,
    attempt_id: str,
    trace_commands: Iterable[TracedCommand],
) -> Changes:
    """All that changed between two snapshots, by whether it bears the attempt's mark.

    What qloop itself did, and what bears another attempt's mark, is in neither list.
    """
    commands = tuple(trace_commands)
    inside = commands_in(repository, before.worktrees | after.worktrees, commands)
    case = Case(repository, before, after, attempt_id, inside)
    moved = ref_changes(case) + head_changes(case)
    return (
        moved
        + stash_changes(case)
        + config_changes(case, commands)
        + hook_changes(case)
        + worktree_changes(case, moved.marked)
    )


def keep_and_undo(repository: Repository, changes: Changes, attempt_id: str) -> tuple[str, ...]:
    """Keep what the marked changes made and take it back; one sentence on each for a person."""
    return tuple(
        _settle(repository, change, attempt_id) for change in sorted(changes.marked, key=_order)
    )


def _order(change: Change) -> int:
    """New refs go first: they may stand where a deleted one has to come back (a/b for a)."""
    if change.kind != "ref":
        return 3
    return 0 if change.before is None else 1 if change.after is not None else 2


def _settle(repository: Repository, change: Change, attempt_id: str) -> str:
    match change.kind:
        case "ref":
            return _settle_ref(repository, change, attempt_id)
        case "head":
            return _settle_head(repository, change, attempt_id)
        case "stash":
            return _settle_stash(repository, change, attempt_id)
        case "config":
            return _settle_config(change)
        case "hooks":
            return f"hook {change.text}: left as it is; see {repository.git_dir / 'hooks'}"
        case "worktree_files":
            return f"file {change.text}: left as it is; see `git status`"


def _settle_ref(repository: Repository, change: Change, attempt_id: str) -> str:
    git = repository.git
    said = f"ref {change.text}"
    kept = _keep(git, change, attempt_id)
    if kept is None:
        return f"{said}: left as it is, because nothing could be kept"
    holders = _holders(repository, change.name)
    if not change.undo:
        return f"{said}: left as it is, something else was done there since{kept}"
    if change.before is None and holders:
        return f"{said}: left as it is, because a checkout stands on it ({holders}){kept}"
    if not _swap(git, change.name, change.after, change.before):
        return f"{said}: left as it is, because it moved again{kept}"
    files = "; files and index of the checkout that stands on it are untouched" if holders else ""
    return f"{said}: put back{kept}{files}"


def _settle_head(repository: Repository, change: Change, attempt_id: str) -> str:
    said = f"{change.text}"
    if not change.undo:
        return f"{said}: the checkout is left as it is; see `git status`, `git switch`"
    kept = _keep(repository.git, change, attempt_id)
    current = read_heads(repository).get(change.name) == change.after
    if kept is None or not current:
        return f"{said}: left as it is, because it moved again"
    if not _swap(repository.git, change.name, change.after, change.before):
        return f"{said}: left as it is, because it moved again{kept}"
    return f"{said}: put back{kept}; files and index of the checkout are untouched"


def _settle_config(change: Change) -> str:
    if change.swap is not None and swap_back(change.swap):
        return f"configuration {change.text}: put back"
    return (
        f"configuration {change.text}: left as it is, something else was changed there too; "
        "see `git config --list --local`"
    )


def _settle_stash(repository: Repository, change: Change, attempt_id: str) -> str:
    if change.before is None:
        return (
            f"stash entry {change.text}: left, it may hold work of yours; "
            f"`git stash list` shows it, `git stash apply {change.after}` brings it back"
        )
    if restore_entry(repository, change):
        return f"stash entry {change.text}: stored again, it is in `git stash list`"
    kept = _keep_as(repository.git, attempt_id, "refs/stash", change.before)
    return f"stash entry {change.text}: could not be stored again; kept as {kept or change.before}"


def _keep(git: Git, change: Change, attempt_id: str) -> str | None:
    """Keep the agent's object; what to say of it, empty where there is none, None on failure."""
    value = change.kept
    if value is None or value.startswith(SYMBOLIC):
        return ""
    ref = change.name if change.name.startswith("refs/") else f"refs/{change.name}"
    name = _keep_as(git, attempt_id, ref, value)
    return f"; {value} is kept as {name}" if name else None


def _keep_as(git: Git, attempt_id: str, ref: str, value: str) -> str | None:
    """A ref that keeps *value*; a second value of one ref gets a name of its own."""
    first = f"{ESCAPED}{attempt_id}/{ref.removeprefix('refs/')}"
    for name in (first, f"{first}.{value[:12]}", f"{ESCAPED}{attempt_id}/objects/{value}"):
        if _swap(git, name, None, value):
            return name
    return None


def _swap(git: Git, ref: str, seen: str | None, target: str | None) -> bool:
    """Move a ref from the value seen to another (None: no such ref); True once it is there."""
    base = (*PATIENT, "update-ref", "--no-deref", "-m", PUT_BACK)
    if target is None:
        done = git.attempt(*base, "-d", ref, str(seen))
    else:
        done = git.attempt(*base, ref, target, seen or "0" * len(target))
    return done.code == 0 or git.find(ref) == target


def _holders(repository: Repository, ref: str) -> str:
    heads = read_heads(repository)
    return ", ".join(name for name, value in heads.items() if value == f"{SYMBOLIC}{ref}")
