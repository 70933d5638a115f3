"""One story of a requirements document: the blocks under its heading become its fields.

Labels belong to the story wherever they stand in it, but for the `**Files:**` of a task. What is
no label, no command and under no list label is the description, as it is written.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from qloop.plan.prd_fault import LineFault, Lines
from qloop.plan.prd_fields import StoryFields
from qloop.plan.prd_labels import (
    CRITERIA,
    FILES,
    LIST_LABELS,
    TASKS,
    VALUE_LISTS,
    Line,
    are_words,
    label_of_heading,
    parse_id,
    parse_lines,
    split_values,
    starts_with_label,
    without_checkbox,
)
from qloop.plan.prd_markdown import Block, walk
from qloop.plan.prd_tasks import Task, TaskList, render_task, task_lines
from qloop.plan.values import DEFAULT_MAX_ATTEMPTS, Json

_TASK_ID = re.compile(r"t(?:ask)?[-_]?[0-9]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StoryPart:
    """A story of the document: its part of the plan, and the lines that this comes from."""

    id: str
    line: int
    document: Json
    lines: Lines
    """By the ends of JSON paths, such as `.dependsOn[0]`."""
    faults: tuple[LineFault, ...]


def is_task_heading(block: Block) -> bool:
    """Whether a heading inside a story is a task's: an id of the form `T-001` and a colon."""
    found = parse_id(block.text)
    return found is not None and _TASK_ID.match(found[0]) is not None


def read_story(story_id: str, title: str, line: int, blocks: Sequence[Block]) -> StoryPart:
    """The story whose heading stands in *line*, from the blocks under it."""
    reader = _Reader()
    reader.read(blocks)
    fields = reader.fields
    tasks = reader.tasks.finish(title, reader.files)
    untitled = [] if title else [LineFault(line, f"the story {story_id} has no title")]
    document: Json = {
        "id": story_id,
        "title": title,
        "description": "\n\n".join(reader.text),
        "acceptanceCriteria": reader.criteria,
        **({} if fields.priority is None else {"priority": fields.priority}),
        "status": "pending",
        "dependsOn": fields.depends,
        "tasks": list(map(render_task, tasks)),
        "verify": reader.verify,
        **fields.words,
        "review": fresh_review(),
        "retries": {"attempts": 0, "maxAttempts": DEFAULT_MAX_ATTEMPTS, "failureLog": []},
    }
    faults = (*untitled, *reader.faults, *fields.faults, *reader.tasks.faults)
    return StoryPart(story_id, line, document, {**fields.lines, **task_lines(tasks)}, faults)


def fresh_review() -> Json:
    """The reviews of a story that nobody has judged yet."""
    return {
        "specCompliance": {"status": "pending", "issues": []},
        "codeQuality": {"status": "pending", "issues": []},
    }


