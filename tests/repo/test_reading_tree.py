"""Checkouts of those who read without the run lock: held while they live, leftovers after."""

from pathlib import Path

import pytest

from qloop.repo.checkout import find_repository, head_commit
from qloop.repo.names import readers_base, workspace_base
from qloop.repo.review_tree import reading_tree
from qloop.repo.settings import read_settings
from qloop.repo.workspace import find_leftovers, find_workspaces
from qloop.run.cleaning import clean
from repository import Repo

READER = "scout.1.0123abcd"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with a commit."""
    made = Repo(tmp_path / "a repo")
    made.commit("start", {"a.txt": "a\n"})
    return made


def test_a_checkout_in_use_is_no_leftover(repo: Repo) -> None:
    """Neither a run nor `worktree clean` removes it; in the end nothing of it is left."""
    repository = find_repository(repo.path)
    settings, base = read_settings(repository), readers_base(None, repository)
    with reading_tree(repository, settings, base, READER, head_commit(repository)) as checkout:
        found, leftovers = find_workspaces(repository), find_leftovers(repository)
        cleaned = clean(repository, repo.path / "quantum.json", everything=True, dry_run=False)
        text = (checkout.tree / "a.txt").read_text("utf-8")

    assert ([one.name for one in found], leftovers) == ([checkout.name], ())
    assert (cleaned.removed, text) == ((), "a\n")
    assert find_workspaces(repository) == ()
    assert [*base.iterdir()] == []
    assert not checkout.lock.exists()


def test_a_dead_readers_checkout_is_cleaned_away(repo: Repo) -> None:
    """Its lock is nobody's any more, as after a kill; nothing of it is salvaged."""
    repository = find_repository(repo.path)
    settings, base = read_settings(repository), readers_base(None, repository)
    with reading_tree(repository, settings, base, READER, head_commit(repository)) as checkout:
        held = checkout.lock.rename(checkout.lock.with_suffix(".held"))
        checkout.lock.touch()
        cleaned = clean(repository, repo.path / "quantum.json", everything=True, dry_run=False)
        held.unlink()

    assert cleaned.removed == (str(checkout.tree),)
    assert find_workspaces(repository) == ()
    assert not checkout.lock.exists()
    assert repo.git("for-each-ref", "refs/qloop").strip() == ""


def test_readers_work_where_no_run_looks_for_its_agents(repo: Repo) -> None:
    """What a dead run left is ended by where it works."""
    repository = find_repository(repo.path)
    base, readers = workspace_base(None, repository), readers_base(None, repository)

    assert not readers.is_relative_to(base)
    assert readers.parent == base.parent
