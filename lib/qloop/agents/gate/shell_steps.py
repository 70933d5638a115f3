"""The steps of a shell's text: each command with the places that its words mean.

Links are followed here, so that what decides compares values only. `cd` is followed, variables
have the values of the environment given, and what only starts another command (`sudo`, `env`,
`bash -c`) is looked through.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from qloop.agents.gate.places import resolve_path, resolve_pattern
from qloop.agents.gate.shell_text import DEEPEST, Command, Part, Word, parse_script

SHELLS = ("bash", "sh", "dash", "zsh", "ksh")
_STARTERS = {
    "sudo": "ugpCThRD",
    "doas": "uC",
    "env": "uCS",
    "nice": "n",
    "ionice": "cnp",
    "timeout": "sk",
    "stdbuf": "ioe",
    "xargs": "nIPLsdaE",
    **dict.fromkeys(("nohup", "command", "exec", "builtin", "setsid", "time", "busybox"), ""),
}
"""Commands that start the one after them, and which of their options take a word."""
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")


@dataclass(frozen=True, slots=True)
class Arg:
    """A word, and the places that it means as a path."""

    text: str | None
    """None where only a shell could know it."""
    path: str | None = None
    """Where it lies, resolved; of an option the path within it."""
    entry: str | None = None
    """The same where a link at its end is not followed."""
    tail: str | None = None
    """Where what stands after its first `=` lies."""
    there: bool = False
    """Whether there is something."""
    wild: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One command as it would be run."""

    words: tuple[Arg, ...]
    redirects: tuple[tuple[str, Arg], ...] = ()
    assigns: bool = False
    """Whether it sets variables."""
    is_fed: bool = False
    """Whether more words come from its input."""
    cwd: str | None = None
    """Where it is run; None where that is not known."""

    @property
    def program(self) -> str:
        """The last part of its first word; empty where that is not known."""
        text = self.words[0].text if self.words else None
        return text.rpartition("/")[2] if text else ""

    @property
    def args(self) -> tuple[Arg, ...]:
        """The words after the first."""
        return self.words[1:]

    @property
    def texts(self) -> tuple[str, ...]:
        """The same as text; what is not known is empty."""
        return tuple(one.text or "" for one in self.args)


@dataclass(frozen=True, slots=True)
class Errand:
    """All that one call of a shell would do."""

    text: str
    steps: tuple[Step, ...] = ()
    is_chained: bool = False
    unclear: str = ""


def take_apart(text: str, cwd: str, variables: Mapping[str, str], *, through: bool) -> Errand:
    """The steps of a text; *through*: with what its starters and shells start in their place."""
    walk = _Walk(cwd, dict(variables), through)
    walk.go(text, 0)
    return Errand(text, tuple(walk.steps), walk.is_chained or len(walk.steps) > 1, walk.unclear)


