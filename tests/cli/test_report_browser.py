"""The report as a browser shows it: on a desk and on a phone, small and at 300 stories."""

from pathlib import Path
from typing import Any

import pytest

from browser import Browser, picture_rows
from qloop.cli.main import main
from qloop.system.chromium import find_chromium
from report_world import RUN, run_of_many
from repository import Repo

PROGRAM = find_chromium()
DESK, PHONE = (1300, 1000), (390, 800)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium: apt-get install chromium"),
]

MEASURE = """
const boxes = [...document.querySelectorAll('#graph .box')].map(one => one.getBoundingClientRect());
const apart = (a, b) => a.right <= b.left + .5 || b.right <= a.left + .5
  || a.bottom <= b.top + .5 || b.bottom <= a.top + .5;
let overlapping = 0;
boxes.forEach((a, at) => boxes.slice(at + 1).forEach(b => { if (!apart(a, b)) overlapping += 1; }));
const spilt = [...document.querySelectorAll('#graph g[clip-path]')].filter(one => {
  const room = one.parentNode.querySelector('.box').getBoundingClientRect();
  return [...one.querySelectorAll('text')].some(text => {
    const words = text.getBoundingClientRect();
    return words.left < room.left || words.right > room.right + 1 || words.bottom > room.bottom + 1;
  });
}).length;
return {
  sideways: document.documentElement.scrollWidth - innerWidth,
  width: innerWidth,
  boxes: boxes.length,
  overlapping,
  spilt,
  bars: document.querySelectorAll('#timeline .bar').length,
  stories: document.querySelectorAll('details.story').length,
  loaded: performance.getEntriesByType('resource').length,
  contents: document.querySelectorAll('nav .stories a').length,
  navigation: getComputedStyle(document.querySelector('nav')).position,
  listed: getComputedStyle(document.querySelector('nav .stories')).display != 'none',
  smallest: Math.min(...[...document.querySelectorAll('#graph svg text')].map(
    text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)),
};
"""

COLOURS = """
const seen = name => getComputedStyle(document.querySelector(name));
return [seen('body').backgroundColor, seen('#graph .paper').fill, seen('body').color];
"""


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    """A browser with an empty profile."""
    assert PROGRAM is not None
    folder = tmp_path / "browser"
    folder.mkdir()
    return Browser(PROGRAM, folder)


def report(repo: Repo, count: int, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The report of a run of so many stories."""
    monkeypatch.chdir(repo.path)
    run_of_many(repo, count)
    assert main(["report"]) == 0
    return repo.path / ".qloop" / "reports" / f"{RUN}.html"


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("count", [12, 300])
def test_the_page(
    repo: Repo, browser: Browser, monkeypatch: pytest.MonkeyPatch, count: int, size: tuple[int, int]
) -> None:
    """All is there, nothing overlaps or spills, nothing is loaded, nothing runs off the screen."""
    page = report(repo, count, monkeypatch)
    found: dict[str, Any] = browser.measure(page, *size, MEASURE)
    width, height, rows = picture_rows(browser.picture(page, *size))

    assert (width, height) == size
    assert rows > 100
    assert found["width"] == size[0]
    assert found["sideways"] <= 0
    assert (found["boxes"], found["stories"], found["contents"]) == (count, count, count)
    assert found["bars"] > count
    assert (found["overlapping"], found["spilt"], found["loaded"]) == (0, 0, 0)
    assert found["navigation"] == "sticky"
    assert found["listed"] == (size == DESK)
    assert found["smallest"] >= 8


def test_links_unfold_their_story(
    repo: Repo, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Going to a story opens it."""
    page = report(repo, 12, monkeypatch)
    script = """
    const inside = document.querySelector('details.story:not([open]) .inside');
    location.hash = '#' + inside.id;
    return inside.closest('details').open;
    """

    assert browser.measure(page, *DESK, script) is True


def test_light_and_dark(repo: Repo, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page and drawings follow the browser's wish for light or dark, and stay readable."""
    page = report(repo, 12, monkeypatch)
    light = browser.measure(page, *DESK, COLOURS)
    dark = browser.measure(page, *DESK, COLOURS, "--force-dark-mode")

    assert light == ["rgb(255, 255, 255)", "rgb(255, 255, 255)", "rgb(31, 35, 40)"]
    assert dark == ["rgb(13, 17, 23)", "rgb(13, 17, 23)", "rgb(230, 237, 243)"]


def test_paper_shows_what_is_folded(
    repo: Repo, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Printed, the stories are unfolded: more pages come out than with their content left out."""
    page = report(repo, 12, monkeypatch)
    bare = page.with_name("bare.html")
    text = page.read_text(encoding="utf-8")
    bare.write_text(text.replace("</head>", "<style>.inside{display:none}</style></head>"), "utf-8")

    assert browser.pages(page) > browser.pages(bare)
