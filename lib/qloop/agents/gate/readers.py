"""Commands that only read: which they are, and which of their options do more than that. Pure."""

from qloop.agents.gate.shell_steps import Step

_PLAIN = (
    *("ls", "cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "du", "df", "pwd", "echo"),
    *("printf", "which", "basename", "dirname", "realpath", "readlink", "cut", "tr", "nl"),
    *("diff", "cmp", "comm", "uname", "jq", "true", "test", "[", "column", "od", "md5sum"),
    *("sha1sum", "sha256sum", "stat", "tac", "fold", "expand", "join", "paste", "seq", "id"),
)
_REFUSED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_PLAIN, ()),
    "find": ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint"),
    "rg": ("--pre", "--hostname-bin"),
    "sort": ("--o", "--co", "--t"),
    "tree": (),
}
"""What they are not to be told, by how it begins."""

_LETTERS = {"sort": "oT", "tree": "oR"}
"""Options of one letter that they are not to be told."""

_GIT = (
    *("log", "show", "diff", "status", "blame", "grep", "ls-files", "ls-tree", "cat-file"),
    *("rev-parse", "rev-list", "merge-base", "describe", "shortlog", "for-each-ref", "name-rev"),
    *("diff-tree", "show-ref", "count-objects", "whatchanged", "version", "check-ignore"),
)
_GIT_LISTS = {
    "branch": ("--show-current", "--list", "-a", "--all", "-r", "-v", "-vv"),
    "remote": ("-v",),
    "tag": ("-l", "--list"),
    "stash": ("list",),
    "worktree": ("list", "--porcelain"),
}
"""Commands that read where they are told nothing else."""
_GIT_GLOBAL = ("--no-pager", "--no-optional-locks", "--literal-pathspecs", "--version")
_GIT_REFUSED = ("--ext-diff", "--textconv", "--open-files-in-pager", "--filters", "--exec")


def find_fault(step: Step) -> str:
    """What about a command is more than reading; empty where nothing is."""
    name = step.words[0].text or ""
    if name == "git":
        return _git_fault(step)
    if name == "sed":
        return _sed_fault(step.texts)
    if name == "uniq":
        named = [text for text in step.texts if not text.startswith("-")]
        return "uniq with a file to write" if len(named) > 1 else ""
    refused = _REFUSED.get(name)
    if refused is None:
        return f"{name} is not among the commands that only read"
    letters = _LETTERS.get(name, "")
    bad = [text for text in step.texts if text.startswith(refused) or _has_letter(text, letters)]
    return f"{name} with {bad[0]}" if bad else ""


def _has_letter(text: str, letters: str) -> bool:
    """Whether it is a bundle of options of one letter, one of *letters* among them."""
    return text[:1] == "-" != text[1:2] and any(letter in text for letter in letters)


def git_command(step: Step) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Of a call of git: its command, the options before it, and the words after it."""
    texts = step.texts
    at = 0
    while at < len(texts) and texts[at].startswith("-"):
        at += 2 if texts[at] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace") else 1
    return texts[at] if at < len(texts) else "", texts[:at], texts[at + 1 :]


def _git_fault(step: Step) -> str:
    command, before, after = git_command(step)
    strange = [
        text
        for text, former in zip(before, ("", *before), strict=False)
        if text not in (*_GIT_GLOBAL, "-C") and former != "-C"
    ]
    if strange:
        return f"git with {strange[0]} before its command"
    if command in _GIT_LISTS and set(after) <= set(_GIT_LISTS[command]) and _lists(command, after):
        return ""
    if command not in _GIT and before != ("--version",):
        return f"git {command} is not among the commands that only read"
    letters = "O" if command == "grep" else ""
    bad = [
        text
        for text in after
        if text.startswith(_GIT_REFUSED) or _is_output(text) or _has_letter(text, letters)
    ]
    return f"git {command} with {bad[0]}" if bad else ""


def _lists(command: str, after: tuple[str, ...]) -> bool:
    return bool(after) or command not in ("stash", "worktree")


def _is_output(text: str) -> bool:
    """Whether it is `--output`, or as much of it as git needs to know it by."""
    name = text.partition("=")[0]
    return len(name) > 3 and "--output".startswith(name)


def _sed_fault(texts: tuple[str, ...]) -> str:
    """Only `sed -n 3,9p FILE` reads for certain."""
    script = texts[1] if len(texts) > 1 and texts[0] == "-n" else ""
    lines, is_print = script[:-1].replace(",", "", 1), script.endswith("p")
    if not is_print or not lines.replace("$", "", 1).isdigit():
        return "sed with more than `-n LINES p`"
    more = [text for text in texts[2:] if text.startswith("-")]
    return f"sed with {more[0]}" if more else ""
