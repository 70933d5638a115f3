"""The table of commands against the commands themselves."""

import shlex
from collections.abc import Iterator

import click
import pytest

from qloop.cli.commands import COMMANDS, FIRST, HELP_OPTIONS, RUN, SHOWN, cli, route

CONTEXT = click.Context(cli, info_name="qloop", help_option_names=list(HELP_OPTIONS))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there(name: str) -> None:
    """Each entry leads to a command that says what it does."""
    command = cli.get_command(CONTEXT, name)

    assert command is not None
    assert command.get_short_help_str()


def test_the_help_lists_no_command_twice() -> None:
    """Each command stands in one section."""
    names = [entry.name for entry in SHOWN]

    assert sorted(set(names)) == sorted(names)
    assert cli.list_commands(CONTEXT) == names


@pytest.mark.parametrize("example", [words for words, _ in FIRST])
def test_examples_can_be_typed(example: str) -> None:
    """What the help names first uses commands and options that exist."""
    name, *words = route(example.split()[1:])
    command = cli.get_command(CONTEXT, name)
    assert command is not None
    known = {option for param in command.params for option in param.opts}

    assert {word for word in words if word.startswith("-")} <= known


def every_command(
    command: click.Command = cli, context: click.Context = CONTEXT
) -> Iterator[tuple[click.Command, click.Context]]:
    """All commands with their contexts, those below others too."""
    yield command, context
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        below = command.get_command(context, name)  # type: ignore[attr-defined]
        assert below is not None
        yield from every_command(below, click.Context(below, info_name=name, parent=context))


def test_no_line_of_a_help_is_cut() -> None:
    """In a terminal of 80 columns each command's line says all that it has to say."""
    for command, context in every_command():
        context.terminal_width = 80
        usage = command.get_usage(context)
        told = command.get_help(context).removeprefix(usage).splitlines()

        assert not [row for row in told if row.endswith("...") and "]..." not in row], (
            context.command_path
        )


def test_the_examples_of_a_help_can_be_typed() -> None:
    """They name commands and options that exist."""
    helps = [command.help or "" for command, _ in every_command()]
    told = [row.strip() for one in helps for row in one.partition("For example:")[2].splitlines()]
    examples = [row for row in told if row.startswith("qloop ")]

    assert len(examples) > 10
    for example in examples:
        check_example(shlex.split(example)[1:])


def check_example(words: list[str]) -> None:
    """An example's words lead to a command, and each option is one of its own."""
    command: click.Command = cli
    left = route(words)
    while isinstance(command, click.Group):
        below = command.get_command(CONTEXT, left.pop(0))
        assert below is not None, words
        command = below
    known = {option for param in command.params for option in param.opts}

    assert {word for word in left if word.startswith("--")} <= known, words


@pytest.mark.parametrize(
    ("args", "routed"),
    [
        ([], ["overview"]),
        (["status"], ["status"]),
        (["--help"], ["--help"]),
        (["--version"], ["--version"]),
        (["prd.md"], [RUN, "prd.md"]),
        (["--json", "status"], [RUN, "--json", "status"]),
        (["--coordinator", "prd.md"], [RUN, "--coordinator", "prd.md"]),
    ],
)
def test_route(args: list[str], routed: list[str]) -> None:
    """The first word decides whose command line it is."""
    assert route(args) == routed
