"""Intents: what an agent is told of one."""

from pathlib import Path

import click


@click.command("preamble")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--role", metavar="ROLE", help="Whom it is for.")
@click.option("--step", metavar="STEP", help="Which step it is for.")
def preamble(folder: Path, role: str | None, step: str | None) -> int:
    """Print what an agent that works on the intent in DIR is told before anything else.

    It says which intent and stage it is, that nothing else may be invented, and in which form to
    report at the end. It depends on the files in DIR alone: the same files, the same bytes.
    """
    from qloop.cli.accounting import print_preamble

    return print_preamble(folder, role, step)
