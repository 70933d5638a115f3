"""An intent: one unit of wanted change, its names and its document. Values; nothing here acts.

Its folder is `<id>--<slug>/`, its document `<id>--<slug>.md` in it: a front matter of seven keys,
then the sections Intent, Context, Insights, Outcome and Links.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.plan.prd_front import parse_front_matter, split_front_matter
from qloop.state.sections import outside_code

KEYS = ("id", "intent", "sources", "chain", "created", "author", "tags")
SECTIONS = ("Intent", "Context", "Insights", "Outcome", "Links")
UNKNOWN = "(unknown)"
BYTE_ORDER_MARK = "\ufeff"

_LONGEST_SLUG = 48
_LONGEST_TITLE = 100
_FOLDER = re.compile(r"([1-9][0-9]{0,8})--([a-z0-9]+(?:-[a-z0-9]+)*)")


@dataclass(frozen=True, slots=True)
class Intent:
    """One intent on disk: who it is, and where."""

    id: int
    slug: str
    title: str
    folder: Path

    @property
    def name(self) -> str:
        """Its folder's name, such as `12--csv-export`."""
        return folder_name(self.id, self.slug)

    @property
    def document(self) -> Path:
        """The file that says what is wanted."""
        return self.folder / f"{self.name}.md"


@dataclass(frozen=True, slots=True)
class Front:
    """What a new intent's front matter holds beside id and title."""

    created: str
    author: str
    sources: tuple[str, ...] = ()
    chain: tuple[int, ...] = ()
    """Ids of the intents that it follows from."""
    tags: tuple[str, ...] = ()


def folder_name(number: int, slug: str) -> str:
    """The name of an intent's folder."""
    return f"{number}--{slug}"


def parse_folder_name(name: str) -> tuple[int, str] | None:
    """Id and slug of an intent's folder, or None for a name that is none."""
    found = _FOLDER.fullmatch(name)
    return None if found is None else (int(found[1]), found[2])


def slug_of(title: str) -> str:
    """A title in small plain letters and hyphens, cut between words; never empty."""
    plain = unicodedata.normalize("NFKD", title.casefold()).encode("ascii", "ignore").decode()
    slug = ""
    for word in re.findall("[a-z0-9]+", plain):
        longer = f"{slug}-{word}" if slug else word[:_LONGEST_SLUG]
        if len(longer) > _LONGEST_SLUG:
            break
        slug = longer
    return slug or "intent"


def encodable(text: str) -> str:
    """A text that UTF-8 has a form for: what came in as other bytes is `?`."""
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str) -> str:
    """A text as one line of what can be printed."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def title_of(text: str) -> str:
    """The first line with a word in it, as one line without Markdown's heading sign.

    A front matter is none of it, where anything follows.
    """
    whole = text.removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n")
    rest = split_front_matter(whole)[1]
    return _first_words(rest or "") or _first_words(whole)


def _first_words(text: str) -> str:
    for line in text.splitlines():
        words = one_line(re.sub(r"^\s*#{1,6}\s+", "", line))
        if any(sign.isalnum() for sign in words):
            return _cut(words)
    return ""


def _cut(words: str) -> str:
    if len(words) <= _LONGEST_TITLE:
        return words
    return words[: _LONGEST_TITLE - 1].rsplit(" ", 1)[0].rstrip(" ,;:.") + "…"


def render_document(number: int, title: str, text: str, front: Front) -> str:
    """The document of a new intent: the text as it was given, and sections to be filled."""
    values = {
        "id": number,
        "intent": title,
        "sources": list(front.sources),
        "chain": list(front.chain),
        "created": front.created,
        "author": front.author,
        "tags": list(front.tags),
    }
    wanted = demoted(text.removeprefix(BYTE_ORDER_MARK)).strip()
    bodies = {"Intent": wanted}
    sections = [f"## {name}\n{_body(bodies.get(name, ''))}" for name in SECTIONS]
    return f"{front_text(values)}\n" + "\n".join(sections)


def front_text(values: Mapping[str, Any]) -> str:
    """A front matter, with its two lines of hyphens."""
    head = "".join(f"{key}: {_yaml(value)}\n" for key, value in values.items())
    return f"---\n{head}---\n"


def demoted(text: str) -> str:
    """Markdown whose headings stand below an intent's sections, so that it can be one's text."""
    lines = text.splitlines()
    for at, line in outside_code(lines):
        if re.match(r" {0,3}#{1,4}(?=\s)", line):
            lines[at] = "##" + line.lstrip(" ")
    return "\n".join(lines)


def read_front(text: str) -> dict[str, Any]:
    """The front matter's fields; nothing where it is missing or broken."""
    head, rest = split_front_matter(plain_lines(text))
    if rest is None:
        return {}
    front = parse_front_matter(head)
    return {} if front.faults else dict(front.fields)


def plain_lines(text: str) -> str:
    """Text as editors of any system write it, with one kind of line end and no mark before it."""
    return text.removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n").replace("\r", "\n")


def _body(text: str) -> str:
    return f"\n{text}\n" if text else ""


def _yaml(value: Any) -> str:
    import json  # JSON is YAML, and quotes whatever needs it

    if isinstance(value, list):
        return f"[{', '.join(_yaml(item) for item in value)}]"
    return json.dumps(value, ensure_ascii=False)
