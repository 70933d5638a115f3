"""One name, defined by two stories of a wave: neither knew of the other's. Pure.

Left out is what is meant to bear the same name in many files: names that begin with `_`, tests,
what a decorator registers, names that a story itself defines in several files, and names that
two further files of the tree define already.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qloop.run.check_source import Definition, family_of, is_test
from qloop.run.check_tags import Definitions
from qloop.run.check_values import Finding, Place, Work, tell_places

CHECK = "names"
CONVENTION = 2
"""So many other files that define a name make it a convention."""

_BY_CONVENTION = {
    "Command", "Config", "Main", "Meta", "Migration", "application", "create_app", "downgrade",
    "handler", "init", "lambda_handler", "main", "register", "setup", "teardown", "upgrade",
}  # fmt: skip
_KEYWORD = r"(?:class|struct|interface|enum|trait|type|record|func|function|fun|fn|def|object)"


@dataclass(frozen=True, slots=True)
class NewName:
    """A definition that a story added."""

    place: Place
    definition: Definition


def new_names(work: Work, definitions: Definitions) -> list[NewName]:
    """What a story defined that it had not merely moved or changed, outside of tests."""
    gained: Counter[tuple[str | None, str]] = Counter()
    found: list[NewName] = []
    for file in work.files:
        family = family_of(file.path)
        if is_test(file.path):
            continue
        gained.subtract((family, one.name) for one in _of(definitions, file.path, file.before))
        for one in _of(definitions, file.path, file.text):
            gained[family, one.name] += 1
            if one.line in file.added_lines:
                found.append(NewName(Place(work.story, file.path, one.line, one.name), one))
    return [one for one in found if gained[family_of(one.place.path), one.definition.name] > 0]


def check_names(works: Sequence[Work], definitions: Definitions) -> list[Finding]:
    """The names that two or more of these stories defined, each on its own."""
    by_name: dict[tuple[str | None, str], dict[str, list[NewName]]] = {}
    for work in works:
        for new in new_names(work, definitions):
            if _is_comparable(new.definition):
                key = family_of(new.place.path), new.definition.name
                by_name.setdefault(key, {}).setdefault(work.story, []).append(new)
    return [
        _finding(name, single)
        for (_, name), by_story in by_name.items()
        if len(single := _in_one_file(by_story)) > 1
    ]


def is_convention(finding: Finding, texts: Mapping[str, str]) -> bool:
    """Whether further files of a tree define the name too; *texts* are those that hold it."""
    defined = re.compile(rf"\b{_KEYWORD}\s+{re.escape(finding.subject)}\b")
    family = family_of(finding.places[0].path)
    own = {place.path for place in finding.places}
    others = (text for path, text in texts.items() if path not in own and family_of(path) == family)
    return sum(defined.search(text) is not None for text in others) >= CONVENTION


def _is_comparable(one: Definition) -> bool:
    if one.name.startswith("_") or one.name in _BY_CONVENTION:
        return False
    return one.kind == "type" or not one.hooked


def _in_one_file(by_story: Mapping[str, list[NewName]]) -> list[NewName]:
    """One definition for each story, of the stories that have it in one file only."""
    return [news[0] for news in by_story.values() if len({one.place.path for one in news}) == 1]


def _finding(name: str, news: Sequence[NewName]) -> Finding:
    places = tuple(one.place for one in news)
    kind = "type" if any(one.definition.kind == "type" for one in news) else "function"
    text = (
        f"{kind} {name} is defined by {tell_places(places)}: "
        "keep one and use it in both places, or tell them apart by name"
    )
    return Finding(CHECK, name, tuple(place.story for place in places), places, text)


def _of(definitions: Definitions, path: str, text: str | None) -> Iterable[Definition]:
    return () if text is None else definitions.get((path, text), ())
