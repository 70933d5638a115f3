"""What only the whole of a requirements document can show to be wrong. Pure."""

import difflib
import re
from collections.abc import Collection, Sequence

from qloop.plan.model import Json
from qloop.plan.prd_fault import LineFault, Lines
from qloop.plan.prd_labels import parse_id, plain_heading
from qloop.plan.prd_markdown import Block, walk
from qloop.plan.prd_story import StoryPart, is_task_heading
from qloop.plan.validate import find_faults

_USUAL_PREFIXES = ("us", "story", "user story")
_PREFIX = re.compile("[A-Za-z]+(?=[-_]?[0-9])")


def find_unclosed(blocks: Sequence[Block]) -> list[LineFault]:
    """Code blocks without an end, which swallow all that follows."""
    return [
        LineFault(block.line, "the code block that starts here is never closed")
        for block in walk(blocks)
        if not block.closed
    ]


def find_misshapen(headings: Sequence[Block], ids: Collection[str]) -> list[LineFault]:
    """Faults for those of *headings*, none of them a story's, that were meant to be one.

    They begin with what the document's ids begin with, and a number; a heading that names one of
    its stories is a reference.
    """
    words = {match[0].lower() for match in map(_PREFIX.match, ids) if match}
    prefixes = "|".join(sorted({*words, *_USUAL_PREFIXES}, key=lambda word: (-len(word), word)))
    before = r"\W*(?:[0-9]+[.)]\s*)?(?:(?:user )?story )?"
    looks = re.compile(rf"{before}((?:{prefixes})[\W_]{{0,3}}[0-9][\w-]*)", re.IGNORECASE)
    known = {_bare(story_id) for story_id in ids}
    faults = []
    for block in headings:
        head, colon, _ = plain_heading(block.text).partition(":")
        match = looks.match(head)
        if match is None or is_task_heading(block) or _bare(match[1]) in known:
            continue
        if colon or " " not in match[1]:
            faults.append(LineFault(block.line, _shape_complaint(block)))
    return faults


def find_wrong_edges(stories: Sequence[StoryPart]) -> list[LineFault]:
    """Ids given twice, and dependencies on what is no story."""
    lines: dict[str, int] = {}
    faults = []
    for story in stories:
        first = lines.setdefault(story.id, story.line)
        if first != story.line:
            faults.append(LineFault(story.line, f"the id {story.id} is taken, by line {first}"))
    for story in stories:
        for place, name in enumerate(story.document["dependsOn"]):
            if name not in lines:
                message = _unknown(story.id, name, list(lines))
                faults.append(LineFault(story.lines[f".dependsOn[{place}]"], message))
    return faults


def find_plan_faults(
    document: Json, front: Lines, stories: Sequence[StoryPart], told: Sequence[LineFault]
) -> list[LineFault]:
    """What `qloop validate` would find in the plan, at the lines that it comes from.

    A line that *told* already names is left out: there it is said in the document's own terms.
    """
    lines = {**front}
    for number, story in enumerate(stories):
        lines[f"stories[{number}]"] = story.line
        lines |= {f"stories[{number}]{end}": line for end, line in story.lines.items()}
    faults = [LineFault(_line_of(fault.path, lines), str(fault)) for fault in find_faults(document)]
    named = {fault.line for fault in told}
    return [fault for fault in faults if fault.line not in named]


def _line_of(path: str, lines: Lines) -> int:
    while path and path not in lines:
        path = re.sub(r"(?:\.[^.\[]*|\[[^\[]*\]|^[^.\[]*)$", "", path)
    return lines.get(path, 1)


def _shape_complaint(block: Block) -> str:
    shown = plain_heading(block.text)
    if block.level == 1 and parse_id(block.text):
        return f"{shown!r} looks like a story, whose heading must be below the first level"
    return (
        f"{shown!r} looks like a story, whose heading has the form `### US-001: Title` "
        "(an id of letters, digits, - and _, at most 64, then a colon)"
    )


def _bare(story_id: str) -> str:
    return re.sub("[^a-z0-9]", "", story_id.lower())


def _unknown(story_id: str, name: str, ids: Sequence[str]) -> str:
    folded = {known.lower(): known for known in ids}
    near = difflib.get_close_matches(name.lower(), list(folded), n=1, cutoff=0.4)
    hint = f"; did you mean {folded[near[0]]}?" if near else ""
    return f"{story_id} depends on {name!r}, which is no story{hint}"
