"""The YAML front matter of a requirements document, as JSON values.

Read from YAML's node tree rather than from its Python objects: dates stay the text they were
written as, every fault has its line, and nothing comes out that JSON has no form for.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from qloop.plan.model import Json
from qloop.plan.prd_fault import LineFault, Lines

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = {_TAG + name for name in ("str", "timestamp", "value", "merge")}
_FIRST_LINE = 2  # the line after the opening `---`
_LARGEST_INT = 2**63 - 1
_DEEPEST = 50


@dataclass(slots=True)
class Front:
    """The fields that a front matter gives, the lines where they stand, and its faults."""

    fields: Json = field(default_factory=dict)
    lines: Lines = field(default_factory=dict)
    faults: list[LineFault] = field(default_factory=list)


def split_front_matter(text: str) -> tuple[str, str | None]:
    """Front matter and the rest, which has as many lines as the whole; the first may be empty.

    The rest is None where a front matter is opened and never closed.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return "", text
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            rest = [""] * (number + 1) + lines[number + 1 :]
            return "\n".join([*lines[1:number], ""]), "\n".join(rest)
    return "\n".join(lines[1:]), None


def parse_front_matter(source: str) -> Front:
    """The fields of a front matter, whose text starts in the document's second line.

    A field without a value is a missing one.
    """
    front = Front()
    try:
        node = yaml.compose(source, Loader=yaml.SafeLoader)
        if isinstance(node, MappingNode):
            reader = _Reader(front.faults)
            fields = reader.mapping(node)
            front.fields = {name: value for name, value in fields.items() if value is not None}
            keys = [key for key, _ in node.value if isinstance(key, ScalarNode)]
            front.lines = {key.value: _line(key) for key in keys}
        elif node is not None:
            front.faults.append(LineFault(_line(node), "the front matter has no `field: value`"))
    except yaml.YAMLError as error:
        front.faults.append(_yaml_fault(error, source))
    except RecursionError:
        front.faults.append(LineFault(_FIRST_LINE, "the front matter is nested too deeply"))
    except ValueError as error:
        front.faults.append(LineFault(_FIRST_LINE, f"the front matter is broken: {error}"))
    return front


class _Reader:
    """Turns YAML nodes into JSON values, noting what has no JSON form."""

    def __init__(self, faults: list[LineFault]) -> None:
        self.faults = faults
        self._seen: set[int] = set()
        self._depth = 0

    def mapping(self, node: MappingNode) -> Json:
        fields: Json = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self._complain(key, "a field's name must be a plain word")
            elif key.value in fields:
                self._complain(key, f"the field {key.value!r} is given twice")
            else:
                fields[key.value] = self._value(value)
        return fields

    def _value(self, node: Node) -> Any:
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        # A list or mapping met again comes from an anchor, which could hold itself.
        if id(node) in self._seen:
            return self._complain(node, "lists and mappings cannot be repeated by an anchor")
        self._seen.add(id(node))
        if self._depth == _DEEPEST:
            return self._complain(node, "it is nested too deeply")
        self._depth += 1
        value = self._collection(node)
        self._depth -= 1
        return value

    def _collection(self, node: Node) -> Any:
        if isinstance(node, MappingNode) and node.tag == _TAG + "map":
            return self.mapping(node)
        if isinstance(node, SequenceNode) and node.tag == _TAG + "seq":
            return [self._value(item) for item in node.value]
        return self._complain(node, f"a value of the kind {node.tag} has no form in JSON")

    def _scalar(self, node: ScalarNode) -> Any:
        try:
            value = _scalar_value(node)
            node.value.encode()
        except (ValueError, IndexError, KeyError):
            return self._complain(node, f"{node.value!r} has no form in JSON")
        return value

    def _complain(self, node: Node, message: str) -> None:
        self.faults.append(LineFault(_line(node), f"front matter: {message}"))


def _scalar_value(node: ScalarNode) -> Any:
    """Raises ValueError, IndexError or KeyError for what is not of its tag's form."""
    if node.tag in _TEXT_TAGS:
        return node.value
    if node.tag == _TAG + "null":
        return None
    constructor = SafeConstructor()
    if node.tag == _TAG + "bool":
        return constructor.construct_yaml_bool(node)
    if node.tag == _TAG + "int":
        whole = constructor.construct_yaml_int(node)
        if abs(whole) <= _LARGEST_INT:
            return whole
    if node.tag == _TAG + "float":
        number = constructor.construct_yaml_float(node)
        if math.isfinite(number):
            return number
    raise ValueError(node.tag)


def _line(node: Node) -> int:
    return int(node.start_mark.line) + _FIRST_LINE


def _yaml_fault(error: yaml.YAMLError, source: str) -> LineFault:
    mark = getattr(error, "problem_mark", None)
    position = getattr(error, "position", 0)
    line = source.count("\n", 0, position) if mark is None else mark.line
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is broken"
    line = min(line, source.rstrip("\n").count("\n"))  # the end of the text is on no line of it
    return LineFault(line + _FIRST_LINE, f"the front matter is not YAML: {problem}")
