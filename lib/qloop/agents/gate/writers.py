"""Which places a command writes, as far as its words tell. Pure.

A program of its own can write anywhere; what is found here are the tools that people and agents
write files with.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from qloop.agents.gate.readers import git_command
from qloop.agents.gate.shell_steps import Arg, Step

_ENTRIES = ("rm", "rmdir", "unlink", "ln")
"""Commands that change a folder's entries, and follow no link."""
_ALL = ("rm", "rmdir", "unlink", "touch", "mkdir", "truncate", "shred", "mkfifo", "tee")
_AFTER_FIRST = ("chmod", "chown", "chgrp")
_LAST = ("cp", "ln", "install", "rsync", "scp")
_GIT_WRITES = (
    *("add", "am", "apply", "checkout", "cherry-pick", "clean", "commit", "config", "fetch"),
    *("gc", "init", "merge", "mv", "notes", "pull", "rebase", "reset", "restore", "revert", "rm"),
    *("stash", "submodule", "switch", "tag", "branch", "update-ref", "worktree", "symbolic-ref"),
    *("remote", "replace", "filter-branch", "reflog", "update-index", "read-tree", "prune"),
)
_VALUED = {
    "truncate": ("-s", "--size", "-r"),
    "mkdir": ("-m",),
    "touch": ("-d", "-t", "-r"),
    "install": ("-m", "-o", "-g"),
    "sed": ("-e", "-f"),
    "perl": ("-e", "-E", "-M"),
}
"""Options whose word is the next one."""

_TARGET = ("-t", "--target-directory")
_OPTIONS = {
    "curl": ("-o", "--output"),
    "wget": ("-O", "-P", "--output-document", "--directory-prefix"),
}
"""Options that name what is written."""


def written(step: Step) -> Iterator[Arg]:
    """The words of a step that name what it writes or removes."""
    yield from (word for sign, word in step.redirects if _writes(sign, word))
    name, words = step.program, _operands(step)
    if name in _ENTRIES:
        words = _entries(words)
    if name in _ALL:
        yield from words
    elif name in _AFTER_FIRST:
        yield from words[1:]
    elif name in _LAST:
        yield from _option_word(step, *_TARGET) or words[-1:]
    elif name in _OPTIONS:
        yield from _option_word(step, *_OPTIONS[name])
    elif name in _SPECIAL:
        yield from _SPECIAL[name](step)


def _entries(words: tuple[Arg, ...]) -> tuple[Arg, ...]:
    return tuple(replace(one, path=one.entry) for one in words)


def _moved(step: Step) -> Iterator[Arg]:
    yield from (*_entries(_operands(step)), *_option_word(step, *_TARGET))


def _written_by_dd(step: Step) -> Iterator[Arg]:
    yield from (Arg(one.text, one.tail, one.tail) for one in step.args if _is(one, "of="))


def _edited(step: Step) -> Iterator[Arg]:
    """What sed or perl edits in place."""
    bundles = [text for text in step.texts if text[:1] == "-" != text[1:2]]
    long_ones = [text for text in step.texts if text.startswith("--in-place")]
    if not long_ones and not any("i" in text for text in bundles):
        return
    has_script = step.program == "perl" or any(_is(one, "-e", "--exp") for one in step.args)
    yield from _operands(step)[0 if has_script else 1 :]


def _written_by_git(step: Step) -> Iterator[Arg]:
    command, before, after = git_command(step)
    named = tuple(step.args[len(before) + 1 :])
    if command in ("clone", "init") or (command == "worktree" and after[:1] == ("add",)):
        yield from (one for one in named if not _is(one, "-") and _is_path(one))
    if command == "config":
        yield from _option_word(step, "--file", "-f")
    if command not in _GIT_WRITES:
        return
    if command == "config" and {"--global", "--system"} & set(after):
        yield Arg("git's settings of the machine", "/etc/gitconfig")
    for former, one in zip(step.args, step.args[1 : len(before)], strict=False):
        if former.text in ("-C", "--git-dir", "--work-tree"):
            yield one
    yield from (one for one in step.args[: len(before)] if _is(one, "--git-dir=", "--work-tree="))
    if "-C" not in before and step.cwd is not None:
        yield Arg(step.cwd, step.cwd)


def _writes(sign: str, word: Arg) -> bool:
    """Whether a redirection writes a file; `2>&1` does not."""
    if sign == ">&":
        return not (word.text or "").rstrip("-").isdigit() and word.text != "-"
    return sign in (">", ">>", ">|", "<>", "&>", "&>>")


def _operands(step: Step) -> tuple[Arg, ...]:
    """The words that are no options, nor belong to one."""
    valued = _VALUED.get(step.program, ())
    found, skip, ended = [], False, False
    for one in step.args:
        text = one.text
        if skip:
            skip = False
        elif not ended and text == "--":
            ended = True
        elif not ended and text is not None and text.startswith("-") and text != "-":
            skip = text in valued
        else:
            found.append(one)
    return tuple(found)


def _option_word(step: Step, *names: str) -> tuple[Arg, ...]:
    """What an option is told, in the next word or after its `=`."""
    pairs = zip(step.args, step.args[1:], strict=False)
    following = [after for one, after in pairs if one.text in names]
    within = [one for one in step.args if _is(one, *(f"{name}=" for name in names))]
    return (*following, *within)


def _is_path(one: Arg) -> bool:
    """Whether a word is written as a path that leads elsewhere, and is no address."""
    return _is(one, "/", "~", "..") and "://" not in (one.text or "")


def _is(one: Arg, *starts: str) -> bool:
    return (one.text or "").startswith(starts)


_SPECIAL: dict[str, Callable[[Step], Iterator[Arg]]] = {
    "mv": _moved,
    "dd": _written_by_dd,
    "sed": _edited,
    "perl": _edited,
    "git": _written_by_git,
}
