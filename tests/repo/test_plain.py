"""What the files of a repository tell: the same as git, or nothing."""

import os
from pathlib import Path

import pytest

from qloop.repo.checkout import find_repository
from qloop.repo.distance import find_distance
from qloop.repo.plain import Tips, find_plain, find_tips
from qloop.system import process
from repository import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with a commit and a folder."""
    made = Repo(tmp_path / "a repo")
    made.commit("start")
    (made.path / "sub").mkdir()
    return made


def test_a_plain_repository_is_found_from_within(repo: Repo) -> None:
    """From its folder and from one below, as git finds it; through a link too."""
    link = repo.path.parent / "link"
    link.symlink_to(repo.path)

    for place in (repo.path, repo.path / "sub", link, link / "sub"):
        assert find_plain(place) == find_repository(place)


@pytest.mark.parametrize(
    "change",
    [
        ("config", "core.worktree", ".."),
        ("config", "core.bare", "true"),
        ("config", "include.path", "other"),
        ("config", "extensions.worktreeConfig", "true"),
        ("config", "core.repositoryformatversion", "7"),
    ],
)
def test_a_special_repository_is_left_to_git(repo: Repo, change: tuple[str, ...]) -> None:
    """What the configuration may turn upside down is not guessed at."""
    repo.git(*change)

    assert find_plain(repo.path) is None


def test_other_kinds_are_left_to_git(repo: Repo, tmp_path: Path) -> None:
    """A linked worktree, the git folder itself, a bare repository, and no repository."""
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    process.run(["git", "init", "-q", "--bare", str(tmp_path / "bare")])
    (repo.path / ".git" / "own").mkdir()

    for place in (tmp_path / "linked", repo.path / ".git" / "own", tmp_path / "bare", Path("/")):
        assert find_plain(place) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_somebody_else_is_left_to_git(repo: Repo) -> None:
    """Git refuses it, and says what to do."""
    os.chown(repo.path, 12345, 12345)

    assert find_plain(repo.path) is None


def test_tips_are_read_loose_and_packed(repo: Repo) -> None:
    """Line and branch, wherever their refs are kept; None for what is not there."""
    found = find_repository(repo.path)
    head = repo.git("rev-parse", "HEAD")

    assert find_tips(found, "ql/x") == Tips(None, None)

    repo.git("update-ref", "refs/qloop/line/ql/x", head)
    repo.git("branch", "ql/x")
    assert find_tips(found, "ql/x") == Tips(head, head)

    repo.git("pack-refs", "--all")
    assert not (repo.path / ".git/refs/heads/ql/x").exists()
    assert find_tips(found, "ql/x") == Tips(head, head)
    distance = find_distance(found, "ql/x")
    assert distance is not None
    assert (distance.tip, distance.ahead, distance.behind) == (head, 0, 0)


def test_a_symbolic_branch_is_left_to_git(repo: Repo) -> None:
    """A ref that names another is not followed."""
    repo.git("symbolic-ref", "refs/heads/ql", "refs/heads/main")

    assert find_tips(find_repository(repo.path), "ql") is None
