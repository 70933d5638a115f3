"""Which stories of a plan destroy something, by the commands that stand in them. Pure.

What an agent thinks up later is another matter: the gate before each tool judges that.
"""

import re
from collections.abc import Collection, Iterator

from qloop.plan.model import Json

_SIGNS = (
    (r"\brm\s+(?:-\w+\s+|--\w+\s+)*(?:-\w*[rR]\w*|--recursive)", "removes whole folders"),
    (r"\bfind\b[^\n;|]*\s-delete\b", "removes what it finds"),
    (r"\b(?:drop\s+(?:table|database|schema|column|view)|truncate\s+table)\b", "drops data"),
    (r"\bdelete\s+from\s+\S+\s*(?:;|[\"']|$)", "deletes all rows"),
    (r"\bgit\s+(?:\S+\s+)*?push\s+[^\n;|]*(?:--force|--mirror|--delete|\s-f\b)", "forces a push"),
    (r"\bgit\s+(?:filter-branch|filter-repo|rebase)\b", "rewrites history"),
    (r"\bgit\s+reset\s+[^\n;|]*--hard\b", "throws work away"),
    (r"\bgit\s+(?:branch\s+-D|tag\s+-d|clean\s+-\w*f)", "throws work away"),
    (r"\b(?:mkfs|wipefs|shred)\b", "destroys a device or a file for good"),
)
_KNOWN = tuple((re.compile(sign, re.IGNORECASE | re.MULTILINE), what) for sign, what in _SIGNS)


def find_destruction(story: Json) -> str | None:
    """What a story's commands destroy, with the command; None where they destroy nothing."""
    for command in _commands(story):
        for sign, what in _KNOWN:
            if sign.search(command):
                return f"it {what}: {' '.join(command.split())[:100]}"
    return None


def destructive_stories(stories: list[Json], declared: Collection[str]) -> dict[str, str]:
    """Why each destructive story is one, by id; *declared* are those that say so themselves."""
    found = {story["id"]: find_destruction(story) for story in stories}
    found |= {name: found.get(name) or "it says so itself" for name in declared}
    return {name: why for name, why in found.items() if why is not None}


def _commands(story: Json) -> Iterator[str]:
    for task in story.get("tasks") or ():
        yield from task.get("run") or ()
        yield from task.get("commands") or ()
    yield from story.get("verify") or ()
