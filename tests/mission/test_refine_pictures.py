"""Screenshots of what people see, by a real browser where one is installed."""

from pathlib import Path

import pytest

from browser import picture_rows
from qloop.mission.inspector import inspect_files
from qloop.mission.pictures import Pictures
from qloop.system.cancel import Cancel
from qloop.system.chromium import find_chromium

PROGRAM = find_chromium()
PAGE = """<!doctype html><html lang="en"><head><title>Tea</title>
<meta name="viewport" content="width=device-width"></head>
<body style="background: linear-gradient(red, blue); height: 90vh">Tea</body></html>"""


@pytest.mark.browser
@pytest.mark.skipif(PROGRAM is None, reason="no Chromium: apt-get install chromium")
def test_each_page_is_pictured_at_two_widths(tmp_path: Path) -> None:
    """The pictures show the page, and are named by it."""
    (tmp_path / "a page.html").write_text(PAGE, encoding="utf-8")
    shots = tmp_path / "shots"
    seen = inspect_files(tmp_path, ["a page.html"], Pictures(PROGRAM, shots), Cancel())

    (page,) = seen.pages
    assert page.pictures == ("01-a-page-html-1280.png", "01-a-page-html-500.png")
    wide, narrow = (picture_rows((shots / name).read_bytes()) for name in page.pictures)
    assert (wide[:2], narrow[:2]) == ((1280, 900), (500, 900))
    assert min(wide[2], narrow[2]) > 100
    assert seen.notes == ()


def test_a_browser_that_cannot_is_named_once(tmp_path: Path) -> None:
    """The pages are looked at all the same."""
    names = ["a.html", "b.html"]
    for name in names:
        (tmp_path / name).write_text(PAGE, encoding="utf-8")
    seen = inspect_files(tmp_path, names, Pictures("false", tmp_path / "shots"), Cancel())

    assert [page.pictures for page in seen.pages] == [(), ()]
    assert seen.notes == ("no more screenshots: the browser ended with exit code 1",)
