"""A real browser without a window: pictures of pages, and what a page measures of itself."""

import html
import json
import re
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.system import process
from qloop.system.chromium import FLAGS

PATIENCE_S = 300.0
LEFT_BY_SCRIPT = re.compile(r'data-measured="([^"]*)"')


@dataclass(frozen=True)
class Browser:
    """A Chromium, and a folder for what it leaves behind."""

    program: str
    folder: Path

    def picture(self, page: Path, width: int, height: int) -> bytes:
        """A screenshot of a page, as PNG."""
        target = self.folder / "picture.png"
        framed = self._framed(page.read_text(encoding="utf-8"), width, height)
        self._start(framed, width, height, f"--screenshot={target}")
        return target.read_bytes()

    def measure(self, page: Path, width: int, height: int, script: str, *flags: str) -> Any:
        """What *script*, the body of a function, returns when the page has been laid out.

        It runs in a copy of the page that allows scripts.
        """
        run = f"JSON.stringify((()=>{{{script}}})())"
        text = re.sub(r"<meta http-equiv=[^>]*>", "", page.read_text(encoding="utf-8"))
        text += f"<script>parent.document.documentElement.dataset.measured={run}</script>"
        framed = self._framed(text, width, height)
        found = LEFT_BY_SCRIPT.search(self._start(framed, width, height, "--dump-dom", *flags))
        assert found is not None, "the page's script did not come to its end"
        return json.loads(html.unescape(found[1]))

    def _framed(self, text: str, width: int, height: int) -> Path:
        """The page in a frame: windows cannot be as narrow as a phone."""
        size = f"border:0;display:block;width:{width}px;height:{height}px"
        frame = f'<iframe style="{size}" srcdoc="{html.escape(text)}"></iframe>'
        target = self.folder / "framed.html"
        body = f'<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">{frame}'
        target.write_text(body, encoding="utf-8")
        return target

    def pages(self, page: Path) -> int:
        """How many pages come out when it is printed."""
        target = self.folder / "printed.pdf"
        self._start(page, 1000, 1000, f"--print-to-pdf={target}")
        return len(re.findall(rb"/Type\s*/Page\b", target.read_bytes()))

    def _start(self, page: Path, width: int, height: int, *words: str) -> str:
        home = self.folder / f"profile-{len(list(self.folder.iterdir()))}"
        home.mkdir()
        size = f"--window-size={width},{height}"
        done = process.run(
            [self.program, *FLAGS, f"--user-data-dir={home}", size, *words, page.as_uri()],
            timeout_s=PATIENCE_S,
        )
        assert done.code == 0, done.complaint
        return done.text


def picture_rows(png: bytes) -> tuple[int, int, int]:
    """A picture's width and height, and how many of its rows differ from each other."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert depth == 8
    data, at = b"", 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += length + 12
    row = 1 + width * {2: 3, 6: 4}[kind]
    pixels = zlib.decompress(data)
    return width, height, len({pixels[start : start + row] for start in range(0, len(pixels), row)})
