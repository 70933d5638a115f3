"""Files are replaced whole, and locks live as long as their processes."""

import os
import sys
import threading
from pathlib import Path

import pytest

from qloop.system.files import (
    Held,
    holds,
    locked,
    open_locked,
    read_blocks,
    read_optional,
    write_atomic,
)
from system.conftest import Zoo, until


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """New bytes, the old file's permissions, and nothing else in the folder."""
    path = tmp_path / "a file"
    path.write_bytes(b"old")
    path.chmod(0o600)

    write_atomic(path, b"new")

    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_somebody_else_is_read_to_a_limit(tmp_path: Path) -> None:
    """All of it where it is not longer, in pieces."""
    path = tmp_path / "file"
    path.write_bytes(b"x" * 200_000)

    assert [len(block) for block in read_blocks(path, 70_000)] == [65_536, 4_464]
    assert b"".join(read_blocks(path, 1_000_000)) == b"x" * 200_000


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    """Neither a link nor a pipe that nobody writes into nor a folder holds a reader up."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")

    for name in ("link", "pipe", ".", "nowhere"):
        assert list(read_blocks(tmp_path / name, 100)) == []


def test_a_folder_that_is_missing_is_made(tmp_path: Path) -> None:
    """Nobody has to make a file's folder first."""
    path = tmp_path / "one" / "two" / "file"

    write_atomic(path, b"new")

    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    """Where the file cannot be replaced, the old one and no temporary file is there."""
    path = tmp_path / "folder"
    path.mkdir()

    with pytest.raises(OSError, match="directory"):
        write_atomic(path, b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_readers_never_see_half_a_file(tmp_path: Path) -> None:
    """Whoever reads while another writes gets one version or another."""
    path = tmp_path / "file"
    versions = {bytes([65 + n]) * 100_000 for n in range(8)}
    write_atomic(path, b"A" * 100_000)
    writers = [threading.Thread(target=write_atomic, args=(path, data)) for data in versions]
    for writer in writers:
        writer.start()
    seen = {path.read_bytes() for _ in range(50)}
    for writer in writers:
        writer.join()

    assert seen <= versions


def test_a_lock_excludes_other_processes(zoo: Zoo) -> None:
    """While it is held nobody else gets it, and it is free when its process is gone."""
    path = zoo.folder / "folder" / "lock"
    take = (
        "import sys\n"
        "from pathlib import Path\n"
        "from qloop.system.files import Held, open_locked\n"
        "try: open_locked(Path(sys.argv[1]), wait=False); print('mine')\n"
        "except Held: print('held')\n"
    )
    with locked(path):
        during = zoo.script(take, str(path)).text

    assert during == "held"
    assert zoo.script(take, str(path)).text == "mine"
    os.close(open_locked(path, wait=False))


def test_a_lock_is_inherited_with_its_file(zoo: Zoo) -> None:
    """It lives on in a child that was given the open file, and ends with that child."""
    path = zoo.folder / "lock"
    handle = open_locked(path, wait=False)
    os.set_inheritable(handle, True)
    code = "import os, sys, time; os.write(int(sys.argv[1]), b'x'); time.sleep(600)"
    argv = [sys.executable, "-c", code, str(handle)]
    pid = os.posix_spawn(sys.executable, argv, zoo.env)
    until(lambda: path.read_bytes() == b"x")
    os.close(handle)

    with pytest.raises(Held):
        open_locked(path, wait=False)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    os.close(open_locked(path, wait=False))


def test_waiting_for_a_lock_gets_it(tmp_path: Path) -> None:
    """A waiter goes on when the holder lets go."""
    path = tmp_path / "lock"
    order: list[str] = []

    def wait() -> None:
        with locked(path):
            order.append("waiter")

    with locked(path):
        waiter = threading.Thread(target=wait)
        waiter.start()
        order.append("holder")
    waiter.join()

    assert order == ["holder", "waiter"]


def test_an_optional_file_may_be_missing(tmp_path: Path) -> None:
    """No file, or no folder, is None; everything else is told."""
    (tmp_path / "file").write_bytes(b"x")

    assert read_optional(tmp_path / "file") == b"x"
    assert read_optional(tmp_path / "none") is None
    assert read_optional(tmp_path / "file" / "none") is None
    with pytest.raises(IsADirectoryError):
        read_optional(tmp_path)


def test_holds_compares_without_reading_it_all(tmp_path: Path) -> None:
    """The same bytes, not fewer, more or others; a file that is not there holds nothing."""
    data = bytes(range(256)) * 3000
    path = tmp_path / "file"
    path.write_bytes(data)

    assert holds(path, data)
    assert not holds(path, data[:-1])
    assert not holds(path, data + b"x")
    assert not holds(path, b"x" + data[1:])
    assert not holds(tmp_path / "missing", b"")
