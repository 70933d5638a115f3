"""The activity feed of a mission: a line for each thing that went on, in `activity.log`.

Errors: OSError.
"""

from pathlib import Path

from qloop.system.clock import utc_now
from qloop.system.files import read_optional

FEED = "activity.log"
TAIL_BYTES = 65_536


def append_feed(folder: Path, text: str) -> None:
    """Add a line, with the time."""
    line = " ".join(text.splitlines())
    with (folder / FEED).open("a", encoding="utf-8", errors="backslashreplace") as feed:
        feed.write(f"{utc_now()} {line}\n")


def read_feed(folder: Path, most: int) -> list[str]:
    """The last lines, oldest first, each with its time of the day."""
    data = (read_optional(folder / FEED) or b"")[-TAIL_BYTES:]
    lines = data.decode("utf-8", "replace").splitlines()[-most:]
    return [_short(line) for line in lines]


class FeedTail:
    """Reads a feed as it grows, from its beginning."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FEED
        self._offset = 0

    def read(self) -> list[str]:
        """The whole lines that came since the last reading."""
        data = (read_optional(self._path) or b"")[self._offset :]
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        return [_short(line) for line in whole.decode("utf-8", "replace").splitlines()]


def _short(line: str) -> str:
    moment, _, text = line.partition(" ")
    return f"{moment[11:19]} {text}"
