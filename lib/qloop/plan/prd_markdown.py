"""Markdown as a flat sequence of blocks with their lines, as far as a PRD needs it.

Headings in quotations and lists, and everything in code, are no headings of the document.
Lines count from 1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from qloop.plan.prd_labels import starts_with_label

Kind = Literal["heading", "paragraph", "list", "item", "fence", "other"]
Command = Literal["run", "verify"]

_KINDS: dict[str, Kind] = {
    "heading": "heading",
    "paragraph": "paragraph",
    "bullet_list": "list",
    "ordered_list": "list",
    "list_item": "item",
    "fence": "fence",
}


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document; a list's children are items, an item's are blocks."""

    kind: Kind
    line: int
    text: str = ""
    """A heading's, paragraph's or fence's content; a paragraph's lines stay lines."""
    source: str = ""
    """The block as it is written, without the command fences in it."""
    level: int = 0
    info: str = ""
    children: tuple["Block", ...] = ()
    closed: bool = True
    """False for a fence that nothing ends."""

    @property
    def commands(self) -> tuple[Command, ...]:
        """What a fence's info string says its content is: to `run`, to `verify`, or neither."""
        words = re.split(r"[\s,{}]+", self.info.lower()) if self.kind == "fence" else []
        names: tuple[Command, ...] = ("run", "verify")
        return tuple(name for name in names if name in words or f".{name}" in words)


def parse_blocks(text: str) -> list[Block]:
    """The document's blocks at its outermost level."""
    # Reference definitions would swallow list items such as `[x]: done`; what is in a line is
    # wanted as it is written.
    parser = MarkdownIt("commonmark").enable("table").disable(["reference", "inline", "text_join"])
    lines = text.split("\n")
    return [_block(node, lines) for node in SyntaxTreeNode(parser.parse(text)).children]


def walk(blocks: Sequence[Block]) -> list[Block]:
    """All blocks, those in lists right after them."""
    return [inner for block in blocks for inner in (block, *walk(block.children))]


def _block(node: SyntaxTreeNode, lines: list[str]) -> Block:
    kind = _KINDS.get(node.type, "other")
    children: tuple[Block, ...] = ()
    if kind in ("list", "item"):
        children = tuple(_block(child, lines) for child in node.children)
    text = node.content if kind == "fence" else _inline(node)
    if kind == "heading" and node.markup == "-" and starts_with_label(text):
        kind = "paragraph"  # a rule drawn right under the last label, not an underlined heading
    start, end = node.map or (0, 0)
    return Block(
        kind=kind,
        line=start + 1,
        text=text,
        source=text if kind == "paragraph" else _source(node, lines, children),
        level=int(node.tag[1]) if kind == "heading" else 0,
        info=node.info if kind == "fence" else "",
        children=children,
        closed=kind != "fence" or _is_closed(node.markup, lines[start:end]),
    )


def _inline(node: SyntaxTreeNode) -> str:
    return node.children[0].content if node.type in ("heading", "paragraph") else ""


def _source(node: SyntaxTreeNode, lines: list[str], children: tuple[Block, ...]) -> str:
    if node.type == "hr":
        return ""
    if node.type == "html_block" and node.content.lstrip().startswith("<!--"):
        return ""
    start, end = node.map or (0, 0)
    left_out: set[int] = set()
    for block in walk(children):
        if block.commands:
            left_out.update(range(block.line - 1, block.line - 1 + _height(block)))
    kept = [lines[number] for number in range(start, end) if number not in left_out]
    return dedent("\n".join(kept)).strip("\n").rstrip()


def _height(fence: Block) -> int:
    """How many lines a fence takes, its own marks included."""
    inside = fence.text.count("\n")
    return inside + (2 if fence.closed else 1)


def _is_closed(markup: str, lines: list[str]) -> bool:
    last = lines[-1].strip(" \t>")
    return len(lines) > 1 and len(last) >= len(markup) and set(last) == {markup[0]}
