"""Configuration and hooks of the person's: what changed, and which command could do it.

A configuration file that an attempt alone changed can be put back whole; hooks are left. Values
may be secrets: no text says them.
Source: git-config(1), githooks(5).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from qloop.repo.abilities import has_flag
from qloop.repo.changes import Change, Changes
from qloop.repo.git import Git, GitFailed
from qloop.repo.moves import Case
from qloop.repo.swap import Swap
from qloop.repo.trace import TracedCommand, named_file

_SET = "set"
_CONFIG_READS = (
    "--blob",
    "--get",
    "--get-all",
    "--get-color",
    "--get-colorbool",
    "--get-regexp",
    "--get-urlmatch",
    "--global",
    "--list",
    "--system",
)
_CONFIG_VERBS = ("edit", "remove-section", "rename-section", "set", "unset")
_CONFIG_WITH_VALUE = ("--default", "--file", "--type", "-f")
_REMOTE_WRITES = ("add", "remove", "rename", "rm", "set-branches", "set-url")
_UPSTREAMS = ("--move", "--set-upstream", "--set-upstream-to", "--unset-upstream")
_UPSTREAMS = ("--move", "--set-upstream", "--set-upstream-to", "--unset-upstream")
_TRACKERS = ("branch", "checkout", "fetch", "pull", "push", "switch", "worktree")
_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "gc": ("gc.",),
    "init": ("core.", "extensions."),
    "lfs": ("filter.lfs.", "lfs."),
    "maintenance": ("maintenance.",),
    "sparse-checkout": ("core.", "extensions.", "index."),
    "submodule": ("submodule.",),
    "submodule--helper": ("submodule.",),
}
_LFS_HOOKS = ("post-checkout", "post-commit", "post-merge", "pre-push")
_SCRIPTS = ("filter-branch", "mergetool", "request-pull", "submodule")


def config_changes(case: Case, commands: tuple[TracedCommand, ...]) -> Changes:
    """Keys that were set, changed or unset; *commands* are the attempt's, wherever they ran."""
    marked: list[Change] = []
    unmarked: list[Change] = []
    before, after = case.before.config, case.after.config
    for file in sorted(before.keys() | after.keys()):
        if before.get(file) == after.get(file):
            continue
        path = case.repository.git_dir / file
        able = [command for command in commands if _writes_file(command, path, case)]
        own: list[Change] = []
        others: list[Change] = []
        for key, was, now in _changed_keys(case.repository.git, before.get(file), after.get(file)):
            how = _first(able, partial(_sets_key, key=key, branches=case.branches))
            change = Change("config", f"{file} {key}".strip(), was, now, how or "no trace")
            (own if how else others).append(change)
        swap = None if others else Swap(path, before.get(file), after.get(file))
        marked += (replace(change, swap=swap) for change in own)
        unmarked += others
    return Changes(tuple(marked), tuple(unmarked))


def hook_changes(case: Case) -> Changes:
    """Files of the hooks folder that were made, changed or removed."""
    marked: list[Change] = []
    unmarked: list[Change] = []
    before, after = case.before.hooks, case.after.hooks
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name), after.get(name)
        if was == now:
            continue
        how = case.traced(partial(_writes_hook, name=name, was=was))
        (marked if how else unmarked).append(Change("hooks", name, was, now, how or "no trace"))
    return Changes(tuple(marked), tuple(unmarked))


def _changed_keys(
    git: Git, before: bytes | None, after: bytes | None
) -> list[tuple[str, str | None, str | None]]:
    """Keys that differ, with `set` or None for before and after; an empty key for comments."""
    try:
        was, now = _parse_config(git, before), _parse_config(git, after)
    except GitFailed:
        return [("", _SET if before is not None else None, _SET if after is not None else None)]
    keys = sorted(key for key in was.keys() | now.keys() if was.get(key) != now.get(key))
    return [(key, _SET if key in was else None, _SET if key in now else None) for key in keys] or [
        ("", _SET, _SET)
    ]


