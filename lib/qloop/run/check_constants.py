"""One constant, written two ways by two stories of a wave. Pure.

Either a named constant (`MAX_TRIES`) with two values, or a word of a program's own, such as the
name of an event, in two spellings (`order_paid`, `order-paid`, `orderPaid`). Left out: tests,
private and everyday names (`NAME`, `PATH`), single words, names of types, of variables in the
environment and of modules, documentation, and what one story writes both ways: it maps them.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from qloop.repo.landed_changes import LandedFile
from qloop.run.check_source import (
    docstrings,
    family_of,
    is_python,
    is_test,
    last_name,
    module_statements,
    parse_python,
)
from qloop.run.check_values import MOST_PLACES, Finding, Place, Work, tell_places

CHECK = "constants"
CONVENTION = 2
"""So many other files that give a name a value of their own make that a convention."""

_NAMED = re.compile(r"[A-Z][A-Z0-9]{2,}(?:_[A-Z0-9]+)*")
_EVERYDAY = {
    "CHECK", "COMMAND", "COLUMNS", "DEFAULT", "DESCRIPTION", "HELP", "HERE", "KEY", "KIND",
    "LABEL", "NAME", "ORDER", "PATH", "PREFIX", "PRIORITY", "ROOT", "SCHEMA", "SUFFIX", "TEMPLATE",
    "TEXT", "TITLE", "TYPE", "URL", "USAGE", "VERSION",
}  # fmt: skip
_ASSIGNED = re.compile(
    r"\b(?P<name>[A-Z][A-Z0-9]{2,}(?:_[A-Z0-9]+)*)\s*(?::[^=\n]+|\s[\w<>\[\]]+)?\s*=\s*"
    r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|-?\d[\w.]*)\s*[;,]?\s*(?://.*|#.*)?$"
)
_DEFINED = re.compile(r"^\s*#\s*define\s+(?P<name>[A-Z][A-Z0-9_]{2,})\s+(?P<value>\S+)\s*$")
_QUOTED = re.compile(r"([\"'`])([A-Za-z][A-Za-z0-9_-]{3,59})\1")
_COMMENT = re.compile(r"^\s*(?://|#|\*|/\*|--)")
_LOADS = re.compile(r"\b(?:import|require|include|from|use|using|env|getenv)\b", re.IGNORECASE)
_SPELLED = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TYPE_NAME = re.compile(r"[A-Z][a-z][A-Za-z0-9]*")


@dataclass(frozen=True, slots=True)
class Written:
    """A constant as one line of a file has it."""

    key: str
    """What it is, however written: a name, or words in lower case."""
    way: str
    line: int
    needle: str
    """What the line holds of it."""


def check_constants(works: Sequence[Work]) -> list[Finding]:
    """The constants that two or more of these stories wrote, each in its own way."""
    return [*_compare(works, _named, _name_text), *_compare(works, _spelled, _spelling_text)]


def is_convention(finding: Finding, texts: Mapping[str, str]) -> bool:
    """Whether a tree shows that both ways are wanted; *texts* are its files that hold them."""
    own = {place.path for place in finding.places}
    others = [text for path, text in texts.items() if path not in own and not is_test(path)]
    if _NAMED.fullmatch(finding.subject):
        given = re.compile(rf"\b{finding.subject}\b\s*(?::[^=\n]+)?=(?!=)")
        return sum(given.search(text) is not None for text in others) >= CONVENTION
    ways = {place.needle for place in finding.places}
    return all(any(_quotes(text, way) for text in others) for way in ways)


Read = Callable[[LandedFile], Iterable[Written]]
Tell = Callable[[str, Sequence[tuple[str, list[Place]]]], str]


def _compare(works: Sequence[Work], read: Read, tell: Tell) -> list[Finding]:
    """By key, then way, then story: those keys that stories wrote differently."""
    found: dict[str, dict[str, dict[str, list[Place]]]] = {}
    for work in works:
        for file in work.files:
            for one in _new(file, read):
                place = Place(work.story, file.path, one.line, one.needle)
                by_story = found.setdefault(one.key, {}).setdefault(one.way, {})
                by_story.setdefault(work.story, []).append(place)
    return [
        _finding(key, ways, tell) for key, by_way in found.items() if len(ways := _ways(by_way)) > 1
    ]


def _new(file: LandedFile, read: Read) -> Iterator[Written]:
    """What stands on the file's new lines, the first of each."""
    if is_test(file.path) or family_of(file.path) is None:
        return
    seen: set[tuple[str, str]] = set()
    for one in read(file):
        if one.line in file.added_lines and (one.key, one.way) not in seen:
            seen.add((one.key, one.way))
            yield one


