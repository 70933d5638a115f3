"""What a commit tracks, as git tells it."""

import os
from pathlib import Path

from qloop.repo.checkout import find_repository
from qloop.repo.tracked import last_subjects, list_tracked, read_tracked
from repository import Repo


def test_files_of_a_commit(repo: Repo) -> None:
    """Regular files, executables and links by path, with sizes; what is not committed is not."""
    repo.write({"a b/ü.py": "x = 1\n", "+run": ""})
    (repo.path / "+run").chmod(0o755)
    (repo.path / "link").symlink_to("a b/ü.py")
    Path(os.fsdecode(os.fsencode(repo.path) + b"/\xff.txt")).write_bytes(b"\xfe\0")
    commit = repo.commit("All of it")
    repo.write({"later.py": ""})
    git = find_repository(repo.path).git
    files = {file.path: file for file in list_tracked(git, commit)}
    names = ("a b/ü.py", "+run", "link", "�.txt")
    told = {
        path: (files[path].size, files[path].is_executable, files[path].is_link) for path in names
    }

    assert told == {
        "a b/ü.py": (6, False, False),
        "+run": (0, True, False),
        "link": (9, False, True),
        "�.txt": (2, False, False),
    }
    assert "later.py" not in files
    assert read_tracked(git, [files["a b/ü.py"], files["�.txt"]]) == {
        "a b/ü.py": b"x = 1\n",
        "�.txt": b"\xfe\0",
    }


def test_other_repositories_are_no_files(repo: Repo) -> None:
    """A submodule is left out: its files are tracked elsewhere."""
    commit = repo.commit("One", {"a.txt": "a"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    repo.git("commit", "--quiet", "-m", "Two")
    git = find_repository(repo.path).git

    assert "sub" not in {file.path for file in list_tracked(git, repo.git("rev-parse", "HEAD"))}


def test_last_subjects(repo: Repo) -> None:
    """The newest first, so many at most, without merges."""
    for subject in ("One", "feat: two"):
        repo.commit(subject)
    commit = repo.commit("Three ü")
    git = find_repository(repo.path).git

    assert last_subjects(git, commit, 2) == ("Three ü", "feat: two")
