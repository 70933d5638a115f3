"""`main`: the loop over all registered projects."""

import click

from qloop.cli.mission import budget_option


@click.command("main")
@click.option("--once", is_flag=True, help="One round, then end.")
@click.option(
    "--max-rounds", type=click.IntRange(min=1), metavar="N", help="End after that many rounds."
)
@click.option(
    "--every",
    "pause_s",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="From the end of a round to the next one.",
)
@budget_option
@click.option("--project", hidden=True, help="One project's part of a round, here.")
def main(
    once: bool,
    max_rounds: int | None,
    pause_s: float,
    limit_usd: float | None,
    project: str | None,
) -> int:
    """Work on all registered projects, round after round: build, observe, repeat.

    In each project every intent that is wanted is taken as far as it goes (`qloop auto`), one
    after the other; projects work side by side. Intents of your own folder that are tagged
    project-NAME are brought into that project, and follow-ups come back as new ones, for later.
    Ctrl-C stops it, and the same command goes on.
    """
    from qloop.cli.rounds import loop, work_here

    if project is not None:
        return work_here(project, limit_usd)
    return loop(1 if once else max_rounds, pause_s, limit_usd)
