"""Several questions in one call of git, answered like each by itself."""

from pathlib import Path

from qloop.repo.git import Git
from repository import Repo


def repository(path: Path) -> tuple[Repo, Git]:
    """A repository with one commit."""
    repo = Repo(path / "a repo")
    repo.commit("start", {"a.txt": "a\n"})
    return repo, Git(repo.path / ".git")


def test_what_there_is_and_what_there_is_not(tmp_path: Path) -> None:
    """Each revision has its own answer, in the order of asking."""
    repo, git = repository(tmp_path)
    head, tree = repo.git("rev-parse", "HEAD", "HEAD^{tree}").split()

    found = git.find_all("HEAD^{commit}", "refs/heads/none^{commit}", f"{head}^{{tree}}", "0" * 40)

    assert found == (head, None, tree, None)


def test_one_broken_object_does_not_hide_the_others(tmp_path: Path) -> None:
    """Git may give up at it; the others are found all the same."""
    repo, git = repository(tmp_path)
    head = repo.git("rev-parse", "HEAD")
    repo.commit("next", {"a.txt": "b\n"})
    broken = repo.git("rev-parse", "HEAD")
    file = repo.path / ".git/objects" / broken[:2] / broken[2:]
    file.chmod(0o644)
    file.write_bytes(b"broken")

    assert git.find_all(f"{broken}^{{commit}}", f"{head}^{{commit}}") == (None, head)
