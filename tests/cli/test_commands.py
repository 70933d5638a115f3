"""The table of commands against the commands themselves."""

import click
import pytest

from qloop.cli.commands import COMMANDS, FIRST, RUN, SHOWN, cli, route

CONTEXT = click.Context(cli, info_name="qloop")


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
