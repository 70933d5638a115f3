"""The gate's decision: may a role do this? A pure function of role, act, places and checks."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from qloop.agents.gate.act import Act
from qloop.agents.gate.harm import find_harm, is_persons, qloop_words
from qloop.agents.gate.places import DEVICES, Places
from qloop.agents.gate.readers import find_fault
from qloop.agents.gate.shell_steps import Arg, Errand, Step
from qloop.agents.gate.table import TABLE, Kind, Row, Shell, Zone, role_of
from qloop.agents.gate.writers import written

TOOLKIT = (
    *("attempt", "review", "wave", "guard", "signal"),
    *("status", "show", "logs", "waves", "validate", "prompt"),
)
"""What a coordinator's shell may have qloop do."""

_FIXES = {
    "no-tools": "answer from what the prompt holds",
    "no-shell": "leave it to an agent whose task it is",
    "no-write": "say in your answer what should change",
    "no-read": "leave it to an agent whose task it is",
    "no-spawn": "do it yourself, or say in your answer that it is missing",
    "no-web": "work with what is here",
    "read-outside": "look inside it, or say what you miss",
    "write-outside": "write inside it; $TMPDIR is yours too",
    "protected": "qloop alone writes it; say in your answer what should change",
    "gate-settings": "a person changes it",
    "spawn-other": "start one of those, or do it yourself",
    "person-only": "leave it to a person",
    "destructive": "name exactly what is yours, inside the worktree",
    "push": "leave it: qloop lands what passes",
    "shell-unclear": "write it as one plain command",
    "shell-chained": "run one command at a time",
    "shell-redirect": "read the output as it comes; nothing is kept in files",
    "shell-not-listed": "use one that only reads, such as git log, git show, ls, cat, grep",
    "unknown-tool": "use Read, Grep or Glob",
    "unclear-call": "call it again with all it needs",
}
"""What an agent may do instead, by rule."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Allowed or not, by which rule, and why in a sentence."""

    allow: bool
    rule: str
    reason: str
    subject: str = ""
    """What it is about: a path, a command, an agent."""


def decide(role: str, act: Act, places: Places, checks: Iterable[str] = ()) -> Decision:
    """Whether *role* (its row, or another name of it) may do *act*.

    *checks* are the commands declared for whoever may run the story's checks.
    """
    name = role_of(role)
    if name is None:
        return _deny("unknown-role", f"{role} is no role of qloop's", role)
    row = TABLE[name]
    if row == Row(plain=False):
        return _deny("no-tools", f"the {name} role works without tools", act.tool)
    match act.kind:
        case Kind.READ:
            return _look(name, row.reads, act, places)
        case Kind.SEARCH:
            return _look(name, row.searches, act, places)
        case Kind.WRITE:
            return _write(name, row, act.path or "", places)
        case Kind.SHELL:
            assert act.errand is not None
            return _run(name, row, act.errand, places, tuple(checks))
        case Kind.SPAWN:
            return _spawn(name, row, act.agent)
        case _:
            return _other(name, row, act)


def unclear(why: str, subject: str) -> Decision:
    """The denial of a call that cannot be understood."""
    return _deny("unclear-call", why, subject)


def _deny(rule: str, why: str, subject: str) -> Decision:
    fix = _FIXES.get(rule, "")
    return Decision(False, rule, f"{why}; {fix}" if fix else why, subject)


def _allow(rule: str, why: str, subject: str = "") -> Decision:
    return Decision(True, rule, why, subject)


def _look(role: str, zones: tuple[Zone, ...], act: Act, places: Places) -> Decision:
    path = act.path or ""
    found = next((zone for zone in zones if places.holds(zone, path)), None)
    if found is not None:
        return _allow("read", f"the {role} role may read in {found}", path)
    return _deny("read-outside", f"the {role} role reads only in {_names(zones)}, not {path}", path)


def _names(zones: tuple[Zone, ...]) -> str:
    return " and ".join(filter(None, [", ".join(zones[:-1]), zones[-1]]))


def _write(role: str, row: Row, path: str, places: Places) -> Decision:
    if not row.writes:
        return _deny("no-write", f"the {role} role writes no files", path)
    guarded = places.protected(path)
    if guarded and Zone.TREE in row.writes:
        return _deny(guarded, f"{path} is not the {role} role's to write", path)
    found = next((zone for zone in row.writes if places.holds(zone, path)), None)
    if found is not None:
        return _allow("write", f"the {role} role may write in {found}", path)
    return _deny(
        "write-outside", f"the {role} role writes only in {_names(row.writes)}, not {path}", path
    )


def _run(role: str, row: Row, errand: Errand, places: Places, checks: tuple[str, ...]) -> Decision:
    for step in errand.steps:
        words = qloop_words(step)
        if words is not None and is_persons(words):
            what = f"qloop {' '.join(words[:2])}"
            return _deny("person-only", f"{what} is a person's word, not an agent's", what)
    match row.shell:
        case Shell.NONE:
            return _deny("no-shell", f"the {role} role runs no commands", errand.text)
        case Shell.FREE:
            return _work(role, row, errand, places)
        case Shell.CHECKS if errand.text.strip() in checks:
            return _allow("declared-check", "it is a declared check", errand.text)
        case _:
            return _look_by_shell(role, row, errand, places, checks)


