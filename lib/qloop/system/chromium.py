"""A Chromium without a window, where one is installed.

Units: pixels, seconds. Errors: those of `process.run`.
"""

import shutil
import tempfile
from pathlib import Path

from qloop.system import process

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip
PICTURE_S = 60.0


def find_chromium() -> str | None:
    """The program of a Chromium, or None where there is none."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or (MAC if Path(MAC).exists() else None)


def take_picture(program: str, url: str, width: int, height: int, target: Path) -> str | None:
    """Write a screenshot of a page as PNG; what went wrong, if something did."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        words = (f"--user-data-dir={profile}", f"--window-size={width},{height}")
        argv = [program, *FLAGS, *words, f"--screenshot={target}", url]
        try:
            done = process.run(argv, timeout_s=PICTURE_S)
        except process.CommandTimeout:
            return f"the browser took longer than {PICTURE_S:g} seconds"
    if done.code == 0 and target.exists():
        return None
    return done.complaint[-200:] or f"the browser ended with exit code {done.code}"
