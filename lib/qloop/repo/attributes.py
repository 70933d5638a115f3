"""Of the line's `.gitattributes`, what merges may obey: union, binary and text, nothing else.

A merge driver, a filter or a diff driver is a command that configuration names; whoever can write
the one or the other would choose what runs, so they do not count. Source: gitattributes(5).
"""

import os
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from qloop.repo.git import Git

NAME = ".gitattributes"

_NOTHING_ELSE = "* !merge !text !eol !crlf !filter !ident !working-tree-encoding"
"""Comes first: of attributes that a file in the merged trees might give, none is asked for."""


_MACRO = "[attr]"
_MACRO_NAME = re.compile(r"[A-Za-z0-9_.][-A-Za-z0-9_.]*")
_MERGE_VALUES = {"merge", "-merge", "!merge", "merge=union", "merge=binary", "merge=text"}
_TEXT_VALUES = {"text", "-text", "!text", "text=auto"}
_WILD = re.compile(r"([*?\[\]\\])")
_BLANKS = " \t\r\n"
_PATHS_PER_CALL = 500


def line_attributes(git: Git, line: str, paths: Iterable[str]) -> bytes:
    """The attributes that commit *line* gives to *paths*, as the file `info/attributes`."""
    entries: list[tuple[str, str]] = []
    wanted = sorted(_attribute_files(paths))
    for at in range(0, len(wanted), _PATHS_PER_CALL):
        part = wanted[at : at + _PATHS_PER_CALL]
        for field in git.fields("--literal-pathspecs", "ls-tree", "-z", line, "--", *part):
            words, _, path = field.partition("\t")
            mode, _, name = words.split(" ")
            if mode.startswith("100"):  # git follows no link here either
                entries.append((path, name))
    entries.sort(key=lambda entry: (entry[0].count("/"), entry[0]))
    kept = [_NOTHING_ELSE]
    macros = {"binary"}
    for path, name in entries:
        folder = path.removesuffix(NAME).rstrip("/")
        text = os.fsdecode(git.run("cat-file", "blob", name).out)
        kept += kept_lines(folder, text, macros)
    return b"".join(os.fsencode(line) + b"\n" for line in kept)


def kept_lines(folder: str, text: str, macros: set[str]) -> list[str]:
    """The lines of one attributes file of *folder* ("" is the root), made to work from the root.

    *macros* are the attributes that stand for others; those that the root defines are added.
    Attributes of no account are left out; another merge driver becomes git's own three-way merge.
    """
    kept: list[str] = []
    for line in text.removeprefix("\N{BYTE ORDER MARK}").split("\n"):
        pattern, rest = _split_pattern(line.strip(_BLANKS))
        if not pattern or pattern.startswith("!"):
            continue
        attributes = " ".join(_kept_attributes(rest.split(), macros))
        if pattern.startswith(_MACRO):
            macro = pattern.removeprefix(_MACRO)
            if not folder and _MACRO_NAME.fullmatch(macro):
                macros.add(macro)
                kept.append(f"{pattern} {attributes}")
        elif attributes:
            kept.append(f"{_quoted(_from_root(folder, pattern))} {attributes}")
    return kept


def _attribute_files(paths: Iterable[str]) -> set[str]:
    folders: set[PurePosixPath] = set()
    for path in paths:
        for folder in PurePosixPath(path).parents:
            if folder in folders:
                break
            folders.add(folder)
    return {str(folder / NAME) for folder in folders}


def _split_pattern(line: str) -> tuple[str, str]:
    """Pattern and the rest; a pattern with blanks is written like a string in C."""
    if line.startswith("#"):
        return "", ""
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"', line)
    if quoted is not None:
        return _unquoted(quoted.group(1)), line[quoted.end() :]
    words = re.split(f"[{_BLANKS}]+", line, maxsplit=1)
    return words[0], words[1] if len(words) > 1 else ""


def _kept_attributes(words: list[str], macros: set[str]) -> list[str]:
    kept: list[str] = []
    for word in words:
        name = word.lstrip("-!").partition("=")[0]
        if name == "merge":
            kept.append(word if word in _MERGE_VALUES else "!merge")
        elif (name == "text" and word in _TEXT_VALUES) or name in macros:
            kept.append(word)
    return kept


def _from_root(folder: str, pattern: str) -> str:
    if not folder:
        return pattern
    literal = _WILD.sub(r"\\\1", folder)
    if "/" in pattern.rstrip("/"):
        return f"/{literal}/{pattern.removeprefix('/')}"
    return f"/{literal}/**/{pattern}"


def _quoted(pattern: str) -> str:
    """As git reads it: quoted where blanks, quotes or control characters ask for it."""
    if re.fullmatch(r'[^\s"\x00-\x1f\x7f#\[][^\s"\x00-\x1f\x7f]*', pattern):
        return pattern
    return '"' + "".join(_octal(character) for character in pattern) + '"'


def _octal(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return f"\\{ord(character):03o}" if ord(character) < 0x20 or character == "\x7f" else character


_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _unquoted(text: str) -> str:
    """Undo C-style quoting; an octal escape is one byte."""

    def plain(match: re.Match[str]) -> str:
        code = match.group(1)
        if code[0] in "01234567":
            return os.fsdecode(bytes([int(code, 8) & 0xFF]))
        return _ESCAPES.get(code, code)

    raw = re.sub(r"\\([0-7]{3}|.)", plain, text, flags=re.DOTALL)
    return os.fsdecode(os.fsencode(raw))  # escaped bytes of one character are joined