def _look_by_shell(
    role: str, row: Row, errand: Errand, places: Places, checks: tuple[str, ...]
) -> Decision:
    """A shell that runs what is listed, and nothing that cannot be understood."""
    fault = _form_fault(row, errand)
    if fault is not None:
        return fault
    for step in errand.steps:
        denied = _step(role, row, step, places, checks)
        if denied is not None:
            return denied
    return _allow("shell-read", f"the {role} role may run {row.shell}", errand.text)


def _form_fault(row: Row, errand: Errand) -> Decision | None:
    """What is wrong with how a shell that is not free is called."""
    steps = errand.steps
    words = [word for step in steps for word in step.words]
    why = errand.unclear or ("a variable that is set" if any(one.assigns for one in steps) else "")
    if not why and (not steps or any(word.text is None for word in words)):
        why = "a word that only the shell will know" if steps else "no command at all"
    if why:
        return _deny("shell-unclear", f"the command has {why}", errand.text)
    is_toolkit = row.shell is Shell.TOOLKIT
    if errand.is_chained and not is_toolkit:
        return _deny("shell-chained", "several commands in one call", errand.text)
    for step in steps:
        for sign, word in step.redirects:
            if not (is_toolkit and _is_harmless(sign, word)):
                return _deny("shell-redirect", f"the command has a {sign}", errand.text)
    return None


def _is_harmless(sign: str, word: Arg) -> bool:
    is_copy = sign in (">&", "<&") and (word.text or "").isdigit()
    return is_copy or word.path == DEVICES[0]


def _step(
    role: str, row: Row, step: Step, places: Places, checks: tuple[str, ...]
) -> Decision | None:
    """Why one plain command is not run; None where it may be."""
    told = shlex.join([step.words[0].text or "", *step.texts])
    if row.shell is Shell.CHECKS and any(_begins(step, check) for check in checks):
        return None
    if row.shell is Shell.TOOLKIT and _is_toolkit(step, places):
        return None
    fault = find_fault(step)
    if fault:
        return _deny("shell-not-listed", f"the {role} role may run {row.shell}: {fault}", told)
    for word in step.args:
        if word.path and word.there and not _may_see(row, word.path, places):
            return _deny("read-outside", f"the {role} role does not read {word.path}", word.path)
    return None


def _begins(step: Step, check: str) -> bool:
    """Whether a command is a declared one, perhaps with more words."""
    try:
        words = shlex.split(check)
    except ValueError:
        return False
    own = [step.words[0].text, *step.texts]
    return bool(words) and own[: len(words)] == words


def _is_toolkit(step: Step, places: Places) -> bool:
    text = step.words[0].text or ""
    path = step.words[0].path or ""
    is_own = text == "qloop" or (
        step.program == "qloop" and text.startswith("/") and places.holds(Zone.SCRATCH, path)
    )
    words = qloop_words(step) or ()
    return is_own and words[:1] != () and words[0] in TOOLKIT


def _may_see(row: Row, path: str, places: Places) -> bool:
    return path.startswith("/dev/") or any(places.holds(zone, path) for zone in row.reads)


def _work(role: str, row: Row, errand: Errand, places: Places) -> Decision:
    """A shell that is free: but for harm, and for what it is seen to write elsewhere."""
    for step in errand.steps:
        harm = find_harm(step, places)
        if harm is not None:
            return _deny(harm.rule, f"{harm.what} is never an agent's to do", harm.what)
        for word in written(step):
            if word.path is None or word.path.startswith(DEVICES):
                continue
            denied = _write(role, row, word.path, places)
            if not denied.allow:
                return denied
    return _allow("shell-work", f"the {role} role may run {row.shell}", errand.text)


def _spawn(role: str, row: Row, agent: str) -> Decision:
    if not row.spawns:
        return _deny("no-spawn", f"the {role} role starts no agents", agent)
    name = agent.lower().replace("_", "-").rstrip("0123456789-")
    if name.removesuffix("-coordinator") in row.spawns:
        return _allow("spawn", f"the {role} role may start {agent}", agent)
    return _deny(
        "spawn-other", f"the {role} role starts only {', '.join(row.spawns)}, not {agent}", agent
    )


def _other(role: str, row: Row, act: Act) -> Decision:
    if act.kind is Kind.WEB:
        if row.web:
            return _allow("web", f"the {role} role may look things up", act.tool)
        return _deny("no-web", f"the {role} role does not look things up", act.tool)
    if act.kind is Kind.PLAIN:
        return _allow("harmless", f"{act.tool} touches nothing but the agent itself", act.tool)
    if row.unknown:
        return _allow("other-tool", f"qloop knows nothing against {act.tool}", act.tool)
    return _deny("unknown-tool", f"{act.tool} is not known to be harmless", act.tool)
