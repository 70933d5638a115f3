"""The text of quantum.json: bytes to a document and back, nothing lost on the way.

Errors: InputMissing where there is no file; BadInput for what cannot be read, is not UTF-8 or not
JSON; Faults for doubled keys and for numbers that JSON does not have, with whatever else is wrong
with the plan. Source: RFC 8259.
"""

from __future__ import annotations

import codecs
import json
import math
from typing import TYPE_CHECKING, Any

from qloop.plan.memory import collector_paused
from qloop.plan.values import Json
from qloop.system.errors import BadInput, InputMissing

if TYPE_CHECKING:
    from pathlib import Path

    from qloop.plan.faults import Fault

DEEPEST = 100
"""Levels of nesting that a document may have; beyond, Python's own stack would end first."""


def load_document(path: Path) -> Json:
    """The document in a file. Raises InputMissing, BadInput, Faults."""
    return parse_document(_read_bytes(path), str(path))


def load_unmeasured(path: Path) -> Json:
    """The same, but for its depth, which is left to the caller. Raises as `load_document`."""
    with collector_paused():
        return _parse(_read_bytes(path), str(path))


def parse_document(data: bytes, where: str) -> Json:
    """The object that *data* holds; *where* names it in messages. Raises BadInput, Faults."""
    with collector_paused():
        root = _parse(data, where)
        if _is_too_deep(root):
            raise _too_deep(where)
    return root


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise InputMissing(
            "there is no such file", where=str(path), fix="make one: qloop plan PRD"
        ) from None
    except IsADirectoryError:
        raise BadInput("this is a folder, not a file", where=str(path)) from None
    except OSError as exc:
        raise BadInput(f"cannot be read: {exc.strerror}", where=str(path)) from exc


def _parse(data: bytes, where: str) -> Json:
    reader = _Reader()
    root = _read(_decode(data, where), reader, where)
    if not isinstance(root, dict):
        raise BadInput(f"must hold one JSON object, not {_name(root)}", where=where)
    if reader.refused:
        from qloop.plan.faults import faults_error
        from qloop.plan.validate import find_faults  # and the models with it

        if _is_too_deep(root):
            raise _too_deep(where)
        # Nothing may come of this text, so what else is wrong with the plan is told along.
        raise faults_error([*_find_oddities(root), *find_faults(root)], where)
    return root


def render_document(document: Json) -> bytes:
    """The bytes of a document: indented by two, keys in their order, a line end at the end."""
    import orjson

    try:
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        # Integers beyond 64 bits and halves of surrogate pairs, which only the slow way knows.
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        return text.encode("utf-8", "backslashreplace")


class _Refused(float):
    """Stands in the tree for a number that JSON does not have."""

    text: str


class _Doubled(dict[str, Any]):
    """An object of which a key stands more than once: the last value counts, all are kept."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


class _Reader:
    """Builds the tree, and remembers whether anything in it must be refused."""

    def __init__(self) -> None:
        self.refused = False

    def build_object(self, pairs: list[tuple[str, Any]]) -> Json:
        made = dict(pairs)
        if len(made) == len(pairs):
            return made
        self.refused = True
        return _Doubled(pairs)

    def build_float(self, text: str) -> float:
        number = float(text)
        return self.refuse(text) if math.isinf(number) else number

    def refuse(self, text: str) -> _Refused:
        self.refused = True
        number = _Refused(text)
        number.text = text
        return number


def _decode(data: bytes, where: str) -> str:
    body = data.removeprefix(codecs.BOM_UTF8)
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as exc:
        offset = exc.start + len(data) - len(body)
        raise BadInput(
            f"not UTF-8: byte {offset} is 0x{data[offset]:02x}", where=where, fix="save it as UTF-8"
        ) from None


def _read(text: str, reader: _Reader, where: str) -> Any:
    if not text.strip():
        raise BadInput("not JSON: the file is empty", where=f"{where}, line 1, column 1")
    try:
        return json.loads(
            text,
            object_pairs_hook=reader.build_object,
            parse_float=reader.build_float,
            parse_constant=reader.refuse,
        )
    except json.JSONDecodeError as exc:
        place = f"{where}, line {exc.lineno}, column {exc.colno}"
        raise BadInput(f"not JSON: {exc.msg[:1].lower()}{exc.msg[1:]}", where=place) from None
    except RecursionError:
        raise _too_deep(where) from None
    except ValueError:
        raise BadInput("holds a number of thousands of digits", where=where) from None


def _find_oddities(root: Any) -> list[Fault]:
    """Every doubled key and every refused number, in the order of the text."""
    from qloop.plan.faults import Fault, render_path

    faults: list[Fault] = []
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), root)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, _Refused):
            faults.append(Fault(render_path(path), f"no JSON number: {node.text}", node.text))
        if isinstance(node, _Doubled):
            faults += _doubled_keys(path, node)
        stack += [((*path, key), child) for key, child in reversed(_children(node))]
    return faults


def _doubled_keys(path: tuple[str | int, ...], node: _Doubled) -> list[Fault]:
    from qloop.plan.faults import Fault, render_path

    seen: set[str] = set()
    faults = []
    for key, value in node.pairs:
        if key in seen:
            message = f"duplicate key, here with {_name(value)}"
            faults.append(Fault(render_path((*path, key)), message, value))
        seen.add(key)
    return faults


def _children(node: Any) -> list[tuple[str | int, Any]]:
    if isinstance(node, _Doubled):
        return list(node.pairs)
    if isinstance(node, dict):
        return list(node.items())
    return list(enumerate(node)) if isinstance(node, list) else []


def _name(value: Any) -> str:
    """A value in a few words: of what holds others, only its kind."""
    from qloop.plan.faults import show

    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    return value.text if isinstance(value, _Refused) else show(value)


def _is_too_deep(root: Json) -> bool:
    layer: list[Any] = [root]
    for _ in range(DEEPEST):
        layer = [
            child
            for node in layer
            for child in (node.values() if isinstance(node, dict) else node)
            if isinstance(child, (dict, list))
        ]
        if not layer:
            return False
    return True


def _too_deep(where: str) -> BadInput:
    return BadInput(f"nested deeper than {DEEPEST} levels", where=where)
