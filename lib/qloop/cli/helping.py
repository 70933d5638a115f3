"""`help`: every command in a line, or all about one."""

import click

from qloop.cli.commands import COMMANDS, SECTIONS, WIDEST, cli


@click.command("help")
@click.argument("command", required=False)
def help(command: str | None) -> int:
    """Say what every command does, or all about COMMAND."""
    from qloop.ui import console

    if command is None:
        for title, entries in SECTIONS:
            console.result(f"{title}:")
            for entry in entries:
                console.result(f"  {entry.name:<{WIDEST}}  {entry.help}")
        console.result("`qloop help COMMAND` tells all about one; docs/hierarchy.md how they fit.")
        return 0
    context = click.get_current_context()
    assert context.parent is not None  # it is a command of the group
    found = cli.get_command(context.parent, command)
    if found is None or command not in COMMANDS:
        raise click.UsageError(f"there is no command {command!r}")
    with click.Context(found, info_name=command, parent=context.parent) as about:
        console.result(found.get_help(about))
    return 0
