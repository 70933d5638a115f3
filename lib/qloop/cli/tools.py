"""Cleaning and recovering, and the toolkit for scripts and agents."""

import sys
from pathlib import Path

import click

from qloop.agents.forms import FORMS, TEXT
from qloop.cli.context import json_option, quantum_option

BLOCK_BYTES = 65_536
PROMPTED = (
    *("implementer", "spec-reviewer", "quality-reviewer", "merge-resolver"),
    *("coordinator", "orchestrator", "planner", "qa", "worker"),
    *("scout", "upscaler"),
)
SCHEMAS = (
    *("config", "event", "facts", "plan", "quantum", "review"),
    *("phase-complete", "phase-checkpoint", "phase-failure"),
    *("survey", "ideas", "specification", "remarks", "persona", "synthesis", "diagnosis"),
)


@click.group("worktree")
def worktree() -> None:
    """List or clean the worktrees of attempts."""


@worktree.command("list")
@json_option
def worktree_list(as_json: bool) -> int:
    """Show every attempt's worktree.

    A row: story, attempt, path, branch, commit.
    """
    from qloop.cli.cleaning import list_worktrees

    return list_worktrees(as_json=as_json)


@worktree.command("clean")
@click.option("--all", "everything", is_flag=True, help="Also those of a run that is interrupted.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed; remove nothing.")
@quantum_option
@json_option
def worktree_clean(everything: bool, dry_run: bool, quantum: Path | None, as_json: bool) -> int:
    """Remove worktrees that no run uses.

    Their work is salvaged first.
    """
    from qloop.cli.cleaning import clean_worktrees

    return clean_worktrees(quantum, everything=everything, dry_run=dry_run, as_json=as_json)


@click.group("salvage")
def salvage() -> None:
    """List, show or restore work that attempts left."""


@salvage.command("list")
@json_option
def salvage_list(as_json: bool) -> int:
    """Show what was kept of every attempt.

    A row: story, attempt, ref, commit, when, why.
    """
    from qloop.cli.cleaning import list_salvaged

    return list_salvaged(as_json=as_json)


@salvage.command("show")
@click.argument("story")
@click.option("--attempt", type=click.IntRange(min=1), help="Its number.  [default: the newest]")
def salvage_show(story: str, attempt: int | None) -> int:
    """Show what an attempt changed."""
    from qloop.cli.cleaning import show_salvaged

    return show_salvaged(story, attempt)


@salvage.command("restore")
@click.argument("story")
@click.option("--attempt", type=click.IntRange(min=1), help="Its number.  [default: the newest]")
@click.option("--branch", help="The new branch's name.  [default: qloop/STORY-N]")
def salvage_restore(story: str, attempt: int | None, branch: str | None) -> int:
    """Make a new branch of what an attempt left.

    No checkout is touched.

    \b
    For example:
      qloop salvage restore US-004 --attempt 2
    """
    from qloop.cli.cleaning import restore_salvaged

    return restore_salvaged(story, attempt, branch)


@click.group("guard")
def guard() -> None:
    """Check what an agent did to a branch."""


@guard.command("head-advance")
@click.argument("before")
@click.argument("after", default="HEAD")
def head_advance(before: str, after: str) -> int:
    """Check that AFTER descends from BEFORE.

    Silence and exit 0 where it does; else exit 1, and both commits.

    \b
    For example:
      qloop guard head-advance 7a08268 ql/shop
    """
    from qloop.cli.cleaning import check_head_advance

    return check_head_advance(before, after)


@click.group("signal")
def signal() -> None:
    """Read the signal in an agent's output."""


@signal.command("parse")
@click.option("--exit-code", type=int, default=0, help="How the agent ended.  [default: 0]")
@click.option(
    "--format", "form", type=click.Choice(FORMS), default=TEXT, help="Its form.  [default: text]"
)
def signal_parse(exit_code: int, form: str) -> int:
    """Read an agent's output on standard input.

    Prints {signal, line, why} as JSON. Of a form with structure only the final answer counts.

    \b
    For example:
      qloop signal parse --exit-code 0 < output.log
    """
    from dataclasses import asdict

    from qloop.agents.readers.table import open_reader
    from qloop.agents.reading import claimed_signal
    from qloop.ui import console

    reader = open_reader(form)
    while block := sys.stdin.buffer.read(BLOCK_BYTES):
        reader.feed(block)
    console.print_json(asdict(claimed_signal(reader.finish(), exit_code)))
    return 0


@click.command("prompt")
@click.argument("story_id", metavar="STORY")
@click.option(
    "--role",
    type=click.Choice(PROMPTED),
    default=PROMPTED[0],
    show_default=True,
    help="Reviewers and the merge-resolver are told of the newest attempt that was kept, a "
    "coordinator of the next wave, as if it had this story alone, a planner of the document named "
    "in place of STORY, qa of a trace in a file, a worker of its target, scout and upscaler of "
    "the mission of an intent.",
)
@quantum_option
def prompt(story_id: str, role: str, quantum: Path | None) -> int:
    """Print what an agent would be told of a story now.

    \b
    For example:
      qloop prompt US-004
      qloop prompt US-004 --role spec-reviewer
    """
    from qloop.cli.prompting import show_prompt

    return show_prompt(story_id, role, quantum)


@click.command("schema", epilog=f"NAME is one of {', '.join(SCHEMAS)}.")
@click.argument("name", type=click.Choice(SCHEMAS), default="quantum", metavar="[NAME]")
def schema(name: str) -> int:
    """Print the JSON Schema of a file of qloop's, or of an agent's answer."""
    from qloop.cli.schemas import read_schema
    from qloop.ui import console

    console.result(read_schema(name).rstrip("\n"))
    return 0


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print what sets up completion in a shell: eval "$(qloop completion bash)"."""
    from click.shell_completion import get_completion_class

    from qloop.cli.commands import cli
    from qloop.ui import console

    kind = get_completion_class(shell)
    assert kind is not None  # the choice names only what click knows
    console.result(kind(cli, {}, "qloop", "_QLOOP_COMPLETE").source())
    return 0
