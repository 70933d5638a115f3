"""Names that git must accept. Pure. Source: git-check-ref-format(1), git-branch(1)."""

import re

from qloop.plan.values import STORY_ID

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]")


def is_story_id(text: str) -> bool:
    """Whether *text* is safe as a story's id: in refs, folders and branches."""
    return re.fullmatch(STORY_ID, text) is not None


def find_branch_danger(name: str) -> str | None:
    """Why *name* cannot name a branch (`refs/heads/<name>`), or None where it can."""
    bad = _FORBIDDEN.search(name)
    if bad is not None:
        return f"holds the character {bad.group()!r}"
    if not is_encodable(name):
        return "holds half of a surrogate pair"
    if name in ("", "@", "HEAD"):
        return "names no branch"
    if name.startswith("-"):
        return "begins with '-'"
    for piece in ("..", "@{", "//"):
        if piece in name:
            return f"holds {piece!r}"
    if name.startswith("/") or name.endswith(("/", ".")):
        return "begins with '/', or ends with '/' or '.'"
    return _find_part_danger(name.split("/"))


def is_encodable(text: str) -> bool:
    """Whether a text can be written as UTF-8: half a surrogate pair, which JSON lets in, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _find_part_danger(parts: list[str]) -> str | None:
    for part in parts:
        if part.startswith("."):
            return f"has the part {part!r} that begins with '.'"
        if part.endswith(".lock"):
            return f"has the part {part!r} that ends with '.lock'"
    return None
