"""Plain text: all of the output is the answer."""

from qloop.agents.readers.lines import Lines
from qloop.agents.reading import Line, Reading

LONGEST_ANSWER_BYTES = 4_000_000
LONGEST_SHOWN_BYTES = 10_000


class TextReader:
    """Reads plain text; of a very long one the end is kept, from the start of a line."""

    def __init__(self, longest_bytes: int = LONGEST_ANSWER_BYTES) -> None:
        self._end = End(longest_bytes)
        self._lines = Lines(LONGEST_SHOWN_BYTES)

    def feed(self, data: bytes) -> list[Line]:
        """Take the next piece; each line that became whole was said."""
        self._end.feed(data)
        return [
            Line("said", line.decode("utf-8", "replace"))
            for line in self._lines.feed(data)
            if line.strip()
        ]

    def finish(self) -> Reading:
        """The whole text, or its end."""
        return Reading(answer=self._end.text())


class End:
    """Keeps the last *longest_bytes* of what comes, or up to twice that meanwhile."""

    def __init__(self, longest_bytes: int) -> None:
        self._longest_bytes = longest_bytes
        self._kept = bytearray()

    def feed(self, data: bytes) -> None:
        """Take the next piece."""
        # One byte more: where it is a line end, the cut falls on the start of a line.
        enough = self._longest_bytes + 1
        self._kept += data[-enough:]
        if len(self._kept) > 2 * enough:
            del self._kept[:-enough]

    def text(self) -> str:
        """It as text; where something is missing, from the start of a line if there is one."""
        data = bytes(self._kept[-self._longest_bytes - 1 :])
        if len(data) > self._longest_bytes:
            data = data.partition(b"\n")[2] or data[-self._longest_bytes :]
        return data.decode("utf-8", "replace")
