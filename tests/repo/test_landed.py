"""What landed commits changed."""

from pathlib import Path

from qloop.repo.checkout import find_repository
from qloop.repo.landed import FileChange, changes_of
from repository import Repo


def test_files_and_lines(repo: Repo) -> None:
    """Each commit's files, with the lines added and deleted; None for what is no text."""
    first = repo.commit("one", {"a b\tc.txt": "1\n2\n", "é.txt": "x\n", "keep": "k\n"})
    (repo.path / "keep").unlink()
    (repo.path / "image").write_bytes(b"\x00\x01")
    second = repo.commit("two", {"a b\tc.txt": "1\nthree\n"})
    nothing = repo.commit("nothing")

    found = changes_of(find_repository(repo.path), [first, second, nothing, first])

    assert found == {
        first: (
            FileChange("a b\tc.txt", 2, 0),
            FileChange("keep", 1, 0),
            FileChange("é.txt", 1, 0),
        ),
        second: (
            FileChange("a b\tc.txt", 1, 1),
            FileChange("image", None, None),
            FileChange("keep", 0, 1),
        ),
        nothing: (),
    }


def test_what_git_does_not_know_is_left_out(repo: Repo) -> None:
    """A commit that is gone, or no commit's name at all, stops nothing; a root is one too."""
    root = repo.git("rev-parse", "HEAD")
    repository = find_repository(Path(repo.path))

    assert changes_of(repository, ["d" * 40, "--help", root]) == {
        root: (FileChange("README.md", 1, 0),)
    }
    assert changes_of(repository, []) == {}
