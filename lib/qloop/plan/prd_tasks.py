"""The tasks of a story while its text is read.

A story has no file paths of its own, its tasks have. The story's `**Files:**` go to the implicit
task of its `run` blocks if it has one, else to its first task, else to an implicit task made for
them. What may run together depends on all paths of a story, so any of its tasks will do; a task
without `run` beside others that have it would keep the story from the shell runner.
"""

from dataclasses import dataclass, field

from qloop.plan.model import Json
from qloop.plan.prd_fault import LineFault, Lines
from qloop.plan.prd_labels import parse_id


@dataclass(slots=True)
class Task:
    """A task as far as it has been read; without an id until all of the story's are known."""

    line: int
    id: str | None = None
    title: str = ""
    text: list[str] = field(default_factory=list)
    files: list[tuple[str, int]] = field(default_factory=list)
    """Paths with their lines."""
    run: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


class TaskList:
    """A story's tasks in the order of the text."""

    def __init__(self) -> None:
        self.faults: list[LineFault] = []
        self._tasks: list[Task] = []
        self._implicit: Task | None = None

    def add(self, line: int) -> Task:
        """A new last task."""
        task = Task(line)
        self._tasks.append(task)
        return task

    def name(self, task: Task, text: str) -> None:
        """Give a task the id and the title that *text* holds, such as `T-001: Title`."""
        task_id, task.title = parse_id(text) or (None, " ".join(text.split()))
        if task_id is not None and task_id in [other.id for other in self._tasks]:
            self.faults.append(LineFault(task.line, f"the story has two tasks {task_id}"))
        task.id = task_id

    def implicit(self, line: int) -> Task:
        """The task of `run` blocks that stand in no task; made where the first of them stands."""
        if self._implicit is None:
            self._implicit = self.add(line)
        return self._implicit

    def finish(self, title: str, files: list[tuple[str, int]]) -> list[Task]:
        """All tasks, each with id and title; *title* and *files* are the story's."""
        if files:
            holder = self._implicit or (self._tasks or [self.add(files[0][1])])[0]
            holder.files[:0] = files
        taken = {task.id for task in self._tasks}
        numbers = range(1, 2 * len(self._tasks) + 1)
        names = (name for name in map("T-{:03d}".format, numbers) if name not in taken)
        for task in self._tasks:
            task.id = task.id or next(names)
            task.title = task.title or title
            task.files = list(dict(task.files).items())
        return self._tasks


def render_task(task: Task) -> Json:
    """A task as it stands in the plan."""
    text = {"description": "\n\n".join(task.text)} if task.text else {}
    return {
        "id": task.id,
        "title": task.title,
        **text,
        "filePaths": [path for path, _ in task.files],
        "run": task.run,
        "commands": task.commands,
        "status": "pending",
    }


def task_lines(tasks: list[Task]) -> Lines:
    """The lines of tasks and file paths, by the ends of their JSON paths."""
    lines: Lines = {}
    for number, task in enumerate(tasks):
        lines[f".tasks[{number}]"] = task.line
        for place, (_, line) in enumerate(task.files):
            lines[f".tasks[{number}].filePaths[{place}]"] = line
    return lines
