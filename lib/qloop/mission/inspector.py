"""The visual inspector: pages as a browser gets them, and what code finds wrong with them.

Looked at are the routes of the project's own server, else its HTML files on a server of qloop's.
Errors: GateCancelled where it is told to stop.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urldefrag, urljoin, urlsplit

from qloop.mission.page import Link, Page, read_page
from qloop.mission.page_rules import (
    broken_link,
    found,
    is_followed,
    is_template,
    page_findings,
)
from qloop.mission.pictures import Pictures
from qloop.run.gates import GateCancelled
from qloop.state.refinement import Finding, PageSeen, Severity, Visual
from qloop.system.cancel import Cancel
from qloop.system.web import Answer, NoAnswer, Server, fetch, served_folder

MOST_PAGES = 200
MOST_LINKS = 1_000
MOST_NAMED = 5
FOREIGN = frozenset(("node_modules", "vendor", "third_party", "fixtures", "testdata"))
"""Folders whose pages nobody visits."""
GUARDED = frozenset((401, 403, 405))
"""A server that answers so has the page, but not for everybody or not for a look."""

Lost = Callable[[str], str | None]
"""Why an address of the site is not there; None where it is."""


@dataclass(slots=True)
class Inspector:
    """One look at a site."""

    server: Server
    pictures: Pictures
    cancel: Cancel
    roots: bool = False
    """Whether any folder above a page may be the root of its site."""
    pages: list[PageSeen] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    known: dict[str, str | None] = field(default_factory=dict)
    """Why an address is not there, of those that were tried."""
    left_out: int = 0

    def look(self, name: str, target: str) -> None:
        """Look at one page. Raises GateCancelled."""
        if self.cancel.is_set:
            raise GateCancelled
        try:
            answer = fetch(self.server, target)
        except NoAnswer as exc:
            self._add(
                found(Severity.CRITICAL, "answer", "the page does not answer", name), str(exc)
            )
            self.pages.append(PageSeen(name=name))
            return
        seen = PageSeen(name=name, status=answer.status)
        if answer.status >= 400:
            text = f"the page answers with status {answer.status}"
            self._add(found(Severity.CRITICAL, "status", text, name), read_page(answer.text).text)
        elif not answer.body.strip():
            self._add(found(Severity.CRITICAL, "empty", "the page is empty", name))
        elif _is_html(answer):
            seen = self._read(seen, answer)
        shots = self.pictures.take(f"{self.server.address}{target}", len(self.pages), name)
        self.pages.append(seen.model_copy(update={"pictures": shots}))

    def _read(self, seen: PageSeen, answer: Answer) -> PageSeen:
        page = read_page(answer.text)
        self.findings += page_findings(page, seen.name)
        self.findings += self._broken(page, seen.name, answer.url)
        return seen.model_copy(update={"title": page.title, "text": page.text})

    def _broken(self, page: Page, name: str, url: str) -> Iterator[Finding]:
        base = urljoin(url, page.base) if page.base else url
        told = set()
        for link in page.links:
            target = urldefrag(urljoin(base, link.address)).url if is_followed(link) else ""
            if not target or not self.server.holds(target):
                continue
            why = self._why_lost(target, link, url)
            if why is not None and (link.line, target) not in told:
                told.add((link.line, target))
                yield broken_link(link, name, why)

    def _why_lost(self, target: str, link: Link, page: str) -> str | None:
        if target not in self.known:
            if len(self.known) >= MOST_LINKS:
                self.left_out += 1
                return None
            if self.cancel.is_set:
                raise GateCancelled
            self.known[target] = _try(self.server, target)
        why = self.known[target]
        if why is None or not self.roots:
            return why
        others = _other_places(self.server, target, link, page)
        return None if any(_try(self.server, one) is None for one in others) else why

    def _add(self, finding: Finding, evidence: str = "") -> None:
        self.findings.append(finding.model_copy(update={"evidence": evidence or finding.evidence}))

    def result(self, source: str, notes: Sequence[str]) -> Visual:
        """What was seen."""
        cut = [f"{self.left_out} more links were not tried"] if self.left_out else []
        return Visual.model_validate(
            {
                "source": source,
                "pages": tuple(self.pages),
                "findings": tuple(self.findings),
                "notes": (*notes, *cut, *self.pictures.notes()),
            }
        )


def inspect_routes(
    server: Server, routes: Sequence[str], pictures: Pictures, cancel: Cancel
) -> Visual:
    """Look at routes of the project's own server."""
    inspector = Inspector(server, pictures, cancel)
    for route in routes:
        inspector.look(route, route)
    return inspector.result("served", ())


def inspect_files(tree: Path, names: Sequence[str], pictures: Pictures, cancel: Cancel) -> Visual:
    """Look at HTML files of a folder; *names* are relative to it."""
    pages, notes = choose_pages(tree, names)
    if not pages:
        return Visual(source="none", notes=notes)
    with served_folder(tree) as server:
        inspector = Inspector(server, pictures, cancel, roots=True)
        for name in pages:
            inspector.look(name, f"/{quote(name)}")
        return inspector.result("files", notes)


def choose_pages(tree: Path, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of the files that are pages, and what is to be said of the others."""
    pages: list[str] = []
    left: dict[str, list[str]] = {}
    for name in sorted(names):
        why = _no_page(tree, name)
        if why is not None:
            left.setdefault(why, []).append(name)
        elif len(pages) >= MOST_PAGES:
            left.setdefault(f"more than {MOST_PAGES} pages", []).append(name)
        else:
            pages.append(name)
    return tuple(pages), tuple(
        f"not looked at ({why}): {_named(them)}" for why, them in left.items()
    )


def _no_page(tree: Path, name: str) -> str | None:
    if FOREIGN.intersection(PurePosixPath(name).parts):
        return "not of this project"
    try:
        path = tree / name
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError as exc:
        return f"not readable: {exc.strerror}"
    if not path.resolve().is_relative_to(tree.resolve()):
        return "links that lead elsewhere"
    if is_template(text):
        return "templates"
    if text.strip() and not read_page(text).is_whole:
        return "fragments"
    return None


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def _is_html(answer: Answer) -> bool:
    return answer.kind in ("text/html", "application/xhtml+xml") or (
        not answer.kind and answer.body.lstrip()[:1] == b"<"
    )


def _try(server: Server, url: str) -> str | None:
    try:
        status = fetch(server, url).status
    except NoAnswer as exc:
        return str(exc)
    return f"status {status}" if status >= 400 and status not in GUARDED else None


def _other_places(server: Server, target: str, link: Link, page: str) -> Iterator[str]:
    """Where it may lie as well, since nobody knows how the files will be served."""
    path = urlsplit(target).path
    yield f"{server.address}{path.rstrip('/')}.html"
    if link.address.startswith("/"):
        for folder in PurePosixPath(urlsplit(page).path).parents:
            yield f"{server.address}{str(folder).rstrip('/')}{path}"
            yield f"{server.address}{str(folder).rstrip('/')}{path.rstrip('/')}.html"
