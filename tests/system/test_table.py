"""What the table of processes tells."""

import itertools
import os
import sys
from pathlib import Path

import pytest

from qloop.system.table import (
    files_written,
    lineage,
    read_environment,
    read_folder,
    read_row,
    read_table,
    row_from_psutil,
)
from system.conftest import Zoo, is_running, until

ODD_NAME = "a) Z (b"


def test_the_table_has_this_process_and_its_ancestors() -> None:
    """The lineage of the asking process leads through its parent to the first process."""
    table = read_table()

    line = list(lineage(table[os.getpid()], table))

    assert [row.pid for row in line[:2]] == [os.getpid(), os.getppid()]
    assert all(child.parent == parent.pid for child, parent in itertools.pairwise(line))


def test_a_row_tells_group_session_and_parent(zoo: Zoo) -> None:
    """A process in a session of its own leads its session and its group."""
    pid = zoo.start(["sleep", "600"])

    row = read_row(pid)

    assert row is not None
    assert (row.pid, row.parent, row.group, row.session) == (pid, os.getpid(), pid, pid)
    assert row.living
    assert not row.terminal


def test_a_name_with_parentheses_is_no_trouble(zoo: Zoo) -> None:
    """A command's name cannot forge the fields behind it."""
    odd = zoo.folder / ODD_NAME
    odd.symlink_to("/bin/sleep")
    pid = zoo.start([str(odd), "600"])
    until(lambda: ODD_NAME in Path(f"/proc/{pid}/stat").read_text())

    row = read_row(pid)

    assert row is not None
    assert (row.parent, row.living) == (os.getpid(), True)


def test_a_zombie_does_not_live(zoo: Zoo) -> None:
    """A process that ended has a row until it is reaped, and none after."""
    pid = zoo.start(["true"])
    until(lambda: not is_running(pid))
    before = read_row(pid)
    zoo.roots[0].wait()

    assert before is not None
    assert not before.living
    assert read_row(pid) is None


def test_psutil_tells_the_same(zoo: Zoo) -> None:
    """Where there is no /proc the facts are the same, in other words for the start."""
    pid = zoo.start(["sleep", "600"])
    row, other = read_row(pid), row_from_psutil(pid)

    assert row is not None
    assert other is not None
    assert (other.pid, other.parent, other.group, other.session, other.terminal, other.living) == (
        row.pid,
        row.parent,
        row.group,
        row.session,
        row.terminal,
        row.living,
    )
    assert other.start == getattr(row_from_psutil(pid), "start", None)


def test_psutil_tells_the_same_of_the_dead(zoo: Zoo) -> None:
    """A zombie does not live in psutil's words either, and nobody is nobody."""
    pid = zoo.start(["true"])
    until(lambda: not is_running(pid))
    row = row_from_psutil(pid)

    assert row is None or not row.living
    assert row_from_psutil(2**22 + 1) is None


def test_what_a_process_holds_is_seen(zoo: Zoo) -> None:
    """Environment, working folder, and the files open for writing, not those being read."""
    (zoo.folder / "read").write_text("")
    code = "import time; a = open('read'); b = open('written', 'w'); time.sleep(600)"
    pid = zoo.start([sys.executable, "-c", code], env={"WORD": "a=b"})
    until((zoo.folder / "written").exists)

    environment = read_environment(pid)

    assert environment is not None
    assert b"WORD=a=b" in environment
    assert read_folder(pid) == str(zoo.folder.resolve())
    assert set(files_written(pid)) & {f"{zoo.folder}/read", f"{zoo.folder}/written"} == {
        f"{zoo.folder}/written"
    }


def test_a_deleted_folder_is_still_told(zoo: Zoo) -> None:
    """A process that works in a folder removed under it is found by its path."""
    gone = zoo.folder / "gone"
    gone.mkdir()
    pid = zoo.start(["sleep", "600"], cwd=gone)
    until(lambda: read_folder(pid) == str(gone))
    gone.rmdir()

    assert read_folder(pid) == str(gone)


@pytest.mark.parametrize("look", [read_row, read_environment, read_folder])
def test_nobody_holds_nothing(look: object) -> None:
    """A process that is gone is None, not an error."""
    assert callable(look)
    assert look(2**22 + 1) is None
    assert not list(files_written(2**22 + 1))
