"""Shell text taken apart, as far as bash's grammar tells it without being run. Pure.

What only a shell could know (a variable's value, what a command prints) stays unknown and is
said to be so. Source: bash(1), QUOTING, EXPANSION, REDIRECTION.
"""

import re
from dataclasses import dataclass, field

_OPERATORS = (
    *("&>>", "<<-", "<<<", "&&", "||", ";;", ">>", ">|", "<>", "<<", "&>", ">&", "<&", "|&"),
    *("|", ";", "&", "<", ">", "(", ")"),
)
_BLANK = " \t"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACED = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_HEREDOCS = ("<<", "<<-")
_KEYWORDS = (
    *("then", "do", "else", "elif", "if", "while", "until", "!", "{", "}", "time", "fi", "done"),
    *("for", "case", "esac", "select", "function", "in", "[[", "coproc"),
)
DEEPEST = 6
"""Substitutions within substitutions that are looked into."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a word: its text as it stands, or a variable's name, or unknown."""

    text: str = ""
    name: str = ""
    """The variable that it stands for."""
    known: bool = True
    wild: bool = False
    """Whether it is a sign that file names are matched with."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    parts: tuple[Part, ...]
    has_home: bool = False
    """Whether it begins with a `~` that stands for a home."""

    @property
    def text(self) -> str | None:
        """Its text, where no variable and no command has a part in it."""
        if any(not part.known or part.name for part in self.parts):
            return None
        return "".join(part.text for part in self.parts)

    @property
    def is_wild(self) -> bool:
        """Whether it is matched with file names."""
        return any(part.wild for part in self.parts)


@dataclass(slots=True)
class Command:
    """One simple command."""

    words: list[Word] = field(default_factory=list)
    redirects: list[tuple[str, Word]] = field(default_factory=list)
    body: str = ""
    """The text of its here-documents."""


@dataclass(slots=True)
class Script:
    """The commands in a text, in their order; those within substitutions come first."""

    commands: list[Command] = field(default_factory=list)
    chains: int = 0
    """How many signs join commands or group them."""
    unclear: str = ""
    """What keeps it from being wholly understood; empty where nothing does."""


def parse_script(text: str, depth: int = 0) -> Script:
    """The commands in a shell's text."""
    lexer = _Lexer(text.replace("\\\n", ""), depth)
    lexer.run()
    return lexer.script


