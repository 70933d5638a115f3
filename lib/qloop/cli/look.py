"""Looking: `status`, `show`, `logs`, `doctor`, and the overview of bare `qloop`."""

from pathlib import Path

import click

from qloop.cli.context import json_option, quantum_option


@click.command("status")
@quantum_option
@json_option
def status(quantum: Path | None, as_json: bool) -> int:
    """Show every story, the run that is on if there is one, and the feature branch."""
    from qloop.cli.looking import show_status_here

    return show_status_here(quantum, as_json=as_json)


@click.command("show")
@click.argument("story_id", metavar="STORY")
@quantum_option
@json_option
def show(story_id: str, quantum: Path | None, as_json: bool) -> int:
    """Show all that is known of one story: what is asked, its reviews, and every attempt."""
    from qloop.cli.looking import show_story_here

    return show_story_here(story_id, quantum, as_json=as_json)


@click.command("logs")
@click.argument("story_id", metavar="STORY")
@click.option(
    "--attempt", type=click.IntRange(min=1), metavar="N", help="Its number.  [default: the newest]"
)
@click.option("--follow", is_flag=True, help="Go on as it grows, until the attempt has ended.")
@quantum_option
def logs(story_id: str, attempt: int | None, follow: bool, quantum: Path | None) -> int:
    """Show what a story's agent printed, and name the attempt's other logs.

    The output goes to standard output as it is; where that is a terminal, it is freed of codes
    that would steer it.
    """
    from qloop.cli.reading import show_logs

    return show_logs(story_id, attempt, quantum, follow=follow)


@click.command("doctor")
@quantum_option
@json_option
def doctor(quantum: Path | None, as_json: bool) -> int:
    """Check git, this repository, its plan and its runners; each finding comes with its fix.

    The exit code is 0 where nothing found is bad, else 1. Works without a state file, and outside
    of a repository too.
    """
    from qloop.cli.checkup import check_here

    return check_here(quantum, as_json=as_json)


@click.command("overview", hidden=True)
def overview() -> int:
    """Show where things stand and the commands to go on with; starts nothing."""
    from qloop.cli.looking import show_overview_here

    return show_overview_here()
