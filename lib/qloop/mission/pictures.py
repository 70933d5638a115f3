"""Screenshots of pages, where a Chromium is installed.

Units: pixels. Errors: OSError for a folder that cannot be written to.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from qloop.system.chromium import take_picture
from qloop.system.counting import counted

SIZES = ((1280, 900), (500, 900))
"""Of a desk's screen, and the narrowest that a browser's window gets."""
MOST_PAGES = 20
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


@dataclass(slots=True)
class Pictures:
    """Takes pictures of the first pages."""

    program: str | None
    """The browser."""
    folder: Path
    wanted: bool = True
    faults: list[str] = field(default_factory=list)
    taken: int = 0
    """Of how many pages."""
    asked: int = 0

    def take(self, url: str, number: int, name: str) -> tuple[str, ...]:
        """Pictures of one page, by their file names; none where that cannot be."""
        self.asked += 1
        if self.program is None or self.taken >= MOST_PAGES or self.faults:
            return ()
        self.taken += 1
        self.folder.mkdir(parents=True, exist_ok=True)
        slug = _UNSAFE.sub("-", name).strip("-")[:40] or "root"
        made = []
        for width, height in SIZES:
            target = self.folder / f"{number + 1:02d}-{slug}-{width}.png"
            fault = take_picture(self.program, url, width, height, target)
            if fault is not None:
                self.faults.append(fault)
                break
            made.append(target.name)
        return tuple(made)

    def notes(self) -> tuple[str, ...]:
        """What is to be said of pictures that are not there."""
        if self.program is None:
            return ("no screenshots: no Chromium is installed",) if self.wanted else ()
        if self.faults:
            return (f"no more screenshots: {self.faults[0]}",)
        left = self.asked - self.taken
        return (f"no screenshots of the last {counted(left, 'page')}",) if left else ()
