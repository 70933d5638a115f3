"""Running: `run`, `stop`, `demo`, `init`, and the coordinator that the driver starts."""

from pathlib import Path
from typing import Any

import click

from qloop.cli.context import Dollars, Duration, quantum_option

RUN_OPTIONS = (
    click.argument("prd", required=False, type=click.Path(path_type=Path), metavar="[PRD]"),
    click.option(
        "--coordinator",
        is_flag=True,
        help="One short-lived coordinator process per wave.  [default]",
    ),
    click.option(
        "--legacy-orchestrator",
        is_flag=True,
        help="One long-lived orchestrator for the whole feature instead, story after story.",
    ),
    click.option(
        "--coordinator-agent",
        is_flag=True,
        help="An agent leads each wave, by the toolkit; what it says lands nothing.",
    ),
    quantum_option,
    click.option(
        "--runner",
        "--tool",
        metavar="NAME",
        help="The runner for implementers; a story's own wins.  [default: qloop.toml, else auto]",
    ),
    click.option("--model", metavar="NAME", help="Handed to the runner."),
    click.option(
        "--max-parallel",
        type=click.IntRange(min=1),
        metavar="N",
        help="Implementers at work at once.  [default: the plan, qloop.toml, else 4]",
    ),
    click.option(
        "--max-iterations",
        type=click.IntRange(min=0),
        metavar="N",
        help="Waves before giving up; 0 runs none.",
    ),
    click.option(
        "--max-retries",
        type=click.IntRange(min=0),
        metavar="N",
        help="Set retries.maxAttempts of every story, in the file.",
    ),
    click.option(
        "--timeout", "timeout_s", type=Duration(), help="One implementer.  [default: 15m]"
    ),
    click.option(
        "--gate-timeout",
        "gate_timeout_s",
        type=Duration(),
        help="One gate command; one that runs longer is red.  [default: 10m]",
    ),
    click.option(
        "--wave-timeout",
        "wave_timeout_s",
        type=Duration(),
        help="One coordinator, not counting its wait to land.  [default: from its stories]",
    ),
    click.option(
        "--stale-after",
        "stale_after_s",
        type=Duration(above_zero=True),
        help="How long an agent may print, compute and change nothing: then it is stuck, and "
        "ended.  [default: 20m]",
    ),
    click.option(
        "--strict-waves", is_flag=True, help="Start a wave only when the last one has ended."
    ),
    click.option("--sequential", is_flag=True, help="Waves of one story, one at a time."),
    click.option(
        "--accept-prd-change",
        is_flag=True,
        help="Take the PRD's present content as the one that the plan was made from.",
    ),
    click.option(
        "--budget",
        "budget_usd",
        type=Dollars(),
        metavar="USD",
        help="Start no agent any more once this is spent or reserved.  [default: no limit]",
    ),
    click.option(
        "--no-wait",
        is_flag=True,
        help="End (exit 3) where nothing can go on before a runner's usage limit is over.",
    ),
    click.option("--dry-run", is_flag=True, help="Print the waves that would run; change nothing."),
    click.option("--json", "as_json", is_flag=True, help="Events as NDJSON on standard output."),
    click.option(
        "--non-interactive",
        is_flag=True,
        help="Never ask.  [default: on when standard input is no terminal]",
    ),
)


EXIT_CODES = (
    "Exit codes: 0 complete, 1 blocked, 2 out of iterations, 3 a person is awaited, 64 wrong "
    "usage, 65 bad input, 66 input missing, 69 no runner, 70 a bug of qloop, 75 another run holds "
    "the repository, 130 interrupted."
)


def _with_run_options(command: Any) -> Any:
    for option in reversed(RUN_OPTIONS):
        command = option(command)
    return command


@click.command("run", epilog=EXIT_CODES)
@_with_run_options
def run(
    prd: Path | None,
    quantum: Path | None,
    dry_run: bool,
    as_json: bool,
    coordinator: bool,
    legacy_orchestrator: bool,
    non_interactive: bool,
    **wishes: Any,
) -> int:
    """Run waves until every story has passed or none can start.

    PRD is the requirements document that the plan is made from where there is no plan yet.

    \b
    For example:
      qloop --dry-run prd.md
      qloop --coordinator prd.md --runner claude --max-parallel 4 --budget 20
    """
    from qloop.run.forks import begin_run

    if coordinator and legacy_orchestrator:
        raise click.UsageError("--coordinator and --legacy-orchestrator exclude each other")
    if wishes["coordinator_agent"] and legacy_orchestrator:
        raise click.UsageError("--coordinator-agent and --legacy-orchestrator exclude each other")
    wishes["legacy_orchestrator"] = legacy_orchestrator
    if dry_run:
        from qloop.cli.running import preview
        from qloop.run.prepare import Wanted

        return preview(prd, quantum, Wanted(**wishes), as_json=as_json)
    ask = not (non_interactive or as_json)
    with begin_run() as forks:  # before what follows is loaded, which takes as long again
        from qloop.cli.running import run_here
        from qloop.run.prepare import Wanted

        return run_here(prd, quantum, Wanted(**wishes), forks, as_json=as_json, ask=ask)


