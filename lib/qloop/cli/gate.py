"""The pre-action gate: one decision by hand, and the hook of an agent command line."""

import os
from pathlib import Path

import click

from qloop.agents.gate.terms import ROLE
from qloop.cli.context import json_option

_FOLDER = click.Path(path_type=Path)


@click.group("gate")
def gate() -> None:
    """Decide what an agent of a role may do, before it does it."""


@gate.command("check")
@click.option("--role", required=True, metavar="ROLE", help="implementer, reviewer, recon, …")
@click.option("--tool", required=True, metavar="TOOL", help="Read, Write, Edit, Bash, Task, …")
@click.option("--args", "given", default="{}", metavar="JSON", help="What the tool is told.")
@click.option("--worktree", type=_FOLDER, help="Where the agent works.  [default: here]")
@click.option("--intent", type=_FOLDER, help="The folder of its intent.  [default: any]")
@click.option("--check", "checks", multiple=True, metavar="COMMAND", help="A declared check.")
@json_option
def check(
    role: str,
    tool: str,
    given: str,
    worktree: Path | None,
    intent: Path | None,
    checks: tuple[str, ...],
    as_json: bool,
) -> int:
    """Say whether ROLE may use TOOL so.

    Exit 0, or exit 1 and the rule against it. Paths count from the current folder. Prints
    {allow, rule, reason} with --json.

    \b
    For example:
      qloop gate check --role reviewer --tool Bash --args '{"command": "git push"}'
    """
    from qloop.cli.gating import check_call

    return check_call(role, tool, given, worktree, intent, checks, as_json=as_json)


@gate.command("hook")
def hook() -> int:
    """Answer a PreToolUse hook of Claude Code on standard input.

    The role is that of QLOOP_ROLE; without it everything is allowed, silently. Exit 2, which
    blocks the tool, where no decision can be made. `qloop init --agents claude` sets it up.
    """
    if not os.environ.get(ROLE):
        return 0  # a person's own session
    from qloop.cli.gating import answer_hook

    return answer_hook()
