"""Which changes of refs and HEAD a traced git command is able to make.

For changes that carry no committer line: a ref deleted, a tag set. A
command is able to make a change only when its words lead to exactly that ref; one that only
reads, or that failed, is able to make none. Source: the commands' manual pages.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from qloop.repo.person import OWN
from qloop.repo.trace import TracedCommand

_BRANCHES = "refs/heads/"
_REMOTES = "refs/remotes/"
_TAGS = "refs/tags/"
_PREFIXES = ("", "refs/", _TAGS, _BRANCHES, _REMOTES)
_TAG_READS = ("--list", "--verify", "--contains", "--no-contains", "--points-at", "--merged")
_BRANCH_READS = (
    "--list",
    "--contains",
    "--no-contains",
    "--points-at",
    "--merged",
    "--no-merged",
    "--show-current",
    "--set-upstream-to",
    "--unset-upstream",
    "--edit-description",
)
_HEAD_MOVERS = ("bisect", "checkout", "pull", "rebase", "switch")


def removes_ref(command: TracedCommand, ref: str, branches: frozenset[str]) -> bool:
    """Whether *command* is able to delete *ref*; *branches* are those that checkouts stand on."""
    # With several names git deletes what it can and fails for the rest.
    if command.failed and len(names_in(command.args)) < 2:
        return False
    remover = _REMOVERS.get(command.name)
    return remover is not None and remover(command, ref, branches)


def writes_ref(command: TracedCommand, ref: str, branches: frozenset[str]) -> bool:
    """Whether *command* is able to make or move *ref* without leaving a committer line."""
    if command.failed and len(names_in(command.args)) < 2:
        return False
    writer = _WRITERS.get(command.name)
    return writer is not None and writer(command, ref, branches)


def moves_head(command: TracedCommand) -> bool:
    """Whether *command* is able to put a checkout onto another branch."""
    words = command.args
    return not command.failed and (
        command.name in _HEAD_MOVERS
        or (command.name == "symbolic-ref" and len(names_in(words)) > 1)
        or (command.name == "branch" and has_flag(words, "mM", "--move"))
        or (command.name == "stash" and words[:1] == ("branch",))
    )


def removes_worktree(command: TracedCommand, name: str) -> bool:
    """Whether *command* is able to remove the linked worktree that git calls *name*."""
    if command.name != "worktree" or command.failed:
        return False
    folders = {word.rstrip("/").rpartition("/")[2] for word in names_in(command.args[1:])}
    # Git makes its name from the folder's: what a ref may not hold is replaced, a number added.
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", name).rstrip("0123456789")
    return command.args[:1] == ("prune",) or (
        command.args[:1] == ("remove",)
        and any(
            re.sub(r"[^A-Za-z0-9._-]", "-", folder).rstrip("0123456789") == plain
            for folder in folders
        )
    )


def has_flag(words: Iterable[str], letters: str, *long: str) -> bool:
    """Whether an option is among *words*: one of *letters*, also in a cluster, or a long one."""
    return any(
        word.partition("=")[0] in long
        or (word[:1] == "-" and word[:2] != "--" and any(letter in word for letter in letters))
        for word in words
    )


def names_in(words: Iterable[str]) -> list[str]:
    """The words that are no options; a value of an option counts as a name."""
    return [word for word in words if not word.startswith("-")]


def leads_to(words: Iterable[str], ref: str, prefixes: Iterable[str] = _PREFIXES) -> bool:
    """Whether a word names *ref*, alone or as the target of a refspec."""
    targets = {word.removeprefix("+").rpartition(":")[2] for word in words if word[:1] != "-"}
    return any(prefix + target == ref for target in targets for prefix in prefixes)


def _branch_removes(command: TracedCommand, ref: str, branches: frozenset[str]) -> bool:
    words = command.args
    if has_flag(words, "dD", "--delete"):
        return leads_to(words, ref, (_REMOTES if has_flag(words, "r") else _BRANCHES,))
    if has_flag(words, "mM", "--move"):
        names = names_in(words)
        return leads_to(names[:-1], ref, (_BRANCHES,)) if names[1:] else ref in branches
    return False


def _branch_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    words = command.args
    if has_flag(words, "dDarlu", "--delete", "--all", "--remotes", *_BRANCH_READS):
        return False
    names = names_in(words)
    renaming = has_flag(words, "mMcC", "--move", "--copy")
    return leads_to(names[-1:] if renaming else names, ref, (_BRANCHES,))


def _tag_removes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    return has_flag(command.args, "d", "--delete") and leads_to(command.args, ref, (_TAGS,))


def _tag_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    reads = has_flag(command.args, "lnvd", "--delete", *_TAG_READS)
    return not reads and leads_to(command.args, ref, (_TAGS,))


def _update_removes(command: TracedCommand, ref: str, branches: frozenset[str]) -> bool:
    words = command.args
    return (has_flag(words, "d") or "--stdin" in words) and _update_writes(command, ref, branches)


def _update_writes(command: TracedCommand, ref: str, branches: frozenset[str]) -> bool:
    if "--stdin" in command.args:
        # What it read is not in the trace; qloop's own refs move all the time.
        return not ref.startswith(OWN)
    return ref in command.args or ("HEAD" in command.args and ref in branches)


def _push_names(command: TracedCommand) -> tuple[list[str], bool]:
    """The refs that the push behind a receiving process asked for, and whether it was for all."""
    words = command.pushed
    everything = has_flag(words, "", "--all", "--mirror", "--prune", "--branches", "--tags")
    return names_in(words)[1:], everything or any("*" in word for word in words)


def _receive_removes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    names, everything = _push_names(command)
    if everything:
        return not ref.startswith(OWN)
    removed = (
        names
        if has_flag(command.pushed, "d", "--delete")
        else [name for name in names if name.startswith(":")]
    )
    return leads_to(removed, ref)


def _receive_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    names, everything = _push_names(command)
    if everything:
        return not ref.startswith(OWN)
    return leads_to(names, ref) if names else ref.startswith(_BRANCHES)


def _fetch_removes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    return has_flag(command.args, "pP", "--prune", "--prune-tags") and ref.startswith(
        (_REMOTES, _TAGS)
    )


def _fetch_writes(command: TracedCommand, ref: str, branches: frozenset[str]) -> bool:
    merges = command.name == "pull" and ref in branches
    refspecs = [word for word in command.args if ":" in word]
    # Tags that a fetch brings along unasked cannot be told from the person's own.
    return merges or ref.startswith(_REMOTES) or leads_to(refspecs, ref)


def _remote_removes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    verb, names = command.args[:1], names_in(command.args[1:])
    if verb == ("update",):
        return has_flag(command.args, "p", "--prune") and ref.startswith(_REMOTES)
    return verb in (("remove",), ("rm",), ("rename",), ("prune",), ("set-head",)) and any(
        ref.startswith(f"{_REMOTES}{name}/") for name in names
    )


def _remote_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    verb, names = command.args[:1], names_in(command.args[1:])
    if verb == ("update",):
        return ref.startswith(_REMOTES)
    return verb in (("add",), ("rename",), ("set-head",)) and any(
        ref.startswith(f"{_REMOTES}{name}/") for name in names
    )


def _checkout_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    names = names_in(command.args)
    return leads_to([*names, *(name.partition("/")[2] for name in names)], ref, (_BRANCHES,))


def _worktree_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    names = names_in(command.args[1:])
    words = [*names, *(name.rstrip("/").rpartition("/")[2] for name in names)]
    return command.args[:1] == ("add",) and leads_to(words, ref, (_BRANCHES,))


def _symbolic_removes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    return has_flag(command.args, "d", "--delete") and ref in command.args


def _symbolic_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    return names_in(command.args)[:1] == [ref] and len(names_in(command.args)) > 1


def _moves_branch(command: TracedCommand, ref: str, branches: frozenset[str]) -> bool:
    return ref in branches and any(name != "HEAD" for name in names_in(command.args))


def _within(prefix: str) -> "_Ability":
    return lambda _command, ref, _branches: ref.startswith(prefix)


_Ability = Callable[[TracedCommand, str, frozenset[str]], bool]

_REMOVERS: Mapping[str, _Ability] = {
    "branch": _branch_removes,
    "fetch": _fetch_removes,
    "pull": _fetch_removes,
    "receive-pack": _receive_removes,
    "remote": _remote_removes,
    "replace": _within("refs/replace/"),
    "symbolic-ref": _symbolic_removes,
    "tag": _tag_removes,
    "update-ref": _update_removes,
}
_WRITERS: Mapping[str, _Ability] = {
    "branch": _branch_writes,
    "checkout": _checkout_writes,
    "fetch": _fetch_writes,
    "merge": _moves_branch,
    "notes": _within("refs/notes/"),
    "pull": _fetch_writes,
    "push": _within(_REMOTES),
    "rebase": _moves_branch,
    "receive-pack": _receive_writes,
    "remote": _remote_writes,
    "replace": _within("refs/replace/"),
    "reset": _moves_branch,
    "stash": _checkout_writes,
    "switch": _checkout_writes,
    "symbolic-ref": _symbolic_writes,
    "tag": _tag_writes,
    "update-ref": _update_writes,
    "worktree": _worktree_writes,
}
