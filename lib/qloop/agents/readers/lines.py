"""Bytes as they come, cut into lines.

Units: bytes.
"""

LONGEST_LINE_BYTES = 64_000_000


class Lines:
    """Cuts bytes into lines; of one longer than *longest_bytes* only that many are kept."""

    def __init__(self, longest_bytes: int = LONGEST_LINE_BYTES) -> None:
        self._longest_bytes = longest_bytes
        self._pieces: list[bytes] = []
        self._room_bytes = longest_bytes

    def feed(self, data: bytes) -> list[bytes]:
        """Take the next piece; the lines that became whole, without their ends."""
        first, *others = data.split(b"\n")
        self._hold(first)
        whole = []
        for piece in others:
            whole.append(self._take())
            self._hold(piece)
        return whole

    def rest(self) -> list[bytes]:
        """The last line, where it has no end; nothing where it is empty."""
        line = self._take()
        return [line] if line else []

    def _hold(self, piece: bytes) -> None:
        kept = piece[: self._room_bytes]
        if kept:
            self._pieces.append(kept)
            self._room_bytes -= len(kept)

    def _take(self) -> bytes:
        line = b"".join(self._pieces)
        self._pieces = []
        self._room_bytes = self._longest_bytes
        return line
