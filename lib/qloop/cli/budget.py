"""Money: `budget`, what agents cost and will cost, and the limit of a mission."""

from pathlib import Path

import click

from qloop.cli.context import Dollars, InOrder, json_option, quantum_option

mission_option = click.option(
    "--mission",
    "intent",
    metavar="INTENT",
    help="Whose limit is meant.  [default: the active mission's]",
)


@click.group("budget", cls=InOrder, invoke_without_command=True)
@quantum_option
@json_option
@click.pass_context
def budget(context: click.Context, quantum: Path | None, as_json: bool) -> int:
    """Show what agents cost: by story, role, runner and model, and what is reserved.

    A cost is what the agent reported, else its tokens at the prices that come with qloop, else a
    guess, which is marked with ~.
    """
    if context.invoked_subcommand is not None:
        return 0
    from qloop.cli.spending import show_budget_here

    return show_budget_here(quantum, as_json=as_json)


@budget.command("report")
@quantum_option
@json_option
def report(quantum: Path | None, as_json: bool) -> int:
    """The same as `budget` alone."""
    from qloop.cli.spending import show_budget_here

    return show_budget_here(quantum, as_json=as_json)


@budget.command("estimate")
@quantum_option
@json_option
def estimate(quantum: Path | None, as_json: bool) -> int:
    """Estimate what the stories that are left will cost.

    One attempt at each of them. A cost is the mean of the last calls of the same runner, model and
    role; where there were none, the guess that is reserved for such a call.
    """
    from qloop.cli.spending import show_estimate_here

    return show_estimate_here(quantum, as_json=as_json)


@budget.command("set")
@click.argument("usd", type=Dollars())
@mission_option
def set_limit(usd: float, intent: str | None) -> int:
    """Limit what a mission's agents may cost together.

    It holds from its next phase on.

    \b
    For example:
      qloop budget set 20
    """
    from qloop.cli.mission_budget import change_limit

    return change_limit(intent, usd)


@budget.command("unlimited")
@mission_option
def unlimited(intent: str | None) -> int:
    """Take a mission's limit away.

    It has none from its next phase on.
    """
    from qloop.cli.mission_budget import change_limit

    return change_limit(intent, None)


@budget.command("reset")
@mission_option
def reset(intent: str | None) -> int:
    """Count a mission's spending from nothing again.

    The journal keeps what it was.
    """
    from qloop.cli.mission_budget import reset_spending

    return reset_spending(intent)
