"""The table of commands, by what a person wants to do; a command's module is imported when used.

A first word that is no command belongs to `run`; no word at all to the overview.
"""

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from qloop import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

HELP_OPTIONS = ("-h", "--help")
GROUP_OPTIONS = (*HELP_OPTIONS, "--version")
RUN = "run"
OVERVIEW = "overview"

FIRST = (
    ("qloop demo", "see a whole made-up run, without any agent"),
    ("qloop --coordinator prd.md", "carry out a requirements document"),
    ('qloop mission new "TEXT"', "no document? plan, do and try what you say"),
)
"""What a newcomer needs, in this order."""


class Entry(NamedTuple):
    """A command as the help shows it, and the module that holds it under the same name."""

    name: str
    module: str
    help: str


SECTIONS: tuple[tuple[str, tuple[Entry, ...]], ...] = (
    (
        "Run",
        (
            Entry(RUN, "qloop.cli.run", "Run waves until all stories passed or none can start."),
            Entry("stop", "qloop.cli.run", "End the run that holds this repository."),
            Entry("demo", "qloop.cli.run", "Run a small made-up project, without any agent."),
            Entry("init", "qloop.cli.run", "Prepare this repository for qloop."),
        ),
    ),
    (
        "Missions",
        (
            Entry("mission", "qloop.cli.mission", "Take a directive through all phases."),
            Entry("quick", "qloop.cli.mission", "Carry out one small thing at once."),
            Entry("auto", "qloop.cli.auto", "Take an intent from wish to deed, by a team."),
            Entry("intent", "qloop.cli.intent", "Make, list, show, group or end intents."),
            Entry("project", "qloop.cli.project", "Register, list or drop projects."),
            Entry("main", "qloop.cli.everything", "Work on all projects, round after round."),
            Entry("debug", "qloop.cli.mission", "Look into a story's last failure."),
            Entry("answer", "qloop.cli.mission", "Answer a question that a mission waits for."),
            Entry(
                "refine",
                "qloop.cli.refine",
                "Look at and try what people see of it.",
            ),
        ),
    ),
    (
        "Plan",
        (
            Entry("plan", "qloop.cli.plan", "Compile a requirements document to quantum.json."),
            Entry("validate", "qloop.cli.plan", "Name all faults of quantum.json at once."),
            Entry("waves", "qloop.cli.plan", "Show which stories run together, and when."),
            Entry("story", "qloop.cli.plan", "Reset, block or unblock a story."),
        ),
    ),
    (
        "Look",
        (
            Entry("status", "qloop.cli.look", "Show every story and the run, if there is one."),
            Entry("watch", "qloop.cli.look", "Watch the run that is on, live."),
            Entry("show", "qloop.cli.look", "Show all that is known of one story."),
            Entry("logs", "qloop.cli.look", "Show what a story's agent printed."),
            Entry("budget", "qloop.cli.budget", "Show what agents cost; limit a mission's."),
            Entry("report", "qloop.cli.look", "Write what became of the plan to one page."),
            Entry("recon", "qloop.cli.look", "Show what this repository is, by code alone."),
            Entry("help", "qloop.cli.helping", "Say what every command does."),
            Entry("doctor", "qloop.cli.look", "Check git, runners and this repository."),
            Entry("runners", "qloop.cli.runners", "List, show or try agent command lines."),
        ),
    ),
    (
        "Clean and recover",
        (
            Entry("worktree", "qloop.cli.tools", "List or clean the worktrees of attempts."),
            Entry("salvage", "qloop.cli.tools", "List, show or restore the work of any attempt."),
        ),
    ),
    (
        "Toolkit",
        (
            Entry("attempt", "qloop.cli.working", "Make one attempt at a story; its result."),
            Entry("review", "qloop.cli.working", "Say a word on a story's reviews."),
            Entry("wave", "qloop.cli.working", "Bring a wave to its end."),
            Entry("delegate", "qloop.cli.delegate", "Ask a stateless worker or compressor."),
            Entry("guard", "qloop.cli.tools", "Check that HEAD still descends from a commit."),
            Entry("gate", "qloop.cli.gate", "Decide what an agent may do, before it does it."),
            Entry("signal", "qloop.cli.tools", "Read the signal in an agent's output."),
            Entry("prompt", "qloop.cli.tools", "Print what an agent would be told of a story."),
            Entry("preamble", "qloop.cli.intent", "Print what an intent's agents are told first."),
            Entry("schema", "qloop.cli.tools", "Print the JSON Schemas of qloop's files."),
            Entry("completion", "qloop.cli.tools", "Print the set-up of a shell's completion."),
        ),
    ),
)

HIDDEN = (
    Entry("coordinator", "qloop.cli.run", "Run one wave; started by the driver."),
    Entry("recognizer", "qloop.cli.run", "Run all evidence again; started by the driver."),
    Entry("orchestrator", "qloop.cli.run", "Take a whole feature; started by the driver."),
    Entry("phase", "qloop.cli.mission", "Coordinate one phase; started by a mission."),
    Entry(OVERVIEW, "qloop.cli.look", "Show where things stand."),
)

SHOWN = tuple(entry for _, entries in SECTIONS for entry in entries)
COMMANDS = {entry.name: entry for entry in (*SHOWN, *HIDDEN)}
WIDEST = max(len(entry.name) for entry in SHOWN)


def route(args: Sequence[str]) -> list[str]:
    """The command line with its command as the first word."""
    if not args:
        return [OVERVIEW]
    if args[0] in GROUP_OPTIONS or args[0] in COMMANDS:
        return list(args)
    return [RUN, *args]


class Door(click.Group):
    """The group of all commands, none of them imported before it is used."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line whose command may be left out."""
        if args or not ctx.resilient_parsing:
            args = route(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names of all commands that the help shows, in its order."""
        return [entry.name for entry in SHOWN]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command: Any = getattr(importlib.import_module(entry.module), entry.name)
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Completions of a first word: commands, options of the group and of `run`, PRD files."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(entry.name, help=entry.help)
            for entry in SHOWN
            if entry.name.startswith(incomplete)
        ]
        found += click.Command.shell_complete(self, ctx, incomplete)
        if incomplete.startswith("-"):
            run = self.get_command(ctx, RUN)
            assert run is not None
            with run.make_context(RUN, [], parent=ctx, resilient_parsing=True) as below:
                options = run.shell_complete(below, incomplete)
            taken = {item.value for item in found}
            return found + [item for item in options if item.value not in taken]
        return [*found, CompletionItem(incomplete, type="file")]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The two ways to call qloop."""
        formatter.write_usage(ctx.command_path, "[RUN OPTIONS] [PRD]")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...", prefix="       ")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The three that come first, then the names of all by what a person wants to do."""
        with formatter.section("Start here"):
            formatter.write_dl(FIRST)
        with formatter.section("All commands"):
            named = [(title, ", ".join(one.name for one in found)) for title, found in SECTIONS]
            formatter.write_dl(named)
        formatter.write_paragraph()
        formatter.write_text(
            "`qloop` alone says where things stand and what comes next, `qloop help` what each "
            "command does, `qloop run --help` the options of a run."
        )


@click.version_option(__version__, prog_name="qloop", message="%(prog)s %(version)s")
@click.group(
    cls=Door,
    context_settings={"help_option_names": list(HELP_OPTIONS), "max_content_width": 100},
)
def cli() -> None:
    """Take a requirements document to landed, verified commits.

    Many coding agents work at once, each in a git worktree of its own; git, and commands that
    qloop ran itself, decide what counts.
    """
