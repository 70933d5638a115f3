"""`refine`: the phase REFINEMENT by itself."""

from pathlib import Path

import click

from qloop.cli.context import json_option, quantum_option


@click.command("refine")
@quantum_option
@json_option
def refine(quantum: Path | None, as_json: bool) -> int:
    """Look at what people see, try every flow, and say what to improve.

    Of the mission that is on, else of the plan here, else of the last mission. What is found is
    written to the intent's folder refinement, else to .qloop/refinement. 1 where something
    critical is found.
    """
    from qloop.cli.refining import refine_here

    return refine_here(quantum, as_json=as_json)
