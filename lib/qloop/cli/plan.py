"""Planning: `plan`, `validate`, `waves`, `story`."""

from pathlib import Path
from typing import Any

import click

from qloop.cli.context import json_option, quantum_option


@click.command("plan")
@click.argument("prd", required=False, type=click.Path(path_type=Path))
@click.option("--agent", is_flag=True, help="Have an agent make the plan, of free prose.")
@click.option("--review", is_flag=True, help="Look through the plan that there is; takes no PRD.")
@click.option("--update", is_flag=True, help="Keep what was done of stories that did not change.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the plan there.  [default: quantum.json in the main checkout's root]",
)
@quantum_option
@json_option
def plan(
    prd: Path | None,
    agent: bool,
    review: bool,
    update: bool,
    out: Path | None,
    quantum: Path | None,
    as_json: bool,
) -> int:
    """Compile a requirements document to quantum.json.

    A finished plan makes room and is kept in .qloop/archive/; an unfinished one stays.

    \b
    For example:
      qloop plan prd.md
      qloop plan --update prd.md

    With --agent the document may be of any form: the runner of [roles.planner], else the default
    one, reads the repository and answers with a plan, which is checked. Its faults are told to it
    up to three times; then it is refused (65). A review of the plan is printed.

    --review finds stories without acceptance criteria, oversized ones and those that no command
    of their own judges, edges that are needless or missing, and file conflicts. It informs only.
    """
    from qloop.cli import planning

    if review:
        if prd is not None or agent or update or out is not None:
            raise click.UsageError("--review goes with --quantum and --json alone")
        return planning.review_here(quantum, as_json=as_json)
    if prd is None:
        raise click.UsageError("name the requirements document, or --review the plan there is")
    if agent:
        return planning.plan_here(prd, out or quantum, update=update, as_json=as_json)
    return planning.compile_here(prd, out or quantum, update=update, as_json=as_json)


@click.command("validate")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@quantum_option
@json_option
def validate(file: Path | None, quantum: Path | None, as_json: bool) -> int:
    """Name all faults of a state file at once, each with its place and value."""
    from qloop.cli.planning import validate_file

    return validate_file(file or quantum, as_json=as_json)


@click.command("waves")
@click.option("--next", "only_next", is_flag=True, help="The wave that would start now.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "mermaid", "svg"]),
    default="text",
    show_default=True,
    help="mermaid and svg draw all stories, what they need, and the waves they would run in.",
)
@click.option("--max-parallel", type=click.IntRange(min=1), help="Stories in a wave at most.")
@quantum_option
@json_option
def waves(form: str, as_json: bool, **wishes: Any) -> int:
    """Show which stories run together, and in which order."""
    from qloop.cli.planning import draw_waves_here, show_waves_here

    if form in ("mermaid", "svg") and not as_json:
        return draw_waves_here(form, **wishes)
    return show_waves_here(as_json=as_json or form == "json", **wishes)


@click.group("story")
def story() -> None:
    """Reset, block or unblock a story, between runs."""


@story.command("reset")
@click.argument("story_id", metavar="STORY")
@quantum_option
def reset(story_id: str, quantum: Path | None) -> int:
    """Make a story pending again.

    It has all its attempts again; what it left is kept, and what it landed stays.
    """
    from qloop.cli.planning import change_story

    return change_story(story_id, quantum, "reset")


@story.command("block")
@click.argument("story_id", metavar="STORY")
@quantum_option
def block(story_id: str, quantum: Path | None) -> int:
    """Keep a story, and what depends on it, from running."""
    from qloop.cli.planning import change_story

    return change_story(story_id, quantum, "block")


@story.command("unblock")
@click.argument("story_id", metavar="STORY")
@quantum_option
def unblock(story_id: str, quantum: Path | None) -> int:
    """Make a blocked story pending again."""
    from qloop.cli.planning import change_story

    return change_story(story_id, quantum, "unblock")