def _parse_config(git: Git, data: bytes | None) -> dict[str, list[str]]:
    listing = git.run("config", "--file", "-", "--list", "-z", stdin=data or b"").out
    values: dict[str, list[str]] = {}
    for item in listing.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        key, _, value = item.partition("\n")
        values.setdefault(key, []).append(value)
    return values


def _writes_file(command: TracedCommand, path: Path, case: Case) -> bool:
    """Whether a command works on the configuration file *path*."""
    if command.failed:
        return False
    named = _option_value(command.args, "-f", "--file") if command.name == "config" else None
    if named is not None:
        return named_file(command, named) == path
    return command in case.commands


def _sets_key(command: TracedCommand, key: str, branches: frozenset[str]) -> bool:
    words = command.args
    if command.name == "config":
        return _config_sets(words, key)
    if command.name == "remote":
        return _remote_sets(words, key)
    if command.name in _TRACKERS and key.startswith("branch."):
        return _tracks(words, key.split(".", 1)[1].rpartition(".")[0], branches)
    return key.startswith(_SECTIONS.get(command.name, ()))


def _config_sets(words: tuple[str, ...], key: str) -> bool:
    options, names = _options_and_names(words)
    if has_flag(options, "l", *_CONFIG_READS):
        return False
    verb = names.pop(0) if names and names[0] in _CONFIG_VERBS else ""
    if verb == "edit" or has_flag(options, "e", "--edit"):
        return True
    if "section" in verb or has_flag(options, "", "--rename-section", "--remove-section"):
        return any(key.startswith(f"{_folded(name)}.") for name in names)
    unsets = verb == "unset" or has_flag(options, "", "--unset", "--unset-all")
    return len(names) > (0 if unsets else 1) and _folded_key(names[0]) == key


def _options_and_names(words: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The options before the first name, and what follows; a value may look like an option."""
    rest = list(words)
    options = []
    while rest and rest[0].startswith("-"):
        options.append(rest.pop(0))
        if options[-1] in _CONFIG_WITH_VALUE and rest:
            rest.pop(0)
    if rest and rest[0] in _CONFIG_VERBS:
        verb = rest.pop(0)
        more, rest = _options_and_names(tuple(rest))
        return [*options, *more], [verb, *rest]
    return options, rest


def _option_value(words: tuple[str, ...], *names: str) -> str | None:
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else next(iter(words[at + 1 :]), None)
    return None


def _folded(name: str) -> str:
    """A section as git lists it: the part before its first dot in lower case."""
    section, dot, rest = name.partition(".")
    return section.lower() + dot + rest


def _folded_key(name: str) -> str:
    section, dot, variable = _folded(name).rpartition(".")
    return section + dot + variable.lower()


def _remote_sets(words: tuple[str, ...], key: str) -> bool:
    verb, names = "".join(words[:1]), words[1:]
    if key.startswith("branch."):
        return verb in ("remove", "rename", "rm")
    return verb in _REMOTE_WRITES and any(key.startswith(f"remote.{name}.") for name in names)


def _tracks(words: tuple[str, ...], branch: str, branches: frozenset[str]) -> bool:
    """Whether the words lead to a branch, or to the one that the checkout stands on."""
    named = any(word == branch or word.endswith((f"/{branch}", f":{branch}")) for word in words)
    return named or (f"refs/heads/{branch}" in branches and has_flag(words, "umM", *_UPSTREAMS))


def _writes_hook(command: TracedCommand, name: str, was: str | None) -> bool:
    if command.failed:
        return False
    if command.name == "init":
        return was is None  # from a template, which overwrites nothing
    if command.name == "lfs":
        return name in _LFS_HOOKS
    return command.external and command.name not in _SCRIPTS


def _first(commands: list[TracedCommand], able: Callable[[TracedCommand], bool]) -> str | None:
    return next((f"traced: {command.text}" for command in commands if able(command)), None)
