"""`delegate`: one question to a stateless agent without tools."""

from pathlib import Path

import click

from qloop.cli.context import json_option, quantum_option

prompt_option = click.option(
    "--prompt", required=True, metavar="TEXT|-", help="What it is told; - reads standard input."
)
failures_option = click.option(
    "--failure-count",
    "failures",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="How often this was tried before: of `models` it takes the one for that.  [default: 0]",
)


@click.group("delegate")
def delegate() -> None:
    """Ask a stateless agent: a worker for a change of one file, QA for what a trace comes to.

    It is called without tools, sees what it is told here and nothing else, and is forgotten. Who it
    is stands in [roles.worker] and [roles.qa] of qloop.toml, else it is the runner for all; one
    that cannot be called without tools is refused (69). No agent of qloop's may call this.
    """


@delegate.command("worker")
@click.option(
    "--target",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The one file that it sees and changes.",
)
@prompt_option
@click.option(
    "--verify",
    multiple=True,
    metavar="CMD",
    help="A command that must end with 0 after the change; may be given again.  "
    "[default: those of the stories that name the file]",
)
@failures_option
@quantum_option
@json_option
def worker(
    target: Path,
    prompt: str,
    verify: tuple[str, ...],
    failures: int,
    quantum: Path | None,
    as_json: bool,
) -> int:
    """Have one file changed as a ticket says.

    The answer is the file's new content in one fenced block, or a unified diff of it; anything else
    is refused, and the file stays as it is. A change is written in one step, tested, and put back
    if a command is red. What the file held is kept in .qloop/delegates/. Exit code 1: no change.

    \b
    For example:
      qloop delegate worker --target shop/prices.py --prompt "Round half up."
    """
    from qloop.cli.delegating import work_here

    return work_here(target, prompt, verify, failures, quantum, as_json=as_json)


@delegate.command("qa")
@prompt_option
@failures_option
@quantum_option
@json_option
def qa(prompt: str, failures: int, quantum: Path | None, as_json: bool) -> int:
    """Have an error trace compressed to at most 50 tokens.

    The trace is the prompt. The first file:line of the trace is kept. Where the agent says
    nothing, an extract of the trace is printed instead. [delegate] qa_tokens sets another length.

    \b
    For example:
      make test 2>&1 | qloop delegate qa --prompt -
    """
    from qloop.cli.delegating import compress_here

    return compress_here(prompt, failures, quantum, as_json=as_json)
