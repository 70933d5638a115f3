"""A mission's plan on pages: the graph as a drawing and a table, and a page for each story. Pure.

Rendered from quantum.json, never read back.
"""

from collections.abc import Iterator, Sequence

from qloop.plan.dag import waves_preview
from qloop.plan.model import Plan, Story, Task
from qloop.system.counting import counted
from qloop.ui.dag_drawing import boxes_of
from qloop.ui.mermaid import is_drawable, render_mermaid
from qloop.ui.report_markdown import code, fenced, plain


def render_dag_page(plan: Plan) -> str:
    """EXECUTION_DAG.md: which story waits for which, and what is started together."""
    waves = waves_preview(plan, max(1, len(plan.stories)))
    numbers = {name: number for number, wave in enumerate(waves, start=1) for name in wave}
    words = {name: f"wave {number}" for name, number in numbers.items()}
    chart = render_mermaid(plan, boxes_of(plan, words))
    lines = [f"# {plain(plan.project or plan.branch_name)}", "", *_head(plan, waves)]
    lines += fenced(chart, "mermaid") if is_drawable(chart) else [""]
    lines += ["| story | title | needs | wave | files |", "| --- | --- | --- | --- | --- |"]
    lines += [_row(story, numbers.get(story.id)) for story in plan.stories]
    return "\n".join(lines) + "\n"


def render_block_page(plan: Plan, story: Story) -> str:
    """The page of one story: what is asked, what it needs, what shows that it is done."""
    needed_by = [one.id for one in plan.stories if story.id in one.depends_on]
    lines = [f"# {story.id}: {plain(story.title or '')}", ""]
    if story.description:
        lines += [story.description.strip(), ""]
    lines += [f"- Needs: {', '.join(story.depends_on) or 'nothing'}"]
    lines += [f"- Needed by: {', '.join(needed_by) or 'nothing'}"]
    lines += [f"- Files: {', '.join(map(code, _files(story))) or 'not named'}", ""]
    lines += _listed("Acceptance criteria", [plain(one) for one in story.acceptance_criteria])
    lines += _listed("Tasks", [_task(one) for one in story.tasks])
    commands = [*(one for task in story.tasks for one in task.commands), *story.verify]
    lines += _listed("What shows it", [code(one) for one in commands])
    return "\n".join(lines).rstrip("\n") + "\n"


def _head(plan: Plan, waves: Sequence[Sequence[str]]) -> Iterator[str]:
    edges = sum(len(story.depends_on) for story in plan.stories)
    widest = max((len(wave) for wave in waves), default=0)
    count = f"{counted(len(plan.stories), 'story')}, {counted(edges, 'edge')}"
    yield f"{count}, widest wave {widest}."
    yield ""
    yield f"- Branch: {code(plan.branch_name)}"
    yield f"- Tests: {code(plan.test_command or '') or 'no command for the whole'}"
    yield f"- Quality: {', '.join(map(code, plan.quality_commands)) or 'no command'}"
    yield f"- Set-up: {', '.join(map(code, plan.setup_commands)) or 'none'}"


def _row(story: Story, wave: int | None) -> str:
    cells = (
        f"[{story.id}](blocks/{story.id}.md)",
        plain(story.title or ""),
        ", ".join(story.depends_on) or "-",
        str(wave) if wave is not None else "-",
        ", ".join(map(code, _files(story))) or "-",
    )
    return f"| {' | '.join(cells)} |"


def _files(story: Story) -> list[str]:
    return list(dict.fromkeys(path for task in story.tasks for path in task.file_paths))


def _task(task: Task) -> str:
    more = f": {plain(task.description)}" if task.description else ""
    return f"{task.id} {plain(task.title or '')}{more}"


def _listed(title: str, rows: Sequence[str]) -> list[str]:
    return [f"## {title}", "", *(f"- {row}" for row in rows), ""] if rows else []
