"""Commands that end in every way a command can end, for the tests of the door."""

import errno
import os

import click

from qloop.system.errors import BadInput, Faults, RepositoryBusy


@click.command()
@click.argument("way")
def sample(way: str) -> int:
    """End in the way that is asked for."""
    if way in ENDS:
        raise ENDS[way]
    if way == "environment":
        click.echo(" ".join(name for name in os.environ if name.startswith("GIT_")))
    return int(way) if way.isdigit() else 0


@click.command()
@click.option("--max-parallel", type=click.IntRange(1))
@click.option("--max-retries", type=int)
@click.argument("prd", required=False)
def run(max_parallel: int | None, max_retries: int | None, prd: str | None) -> int:
    """Tell what arrived."""
    click.echo(f"{max_parallel} {max_retries} {prd}")
    return 0


@click.group()
def family() -> None:
    """Hold subcommands."""


@family.command()
def child() -> None:
    """Be a subcommand."""


ENDS: dict[str, BaseException] = {
    "bad": BadInput("no such field", where="quantum.json: $.x", fix="remove it"),
    "busy": RepositoryBusy("another run holds this repository"),
    "faults": Faults("2 faults", ("$.a: one", "$.b: two"), where="quantum.json"),
    "escape": BadInput("title \x1b[2Jwiped\nsecond"),
    "interrupt": KeyboardInterrupt(),
    "abort": click.Abort(),
    "pipe": BrokenPipeError(errno.EPIPE, "Broken pipe"),
    "full": OSError(errno.ENOSPC, "No space left on device", "/some/file"),
    "denied": PermissionError(errno.EACCES, "Permission denied", "/some/file"),
    "strange": OSError(errno.EINVAL, "Invalid argument"),
    "bug": ValueError("surprise"),
    "exit": click.exceptions.Exit(5),
}
