"""The documents under examples/ compile, and their commands really work with the shell alone."""

import os
import shutil
from pathlib import Path

import pytest

from plan.prds import NOW
from qloop.plan.document import load_document, render_document
from qloop.plan.model import Json, Plan
from qloop.plan.prd import compile_prd
from qloop.plan.validate import check_plan
from qloop.system import process

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def document_of(name: str) -> Json:
    """The compiled plan of an example."""
    text = (EXAMPLES / name).read_text("utf-8")
    return compile_prd(text, path=f"examples/{name}", now=NOW)


@pytest.fixture
def shell_env(tmp_path: Path) -> dict[str, str]:
    """An environment as small as an attempt's, in which nobody waits."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sleep").write_text("#!/bin/sh\n", encoding="utf-8")
    (tools / "sleep").chmod(0o755)
    return {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(tmp_path)}


def is_green(commands: list[str], folder: Path, env: dict[str, str]) -> bool:
    """Whether all commands end with 0, run as qloop runs them."""
    return all(
        process.run(["bash", "-c", command], cwd=folder, env=env).code == 0 for command in commands
    )


def attempts_until_green(plan: Plan, work: Path, env: dict[str, str]) -> dict[str, int]:
    """Do the plan's stories one after the other in *work*; how many attempts each took."""
    work.mkdir()
    taken = {}
    for story in plan.stories:
        for attempt in (1, 2):
            trial = work.with_name(f"{story.id} {attempt}")
            shutil.copytree(work, trial)
            own = {**env, "QLOOP_ATTEMPT": str(attempt)}
            assert is_green([line for task in story.tasks for line in task.run], trial, own)
            checks = [line for task in story.tasks for line in task.commands]
            checks += [*story.verify, *plan.quality_commands, str(plan.test_command)]
            if is_green(checks, trial, env):
                taken[story.id] = attempt
                shutil.rmtree(work)
                trial.rename(work)
                break
    return taken


@pytest.mark.parametrize("name", ["todo-api.md", "demo.md"])
def test_examples_show_what_a_dag_is(name: str) -> None:
    """Seven stories or more, each with work and checks of its own, and two ways that meet again."""
    plan = check_plan(document_of(name), name)
    needs = {story.id: set(story.depends_on) for story in plan.stories}

    assert len(plan.stories) >= 7
    assert any(len(found) >= 2 for found in needs.values())
    assert any(sum(one in found for found in needs.values()) >= 2 for one in needs)
    for story in plan.stories:
        assert any(task.run for task in story.tasks)
        assert story.verify or any(task.commands for task in story.tasks)
        assert story.acceptance_criteria
        assert story.file_paths
        assert story.priority < 999


def test_the_compiled_example_is_up_to_date() -> None:
    """The plan beside the document is what the compiler makes of it."""
    expected = render_document(document_of("todo-api.md"))

    assert (EXAMPLES / "todo-api.quantum.json").read_bytes() == expected


def test_the_full_example_is_valid() -> None:
    """quantum.json.example shows the fields a person may set, and is a plan that can be run."""
    document = load_document(ROOT / "quantum.json.example")
    plan = check_plan(document, "quantum.json.example")
    shown = {name for fields in (document, *document["stories"]) for name in fields}

    assert plan.file_conflicts
    assert shown >= {
        *("testCommand", "qualityCommands", "setupCommands", "copyFiles", "fileConflicts"),
        *("contracts", "execution", "runner", "model", "timeout", "allowEmpty", "notes"),
    }


def test_todo_api_can_be_done_by_the_shell(tmp_path: Path, shell_env: dict[str, str]) -> None:
    """Every story of the example succeeds at once; the base is green, and all checks at the end."""
    plan = check_plan(document_of("todo-api.md"), "todo-api.md")
    empty = tmp_path / "empty"
    empty.mkdir()
    work = tmp_path / "the work"

    assert is_green([str(plan.test_command), *plan.quality_commands], empty, shell_env)
    assert attempts_until_green(plan, work, shell_env) == {story.id: 1 for story in plan.stories}
    assert is_green([line for story in plan.stories for line in story.verify], work, shell_env)


def test_the_demo_fails_twice_and_ends_well(tmp_path: Path, shell_env: dict[str, str]) -> None:
    """Two of its stories are red at their first attempt and green at the second."""
    plan = check_plan(document_of("demo.md"), "demo.md")
    empty = tmp_path / "empty"
    empty.mkdir()
    work = tmp_path / "the work"
    taken = attempts_until_green(plan, work, shell_env)

    assert is_green([str(plan.test_command)], empty, shell_env)
    assert taken == {story.id: 1 for story in plan.stories} | {"US-004": 2, "US-006": 2}
    assert is_green([line for story in plan.stories for line in story.verify], work, shell_env)
