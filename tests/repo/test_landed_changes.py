"""What a commit brought, as text, and words looked up in a tree."""

import pytest

from qloop.repo.checkout import Repository, find_repository
from qloop.repo.landed_changes import (
    LARGEST_TEXT_BYTES,
    LandedFile,
    find_words,
    read_changes,
    read_texts,
    stands_on,
)
from repository import Repo


@pytest.fixture
def repository(repo: Repo) -> Repository:
    """The repository as qloop sees it."""
    return find_repository(repo.path)


def test_changes_of_a_commit(repo: Repo, repository: Repository) -> None:
    """New, changed and removed files, with their text before and after and their new lines."""
    repo.commit("base", {"a.py": "one\ntwo\nthree\n", "gone.py": "x\n", "same.py": "y\n"})
    (repo.path / "gone.py").unlink()
    commit = repo.commit("work", {"a.py": "zero\none\n2\nthree\n", "ü b/[n].py": "new\nfile"})

    assert read_changes(repository, commit) == (
        LandedFile("a.py", "zero\none\n2\nthree\n", "one\ntwo\nthree\n", frozenset({1, 3})),
        LandedFile("gone.py", "", "x\n", frozenset()),
        LandedFile("ü b/[n].py", "new\nfile", None, frozenset({1, 2})),
    )
    assert [one.is_new for one in read_changes(repository, commit)] == [False, False, True]


def test_a_persons_settings_for_diff_change_nothing(repo: Repo, repository: Repository) -> None:
    """Attributes, drivers and settings of the person's own diff are not obeyed."""
    lines = [f"line {n}" for n in range(9)]
    repo.commit("base", {"a.py": "\n".join(lines)})
    lines[1], lines[5] = "first", "second"
    commit = repo.commit("work", {"a.py": "\n".join(lines)})
    settings = {"diff.x.command": "false", "diff.interHunkContext": "9", "diff.noprefix": "true"}
    for name, value in {**settings, "color.diff": "always", "grep.column": "true"}.items():
        repo.git("config", name, value)
    repo.git("config", "color.grep", "always")
    info = repo.path / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("*.py -diff diff=x\n", encoding="utf-8")

    assert [one.added_lines for one in read_changes(repository, commit)] == [frozenset({2, 6})]
    assert find_words(repository, commit, ["second"]) == {"second": {"a.py"}}


def test_what_is_no_text_is_left_out(repo: Repo, repository: Repository) -> None:
    """Binary and very large files, and links, are not told of."""
    (repo.path / "link").symlink_to("README.md")
    (repo.path / "binary").write_bytes(b"a\0b")
    big = "x" * (LARGEST_TEXT_BYTES + 1)
    commit = repo.commit("work", {"big.txt": big, "a.txt": "a\n"})

    assert [one.path for one in read_changes(repository, commit)] == ["a.txt"]
    assert read_texts(repository, commit, ["a.txt", "binary", "big.txt", "none"]) == {
        "a.txt": "a\n"
    }


def test_words_are_found_whole(repo: Repo, repository: Repository) -> None:
    """Each word with the files that hold it as a word of its own, whatever their names."""
    files = {"a b.py": "total = 1\n", "c:d.py": "totals\nsub-total\n"}
    files["e.txt"] = "order-paid\nempty? x\n"
    commit = repo.commit("work", files)

    assert find_words(repository, commit, ["total", "order-paid", "none", "y?", "(x)"]) == {
        "total": {"a b.py", "c:d.py"},
        "order-paid": {"e.txt"},
        "none": set(),
        "y?": set(),
        "(x)": set(),
    }
    assert find_words(repository, commit, []) == {}


def test_a_commit_stands_on_another(repo: Repo, repository: Repository) -> None:
    """A commit that is gone, or on no path to the tip, does not stand on it."""
    first = repo.commit("first")
    second = repo.commit("second")

    assert stands_on(repository, first, second)
    assert not stands_on(repository, second, first)
    assert not stands_on(repository, "1" * 40, second)