def _ways(by_way: Mapping[str, Mapping[str, list[Place]]]) -> list[tuple[str, list[Place]]]:
    """Each way with its places; none where a story knows several, or all is in one file."""
    stories = [story for by_story in by_way.values() for story in by_story]
    if len(set(stories)) < len(stories):
        return []
    ways = [
        (way, [place for places in by_story.values() for place in places[:MOST_PLACES]])
        for way, by_story in by_way.items()
    ]
    files = {place.path for _, places in ways for place in places}
    return ways if len(files) > 1 else []


def _finding(key: str, ways: Sequence[tuple[str, list[Place]]], tell: Tell) -> Finding:
    places = tuple(place for _, some in ways for place in some)
    stories = tuple(dict.fromkeys(place.story for place in places))
    return Finding(CHECK, key, stories, places, tell(key, ways))


def _name_text(key: str, ways: Sequence[tuple[str, list[Place]]]) -> str:
    told = ", but ".join(f"{way} in {tell_places(places)}" for way, places in ways)
    return f"constant {key} is {told}: give it one value, in one place"


def _spelling_text(_: str, ways: Sequence[tuple[str, list[Place]]]) -> str:
    told = ", but ".join(f'"{way}" by {tell_places(places)}' for way, places in ways)
    return f"one constant is written {told}: agree on one spelling, in one place"


def _named(file: LandedFile) -> Iterator[Written]:
    tree = parse_python(file.text) if is_python(file.path) else None
    lines = file.text.split("\n") if not is_python(file.path) else []
    found = _python_named(tree) if tree is not None else _other_named(lines)
    return (one for one in found if one.key not in _EVERYDAY)


def _python_named(tree: ast.Module) -> Iterator[Written]:
    for node in module_statements(tree.body):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if _NAMED.fullmatch(name):
                way = _literal(value)
                if way is not None:
                    yield Written(name, way, node.lineno, name)


def _literal(node: ast.expr) -> str | None:
    """A number's or text's value as it is shown; None for anything else."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if isinstance(value, bool) or not isinstance(value, str | bytes | int | float):
        return None
    return repr(value) if len(repr(value)) <= 80 else None


def _other_named(lines: Sequence[str]) -> Iterator[Written]:
    for number, line in enumerate(lines, start=1):
        found = _DEFINED.match(line) or (None if _COMMENT.match(line) else _ASSIGNED.search(line))
        if found is not None:
            value = found["value"].rstrip(";")
            way = repr(value[1:-1]) if value[0] in "\"'" else value.replace("_", "")
            yield Written(found["name"], way, number, found["name"])


def _spelled(file: LandedFile) -> Iterator[Written]:
    tree = parse_python(file.text) if is_python(file.path) else None
    if is_python(file.path):
        quoted = _python_texts(tree) if tree is not None else iter(())
    else:
        quoted = _quoted_texts(file.text.split("\n"))
    for text, line in quoted:
        parts = _PARTS.findall(text)
        words = [part for part in parts if part.isalpha() and len(part) > 1]
        if _SPELLED.fullmatch(text) and len(words) > 1 and not _TYPE_NAME.fullmatch(text):
            way = text.lower() if "-" in text else text  # as headers are: X-Id is x-id
            yield Written(" ".join(parts).lower(), way, line, text)


def _quoted_texts(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(lines, start=1):
        if not _COMMENT.match(line) and not _LOADS.search(line):
            yield from ((found[2], number) for found in _QUOTED.finditer(line))


def _python_texts(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The text values of a module, less those that are no words of its own."""
    told = docstrings(tree)
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop(0)
        if id(node) in told or isinstance(node, ast.JoinedStr) or _is_foreign(node):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, node.lineno
        annotations = {getattr(node, "annotation", None), getattr(node, "returns", None)}
        waiting.extend(one for one in ast.iter_child_nodes(node) if one not in annotations)


def _is_foreign(node: ast.AST) -> bool:
    """Whether the texts in it name variables of the environment, or what a module exports."""
    match node:
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Call(func=func):
            return "env" in ast.unparse(func).lower()
        case ast.Subscript(value=value):
            return "env" in last_name(value).lower()
        case ast.keyword(arg=str(name)):
            return "env" in name.lower()
        case _:
            return False


def _quotes(text: str, way: str) -> bool:
    return f'"{way}"' in text or f"'{way}'" in text
