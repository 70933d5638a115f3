"""`gate check` and `gate hook`: from a question to the gate's decision."""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from qloop.agents.gate.act import Act, UnclearCall, read_call
from qloop.agents.gate.claude import HookCall, parse_hook_call, render_answer
from qloop.agents.gate.decision import Decision, decide, unclear
from qloop.agents.gate.denials import note_decision
from qloop.agents.gate.places import Places, find_root, make_places
from qloop.agents.gate.table import ALIASES, FOREIGN, TABLE, TOOLS, Kind, role_of
from qloop.agents.gate.terms import INTENT, LOG, ROLE, WORKTREE, read_terms
from qloop.system.errors import BadInput, InputMissing, UsageWrong
from qloop.ui import console

DENIED = 1
BLOCKED = 2
"""The exit code by which a hook blocks a tool without an answer that can be read."""


def check_call(
    role: str,
    tool: str,
    given: str,
    worktree: Path | None,
    intent: Path | None,
    checks: tuple[str, ...],
    *,
    as_json: bool,
) -> int:
    """Say what the gate decides. Raises UsageWrong for an unknown word, BadInput for *given*."""
    if role_of(role) is None:
        raise _unknown("role", role, (*TABLE, *ALIASES))
    if tool not in TOOLS and not tool.startswith(FOREIGN):
        raise _unknown("tool", tool, TOOLS)
    cwd = str(Path.cwd())
    args = _parse_args(given)
    try:
        act = read_call(role, tool, args, cwd, os.environ)
    except UnclearCall as exc:
        raise BadInput(str(exc), where="--args", fix="give it as the tool is told") from exc
    decision = _staged(
        role, act, args, decide(role, act, _places_here(cwd, worktree, intent), checks)
    )
    if as_json:
        told = {"allow": decision.allow, "rule": decision.rule, "reason": decision.reason}
        console.print_json(told)
    else:
        word = "allowed" if decision.allow else "denied"
        console.result(f"{word} by {decision.rule}: {decision.reason}")
    return 0 if decision.allow else DENIED


def _unknown(what: str, name: str, known: Iterable[str]) -> UsageWrong:
    import difflib

    names = list(known)
    folded = {one.casefold(): one for one in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    fix = f"did you mean {folded[near[0]]}?" if near else f"one of {', '.join(names)}"
    return UsageWrong(f"unknown {what} {name!r}", where="qloop gate check", fix=fix)


def _parse_args(given: str) -> dict[str, Any]:
    try:
        value = json.loads(given)
    except (ValueError, RecursionError) as exc:
        raise BadInput(f"no JSON: {exc}", where="--args", fix="give one JSON object") from exc
    if not isinstance(value, dict):
        raise BadInput("no JSON object", where="--args", fix='such as {"file_path": "a.txt"}')
    return value


def _places_here(cwd: str, worktree: Path | None, intent: Path | None) -> Places:
    own = os.environ.get(WORKTREE)
    tree = str(worktree) if worktree else own or find_root(cwd)
    return make_places(
        tree=tree,
        root=_main_checkout(cwd),
        intent=str(intent) if intent else os.environ.get(INTENT),
        scratch=[os.environ.get("TMPDIR", "")] if own else [],
    )


def _main_checkout(cwd: str) -> str:
    from qloop.cli.context import repository_here

    try:
        return str(repository_here().root)
    except (InputMissing, BadInput):
        return find_root(cwd)


def answer_hook() -> int:
    """Answer the hook on standard input; whatever goes wrong blocks the tool, in words."""
    try:
        answer = _answer(os.environ[ROLE], sys.stdin.buffer.read())
    except Exception as exc:  # noqa: BLE001 -- a gate that fails must not let anything through
        console.say(f"qloop gate: no decision can be made: {exc}")
        return BLOCKED
    if answer:
        console.result(answer)
    return 0


def _answer(role: str, data: bytes) -> str:
    try:
        asked = parse_hook_call(data)
    except UnclearCall as exc:
        return render_answer(unclear(str(exc), ""), 1)
    decision = _decision(role, asked)
    log = os.environ.get(LOG)
    count = note_decision(Path(log), asked.tool, decision, asked.call) if log else 1
    return render_answer(decision, count)


def _decision(role: str, asked: HookCall) -> Decision:
    env, terms = os.environ, read_terms(os.environ)
    cwd = asked.cwd or str(Path.cwd())
    tree = env.get(WORKTREE) or find_root(cwd)
    places = make_places(
        tree=tree,
        root=terms.root or find_root(cwd),
        intent=env.get(INTENT),
        scratch=[env.get("TMPDIR", ""), asked.scratch],
    )
    try:
        act = read_call(role, asked.tool, asked.args, cwd, env)
    except UnclearCall as exc:
        return unclear(str(exc), asked.tool)
    return _staged(role, act, asked.args, decide(role, act, places, terms.checks))


def _staged(role: str, act: Act, args: dict[str, Any], decision: Decision) -> Decision:
    """The decision, where the stage of an intent says nothing against what it allows."""
    path = act.path or ""
    if not decision.allow or act.kind is not Kind.WRITE or "--" not in path:
        return decision
    from qloop.mission.stage_call import judge_call

    refusal = judge_call(role, args, Path(path))
    if refusal is None:
        return decision
    return Decision(False, refusal.rule, f"{refusal.reason}; {refusal.fix}", path)
