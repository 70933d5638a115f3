"""What an agent's gate is told by its environment, and the hook of an agent command line by name.

Errors: ValueError for terms that are not of this form.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

GATE = "QLOOP_GATE"
"""The words that start this very qloop, quoted for a shell."""
LOG = "QLOOP_GATE_LOG"
"""The file that denials of one call are noted in."""
TERMS = "QLOOP_GATE_TERMS"
ROLE = "QLOOP_ROLE"
WORKTREE = "QLOOP_WORKTREE"
INTENT = "QLOOP_INTENT_DIR"

HOOK_COMMAND = f'[ -z "${ROLE}" ] || eval "${{{GATE}:-qloop}} gate hook" || exit 2'
"""What an agent command line runs before each tool; a person's own session starts nothing."""


@dataclass(frozen=True, slots=True)
class GateTerms:
    """What the gate of one call goes by, besides role and worktree."""

    root: str = ""
    """The person's main checkout; empty where it is to be found from the current folder."""
    checks: tuple[str, ...] = ()
    """The commands declared for whoever may run the story's checks."""


def gate_variables(
    words: str, log: str, root: str, checks: Iterable[str], intent: str = ""
) -> dict[str, str]:
    """The variables that tell an agent's gate its terms."""
    terms = json.dumps({"root": root, "checks": list(checks)}, ensure_ascii=False)
    own = {INTENT: intent} if intent else {}
    return {GATE: words, LOG: log, TERMS: terms, **own}


def read_terms(env: Mapping[str, str]) -> GateTerms:
    """The terms in an environment. Raises ValueError."""
    text = env.get(TERMS)
    if not text:
        return GateTerms()
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"{TERMS} is no object")
    checks = value.get("checks", [])
    return GateTerms(str(value.get("root", "")), tuple(str(one) for one in checks))
