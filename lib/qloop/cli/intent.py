"""Intents: made, looked at, grouped, ended; and what their agents are told first."""

from pathlib import Path
from typing import Any

import click

from qloop.cli.context import InOrder, json_option

intent_argument = click.argument("word", metavar="INTENT")


@click.group("intent", cls=InOrder)
def intent() -> None:
    """Make, list, show, group and end intents: units of wanted change.

    INTENT is an intent's number, its name or the beginning of it, or its folder.
    """


@intent.command("new")
@click.argument("text", required=False)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take what is wanted from a document.",
)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A word to find it by.")
@click.option(
    "--after", "chain", multiple=True, metavar="INTENT", help="An intent that it follows from."
)
@click.option("--later", is_flag=True, help="It is not wanted yet: it goes under Future.")
@click.option(
    "--project",
    metavar="NAME",
    help="Keep it in your own folder, for a registered project: `qloop main` brings it there.",
)
@json_option
def new(text: str | None, source: Path | None, **wishes: Any) -> int:
    """Make an intent of TEXT or of a document.

    It prints the intent's folder.

    \b
    For example:
      qloop intent new "Export as CSV" --tag shop
      qloop intent new --from wish.md --later
    """
    from qloop.cli.intents import make_intent

    if (text is None) == (source is None):
        raise click.UsageError("say what is wanted as TEXT, or name a document by --from FILE")
    return make_intent(text, source, **wishes)


@intent.command("list")
@json_option
def list_(as_json: bool) -> int:
    """List all intents, and where each stands.

    That is in INDEX.md, and by the stage that its files have reached.
    """
    from qloop.cli.intents import list_here

    return list_here(as_json=as_json)


@intent.command("show")
@intent_argument
@json_option
def show(word: str, as_json: bool) -> int:
    """Show all that is known of one intent.

    Its files and checklist, who delivers it, what happened, and insights.
    """
    from qloop.cli.intents import show_intent

    return show_intent(word, as_json=as_json)


@intent.command("group")
@click.argument("name", metavar="CLUSTER")
@click.argument("words", metavar="INTENT...", nargs=-1, required=True)
def group(name: str, words: tuple[str, ...]) -> int:
    """Put intents that belong together into a cluster.

    It stands in INDEX.md.

    \b
    For example:
      qloop intent group Data 1 2
    """
    from qloop.cli.intents import group_intents

    return group_intents(name, words)


@intent.command("end")
@intent_argument
@click.option(
    "--disposition",
    type=click.Choice(["delivered", "abandoned"]),
    required=True,
    help="How it ends. Delivered it is only when its checklist has no open box.",
)
@click.option("--note", default="", metavar="TEXT", help="What became of it.")
def end(word: str, disposition: str, note: str) -> int:
    """Bring an intent to its end, delivered or abandoned.

    Outcome, INDEX.md, savepoint, mission and lock, in this order. Each step is named when it is
    done; steps that are done already are left out, so an end that was cut off is taken up by the
    same command. An intent that is over is never taken up again.
    """
    from qloop.cli.intents import end_here

    return end_here(word, disposition, note)


@intent.command("check")
@intent_argument
@click.argument("path", required=False, metavar="[PATH]")
@click.option("--role", metavar="ROLE", help="The role that would write it.  [default: a person]")
@click.option(
    "--text",
    "source",
    type=click.Path(path_type=Path, allow_dash=True),
    default="-",
    metavar="FILE",
    help="What would be written.  [default: standard input]",
)
@json_option
def check(word: str, path: str | None, role: str | None, source: Path, as_json: bool) -> int:
    """Check what an intent's folder may hold by now.

    With PATH it says whether that may be written.

    Each deliverable needs the one before it and is its role's to write, an outcome needs a
    checklist without open boxes, and boxes that begin with [ORCHESTRATOR] are a person's to tick.
    The exit code is 1 where a rule is against it.
    """
    from qloop.cli.intents import check_files, check_write

    if path is None:
        if role is not None:
            raise click.UsageError("--role belongs to a PATH")
        return check_files(word, as_json=as_json)
    return check_write(word, path, role, source, as_json=as_json)


@intent.command("insight")
@intent_argument
@click.argument("text")
@click.option("--author", default="you", show_default=True, metavar="NAME", help="Who says it.")
@click.option("--autonomous", is_flag=True, help="Mark it as decided without a person.")
def insight(word: str, text: str, author: str, autonomous: bool) -> int:
    """Write down what was learnt, or decided.

    It stands under ## Insights of the intent's document. Agents may do so too, with the path of
    the intent's folder as INTENT.
    """
    from qloop.cli.intents import note_insight

    return note_insight(word, text, author, is_autonomous=autonomous)


@intent.command("rebuild")
@intent_argument
def rebuild(word: str) -> int:
    """Put lines into savepoint.md that it lacks.

    They are those that the intent's files tell of; none that is there is lost.
    """
    from qloop.cli.intents import rebuild_savepoints

    return rebuild_savepoints(word)


@click.command("preamble")
@click.argument("folder", metavar="INTENT", type=click.Path(path_type=Path))
@click.option("--role", metavar="ROLE", help="Whom it is for.")
@click.option("--step", metavar="STEP", help="Which step it is for.")
@click.option("--sub-agents", is_flag=True, help="It is for one who has sub-agents of its own.")
def preamble(folder: Path, role: str | None, step: str | None, sub_agents: bool) -> int:
    """Print what an agent that works on INTENT is told before anything else.

    INTENT is its number, its name, or its folder. It says which intent and stage it is, that
    nothing else may be invented, and in which form to report at the end. It depends on the files
    in the folder alone: the same files, the same bytes.
    """
    from qloop.cli.accounting import print_preamble

    return print_preamble(folder, role, step, has_helpers=sub_agents)
