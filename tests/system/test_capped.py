"""A log that never grows beyond its cap."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from qloop.system.capped import CappedLog

NOTE = b"\n[qloop: %d bytes left out here]\n"


def write(folder: Path, limit_bytes: int, blocks: list[bytes]) -> bytes:
    """Write the blocks through a capped log; return the log, which is alone in its folder."""
    path = folder / "log"
    log = CappedLog(path, limit_bytes)
    for block in blocks:
        log.write(block)
    log.close()
    assert [entry.name for entry in folder.iterdir()] == ["log"]
    return path.read_bytes()


@given(
    limit_bytes=st.integers(256, 2000),
    sizes=st.lists(st.integers(0, 1500), max_size=12),
)
def test_head_and_tail_are_kept_within_the_cap(limit_bytes: int, sizes: list[int]) -> None:
    """Whatever the blocks: all of it where it fits, else both ends and how much is missing."""
    whole = bytes(n % 251 for n in range(sum(sizes)))
    starts = [sum(sizes[:n]) for n in range(len(sizes))]
    blocks = [whole[at : at + size] for at, size in zip(starts, sizes, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        kept = write(Path(folder), limit_bytes, blocks)

    assert len(kept) <= limit_bytes
    if len(whole) <= limit_bytes - 66:
        assert kept == whole
    elif kept != whole:
        head, missing = whole[: limit_bytes // 2], len(whole) - len(kept)
        missing += next(len(NOTE % n) for n in range(missing, missing + 64) if NOTE % n in kept)
        assert kept.startswith(head + NOTE % missing)
        tail = kept[len(head + NOTE % missing) :]
        assert whole.endswith(tail)
        assert len(tail) >= limit_bytes // 4 - 40


def test_the_head_can_be_followed(tmp_path: Path) -> None:
    """What comes first is in the file at once, before the log is closed."""
    log = CappedLog(tmp_path / "log", 1000)

    log.write(b"hello\n")

    assert (tmp_path / "log").read_bytes() == b"hello\n"
    log.close()


def test_the_disk_holds_no_more_than_the_cap(tmp_path: Path) -> None:
    """While output goes on, the files beside the log keep within the cap too."""
    log = CappedLog(tmp_path / "log", 1000)
    most = 0
    for _ in range(100):
        log.write(b"x" * 77)
        most = max(most, sum(path.stat().st_size for path in tmp_path.iterdir()))
    log.close()

    assert most <= 1000
