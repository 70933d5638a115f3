"""`help`: every command in a line, or all about one."""

import click

from qloop.cli.commands import COMMANDS, SECTIONS, WIDEST, cli


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
def help(words: tuple[str, ...]) -> int:
    """Say what every command does, or all about COMMAND.

    \b
    For example:
      qloop help mission new
    """
    from qloop.ui import console

    if not words:
        for title, entries in SECTIONS:
            console.result(f"{title}:")
            for entry in entries:
                console.result(f"  {entry.name:<{WIDEST}}  {entry.help}")
        console.result("`qloop help COMMAND` tells all about one; docs/hierarchy.md how they fit.")
        return 0
    parent = click.get_current_context().parent
    assert parent is not None  # it is a command of the group
    console.result(_help_of(words, parent))
    return 0


def _help_of(words: tuple[str, ...], context: click.Context) -> str:
    """The help of a command, or of one below it. Raises UsageError for one that is not there."""
    command: click.Command = cli
    for number, word in enumerate(words):
        is_hidden = number == 0 and word not in COMMANDS
        below = command.get_command(context, word) if isinstance(command, click.Group) else None
        if below is None or is_hidden:
            raise click.UsageError(f"there is no command {' '.join(words[: number + 1])!r}")
        command, context = below, click.Context(below, info_name=word, parent=context)
    return command.get_help(context)
