"""The toolkit for whoever leads stories to their landing: `attempt`, `review`, `wave`."""

from pathlib import Path

import click

from qloop.cli.context import Duration, quantum_option

VERDICT = click.Choice(["passed", "failed"])


@click.command("attempt")
@click.argument("story")
@click.option("--start", is_flag=True, help="Return as soon as it has begun; it goes on alone.")
@click.option(
    "--wait",
    "wait_s",
    type=Duration(),
    help="Wait no longer than this for the newest attempt, whoever started it, to be over.",
)
@quantum_option
def attempt(story: str, start: bool, wait_s: float | None, quantum: Path | None) -> int:
    """Make one attempt at a story that is ready, and print what became of it as JSON.

    It goes the whole way: worktree, agent, guard, gates, landing, status. `state` is running,
    settled, or lost where its run is gone. The exit code is 0 where it landed, 1 where it did
    not, 3 where it is still at work after --wait; --start alone ends with 0.

    \b
    For example:
      qloop attempt US-004 --start
      qloop attempt US-004 --wait 60s
    """
    from qloop.cli.attempting import attempt_here

    return attempt_here(story, quantum, wait_s, start=start)


@click.group("review")
def review() -> None:
    """Say a word on a story's reviews."""


@review.command("set")
@click.argument("story")
@click.option("--spec", type=VERDICT, help="Whether it does what it is to do.")
@click.option("--quality", type=VERDICT, help="Whether it is done well.")
@click.option("--evidence", required=True, metavar="TEXT", help="What that rests on.")
@quantum_option
def review_set(
    story: str, spec: str | None, quality: str | None, evidence: str, quantum: Path | None
) -> int:
    """Write a verdict on a story's newest attempt.

    It prints the reviews as JSON. A review that failed on evidence cannot be passed by a word, and
    no word lands anything. Refused inside an implementer's process tree.

    \b
    For example:
      qloop review set US-004 --quality failed --evidence "It reads a file twice"
    """
    from qloop.cli.attempting import review_here

    given = {"spec": spec, "quality": quality}
    words = {name: verdict for name, verdict in given.items() if verdict is not None}
    if not words:
        raise click.UsageError("give --spec, --quality or both")
    if not evidence.strip():
        raise click.BadParameter("say what the verdict rests on", param_hint="--evidence")
    return review_here(story, words, evidence, quantum)


@click.group("wave")
def wave() -> None:
    """Bring a wave to its end."""


@wave.command("complete")
@click.argument("wave_id", metavar="WAVE")
@quantum_option
def wave_complete(wave_id: str, quantum: Path | None) -> int:
    """Write down what a wave came to, by what git says.

    It prints that as JSON. The exit code is that of the wave's signal: 0 for WAVE_PASSED, 1 for
    WAVE_FAILED, 3 for BLOCKED. A wave that is written down already is only printed.
    """
    from qloop.cli.attempting import complete_here

    return complete_here(wave_id, quantum)
