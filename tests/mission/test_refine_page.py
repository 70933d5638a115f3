"""What code finds wrong with a page."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.mission.inspector import choose_pages, inspect_files, inspect_routes
from qloop.mission.page import read_page
from qloop.mission.page_rules import is_followed, page_findings
from qloop.mission.pictures import Pictures
from qloop.state.refinement import Finding, Visual
from qloop.system.cancel import Cancel
from qloop.system.web import Server, served_folder

GOOD = """<!doctype html>
<html lang="en"><head><title>Tea</title><meta name="viewport" content="width=device-width">
</head><body>{}</body></html>
"""


def rules(findings: tuple[Finding, ...] | list[Finding]) -> list[tuple[str, str, int | None]]:
    """Severity, rule and line of each finding."""
    return [(one.severity, one.rule, one.places[0].line) for one in findings]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("tea", []),
        ("", [("critical", "empty", None)]),
        ("<script>fill()</script>", []),
        ("<p></p>\n<!-- tea -->", [("critical", "empty", None)]),
        ('<svg><title>drawn</title><path id="p"/></svg>', []),
        ('<img src="x.png" alt="">', []),
        ('a\n<img src="x.png">', [("minor", "alt", 4)]),
        ('<img src="x.png" role="presentation">', []),
        ('<p id="a">x</p>\n<p id="a">y</p>', [("minor", "id", 4)]),
        ('<template><p id="a"></p></template><p id="a">x</p>', []),
        ('<a href="#b">x</a>', [("minor", "anchor", 3)]),
        ('<a href="#b">x</a><a name="b">y</a><a href="#top">t</a><a href="#">n</a>', []),
        ('<a href="#/route">x</a><script src="x.js"></script>', []),
    ],
)
def test_pages(body: str, expected: list[tuple[str, str, int | None]]) -> None:
    """A fault is found in its line, and what is no fault is none."""
    assert rules(list(page_findings(read_page(GOOD.format(body)), "x"))) == expected


def test_a_bare_page_lacks_what_a_page_says_of_itself() -> None:
    """Title, language and viewport."""
    found = list(page_findings(read_page("<html><body>tea</body></html>"), "x"))

    assert [one.rule for one in found] == ["title", "lang", "viewport"]


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    """Whatever a file holds, it is read, and what it says is text of it."""
    page = read_page(text)

    assert all(line >= 1 for _, line in page.ids)
    assert isinstance(list(page_findings(page, "x")), list)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("a.html", True), ("/a", True), ("?x=1", True), ("http://127.0.0.1/a", True),
        ("https://example.org", False), ("//cdn/x.js", False), ("mailto:a@b", False),
        ("data:,x", False), ("#a", False), ("{{ url }}", False), ("${x}", False),
        ("%PUBLIC_URL%/x", False), ("%20x", True), ("a:b/c.html", False), ("./a:b", True),
    ],
)  # fmt: skip
def test_which_links_are_tried(address: str, *, expected: bool) -> None:
    """Those of the site, as far as no program fills them in."""
    link = read_page(f'<a href="{address}">x</a>').links[0]

    assert is_followed(link) is expected


def look(tree: Path, files: dict[str, str]) -> Visual:
    """What is seen of HTML files."""
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    names = [name for name in files if name.endswith(".html")]
    return inspect_files(tree, names, Pictures(None, tree, wanted=False), Cancel())


def test_links_of_files_are_followed_wherever_the_site_begins(tmp_path: Path) -> None:
    """The root may be any folder above a page, and pages may be linked without their ending."""
    seen = look(
        tmp_path,
        {
            "site/index.html": GOOD.format(
                '<a href="/style.css">s</a><a href="about">a</a><a href="sub/page%20one.html">b</a>'
                '\n<a href="gone.html">c</a><a href="gone.html#x">d</a>\n<script src="no.js">'
            ),
            "site/style.css": "",
            "site/about.html": GOOD.format('<a href="/index.html">home</a>'),
            "site/sub/page one.html": GOOD.format('<img src="../../out.png" alt="o">'),
        },
    )

    assert [(one.rule, str(one.places[0])) for one in seen.findings] == [
        ("link", "site/index.html:4"),
        ("link", "site/index.html:5"),
        ("link", "site/sub/page one.html:3"),
    ]
    assert [page.title for page in seen.pages] == ["Tea", "Tea", "Tea"]
    assert {page.status for page in seen.pages} == {200}


def test_files_that_are_no_pages_are_named(tmp_path: Path) -> None:
    """Templates, fragments, what is not of the project, and what leads out of it."""
    outside = tmp_path / "outside.html"
    outside.write_text(GOOD.format("secret"), encoding="utf-8")
    tree = tmp_path / "tree"
    (tree / "vendor").mkdir(parents=True)
    (tree / "vendor" / "x.html").write_text(GOOD.format("x"), encoding="utf-8")
    (tree / "t.html").write_text("{% block x %}", encoding="utf-8")
    (tree / "f.html").write_text("<p>part</p>", encoding="utf-8")
    (tree / "empty.html").write_text("", encoding="utf-8")
    (tree / "out.html").symlink_to(outside)
    pages, notes = choose_pages(
        tree, ["vendor/x.html", "t.html", "f.html", "out.html", "empty.html"]
    )

    assert pages == ("empty.html",)
    assert sorted(notes) == [
        "not looked at (fragments): f.html",
        "not looked at (links that lead elsewhere): out.html",
        "not looked at (not of this project): vendor/x.html",
        "not looked at (templates): t.html",
    ]
    assert rules(look(tree, {"empty.html": ""}).findings) == [("critical", "empty", None)]


def test_routes_are_seen_as_the_server_answers(tmp_path: Path) -> None:
    """An error status, a page that is not there, and a server that does not answer."""
    (tmp_path / "index.html").write_text(GOOD.format("tea"), encoding="utf-8")
    (tmp_path / "data.json").write_text("{}", encoding="utf-8")
    pictures = Pictures(None, tmp_path)
    with served_folder(tmp_path) as server:
        seen = inspect_routes(server, ["/", "/data.json", "/gone?x=1"], pictures, Cancel())
    gone = inspect_routes(Server("127.0.0.1", server.port), ["/"], pictures, Cancel())

    assert rules(seen.findings) == [("critical", "status", None)]
    assert [page.status for page in seen.pages] == [200, 200, 404]
    assert "no screenshots: no Chromium is installed" in seen.notes
    assert rules(gone.findings) == [("critical", "answer", None)]