class _Reader:
    """Walks a story's blocks; a list belongs to the label that it stands under, if any."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.criteria: list[str] = []
        self.verify: list[str] = []
        self.files: list[tuple[str, int]] = []
        self.fields = StoryFields()
        self.tasks = TaskList()
        self.faults: list[LineFault] = []
        self._scope: str | None = None
        self._scope_used = False

    def read(self, blocks: Sequence[Block], task: Task | None = None) -> None:
        """Take in *blocks*, which belong to *task* (None: to the story) up to a task heading."""
        level = 0
        for block in blocks:
            if block.kind == "heading":
                if block.level <= level:
                    task, level = None, 0
                if is_task_heading(block):
                    task, level = self._task_of_heading(block), block.level
                else:
                    self._heading(block, task)
            else:
                self._block(block, task)

    def _block(self, block: Block, task: Task | None) -> None:
        if block.kind == "paragraph":
            self._paragraph(block, task)
        elif block.kind == "list":
            self._list(block, task)
        elif block.commands:
            self._command(block, task)
        else:
            self._describe(block.source, task)

    def _heading(self, block: Block, task: Task | None) -> None:
        self._enter(label_of_heading(block.text))
        if self._scope is None:
            self._describe(block.source, task)

    def _task_of_heading(self, block: Block) -> Task:
        self._enter(None)
        task = self.tasks.add(block.line)
        self.tasks.name(task, block.text)
        return task

    def _paragraph(self, block: Block, task: Task | None) -> None:
        if self._awaits_values() and not starts_with_label(block.text) and are_words(block.text):
            self._label(Line(self._scope, block.text, block.line), task)
            return
        if self._scope_used or self._scope not in LIST_LABELS:
            self._enter(None)
        plain = []
        for line in parse_lines(block.text, block.line):
            if line.label is None:
                plain.append(line.text)
            else:
                self._label(line, task)
        self._describe("\n".join(plain).strip(), task)

    def _awaits_values(self) -> bool:
        return self._scope in VALUE_LISTS and not self._scope_used

    def _label(self, line: Line, task: Task | None) -> None:
        opens_list = line.label in LIST_LABELS or (line.label in VALUE_LISTS and not line.text)
        self._enter(line.label if opens_list else None)
        if line.label == FILES:
            self._add_files(line.text, line.number, task)
        elif line.label == CRITERIA:
            self.criteria.extend(filter(None, [without_checkbox(line.text)]))
        elif line.label == TASKS and line.text:
            self.tasks.name(self.tasks.add(line.number), line.text)
        else:
            self.fields.take(line)

    def _list(self, block: Block, task: Task | None) -> None:
        scope = self._scope
        labelled = scope not in LIST_LABELS and any(map(_starts_with_label, block.children))
        if labelled:
            for item in block.children:
                self.read(item.children, task)
            return
        for item in block.children:
            self._item(scope, item, task)
        self._scope, self._scope_used = scope, True
        if scope is None:
            self._describe(block.source, task)

    def _item(self, scope: str | None, item: Block, task: Task | None) -> None:
        if scope == TASKS:
            self._task_item(item)
            return
        for block in walk(item.children):
            if block.commands:
                self._command(block, task)
        text = _item_text(item)
        if scope == CRITERIA:
            self.criteria.extend(filter(None, [text]))
        elif scope == FILES:
            self._add_files(text, item.line, task)
        elif scope is not None:
            self.fields.take(Line(scope, text, item.line))

    def _task_item(self, item: Block) -> None:
        self._enter(None)
        task = self.tasks.add(item.line)
        self.read(item.children, task)
        titled = bool(task.text) and item.children[0].kind == "paragraph"
        self.tasks.name(task, without_checkbox(task.text.pop(0)) if titled else "")

    def _command(self, block: Block, task: Task | None) -> None:
        command = block.text.rstrip("\n")
        if len(block.commands) > 1:
            self._complain(block, "a code block is either `run` or `verify`, not both")
        elif not command.strip():
            self._complain(block, f"the `{block.commands[0]}` block is empty")
        elif block.commands == ("run",):
            (task or self.tasks.implicit(block.line)).run.append(command)
        else:
            (task.commands if task else self.verify).append(command)

    def _complain(self, block: Block, message: str) -> None:
        self.faults.append(LineFault(block.line, message))

    def _describe(self, source: str, task: Task | None) -> None:
        if source.strip():
            (task.text if task else self.text).append(source)

    def _add_files(self, text: str, line: int, task: Task | None) -> None:
        paths = [(path, line) for path in split_values(text)]
        (task.files if task else self.files).extend(paths)

    def _enter(self, scope: str | None) -> None:
        self._scope, self._scope_used = scope, False


def _starts_with_label(item: Block) -> bool:
    first = item.children[0] if item.children else None
    return first is not None and first.kind == "paragraph" and starts_with_label(first.text)


def _item_text(item: Block) -> str:
    """An item on one line; what is nested in it follows, its items separated by semicolons."""
    parts = []
    for block in item.children:
        if block.kind == "paragraph":
            parts.append(" ".join(line.strip() for line in block.text.split("\n")))
        elif block.kind == "list":
            parts.append("; ".join(filter(None, map(_item_text, block.children))))
        elif not block.commands:
            parts.append("\n" + block.source)
    return without_checkbox(" ".join(filter(None, parts)))
