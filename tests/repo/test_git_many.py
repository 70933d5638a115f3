"""Several questions in one call of git, answered like each by itself."""

from pathlib import Path

from qloop.repo.git import Git
from qloop.repo.history import own_commits, trees_since
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


def test_a_chain_has_its_trees(tmp_path: Path) -> None:
    """From tip to start by first parents; nothing for a start that is not on the chain."""
    repo, git = repository(tmp_path)
    start = repo.git("rev-parse", "HEAD")
    repo.commit("next", {"a.txt": "b\n"})
    tip = repo.git("rev-parse", "HEAD")
    trees = repo.git("rev-parse", f"{tip}^{{tree}}", f"{start}^{{tree}}").split()

    assert list(trees_since(git, tip, start).items()) == list(zip([tip, start], trees, strict=True))
    assert trees_since(git, start, tip) == {}


def test_own_commits_carry_what_landing_asks(tmp_path: Path) -> None:
    """Oldest first, the tip last, with parents, names and subjects; bytes are not lost."""
    repo, git = repository(tmp_path)
    start = repo.git("rev-parse", "HEAD")
    repo.commit("one", {"a.txt": "b\n"})
    repo.commit("two", {"a.txt": "c\n"})
    tip = repo.git("rev-parse", "HEAD")

    first, last = own_commits(git, tip, start)

    assert (first.parents, first.subject, last.subject) == ((start,), "one", "two")
    assert (last.name, last.parents) == (tip, (first.name,))
    assert last.tree == repo.git("rev-parse", "HEAD^{tree}")
    assert last.author[0] == repo.git("log", "-1", "--format=%an")
    assert own_commits(git, start, start) == ()
