"""`auto`: an intent from wish to deed, by its gated team."""

from typing import Any

import click

from qloop.cli.mission import budget_option


@click.command("auto")
@click.argument("intent", metavar="INTENT")
@budget_option
@click.option(
    "--skip-permissions",
    is_flag=True,
    help="Carry out destructive actions on an existing project without asking; that is logged.",
)
@click.option(
    "--team",
    type=click.Choice(["auto", "each", "one", "none"]),
    help="Who thinks it over, specifies and plans: each member by an agent call of its own, one "
    "agent for all three, or none (code alone); auto: each, but one where their agent has no "
    "sub-agents.  [default: qloop.toml, else auto]",
)
@click.option("--non-interactive", is_flag=True, help="Never ask; leave questions open.")
def auto(intent: str, non_interactive: bool, **wishes: Any) -> int:
    """Take INTENT from wish to deed, by a gated team.

    It is thought over, specified, planned, carried out and reviewed.

    One team works on it, each member when the one before has handed on what it owes. Killed or
    stopped, the same command goes on at the same stage.

    \b
    For example:
      qloop auto csv --budget 20
    """
    from qloop.cli.autos import deliver

    return deliver(intent, ask=not non_interactive, **wishes)
