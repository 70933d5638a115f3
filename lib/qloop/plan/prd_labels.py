"""Labels such as `**Depends on:** US-001`, and the ids at the start of headings and items.

Text in, values out. A label counts at the start of a line; further ones may follow on the same
line. Without a colon it counts only when what follows is a list of single words, so that
`**Files** are stored in a bucket` stays prose.
"""

import re
from dataclasses import dataclass

DEPENDS = "depends on"
PRIORITY = "priority"
FILES = "files"
RUNNER = "runner"
MODEL = "model"
TIMEOUT = "timeout"
CRITERIA = "acceptance criteria"
TASKS = "tasks"

LIST_LABELS = (CRITERIA, TASKS)
VALUE_LISTS = (DEPENDS, FILES)
LABELS = (DEPENDS, PRIORITY, FILES, RUNNER, MODEL, TIMEOUT, CRITERIA, TASKS)

ID = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"

_NOTHING = ("", "-", "–", "—", "none", "n/a")  # noqa: RUF001 -- dashes that people type
_NAMES = "|".join(name.replace(" ", r"[ \t]+") for name in LABELS)
_LABEL = re.compile(rf"(\*\*|__)[ \t]*({_NAMES})[ \t]*(:?)[ \t]*\1[ \t]*(:?)", re.IGNORECASE)
_CODE = re.compile(r"`+([^`]+)`+")
_LINK = re.compile(r"\[([^][]*)\]\([^()]*\)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_SEPARATOR = re.compile(r"[ \t]*[,;][ \t]*(?:and[ \t]+)?|(?:^|[ \t]+)and(?:[ \t]+|$)")
_REMARK = re.compile(r"[ \t]+[—–(-].*|:[ \t].*")  # noqa: RUF001 -- dashes that people type
_LEADING_TAGS = re.compile(r"^(?:</?[A-Za-z][^<>]*>[ \t]*)+")
_WITH_ID = re.compile(rf"^[*_`]*({ID})[*_`]*[ \t]*[:：]([*_`]*[ \t]+|[*_`]*$|)(.*)$")  # noqa: RUF001
_CHECKBOX = re.compile(r"^\[[ xX]\](?:[ \t]+|$)")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a paragraph: a label with its value, or (label None) plain text."""

    label: str | None
    text: str
    number: int


def parse_lines(text: str, first: int) -> list[Line]:
    """The lines of a paragraph, which starts at line *first*, with their labels read.

    A list of values goes on in the next line if it ends with a comma or has not begun.
    """
    lines: list[Line] = []
    for number, raw in enumerate(text.split("\n"), start=first):
        found = _labels_of(raw.strip(), number)
        if found:
            lines.extend(found)
        elif lines and _goes_on(lines[-1], raw):
            last = lines[-1]
            lines[-1] = Line(last.label, f"{last.text} {_value(raw)}".strip(), last.number)
        else:
            lines.append(Line(None, raw.strip(), number))
    return lines


def starts_with_label(text: str) -> bool:
    """Whether the first line of a paragraph is a label."""
    return bool(_labels_of(text.split("\n", 1)[0].strip(), 0))


def label_of_heading(text: str) -> str | None:
    """The label of a list that a heading consists of, such as `Tasks`, or None."""
    words = " ".join(text.strip("*_ \t").rstrip(":").strip("*_ \t").lower().split())
    return words if words in (*LIST_LABELS, *VALUE_LISTS) else None


def split_values(text: str) -> list[str]:
    """The values of a list such as `` `a.py`, b.py and c.py``; none for "none" or a dash.

    Backticks are stripped. Of a value in backticks nothing else counts; of another one a remark
    after a dash, a colon or an opening parenthesis is left out.
    """
    pieces = _CODE.split(_LINK.sub(r"\1", text))
    pieces[::2] = [_SEPARATOR.sub("\0", piece) for piece in pieces[::2]]
    pieces[1::2] = [f"`{piece}`" for piece in pieces[1::2]]
    values = []
    for part in "".join(pieces).split("\0"):
        codes = [code.strip() for code in _CODE.findall(part)]
        plain = _ESCAPE.sub(r"\1", _REMARK.sub("", part.strip())).strip()
        values.extend(codes or [plain])
    return [value for value in values if not _is_nothing(value)]


def are_words(text: str) -> bool:
    """Whether a text is a list of values none of which has a blank in it."""
    return not any(re.search(r"\s", value) for value in split_values(text))


def single_value(text: str) -> str | None:
    """The one value of a label without its backticks; None for an empty one, "none" or a dash."""
    value = _ESCAPE.sub(r"\1", text.strip().strip("`").strip())
    return None if _is_nothing(value) else value


def parse_id(text: str) -> tuple[str, str] | None:
    """Id and title of `US-001: Title`; None unless an id with a digit in it and a colon lead.

    Emphasis and backticks around the id do not matter. Without a blank after the colon the id
    must have a letter, so that `10:30` is none.
    """
    text = plain_heading(text)
    match = _WITH_ID.match(text)
    if match is None:
        return None
    found, gap, title = match.groups()
    if not re.search("[0-9]", found) or (not gap and title and found.isdigit()):
        return None
    return found, _close_emphasis(title.strip())


def plain_heading(text: str) -> str:
    """A heading's text without anchors before it, links and emphasis around the whole."""
    text = _LEADING_TAGS.sub("", " ".join(text.split()))
    text = _ESCAPE.sub(lambda match: match[1] if match[1] in "-_:" else match[0], text)
    text = _LINK.sub(r"\1", text)
    for mark in ("**", "__"):
        inner = text.removeprefix(mark).removesuffix(mark)
        if len(text) - len(inner) == 2 * len(mark) and mark not in inner:
            return inner.strip()
    return text


def without_checkbox(text: str) -> str:
    """An item's text without a leading `[ ]` or `[x]`."""
    return _CHECKBOX.sub("", text.strip())


def _labels_of(line: str, number: int) -> list[Line]:
    matches = list(_LABEL.finditer(line))
    if not matches:
        return []
    ends = [match.start() for match in matches[1:]] + [len(line)]
    kept = [
        match
        for match, end in zip(matches, ends, strict=True)
        if _counts(match, line[match.end() : end])
    ]
    if not kept or kept[0].start() != 0:
        return []
    ends = [match.start() for match in kept[1:]] + [len(line)]
    return [
        Line(
            " ".join(match[2].lower().split()),
            _value(line[match.end() : end]),
            number,
        )
        for match, end in zip(kept, ends, strict=True)
    ]


def _counts(match: re.Match[str], value: str) -> bool:
    if match[3] or match[4] or not value.strip():
        return True
    if match[2].lower().split() in [name.split() for name in LIST_LABELS]:
        return False
    return are_words(value)


def _goes_on(line: Line, following: str) -> bool:
    return line.label in VALUE_LISTS and (
        line.text.endswith(",") or (not line.text and are_words(following))
    )


def _value(text: str) -> str:
    """A label's value without the line break mark or the separator that stands behind it."""
    return re.sub(r"(?:[ \t]*\\|[ \t|;·]+|[ \t]+[—–])$", "", text.strip()).strip()  # noqa: RUF001


def _is_nothing(value: str) -> bool:
    # A dot alone names the whole repository.
    return value != "." and value.lower().rstrip(".") in _NOTHING


def _close_emphasis(title: str) -> str:
    """*title* without an emphasis mark whose partner stood around the id."""
    for mark in ("**", "__"):
        if title.count(mark) % 2:
            title = title.removesuffix(mark).strip()
    return title
