"""Files that are cited, and changes as patches to read."""

from pathlib import Path

from qloop.repo.checkout import find_repository
from qloop.repo.cited import count_lines
from qloop.repo.patch import read_patch
from repository import Repo


def test_lines_of_files_that_exist(tmp_path: Path) -> None:
    """A last line without an end counts, an empty file has one; folders are no files."""
    repo = Repo(tmp_path / "a repo")
    files = {"two.txt": "1\n2\n", "open.txt": "1\n2\n3", "empty": "", "in/grüße b.txt": "x\n"}
    commit = repo.commit("files", files)
    repo.commit("later", {"later.txt": "1\n"})
    asked = [*files, "in", "later.txt", "no such", "../two.txt", ".", "./two.txt", "/etc", "a\nb"]

    found = count_lines(find_repository(repo.path), commit, asked)

    assert found == {"two.txt": 2, "open.txt": 3, "empty": 1, "in/grüße b.txt": 1}
    assert count_lines(find_repository(repo.path), commit, []) == {}


def test_a_patch_leaves_out_what_was_taken_in_from_the_line(tmp_path: Path) -> None:
    """What an attempt merged of the line is not its change."""
    repo = Repo(tmp_path / "a repo")
    start = repo.commit("start", {"a.txt": "a\n"})
    line = repo.commit("landed", {"landed.txt": "l\n"})
    repo.git("update-ref", "refs/qloop/line/f", line)
    tip = repo.commit("own", {"own.txt": "o\n"})
    repository = find_repository(repo.path)

    patch = read_patch(repository, "f", start, tip, 10_000)
    without_line = read_patch(repository, "gone", start, tip, 10_000)

    assert patch.base == line
    assert "own.txt" in patch.text
    assert "landed.txt" not in patch.text
    assert patch.left_out_bytes == 0
    assert without_line.base == start
    assert "landed.txt" in without_line.text


def test_a_long_patch_is_cut_at_a_line(tmp_path: Path) -> None:
    """The table of files stays whole, and what is left out is counted."""
    repo = Repo(tmp_path / "a repo")
    start = repo.commit("start", {"a.txt": "a\n"})
    tip = repo.commit("much", {"much.txt": "line of text\n" * 1_000, "z.txt": "z\n"})

    patch = read_patch(find_repository(repo.path), "f", start, tip, 500)

    assert patch.text.endswith("+line of text\n")
    assert "z.txt" in patch.text
    assert patch.left_out_bytes > 10_000
