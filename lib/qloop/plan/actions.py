"""The actions of an intent's plan become a requirements document, each of them a story.

An action is a Markdown file with a front matter, of which every key may be left out. Without
`depends_on` it follows the action before it. Its body is what a story's may be.
Pure: texts in, text out. Errors: Faults, all of them at once, each with its file.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qloop.plan.prd_front import parse_front_matter, split_front_matter
from qloop.system.errors import Faults

KEYS = (
    *("id", "title", "depends_on", "files", "priority", "test", "runner"),
    *("destructive", "covers"),
)

_ID = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_NUMBER = re.compile(r"ACTION_([0-9]+)\.md")
_HEADING = re.compile(r" {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*")


@dataclass(frozen=True, slots=True)
class Action:
    """One action, as it is read."""

    name: str
    """Of its file."""
    id: str
    title: str
    depends_on: tuple[str, ...] | None
    """As they are written: ids, numbers or names; None where it says nothing of it."""
    files: tuple[str, ...]
    priority: int | None
    test: tuple[str, ...]
    """Commands that show that it is done."""
    runner: str | None
    is_destructive: bool
    covers: tuple[str, ...]
    """The specification's criteria that it meets, by their ids."""
    body: str


def parse_actions(texts: Mapping[str, str]) -> tuple[Action, ...]:
    """The actions by file name, in the order given. Raises Faults."""
    faults: list[str] = []
    actions = tuple(_parse(name, text, faults) for name, text in texts.items())
    seen: dict[str, str] = {}
    for one in actions:
        if one.id in seen:
            faults.append(f"{one.name}: id {one.id!r} is that of {seen[one.id]} too")
        seen[one.id] = one.name
    known = _names(actions)
    for one in actions:
        unknown = [word for word in one.depends_on or () if word not in known]
        faults += [f"{one.name}: depends_on {word!r} is no action" for word in unknown]
    if faults:
        raise Faults("the actions are no plan", tuple(faults), where="actions/", fix="correct them")
    return actions


def render_actions(title: str, front: str, actions: tuple[Action, ...]) -> str:
    """The document of all actions; *front* is the front matter's text, without its fences."""
    known = _names(actions)
    head = f"---\n{front.rstrip()}\n---\n\n" if front.strip() else ""
    parts = [f"{head}# {title}\n\nThe actions of this intent's plan, as stories."]
    for at, one in enumerate(actions):
        before = (actions[at - 1].id,) if at else ()
        named = one.depends_on
        parts.append(_story(one, before if named is None else tuple(known[w] for w in named)))
    return "\n\n".join(parts) + "\n"


def _story(one: Action, depends_on: tuple[str, ...]) -> str:
    fields = [f"**Depends on:** {', '.join(depends_on) or 'none'}"]
    fields += [f"**Priority:** {one.priority}"] if one.priority is not None else []
    fields += [f"**Files:** {', '.join(f'`{path}`' for path in one.files)}"] if one.files else []
    fields += [f"**Runner:** {one.runner}"] if one.runner else []
    tests = [_fenced(command) for command in one.test]
    head = f"## {one.id}: {one.title}"
    return "\n\n".join(part for part in (head, "\n".join(fields), *tests, one.body) if part)


def _fenced(command: str) -> str:
    fence = "```"
    while fence in command:
        fence += "`"
    return f"{fence}bash verify\n{command}\n{fence}"


def _names(actions: tuple[Action, ...]) -> dict[str, str]:
    """All words by which an action can be named, and its id."""
    known: dict[str, str] = {}
    for one in actions:
        stem = one.name.removesuffix(".md")
        known |= {one.name: one.id, stem: one.id, stem.removeprefix("ACTION_"): one.id}
    return known | {one.id: one.id for one in actions}


def _parse(name: str, text: str, faults: list[str]) -> Action:
    source, rest = split_front_matter(text)
    front = parse_front_matter(source)
    if rest is None:
        faults.append(f"{name}: its front matter is never closed")
    faults += [f"{name}, line {fault.line}: {fault.message}" for fault in front.faults]
    faults += [f"{name}: {_unknown(key)}" for key in front.fields if key not in KEYS]
    fields = _Fields(name, front.fields, faults)
    heading, body = _split_heading((rest or "").strip())
    number = _NUMBER.fullmatch(name)
    default = f"ACTION-{number[1]}" if number else name.removesuffix(".md")
    action_id = fields.text("id") or default
    if _ID.fullmatch(action_id) is None:
        faults.append(f"{name}: id {action_id!r} must be letters, digits, _ and -, with a digit")
    return Action(
        name=name,
        id=action_id,
        title=fields.text("title") or heading or action_id,
        depends_on=fields.words("depends_on") if "depends_on" in front.fields else None,
        files=fields.words("files"),
        priority=fields.number("priority"),
        test=fields.words("test"),
        runner=fields.text("runner"),
        is_destructive=fields.flag("destructive"),
        covers=fields.words("covers"),
        body=body,
    )


def _unknown(key: str) -> str:
    near = difflib.get_close_matches(key, KEYS, n=1, cutoff=0.5)
    return f"unknown key {key!r}" + (f", did you mean {near[0]!r}?" if near else "")


def _split_heading(body: str) -> tuple[str, str]:
    """The first line's heading, and what stands below it."""
    first, _, rest = body.partition("\n")
    found = _HEADING.fullmatch(first)
    return ("", body) if found is None else (found[1], rest.strip())


@dataclass(frozen=True, slots=True)
class _Fields:
    """A front matter's fields, each of its kind; what is not is noted."""

    name: str
    fields: Mapping[str, Any]
    faults: list[str]

    def text(self, key: str) -> str | None:
        """One line of text."""
        value = self.fields.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is None or (isinstance(value, str) and value.strip() and "\n" not in value):
            return None if value is None else value.strip()
        self._wrong(key, "one line of text")
        return None

    def words(self, key: str) -> tuple[str, ...]:
        """One text or a list of them; numbers count as text."""
        value = self.fields.get(key, [])
        items = value if isinstance(value, list) else [value]
        texts = [str(one).strip() for one in items if isinstance(one, str | int) and str(one)]
        if len(texts) != len(items) or any(isinstance(one, bool) for one in items):
            self._wrong(key, "a text or a list of texts")
        return tuple(texts)

    def number(self, key: str) -> int | None:
        """A whole number."""
        value = self.fields.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        self._wrong(key, "a whole number")
        return None

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self.fields.get(key, False)
        if not isinstance(value, bool):
            self._wrong(key, "true or false")
        return value is True

    def _wrong(self, key: str, what: str) -> None:
        self.faults.append(f"{self.name}: {key} must be {what}, not {self.fields.get(key)!r}")