@dataclass(slots=True)
class _Walk:
    """Going through a text, with what is known on the way."""

    cwd: str | None
    variables: dict[str, str]
    through: bool
    steps: list[Step] = field(default_factory=list)
    is_chained: bool = False
    unclear: str = ""

    def go(self, text: str, depth: int) -> None:
        script = parse_script(text)
        self.is_chained = self.is_chained or script.chains > 0
        self.unclear = self.unclear or script.unclear
        for command in script.commands:
            self._command(command, depth)

    def _command(self, command: Command, depth: int) -> None:
        words, assigned = self._assigned(command.words)
        args = tuple(self._locate(word) for word in words)
        redirects = tuple((sign, self._locate(word)) for sign, word in command.redirects)
        step = Step(args, redirects, assigned, cwd=self.cwd)
        if self.through:
            step = _looked_through(step)
            inner = _inner(step, command.body)
            if inner is not None and depth < DEEPEST:
                self.steps.append(step)
                self.go(inner, depth + 1)
                return
        self.steps.append(step)
        if step.program in ("cd", "pushd"):
            self._change_folder(step.args)

    def _assigned(self, words: Sequence[Word]) -> tuple[Sequence[Word], bool]:
        """The words after the assignments, which are kept in mind where they stand alone."""
        count = 0
        for word in words:
            head = "".join(part.text for part in word.parts)
            found = _ASSIGNMENT.match(head)
            if found is None:
                break
            count += 1
            value = self._value(word)
            if count == len(words) and value is not None:
                self.variables[found.group(1)] = value[found.end() :]
            elif value is None:
                self.variables.pop(found.group(1), None)
        return words[count:], count > 0

    def _change_folder(self, args: Sequence[Arg]) -> None:
        wanted = [one for one in args if one.text not in ("-P", "-L", "--")]
        if not wanted:
            self.cwd = self.variables.get("HOME")
        else:
            self.cwd = None if wanted[0].wild or wanted[0].text == "-" else wanted[0].path

    def _value(self, word: Word) -> str | None:
        texts = [self._part(part) for part in word.parts]
        return None if None in texts else "".join(text or "" for text in texts)

    def _part(self, part: Part) -> str | None:
        if part.name == "PWD" and self.cwd is not None:
            return self.cwd
        if part.name:
            return self.variables.get(part.name)
        return part.text if part.known else None

    def _locate(self, word: Word) -> Arg:
        text = self._value(word)
        if text is None:
            return Arg(None)
        plain = text if word.has_home or not text.startswith("~") else f"./{text}"
        if text.startswith("-"):
            plain = _within_option(text)
        path = self._resolve(plain, is_wild=word.is_wild)
        tail = self._resolve(text.partition("=")[2], is_wild=word.is_wild)
        there = path is not None and os.path.lexists(path)
        entry = None if path is None or word.is_wild else self._entry(plain)
        return Arg(text, path, entry or path, tail, there, word.is_wild)

    def _entry(self, text: str) -> str | None:
        above, _, name = text.rpartition("/")
        if name in ("", ".", "..") or (text.startswith("~") and not above):
            return None
        folder = self._resolve(f"{above}/" if "/" in text else ".", is_wild=False)
        return None if folder is None else f"{folder.rstrip('/')}/{name}"

    def _resolve(self, text: str, *, is_wild: bool) -> str | None:
        if not text or (self.cwd is None and not text.startswith(("/", "~"))):
            return None
        try:
            where = self.cwd or "/"
            return resolve_pattern(text, where) if is_wild else resolve_path(text, where)
        except (ValueError, OSError):
            return None


def _within_option(text: str) -> str:
    """The path that an option carries: after its `=`, or from the first sign of one on."""
    if "=" in text:
        return text.partition("=")[2]
    starts = [at for at in (text.find("/"), text.find("~"), text.find("..")) if at > 0]
    return text[min(starts) :] if starts else ""


def _looked_through(step: Step) -> Step:
    """The command that a step starts in the end."""
    words, is_fed = step.words, step.is_fed
    while words and (name := _name(words[0])) in _STARTERS:
        words = _after_options(words[1:], _STARTERS[name])
        is_fed = is_fed or name == "xargs"
        if name == "timeout":
            words = words[1:]
        while name in ("env", "sudo") and words and _ASSIGNMENT.match(words[0].text or ""):
            words = words[1:]
    return Step(words, step.redirects, step.assigns, is_fed, step.cwd)


def _after_options(words: tuple[Arg, ...], valued: str) -> tuple[Arg, ...]:
    while words and (words[0].text or "").startswith("-"):
        text = words[0].text or ""
        takes_next = len(text) == 2 and text[1] in valued
        words = words[2 if takes_next else 1 :]
        if text == "--":
            break
    return words


def _inner(step: Step, body: str) -> str | None:
    """The text that a step has a shell run; None where it has not."""
    texts = [one.text for one in step.args]
    if step.program == "eval":
        return None if None in texts else " ".join(text or "" for text in texts)
    if step.program not in SHELLS:
        return None
    for at, text in enumerate(texts):
        if text is None or not text.startswith("-"):
            return None
        if "c" in text[1:] and not text.startswith("--"):
            return next((one for one in texts[at + 1 :] if not (one or "-").startswith("-")), None)
    return body or None


def _name(word: Arg) -> str:
    return (word.text or "").rpartition("/")[2]
