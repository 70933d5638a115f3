"""A worktree that holds a conflicting merge as git leaves it, and what somebody made of it.

HEAD is our commit, MERGE_HEAD theirs, the index has all versions of the conflicting paths, the
files have marks. Whether the merge is committed in the end, or left in the files, is all the same.
Errors: SetupFailed, GitFailed; NotSolved for what is no solution.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qloop.repo.carry import CarryFailed, carry
from qloop.repo.checkout import Repository
from qloop.repo.git import Git, GitFailed
from qloop.repo.landing_filter import changes_between
from qloop.repo.leftwork import write_work_tree
from qloop.repo.merging import Merge, commit_on, shown_path
from qloop.repo.names import merge_name
from qloop.repo.removal import is_real_folder, put
from qloop.repo.settings import PersonSettings
from qloop.repo.worksite import Workspace, restore_workspace
from qloop.repo.workspace import create_workspace, remove_workspace
from qloop.system.errors import QloopError

_MARKS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")


class NotSolved(QloopError):
    """What a merge came to cannot land."""


@contextmanager
def merge_tree(
    repository: Repository, settings: PersonSettings, base: Path, attempt_id: str, merge: Merge
) -> Iterator[Workspace]:
    """A worktree on a branch at our commit, in a repository of its own, gone in the end."""
    name = merge_name(attempt_id)
    workspace = create_workspace(repository, settings, base, name, "ql-wt/merge", merge.ours)
    try:
        yield workspace
    finally:
        remove_workspace(workspace)


def begin_merge(ws: Workspace, merge: Merge) -> None:
    """Put the merge into the worktree, which must hold our commit and what set-up left."""
    restore_workspace(ws)
    ws.git.run("read-tree", "--reset", "-u", merge.tree)
    gone = [f"0 {'0' * len(merge.tree)}\t{path}" for path in merge.files]
    staged = [f"{one.mode} {one.name} {one.stage}\t{one.path}" for one in merge.versions]
    lines = "".join(f"{line}\0" for line in (*gone, *staged)).encode("utf-8", "surrogateescape")
    ws.git.run("update-index", "-z", "--index-info", stdin=lines)
    put(ws.admin / "MERGE_HEAD", f"{merge.theirs}\n".encode())
    put(ws.admin / "MERGE_MODE", b"no-ff")
    put(ws.admin / "MERGE_MSG", b"Merge the story's work\n")


def list_landed(git: Git, merge: Merge) -> list[str]:
    """What landed in the conflicting files since the two had a commit in common, oldest first.

    Each as its short name and subject.
    """
    words = ("--literal-pathspecs", "log", "--reverse", "--format=%h %s")
    between = f"{merge.theirs}^..{merge.ours}"
    return git.text(*words, between, "--", *merge.files).splitlines()


def read_solution(ws: Workspace, repository: Repository, merge: Merge) -> str:
    """The tree that the worktree holds now, taken into the person's repository.

    Raises NotSolved where it comes from other commits than the two, has marks left in what was
    in conflict, or differs from the merge in files that neither are in conflict nor were changed
    by them.
    """
    restore_workspace(ws)
    if not is_real_folder(ws.tree):
        raise NotSolved("the worktree is gone or was replaced")
    head = Git(ws.admin).find("HEAD^{commit}")
    if head is None:
        raise NotSolved("HEAD does not resolve to a commit")
    git = Git(ws.git_dir)
    try:
        _check_parents(git, head, merge)
        tree = write_work_tree(ws, head).tree
        _check_changes(git, tree, merge)
        _check_marks(git, tree, merge)
        carry(ws, repository, commit_on(git, tree, merge.ours))
    except (GitFailed, CarryFailed) as exc:
        raise NotSolved(f"what it left cannot be read: {exc}") from exc
    return tree


def _check_parents(git: Git, head: str, merge: Merge) -> None:
    """Nothing came in but the two commits, and ours is still there."""
    listing = ("rev-list", "--parents", head, f"^{merge.ours}", f"^{merge.theirs}")
    made = [line.split() for line in git.text(*listing).splitlines()]
    known = {merge.ours, merge.theirs, *(words[0] for words in made)}
    foreign = [parent for words in made for parent in words[1:] if parent not in known]
    if foreign:
        raise NotSolved(f"it took in {foreign[0]}, which is neither of the two commits")
    if not git.is_ancestor(merge.ours, head):
        raise NotSolved(f"HEAD {head} does not descend from {merge.ours}")


def _check_changes(git: Git, tree: str, merge: Merge) -> None:
    theirs = (one.path for one in changes_between(git, f"{merge.theirs}^", merge.theirs))
    allowed = {*merge.files, *theirs}
    others = [one.path for one in changes_between(git, merge.tree, tree)]
    foreign = [shown_path(path) for path in others if path not in allowed]
    if foreign:
        raise NotSolved(f"it changed what is not in conflict: {', '.join(foreign)}")


def _check_marks(git: Git, tree: str, merge: Merge) -> None:
    marked = [path for path in merge.files if _is_marked(git, tree, path, merge)]
    if marked:
        raise NotSolved(f"marks of the conflict are left in {', '.join(map(shown_path, marked))}")


def _is_marked(git: Git, tree: str, path: str, merge: Merge) -> bool:
    """Whether a file has lines that look like marks and stand in no version of it."""
    known = {
        line for one in merge.versions if one.path == path for line in _mark_lines(git, one.name)
    }
    name = git.find(f"{tree}:{path}")
    return name is not None and not known.issuperset(_mark_lines(git, name))


def _mark_lines(git: Git, name: str) -> list[bytes]:
    done = git.attempt("cat-file", "blob", name)  # a submodule's commit is none
    lines = done.out.splitlines() if done.code == 0 else []
    return [line for line in lines if line[:7] in _MARKS and line[7:8] in (b"", b" ")]
