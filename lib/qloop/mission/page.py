"""A page as its HTML has it: what code can say of it without laying it out. Pure.

Whatever HTML there is can be read; lines are counted from 1.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser

MOST_HTML = 1_000_000
"""What comes after so many characters is not read: a broken page could take for ever."""
MOST_TEXT = 2_000

_ROOTS = frozenset(("html", "head", "body"))
_SHOWN = frozenset(
    ("img", "svg", "canvas", "video", "audio", "iframe", "object", "embed", "input", "button")
)
_SILENT = frozenset(("script", "style", "template", "title", "svg", "noscript"))
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track")
)
_LINKS = {
    "a": ("href",), "area": ("href",), "link": ("href",), "script": ("src",), "img": ("src",),
    "iframe": ("src",), "source": ("src",), "video": ("src", "poster"), "audio": ("src",),
    "track": ("src",), "embed": ("src",), "object": ("data",), "input": ("src",),
}  # fmt: skip
_HINTS = frozenset(("preconnect", "dns-prefetch", "canonical", "alternate"))
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Link:
    """Something that the page refers to."""

    tag: str
    address: str
    """As it is written."""
    line: int


@dataclass(frozen=True, slots=True)
class Page:
    """What stands in a page."""

    is_whole: bool = False
    """Whether it says that it is a document, and no fragment of one."""
    title: str = ""
    language: str = ""
    has_viewport: bool = False
    has_scripts: bool = False
    has_content: bool = False
    """Whether there is text, or something else to be seen."""
    base: str = ""
    text: str = ""
    """What it says, without blanks that do not count, from its beginning."""
    ids: tuple[tuple[str, int], ...] = ()
    """Each with its line, in their order."""
    names: frozenset[str] = frozenset()
    """Of anchors."""
    bare_images: tuple[tuple[str, int], ...] = ()
    """Those without an alternative text, by their address, each with its line."""
    links: tuple[Link, ...] = ()


def read_page(text: str) -> Page:
    """The page that *text* is."""
    reader = _Reader()
    reader.feed(text[:MOST_HTML])
    reader.close()
    words = _BLANKS.sub(" ", " ".join(reader.words)).strip()
    return Page(
        is_whole=reader.is_whole,
        title=_BLANKS.sub(" ", "".join(reader.title)).strip(),
        language=reader.language.strip(),
        has_viewport=reader.has_viewport,
        has_scripts=reader.has_scripts,
        has_content=reader.has_shown or bool(words),
        base=reader.base,
        text=words[:MOST_TEXT],
        ids=tuple(reader.ids),
        names=frozenset(reader.names),
        bare_images=tuple(reader.bare_images),
        links=tuple(reader.links),
    )


Attributes = dict[str, str]


@dataclass(eq=False)
class _Reader(HTMLParser):
    is_whole: bool = False
    language: str = ""
    base: str = ""
    has_viewport: bool = False
    has_scripts: bool = False
    has_shown: bool = False
    title: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    ids: list[tuple[str, int]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    bare_images: list[tuple[str, int]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    """The open elements whose text is not part of the page's."""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_decl(self, decl: str) -> None:
        """A doctype."""
        self.is_whole = self.is_whole or decl.lower().startswith("doctype")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        given = {name: value or "" for name, value in reversed(attrs)}  # the first of a name counts
        if "template" in self.silent:
            self._open(tag)
            return
        self.is_whole = self.is_whole or tag in _ROOTS
        self.has_shown = self.has_shown or (tag in _SHOWN and given.get("type") != "hidden")
        if "svg" not in self.silent:
            take = _TAKES.get(tag)
            if take is not None:
                take(self, given, self.getpos()[0])
            self._take_links(tag, given)
        self._take_names(tag, given)
        self._open(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without content; in HTML only some have none, in drawings any."""
        self.handle_starttag(tag, attrs)
        if tag == "svg" or "svg" in self.silent:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """An element ends, and with it what was left open in it."""
        if tag in self.silent:
            place = len(self.silent) - 1 - self.silent[::-1].index(tag)
            del self.silent[place:]

    def handle_data(self, data: str) -> None:
        """Text."""
        if not self.silent:
            self.words.append(data)
        elif self.silent == ["title"]:
            self.title.append(data)

    def _open(self, tag: str) -> None:
        if tag in _SILENT and tag not in _VOID:
            self.silent.append(tag)

    def _take_names(self, tag: str, given: Attributes) -> None:
        if given.get("id"):
            self.ids.append((given["id"], self.getpos()[0]))
        if tag == "a" and given.get("name"):
            self.names.add(given["name"])

    def _take_links(self, tag: str, given: Attributes) -> None:
        if tag == "link" and _HINTS & set(given.get("rel", "").lower().split()):
            return
        found = [given[name] for name in _LINKS.get(tag, ()) if given.get(name)]
        if tag in ("img", "source"):
            found += [
                part.split()[0] for part in given.get("srcset", "").split(", ") if part.strip()
            ]
        self.links += [Link(tag, one.strip(), self.getpos()[0]) for one in found]


def _take_html(reader: _Reader, given: Attributes, _: int) -> None:
    reader.language = reader.language or given.get("lang", "")


def _take_meta(reader: _Reader, given: Attributes, _: int) -> None:
    if given.get("name", "").lower() == "viewport":
        reader.has_viewport = True


def _take_base(reader: _Reader, given: Attributes, _: int) -> None:
    reader.base = reader.base or given.get("href", "")


def _take_script(reader: _Reader, given: Attributes, _: int) -> None:  # noqa: ARG001
    reader.has_scripts = True


def _take_image(reader: _Reader, given: Attributes, line: int) -> None:
    is_hidden = given.get("role") in ("presentation", "none") or given.get("aria-hidden") == "true"
    if "alt" not in given and not is_hidden:
        reader.bare_images.append((given.get("src", ""), line))


_TAKES: dict[str, Callable[[_Reader, Attributes, int], None]] = {
    "html": _take_html,
    "meta": _take_meta,
    "base": _take_base,
    "script": _take_script,
    "img": _take_image,
}
