"""Looking: at the plan, a run, a story, costs, this machine, and where things stand."""

from pathlib import Path
from typing import Any

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
@click.option("--raw", is_flag=True, help="Show the bytes that it printed, whatever their form.")
@quantum_option
def logs(story_id: str, attempt: int | None, follow: bool, raw: bool, quantum: Path | None) -> int:
    """Show what a story's agent did, and name the attempt's other logs.

    Of output with structure: what the agent said, the tools it used (`>`), and what it cost. Text
    goes to standard output as it is; where that is a terminal, it is freed of codes that would
    steer it.
    """
    from qloop.cli.reading import show_logs

    return show_logs(story_id, attempt, quantum, follow=follow, raw=raw)


@click.command("watch")
@quantum_option
def watch(quantum: Path | None) -> int:
    """Watch the run that is on, wherever it was started, until it ends.

    In a terminal this is the live board that `qloop run` shows, else a line for each event. Where
    no run is on, it shows how the last one ended. It only reads: Ctrl-C ends the watching, never
    the run.
    """
    from qloop.cli.watching import watch_here

    return watch_here(quantum)


@click.command("report")
@click.argument("folder", metavar="[INTENT]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write it there; `-` prints it.  [default: .qloop/reports/RUN.html]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "markdown", "timeline"]),
    help="A page, the same as Markdown, or a run's attempts as an SVG picture.  [default: html]",
)
@click.option("--run", metavar="ID", help="Tell of this run only.  [default: all of the plan's]")
@click.option("--role", metavar="ROLE", help="With INTENT: account for this role's work.")
@click.option(
    "--authored",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="With INTENT: what the agent said at its end (`-`: standard input), where that is usable.",
)
@quantum_option
def report(folder: Path | None, role: str | None, authored: Path | None, **page: Any) -> int:
    """Write what became of the plan to one file, and print the file's path.

    It holds the outcome, the graph of stories, a timeline of attempts, and for each story what
    changed, the evidence, every attempt and why it failed. It stands alone: nothing is loaded from
    anywhere, so it can be sent to others. It may quote what agents and checks printed.

    With INTENT, an intent's number, name or folder, it prints instead the completion report of a
    role: the agent's own where --authored has a usable one, else one made from the folder's files.
    The exit code is 1 where the role's work is not done.
    """
    if folder is not None or role is not None or authored is not None:
        from qloop.cli.accounting import report_of_role

        return report_of_role(folder, role, authored, page)
    from qloop.cli.reporting import report_here

    return report_here(page["quantum"], page["out"], page["form"] or "html", page["run"])


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


@click.command("recon")
@json_option
def recon(as_json: bool) -> int:
    """Show what the repository here is: languages, commands, conventions, documents.

    Read by code alone from the commit that is checked out; each fact is told with the file, and
    line or key, that it was read from. Nothing is written, and nothing of the repository is run.
    """
    from qloop.cli.scouting import show_recon_here

    return show_recon_here(as_json=as_json)


@click.command("overview", hidden=True)
def overview() -> int:
    """Show where things stand and the commands to go on with; starts nothing."""
    from qloop.cli.looking import show_overview_here

    return show_overview_here()
