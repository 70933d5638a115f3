"""What no agent may have a shell do: harm beyond its worktree, and a person's own words. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qloop.agents.gate.places import Places
from qloop.agents.gate.readers import git_command
from qloop.agents.gate.shell_steps import Arg, Step
from qloop.agents.gate.table import Zone

_FORCED = ("--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete")
_MACHINE = ("shutdown", "reboot", "halt", "poweroff", "mkfs", "fdisk", "parted", "wipefs")
_BROAD = ("pkill", "killall")
_REMOVERS = ("rm", "mv", "chmod", "chown", "shred", "sed", "unlink", "rmdir")

PERSONS: dict[str, tuple[str, ...]] = {
    "answer": (),
    "story": (),
    "stop": (),
    "quick": (),
    "auto": (),
    "main": (),
    "refine": (),
    "delegate": (),
    "budget": ("set", "reset", "unlimited"),
    "mission": ("new", "run", "resume", "abandon"),
    "intent": ("new", "end", "group"),
    "salvage": ("restore",),
    "worktree": ("clean",),
}
"""qloop's commands that are no agent's; of some only the subcommands named."""


@dataclass(frozen=True, slots=True)
class Harm:
    """A rule that a step breaks, and how."""

    rule: str
    what: str


def qloop_words(step: Step) -> tuple[str, ...] | None:
    """The words for qloop, where a step starts it."""
    if step.program == "qloop":
        return tuple(text for text in step.texts if not text.startswith("-"))
    texts = step.texts
    if step.program.startswith("python") and "-m" in texts:
        at = texts.index("-m") + 1
        if texts[at : at + 1] == ("qloop",):
            return tuple(text for text in texts[at + 1 :] if not text.startswith("-"))
    return None


def is_persons(words: tuple[str, ...]) -> bool:
    """Whether only a person may say so to qloop."""
    if not words or words[0] not in PERSONS:
        return False
    below = PERSONS[words[0]]
    return not below or bool(set(below) & set(words[1:2]))


def find_harm(step: Step, places: Places) -> Harm | None:
    """The first rule that a step breaks."""
    name = step.program
    if name == "git":
        return _git_harm(step)
    what = _SPECIAL[name](step, places) if name in _SPECIAL else ""
    if name in _BROAD:
        what = f"{name}, which ends processes of others too"
    if name.partition(".")[0] in _MACHINE:
        what = name
    return Harm("destructive", what) if what else None


def _removal(step: Step, places: Places) -> str:
    if not _is_recursive(step):
        return ""
    if step.is_fed:
        return "rm -r of what its input names"
    return _too_much(step.args, places, "rm -r of")


def _too_much(args: Sequence[Arg], places: Places, verb: str) -> str:
    """What is wrong where a tree named is not one within what the agent owns."""
    for one in args:
        if (one.text or "").startswith("-"):
            continue
        if one.entry is None:
            return f"{verb} a place that only the shell will know"
        if places.is_above(one.entry) and not one.wild:
            return f"{verb} {one.entry}, which holds the whole worktree"
        if not _is_own(one.entry, places):
            return f"{verb} {one.entry}, outside the worktree"
    return ""


def _found_and_removed(step: Step, places: Places) -> str:
    texts = step.texts
    acts = [at for at, text in enumerate(texts) if text in ("-exec", "-execdir", "-ok", "-okdir")]
    started = {texts[at + 1].rpartition("/")[2] for at in acts if at + 1 < len(texts)}
    if "-delete" not in texts and not started & set(_REMOVERS):
        return ""
    ends = [at for at, text in enumerate(texts) if text.startswith(("-", "(", "!"))]
    starts = step.args[: min(ends)] or (Arg(step.cwd, step.cwd),)
    outside = [one for one in starts if one.path is None or not _is_own(one.path, places)]
    return f"find that changes {outside[0].text}, outside the worktree" if outside else ""


def _is_own(path: str, places: Places) -> bool:
    return any(places.holds(zone, path) for zone in (Zone.TREE, Zone.SCRATCH))


def _git_harm(step: Step) -> Harm | None:
    command, _, after = git_command(step)
    if command == "push":
        forced = [
            text
            for text in after
            if text.startswith((*_FORCED, "+", ":")) or _has(text, "f") or _has(text, "d")
        ]
        if forced:
            return Harm("destructive", f"git push {forced[0]}")
        return Harm("push", "git push")
    if command == "reset" and "--hard" in after:
        others = [text for text in after if not text.startswith("-") and text not in ("HEAD", "@")]
        if others:
            return Harm("destructive", f"git reset --hard to {others[0]}")
    return None


def _killed(step: Step, places: Places) -> str:  # noqa: ARG001
    return "kill of every process" if "-1" in step.texts[1:] else ""


def _rights_changed(step: Step, places: Places) -> str:
    if not _is_recursive(step):
        return ""
    given = [one for one in step.args[1:] if one.path != places.tree]
    return _too_much(given, places, "changing the rights of")


def _onto_device(step: Step, places: Places) -> str:  # noqa: ARG001
    places_written = [one.tail or "" for one in step.args if (one.text or "").startswith("of=")]
    devices = [one for one in places_written if one.startswith("/dev/") and one != "/dev/null"]
    return f"dd onto {devices[0]}" if devices else ""


def _is_recursive(step: Step) -> bool:
    return any(_has(text, "r") or _has(text, "R") or text == "--recursive" for text in step.texts)


def _has(text: str, letter: str) -> bool:
    return text[:1] == "-" != text[1:2] and letter in text[1:]


_SPECIAL: dict[str, Callable[[Step, Places], str]] = {
    "rm": _removal,
    "find": _found_and_removed,
    "kill": _killed,
    "chmod": _rights_changed,
    "chown": _rights_changed,
    "chgrp": _rights_changed,
    "dd": _onto_device,
}
"""What is said against some commands, in words; empty where nothing is."""
