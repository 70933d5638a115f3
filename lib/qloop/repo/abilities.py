"""Which changes of refs, stash and HEAD a traced git command is able to make.

For changes that carry no committer line: a ref deleted, a tag set, a stash entry dropped. A
command is able to make a change only when its words lead to exactly that ref; one that only
reads, or that failed, is able to make none. Source: the commands' manual pages.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from qloop.repo.person import OWN, STASH
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
_HEAD_MOVERS = ("checkout", "switch", "symbolic-ref", "rebase", "bisect", "branch", "pull", "stash")


def removes_ref(command: TracedCommand, ref: str, branches: frozenset[str]) -> bool:
    """Whether *command* is able to delete *ref*; *branches* are those that checkouts stand on."""
    # With several names git deletes what it can and fails for the rest.
    if command.failed and len(_names(command.args)) < 2:
        return False
    remover = _REMOVERS.get(command.name)
    return remover is not None and remover(command, ref, branches)


def writes_ref(command: TracedCommand, ref: str, branches: frozenset[str]) -> bool:
    """Whether *command* is able to make or move *ref* without leaving a committer line."""
    if command.failed and len(_names(command.args)) < 2:
        return False
    writer = _WRITERS.get(command.name)
    return writer is not None and writer(command, ref, branches)


def moves_head(command: TracedCommand) -> bool:
    """Whether *command* is able to put a checkout onto another branch."""
    return command.name in _HEAD_MOVERS and not command.failed


def changes_worktrees(command: TracedCommand) -> bool:
    """Whether *command* is able to add or remove a linked worktree."""
    return command.name == "worktree" and not command.failed and command.args[:1] != ("list",)


def dropped_by(
    commands: Iterable[TracedCommand], stash: Sequence[str], gone: frozenset[str]
) -> frozenset[str]:
    """The entries among *gone* that *commands* dropped from *stash* (newest first).

    The commands are followed one by one, so that an agent that took back what it had stashed
    itself is not taken for having dropped the person's entry.
    """
    stack: list[str | None] = list(stash)
    dropped: set[str] = set()
    astray = 0
    for command in commands:
        removed, missed = _taken_off(command, stack)
        found = {entry for entry in removed if entry in gone}
        dropped |= found
        # What it removed still stands, or was not there to begin with: something that the person
        # stashed meanwhile moved the entries under it.
        astray += missed + sum(entry is not None for entry in removed) - len(found)
    clears = any(_clears(command) for command in commands)
    rest = [entry for entry in stash if entry in gone and entry not in dropped]
    return frozenset(dropped | set(rest[: 0 if clears else astray]))


def has_flag(words: Iterable[str], letters: str, *long: str) -> bool:
    """Whether an option is among *words*: one of *letters*, also in a cluster, or a long one."""
    return any(
        word.partition("=")[0] in long
        or (word[:1] == "-" and word[:2] != "--" and any(letter in word for letter in letters))
        for word in words
    )


def _taken_off(command: TracedCommand, stack: list[str | None]) -> tuple[list[str | None], int]:
    """Do to *stack* what *command* did: what came off, and how many entries it does not know."""
    if _clears(command):
        removed, stack[:] = list(stack), []
        return removed, 0
    verb, rest = _stash_verb(command)
    # Without a child a push found nothing to stash and made no entry.
    if verb == "store" or (verb in ("push", "save") and command.children):
        stack.insert(0, None)
    elif verb in ("pop", "drop", "branch"):
        at = _stash_index(rest)
        return ([stack.pop(at)], 0) if at < len(stack) else ([], 1)
    return [], 0


def _clears(command: TracedCommand) -> bool:
    if command.failed:
        return False
    words = command.args
    if command.name == "update-ref":
        return has_flag(words, "d") and STASH in words
    if command.name == "reflog":
        return words[:1] == ("expire",) and ("--all" in words or _leads_to(words, STASH))
    return _stash_verb(command)[0] == "clear"


def _stash_verb(command: TracedCommand) -> tuple[str, Sequence[str]]:
    if command.failed:
        return "", ()
    if command.name == "reflog" and command.args[:1] == ("delete",):
        return "drop", command.args[1:]
    if command.name != "stash":
        return "", ()
    if not command.args or command.args[0].startswith("-"):
        return "push", command.args
    return command.args[0], command.args[1:]


def _stash_index(words: Sequence[str]) -> int:
    for word in reversed(_names(words)):
        number = word.removeprefix("refs/").removeprefix("stash@{").removesuffix("}")
        if number.isdecimal():
            return int(number)
    return 0


def _names(words: Iterable[str]) -> list[str]:
    return [word for word in words if not word.startswith("-")]


def _leads_to(words: Iterable[str], ref: str, prefixes: Iterable[str] = _PREFIXES) -> bool:
    """Whether a word names *ref*, alone or as the target of a refspec."""
    targets = {word.removeprefix("+").rpartition(":")[2] for word in words if word[:1] != "-"}
    return any(prefix + target == ref for target in targets for prefix in prefixes)


def _branch_removes(command: TracedCommand, ref: str, branches: frozenset[str]) -> bool:
    words = command.args
    if has_flag(words, "dD", "--delete"):
        return _leads_to(words, ref, (_REMOTES if has_flag(words, "r") else _BRANCHES,))
    if has_flag(words, "mM", "--move"):
        names = _names(words)
        return _leads_to(names[:-1], ref, (_BRANCHES,)) if names[1:] else ref in branches
    return False


def _branch_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    words = command.args
    if has_flag(words, "dDarlu", "--delete", "--all", "--remotes", *_BRANCH_READS):
        return False
    names = _names(words)
    renaming = has_flag(words, "mMcC", "--move", "--copy")
    return _leads_to(names[-1:] if renaming else names, ref, (_BRANCHES,))


def _tag_removes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    return has_flag(command.args, "d", "--delete") and _leads_to(command.args, ref, (_TAGS,))


def _tag_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    reads = has_flag(command.args, "lnvd", "--delete", *_TAG_READS)
    return not reads and _leads_to(command.args, ref, (_TAGS,))


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
    return _names(words)[1:], everything or any("*" in word for word in words)


def _receive_removes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    names, everything = _push_names(command)
    if everything:
        return not ref.startswith(OWN)
    removed = (
        names
        if has_flag(command.pushed, "d", "--delete")
        else [name for name in names if name.startswith(":")]
    )
    return _leads_to(removed, ref)


def _receive_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    names, everything = _push_names(command)
    if everything:
        return not ref.startswith(OWN)
    return _leads_to(names, ref) if names else ref.startswith(_BRANCHES)


def _fetch_removes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    return has_flag(command.args, "pP", "--prune", "--prune-tags") and ref.startswith(
        (_REMOTES, _TAGS)
    )


def _fetch_writes(command: TracedCommand, ref: str, branches: frozenset[str]) -> bool:
    merges = command.name == "pull" and ref in branches
    refspecs = [word for word in command.args if ":" in word]
    # Tags that a fetch brings along unasked cannot be told from the person's own.
    return merges or ref.startswith(_REMOTES) or _leads_to(refspecs, ref)


def _remote_removes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    verb, names = command.args[:1], _names(command.args[1:])
    if verb == ("update",):
        return has_flag(command.args, "p", "--prune") and ref.startswith(_REMOTES)
    return verb in (("remove",), ("rm",), ("rename",), ("prune",), ("set-head",)) and any(
        ref.startswith(f"{_REMOTES}{name}/") for name in names
    )


def _remote_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    verb, names = command.args[:1], _names(command.args[1:])
    if verb == ("update",):
        return ref.startswith(_REMOTES)
    return verb in (("add",), ("rename",), ("set-head",)) and any(
        ref.startswith(f"{_REMOTES}{name}/") for name in names
    )


def _checkout_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    names = _names(command.args)
    return _leads_to([*names, *(name.partition("/")[2] for name in names)], ref, (_BRANCHES,))


def _worktree_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    names = _names(command.args[1:])
    words = [*names, *(name.rstrip("/").rpartition("/")[2] for name in names)]
    return command.args[:1] == ("add",) and _leads_to(words, ref, (_BRANCHES,))


def _symbolic_removes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    return has_flag(command.args, "d", "--delete") and ref in command.args


def _symbolic_writes(command: TracedCommand, ref: str, _: frozenset[str]) -> bool:
    return _names(command.args)[:1] == [ref] and len(_names(command.args)) > 1


def _moves_branch(command: TracedCommand, ref: str, branches: frozenset[str]) -> bool:
    return ref in branches and any(name != "HEAD" for name in _names(command.args))


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
