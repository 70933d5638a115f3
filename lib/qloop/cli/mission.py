"""Missions: `mission`, `answer`, and the phase coordinators that a mission spawns."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from qloop.cli.context import Dollars, InOrder, json_option, quantum_option

Command = TypeVar("Command", bound=Callable[..., Any])
AUTONOMIES = ("autopilot", "guided", "hands-on")
PHASES = ("RECON", "PLANNING", "EXECUTION", "REFINEMENT")

intent_argument = click.argument("intent", required=False, metavar="[INTENT]")


def autonomy_option(default: str) -> Callable[[Command], Command]:
    """The option that says how much a mission asks; *default* is told in its help."""
    return click.option(
        "--autonomy",
        type=click.Choice(AUTONOMIES),
        help="How much it asks: only where it must (autopilot), also for the plan and at the end "
        f"of phases (guided), also after each wave (hands-on).  [default: {default}]",
    )


budget_option = click.option(
    "--budget",
    "limit_usd",
    type=Dollars(),
    metavar="USD",
    help="What the mission's agents may cost together.  [default: no limit]",
)


@click.group("mission", cls=InOrder)
def mission() -> None:
    """Take a directive through RECON, PLANNING, EXECUTION and REFINEMENT."""


@mission.command("new")
@click.argument("text", required=False)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the directive from a document; one with stories is the plan's.",
)
@click.option(
    "--intent", "word", metavar="INTENT", help="Take an intent that was made by `intent new`."
)
@autonomy_option("asked, else guided")
@budget_option
@click.option(
    "--skip",
    "skips",
    multiple=True,
    type=click.Choice(PHASES, case_sensitive=False),
    help="A phase that is not wanted; EXECUTION always is.",
)
@click.option(
    "--constraint", "constraints", multiple=True, metavar="TEXT", help="What all must keep to."
)
@json_option
def new(text: str | None, source: Path | None, word: str | None, **wishes: Any) -> int:
    """Begin a mission; nothing runs yet.

    It makes an intent's folder with the mission's state, and says what comes next.

    \b
    For example:
      qloop mission new "Export the price list as CSV" --budget 10
      qloop mission new --from wish.md --autonomy autopilot
    """
    from qloop.cli.missions import begin_mission

    if [text, source, word].count(None) != 2:
        told = "give the directive as TEXT, a document by --from FILE, or an intent by --intent"
        raise click.UsageError(told)
    return begin_mission(text, source, word=word, **wishes)


@mission.command("run")
@intent_argument
@click.option("--non-interactive", is_flag=True, help="Never ask; leave questions open.")
def run(intent: str | None, non_interactive: bool) -> int:
    """Run a mission to its end, or to a question.

    INTENT is its number, name or folder; without it, it is the active one. It ends with 3 where a
    question waits for you (`qloop answer`), and with 1 where it was abandoned.
    """
    from qloop.cli.missions import run_here

    return run_here(intent, ask=not non_interactive)


@mission.command("resume")
@intent_argument
@click.option("--non-interactive", is_flag=True, help="Never ask; leave questions open.")
def resume(intent: str | None, non_interactive: bool) -> int:
    """Go on with a mission that was stopped, killed, or had a question."""
    from qloop.cli.missions import run_here

    return run_here(intent, ask=not non_interactive, must_be_begun=True)


@mission.command("status")
@intent_argument
@json_option
def status(intent: str | None, as_json: bool) -> int:
    """Show where a mission stands, phase by phase."""
    from qloop.cli.missions import show_mission

    return show_mission(intent, as_json=as_json)


@mission.command("abandon")
@intent_argument
def abandon(intent: str | None) -> int:
    """End a mission for good; what has landed stays.

    All that was kept of its attempts stays too.
    """
    from qloop.cli.missions import abandon_here

    return abandon_here(intent)


@click.command("quick")
@click.argument("text")
@autonomy_option("autopilot")
@budget_option
@click.option("--non-interactive", is_flag=True, help="Never ask; leave questions open.")
def quick(text: str, non_interactive: bool, **wishes: Any) -> int:
    """Carry out TEXT at once: a mission of EXECUTION alone, with one story.

    \b
    For example:
      qloop quick "Fix the typo in the title"
    """
    from qloop.cli.missions import run_quick

    return run_quick(text, ask=not non_interactive, **wishes)


@click.command("debug")
@click.argument("story_id", metavar="STORY")
@click.option("--facts", "facts_only", is_flag=True, help="Ask no agent; what code can tell.")
@quantum_option
@json_option
def debug(story_id: str, facts_only: bool, quantum: Path | None, as_json: bool) -> int:
    """Look into a story's last failed attempt: what was red, where it began, what would mend it.

    Nothing is changed. Where an agent is set ([roles.debugger], or the runner), it reads what the
    attempt left and says cause and fix; the places that it cites are looked up.
    """
    from qloop.cli.debugging import debug_here

    return debug_here(story_id, quantum, facts_only=facts_only, as_json=as_json)


@click.command("answer")
@click.argument("checkpoint")
@click.argument("option")
@click.option("--note", default="", help="What the next coordinator is to know besides.")
def answer(checkpoint: str, option: str, note: str) -> int:
    """Answer the question of a checkpoint; only a person can.

    The question says which options it has. Then `qloop mission resume` goes on by the answer.

    \b
    For example:
      qloop answer cp-1-1 approve
      qloop answer cp-1-1 replan --note "Keep the old format too"
    """
    from qloop.cli.missions import answer_here

    return answer_here(checkpoint, option, note)


@click.command("phase", hidden=True)
@click.argument("phase", type=click.Choice(PHASES))
@click.option("--intent", "folder", required=True, help="The intent's folder.")
def phase(phase: str, folder: str) -> int:  # noqa: ARG001 -- for people who look at processes
    """Coordinate one phase; started by a mission."""
    from qloop.cli.missions import coordinate_here

    return coordinate_here()