class _Lexer:
    """One pass over a text."""

    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.script = Script()
        self.command = Command()
        self.awaited: str | None = None
        """The redirection that waits for its word."""
        self.heredocs: list[tuple[Command, str, bool]] = []

    def run(self) -> None:
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign in _BLANK or sign == "\r":
                self.at += 1
            elif sign == "\n":
                self.at += 1
                self._end_command(joined=bool(self.text[self.at :].strip()) and self._has_any())
                self._take_heredocs()
            elif sign == "#":
                self.at = self._until("\n", self.at)
            elif not self._take_operator():
                self._take_word()
        if self.heredocs:
            self._unclear("a here-document without its end")
        self._end_command(joined=False)

    def _has_any(self) -> bool:
        return bool(self.command.words or self.command.redirects) and not self.heredocs

    def _take_operator(self) -> bool:
        sign = next((one for one in _OPERATORS if self.text.startswith(one, self.at)), None)
        if sign is None:
            return False
        if sign in ("<", ">") and self.text.startswith("(", self.at + 1):
            return False  # a process substitution is a word
        self.at += len(sign)
        if sign[0] in "<>" or sign in ("&>", "&>>"):
            self.awaited = sign
        else:
            self._end_command(joined=True)
        return True

    def _end_command(self, *, joined: bool) -> None:
        if self.awaited is not None:
            self._unclear("a redirection to nothing")
            self.awaited = None
        self.script.chains += joined
        if self.command.words or self.command.redirects:
            self.script.commands.append(self.command)
            self.command = Command()

    def _take_word(self) -> None:
        start = self.at
        word = self._word()
        raw = self.text[start : self.at]
        if self.at < len(self.text) and self.text[self.at] in "<>" and raw.isdigit():
            return  # the number of a descriptor
        if self.awaited is None:
            text = word.text
            if not self.command.words and text in _KEYWORDS and raw == text:
                self._unclear(f"the keyword {text}")
                return
            self.command.words.append(word)
            return
        sign, self.awaited = self.awaited, None
        if sign in _HEREDOCS:
            is_plain = not any(quote in raw for quote in "'\"\\")
            self.heredocs.append((self.command, word.text or raw, is_plain))
        self.command.redirects.append((sign, word))

    def _take_heredocs(self) -> None:
        for command, end, is_plain in self.heredocs:
            lines: list[str] = []
            while self.at < len(self.text):
                stop = self._until("\n", self.at)
                line, self.at = self.text[self.at : stop], stop + 1
                if line.strip("\t") == end:
                    break
                lines.append(line)
            else:
                self._unclear("a here-document without its end")
            command.body += "".join(f"{line}\n" for line in lines)
            if is_plain:
                self._look_into(command.body)
        self.heredocs = []

    def _look_into(self, body: str) -> None:
        """The commands that are substituted in a here-document."""
        inner = _Lexer(f'"{body}"'.replace("'", " "), self.depth)
        if "`" in body or "$(" in body:
            inner.run()
            self.script.commands += inner.script.commands[:-1]
            self._unclear("a command in a here-document")

    def _word(self) -> Word:
        parts: list[Part] = []
        has_home = self.text.startswith("~", self.at)
        while self.at < len(self.text):
            sign = self.text[self.at]
            if sign in _BLANK or sign in "\r\n;&|()" or (sign in "<>" and not self._opens()):
                break
            parts += self._piece(sign)
        return Word(tuple(parts), has_home)

    def _opens(self) -> bool:
        """Whether a process substitution begins here."""
        return self.text.startswith("(", self.at + 1)

    def _piece(self, sign: str) -> list[Part]:
        self.at += 1
        if sign == "'":
            return [Part(self._take_until("'"))]
        if sign == '"':
            return self._double()
        if sign == "\\":
            self.at += 1
            return [Part(self.text[self.at - 1 : self.at])]
        if sign in "$`<>":
            return [self._expansion(sign)]
        if sign == "{" and self._braces():
            self._unclear("braces that make several words of one")
            return [Part(known=False)]
        return [Part(sign, wild=sign in "*?[")]

    def _braces(self) -> bool:
        inner = self.text[self.at : self._until("}", self.at)]
        return ("," in inner or ".." in inner) and " " not in inner

    def _double(self) -> list[Part]:
        parts: list[Part] = []
        while self.at < len(self.text):
            sign = self.text[self.at]
            self.at += 1
            if sign == '"':
                return parts
            if sign in "$`":
                parts.append(self._expansion(sign))
            elif sign == "\\" and self.text[self.at : self.at + 1] in '$`"\\':
                parts.append(Part(self.text[self.at : self.at + 1]))
                self.at += 1
            else:
                parts.append(Part(sign))
        self._unclear("a quote without its end")
        return parts

    def _expansion(self, sign: str) -> Part:
        """A variable, or what a command would print."""
        if sign == "`":
            self._substituted(self._take_until("`"))
            return Part(known=False)
        if self.text.startswith("(", self.at):
            self.at += 1
            self._substituted(self._take_balanced())
            return Part(known=False)
        for form in (_NAME, _BRACED):
            found = form.match(self.text, self.at)
            if found is not None:
                self.at = found.end()
                return Part(name=found.group(found.lastindex or 0))
        if self.text.startswith("{", self.at):
            self.at = self._until("}", self.at) + 1
        elif self.text[self.at : self.at + 1] in ("'", '"'):
            self._unclear("a quote with a $ before it")
        else:
            is_name = self.text[self.at : self.at + 1] in tuple("@*#?$!-0123456789")
            if not is_name:
                return Part(sign)
            self.at += 1
        return Part(known=False)

    def _substituted(self, text: str) -> None:
        self._unclear("a command within a command")
        if self.depth < DEEPEST:
            inner = parse_script(text, self.depth + 1)
            self.script.commands += inner.commands

    def _take_until(self, sign: str) -> str:
        stop = self.text.find(sign, self.at)
        if stop < 0:
            self._unclear("a quote without its end")
            stop = len(self.text)
        text, self.at = self.text[self.at : stop], stop + 1
        return text

    def _take_balanced(self) -> str:
        start, open_ = self.at, 1
        while self.at < len(self.text) and open_:
            sign = self.text[self.at]
            if sign == "'":
                self.at = self._until("'", self.at + 1)
            open_ += (sign == "(") - (sign == ")")
            self.at += 1
        if open_:
            self._unclear("a bracket without its end")
        return self.text[start : self.at - 1]

    def _until(self, sign: str, start: int) -> int:
        stop = self.text.find(sign, start)
        return len(self.text) if stop < 0 else stop

    def _unclear(self, what: str) -> None:
        self.script.unclear = self.script.unclear or what
