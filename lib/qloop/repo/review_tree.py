"""A checkout of an attempt's tip for reviewers: to read only, and what they write is thrown away.

Errors: SetupFailed, GitFailed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qloop.repo.checkout import Repository
from qloop.repo.git import Git
from qloop.repo.leftwork import write_work_tree
from qloop.repo.names import review_name
from qloop.repo.removal import is_real_folder
from qloop.repo.scratch import clean_to
from qloop.repo.settings import PersonSettings
from qloop.repo.worksite import lock_of, restore_workspace
from qloop.repo.workspace import Workspace, create_workspace, remove_workspace
from qloop.system import process
from qloop.system.files import locked


@contextmanager
def review_tree(
    repository: Repository, settings: PersonSettings, base: Path, attempt_id: str, tip: str
) -> Iterator[Workspace]:
    """A read-only checkout of *tip* in a repository of its own, gone in the end."""
    workspace = create_workspace(repository, settings, base, review_name(attempt_id), None, tip)
    try:
        _set_mode(workspace, "a-w")
        yield workspace
    finally:
        remove_workspace(workspace)


@contextmanager
def reading_tree(
    repository: Repository, settings: PersonSettings, base: Path, reader_id: str, commit: str
) -> Iterator[Workspace]:
    """The same for work without the run lock: held, so that nobody takes it for a leftover."""
    lock = lock_of(repository.git_dir, review_name(reader_id))
    with locked(lock):
        try:
            with review_tree(repository, settings, base, reader_id, commit) as workspace:
                yield workspace
        finally:
            lock.unlink(missing_ok=True)


def find_changed(workspace: Workspace) -> tuple[str, ...]:
    """The paths that somebody changed in the checkout; ignored files do not count."""
    restore_workspace(workspace)
    if not is_real_folder(workspace.tree):
        return (".",)
    left = write_work_tree(workspace, workspace.start)
    names = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", workspace.start, left.tree)
    return tuple(Git(workspace.git_dir).fields(*names))


def renew(workspace: Workspace) -> None:
    """Put the checkout back to what it was made as."""
    if is_real_folder(workspace.tree):
        _set_mode(workspace, "u+rwX")
    clean_to(workspace, workspace.start)
    _set_mode(workspace, "a-w")


def _set_mode(workspace: Workspace, mode: str) -> None:
    """chmod never follows the links that it meets on its way."""
    process.run(["chmod", "-R", mode, "--", str(workspace.tree)])
