"""Projects: the repositories that a person has qloop work on."""

from pathlib import Path

import click

from qloop.cli.context import InOrder, json_option


@click.group("project", cls=InOrder)
def project() -> None:
    """Register, list and drop projects; they are kept in projects.yml in your own settings."""


@project.command("add")
@click.argument("path", required=False, type=click.Path(path_type=Path), metavar="[PATH]")
@click.option("--name", metavar="NAME", help="What to call it.  [default: its folder's name]")
@json_option
def add(path: Path | None, name: str | None, as_json: bool) -> int:
    """Register the repository in PATH, or the one here. Nothing in it is changed."""
    from qloop.cli.projects import add_here

    return add_here(path or Path.cwd(), name, as_json=as_json)


@project.command("list")
@json_option
def list_(as_json: bool) -> int:
    """List the projects, and what waits for you.

    It tells how many intents each has, and which questions wait for an answer.
    """
    from qloop.cli.projects import list_all

    return list_all(as_json=as_json)


@project.command("drop")
@click.argument("name", metavar="NAME")
def drop(name: str) -> int:
    """Take a project out of the list; its repository stays as it is."""
    from qloop.cli.projects import drop_named

    return drop_named(name)
