"""What is wrong with a page, by what its HTML has. Pure."""

from collections.abc import Iterator
from urllib.parse import unquote

from qloop.mission.page import Link, Page
from qloop.state.refinement import Finding, Place, Severity

_TEMPLATES = ("{{", "{%", "<%", "<?php", "${")
_CODES = "%"
_MOST_ADDRESS = 120


def is_template(text: str) -> bool:
    """Whether a file is filled in by a program before it is a page."""
    return any(mark in text for mark in ("{{", "{%", "<%", "<?php"))


def found(
    severity: Severity, rule: str, text: str, page: str, line: int | None = None, evidence: str = ""
) -> Finding:
    """One finding on a page."""
    return Finding(
        severity=severity,
        source="visual",
        rule=rule,
        text=text,
        places=(Place(what=page, line=line),),
        evidence=evidence,
    )


def page_findings(page: Page, name: str) -> Iterator[Finding]:
    """What is wrong with the page of that *name* in itself."""
    if not (page.has_content or page.has_scripts):
        yield found(Severity.CRITICAL, "empty", "the page is empty", name)
        return
    lacks = {
        "title": ("the page has no title", bool(page.title)),
        "lang": ("the page does not say its language (`<html lang>`)", bool(page.language)),
        "viewport": ("the page has no viewport, so phones show it tiny", page.has_viewport),
    }
    for rule, (text, is_there) in lacks.items():
        if not is_there:
            yield found(Severity.MINOR, rule, text, name, 1)
    for source, line in page.bare_images:
        text = f"an image has no alternative text: {_short(source)}"
        yield found(Severity.MINOR, "alt", text, name, line)
    yield from _doubled_ids(page, name)
    yield from _lost_anchors(page, name)


def _doubled_ids(page: Page, name: str) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for one, line in page.ids:
        if one in first:
            text = f"the id {one!r} is there more than once, at first in line {first[one]}"
            yield found(Severity.MINOR, "id", text, name, line)
        first.setdefault(one, line)


def _lost_anchors(page: Page, name: str) -> Iterator[Finding]:
    """Links to places that the page does not have; programs may have words of their own there."""
    known = {one for one, _ in page.ids} | page.names
    for link in page.links:
        place = unquote(link.address.removeprefix("#"))
        if not link.address.startswith("#") or link.tag != "a" or page.has_scripts:
            continue
        if place and place != "top" and place not in known:
            text = f"a link leads to a place that the page does not have: {_short(link.address)}"
            yield found(Severity.MINOR, "anchor", text, name, link.line)


def is_followed(link: Link) -> bool:
    """Whether a link can be tried: it is of this site, and no program has to fill it in."""
    address = link.address
    if not address or address.startswith(("#", "//")) or any(one in address for one in _TEMPLATES):
        return False
    scheme, colon, _ = address.partition(":")
    if colon and scheme.replace("+", "").replace("-", "").isalnum() and "/" not in scheme:
        return scheme.lower() == "http"
    return not _is_placeholder(address)


def _is_placeholder(address: str) -> bool:
    """Such as `%PUBLIC_URL%/icon.png`, which a build fills in."""
    if not address.startswith(_CODES):
        return False
    name = address[1:].partition(_CODES)[0]
    return name.isidentifier() and name.isupper() and len(name) > 2


def broken_link(link: Link, name: str, why: str) -> Finding:
    """A link that leads nowhere."""
    what = "a link" if link.tag in ("a", "area") else f"what `<{link.tag}>` needs"
    text = f"{what} is not there: {_short(link.address)}"
    return found(Severity.CRITICAL, "link", text, name, link.line, why)


def _short(address: str) -> str:
    if not address:
        return "(without an address)"
    return address if len(address) <= _MOST_ADDRESS else f"{address[:_MOST_ADDRESS]}…"
