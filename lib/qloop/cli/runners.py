"""`runners`: the agent command lines that qloop can start."""

import click

from qloop.cli.context import Duration, json_option


@click.group("runners")
def runners() -> None:
    """List, show or try agent command lines."""


@runners.command("list")
@json_option
def runners_list(as_json: bool) -> int:
    """Show which there are, and which are installed.

    It says how to install the others.

    A row: name, title, installed, version, source, permissions, install. `auto` takes the first
    that is installed and needs no full permissions.
    """
    from qloop.cli.surveying import show_runners

    return show_runners(as_json=as_json)


@runners.command("show")
@click.argument("name")
@json_option
def runners_show(name: str, as_json: bool) -> int:
    """Show how one is started.

    As a table that could stand in qloop.toml.
    """
    from qloop.cli.surveying import show_runner

    return show_runner(name, as_json=as_json)


@runners.command("check")
@click.argument("name", required=False)
@click.option("--model", metavar="NAME", help="Handed to the runner.")
@click.option(
    "--timeout",
    "timeout_s",
    type=Duration(),
    default="5m",
    show_default=True,
    help="How long it may take.",
)
@json_option
def runners_check(name: str | None, model: str | None, timeout_s: float, as_json: bool) -> int:
    """Let one do a small task for real, and say what works.

    It starts the agent in a scratch repository, with your key, and costs what a small task costs.
    Without NAME it is the runner that a run here would take. Exit code 0: it works; 1: something
    does not; 69: it is not installed.
    """
    from qloop.cli.surveying import try_runner

    return try_runner(name, model, timeout_s, as_json=as_json)
