"""A requirements document (Markdown) becomes a plan, the document that is quantum.json.

Pure: text in, value out; the same text gives the same plan but for its time. Line ends and a
byte order mark do not matter, so a checkout with CRLF is the same document.
Errors: Faults, all of them at once, each with its line.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from qloop.plan.model import Json
from qloop.plan.prd_checks import (
    find_misshapen,
    find_plan_faults,
    find_unclosed,
    find_wrong_edges,
)
from qloop.plan.prd_fault import LineFault, faults_error
from qloop.plan.prd_front import parse_front_matter, split_front_matter
from qloop.plan.prd_labels import parse_id, plain_heading
from qloop.plan.prd_markdown import Block, parse_blocks
from qloop.plan.prd_names import default_branch, prd_hash
from qloop.plan.prd_story import StoryPart, is_task_heading, read_story

FORM = """\
# The project

What it is about.

### US-001: What the story is called

What it is about, in a paragraph or two.

**Depends on:** none
**Priority:** 1
**Files:** `src/greet.sh`

**Acceptance criteria**

- [ ] Something that can be seen to hold

```bash verify
sh src/greet.sh
```"""

_HEAD = (
    *("project", "branchName", "description", "prdPath", "prdHash", "designPath"),
    *("createdAt", "updatedAt", "testCommand", "qualityCommands", "setupCommands", "copyFiles"),
)
_TAIL = ("stories", "progress", "codebasePatterns", "contracts", "fileConflicts", "execution")


@dataclass(slots=True)
class _Section:
    """A heading of interest and the blocks under it."""

    heading: Block
    id: str = ""
    title: str = ""
    blocks: list[Block] = field(default_factory=list)


def compile_prd(text: str, *, path: str, now: str) -> Json:
    """The plan that the document *text* describes, its keys in a reader's order.

    *path* becomes `prdPath` and is named by faults; *now* is the time of the plan's making.
    Raises Faults.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    source, body = split_front_matter(text)
    if body is None:
        unclosed = LineFault(1, "the front matter that starts here is never closed")
        raise faults_error([unclosed], path)
    front = parse_front_matter(source)
    blocks = parse_blocks(body)
    title, sections = _outline(blocks)
    stories = [read_story(s.id, s.title, s.heading.line, s.blocks) for s in sections]
    fields: Json = {
        "branchName": default_branch(str(front.fields.get("project", ""))),
        **_about(title),
        "createdAt": now,
        "progress": [],
        "codebasePatterns": [],
        **front.fields,
        "prdPath": path,
        "prdHash": prd_hash(text.encode("utf-8", "surrogatepass")),
        "updatedAt": now,
        "stories": [story.document for story in stories],
    }
    document = in_order(fields)
    faults = [*front.faults, *_faults(blocks, title, sections, stories)]
    if "stories" in front.fields:
        line = front.lines["stories"]
        faults.append(LineFault(line, "front matter: stories are headings of the document"))
    faults += find_plan_faults(document, front.lines, stories, faults)
    if faults:
        raise faults_error(faults, path)
    return document


def in_order(fields: Json) -> Json:
    """A plan's top-level fields in a reader's order."""
    others = tuple(name for name in fields if name not in (*_HEAD, *_TAIL))
    return {name: fields[name] for name in (*_HEAD, *others, *_TAIL) if name in fields}


def _about(title: _Section | None) -> Json:
    """Project, description and branch, as far as the document's text gives them."""
    if title is None:
        return {}
    name = plain_heading(title.heading.text)
    text = "\n\n".join(filter(None, (block.source for block in title.blocks)))
    return {
        "project": name,
        "branchName": default_branch(name),
        **({"description": text} if text else {}),
    }


def _faults(
    blocks: Sequence[Block],
    title: _Section | None,
    sections: Sequence[_Section],
    stories: Sequence[StoryPart],
) -> list[LineFault]:
    """All faults of the document's text below the front matter."""
    known = {section.heading.line for section in (title, *sections) if section}
    rest = [block for block in blocks if block.kind == "heading" and block.line not in known]
    faults = [fault for story in stories for fault in story.faults]
    faults += find_unclosed(blocks)
    faults += find_misshapen(rest, {story.id for story in stories})
    faults += find_wrong_edges(stories)
    if not stories:
        way = "`qloop plan --agent` makes a plan of free prose"
        told = f"the PRD has no story ({way}); one looks like this:\n\n{FORM}\n"
        faults.append(LineFault(1, told))
    return faults


def _outline(blocks: Sequence[Block]) -> tuple[_Section | None, list[_Section]]:
    """The title's section (None: there is no title) and those of the stories."""
    title: _Section | None = None
    stories: list[_Section] = []
    current: _Section | None = None
    for block in blocks:
        if block.kind != "heading":
            if current is not None:
                current.blocks.append(block)
            continue
        inside = current is not None and current is not title
        deeper = inside and current is not None and block.level > current.heading.level
        found = parse_id(block.text) if block.level > 1 else None
        if found is not None and not (deeper and is_task_heading(block)):
            current = _Section(block, *found)
            stories.append(current)
        elif title is None and block.level == 1:
            current = title = _Section(block)
        elif deeper and current is not None:
            current.blocks.append(block)
        else:
            current = None
    return title, stories