@click.command("stop")
@click.option("--now", is_flag=True, help="End what runs at once, without a grace period.")
def stop(now: bool) -> int:
    """End the run that holds this repository; it can be taken up again."""
    from qloop.cli.running import stop_here

    return stop_here(now=now)


@click.command("demo")
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
def demo(folder: Path | None) -> int:
    """Run a small made-up project in a scratch repository, without any agent."""
    from qloop.cli.running import run_demo

    return run_demo(folder)


@click.command("init")
@click.option(
    "--agents",
    multiple=True,
    metavar="NAME",
    help="Put the role files where this agent command line looks for them (claude, codex, …), and "
    "the gate's hook into its settings where it takes one (claude).",
)
@click.option("--force", is_flag=True, help="Replace role files there that differ.")
@quantum_option
def init(agents: tuple[str, ...], force: bool, quantum: Path | None) -> int:
    """Prepare this repository: keep qloop's files out of commits, and show what comes next.

    \b
    For example:
      qloop init
      qloop init --agents claude
    """
    from qloop.cli.starting import initialise

    if force and not agents:
        raise click.UsageError("--force goes with --agents")
    return initialise(quantum, agents, force=force)


@click.command("coordinator", hidden=True)
@click.option("--wave", "wave_id", required=True, help="The wave's id.")
@click.option("--stories", required=True, help="The ids of its stories, by commas.")
@quantum_option
@click.option("--prd", type=click.Path(path_type=Path), help="The requirements document.")
@click.option("--reports", type=int, help="The descriptor of the pipe to the driver.")
def coordinator(
    wave_id: str, stories: str, quantum: Path | None, prd: Path | None, reports: int | None
) -> int:
    """Run one wave and say its signal; started by the driver."""
    from qloop.cli.coordinating import coordinate

    return coordinate(wave_id, tuple(stories.split(",")), quantum, prd, reports)


@click.command("recognizer", hidden=True)
@click.option("--wave", required=True, help="The wave that has ended.")
@quantum_option
@click.option("--prd", type=click.Path(path_type=Path), help="The requirements document.")
@click.option("--reports", type=int, required=True, help="The descriptor of the pipe to answer on.")
def recognizer(
    wave: str,  # noqa: ARG001 -- for people who look at processes
    quantum: Path | None,  # noqa: ARG001
    prd: Path | None,  # noqa: ARG001
    reports: int,
) -> int:
    """Run the evidence of all that has landed once more; started by the driver."""
    from qloop.cli.coordinating import recognize

    return recognize(reports)


@click.group("orchestrator", invoke_without_command=True)
@quantum_option
@click.option("--prd", type=click.Path(path_type=Path), help="The requirements document.")
@click.option("--reports", type=int, help="The descriptor of the pipe to the driver.")
@click.pass_context
def orchestrator(
    context: click.Context,
    quantum: Path | None,  # noqa: ARG001 -- for people who look at processes
    prd: Path | None,  # noqa: ARG001
    reports: int | None,
) -> int:
    """Take a whole feature, story after story; started by the driver.

    Its agent asks for a story with `next` and hands it in with `done`.
    """
    if context.invoked_subcommand is not None:
        return 0
    if reports is None:
        raise click.UsageError("it is started by `qloop run --legacy-orchestrator`")
    from qloop.cli.orchestrating import orchestrate

    return orchestrate(reports)


wait_option = click.option(
    "--wait",
    "wait_s",
    type=Duration(),
    help="How long to wait; then the exit code is 75, and it is to be asked again.  [default: as "
    "long as it takes]",
)


@orchestrator.command("next")
@wait_option
def orchestrator_next(wait_s: float | None) -> int:
    """Print the story that is to be done, and what became of the last one.

    Exit code 0 with a story, 1 when there is none any more.
    """
    from qloop.cli.handing import show_next

    return show_next(wait_s)


@orchestrator.command("done")
@click.argument("story", required=False)
@click.option(
    "--signal",
    type=click.Choice(["passed", "failed", "blocked"]),
    default="passed",
    help="What is to be said of it.  [default: passed]",
)
@click.option("--why", default="", help="Why it is not done.")
@wait_option
def orchestrator_done(story: str | None, signal: str, why: str, wait_s: float | None) -> int:
    """Hand in the story that is at work, and print what became of it.

    Exit code 0 when it has landed, 1 when it has not.
    """
    from qloop.cli.handing import hand_in

    return hand_in(story, signal, why, wait_s)
