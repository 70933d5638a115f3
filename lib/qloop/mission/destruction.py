"""Which stories of a plan destroy something, by the commands that stand in them. Pure.

What an agent thinks up later is another matter: the gate before each tool judges that.
"""

import re
from collections.abc import Collection, Iterator

from qloop.plan.model import Json

_LOSES = "throws work away"
_GIT = r"\bgit\s+(?:-[Cc]\s+\S+\s+|--\S+\s+)*"
_SAME = r"[^\n;|&]*"  # up to the end of the same command
_SIGNS = (
    (rf"\brm\s(?:{_SAME}\s)?(?:-\w*[rR]\w*|--recursive\b)", "removes whole folders"),
    (r"\brmtree\s*\(", "removes whole folders"),
    (rf"\bfind\b{_SAME}\s(?:-delete|-exec(?:dir)?\s+rm)\b", "removes what it finds"),
    (rf"\bxargs\b{_SAME}\srm\b", "removes what it finds"),
    (r"\b(?:drop\s+(?:table|database|schema|column|view)|truncate\s+table)\b", "drops data"),
    (r"\bdelete\s+from\s+\S+\s*(?:;|[\"']|$)", "deletes all rows"),
    (r"\b(?:dropdb|db:drop|dropDatabase|flushall|flushdb)\b", "drops data"),
    (
        rf"{_GIT}push\b{_SAME}\s(?:--force|--mirror|--delete|--prune|-\w*[fd]\w*\b|[+:]\S)",
        "forces a push",
    ),
    (rf"{_GIT}(?:filter-branch|filter-repo|rebase|reflog\s+expire)\b", "rewrites history"),
    (rf"{_GIT}(?:reset\b{_SAME}\s--hard|update-ref\s+-d|stash\s+(?:drop|clear))\b", _LOSES),
    (rf"{_GIT}(?:branch\b{_SAME}\s(?-i:-\w*D)|tag\b{_SAME}\s(?:-d|--delete))", _LOSES),
    (rf"{_GIT}(?:branch\b{_SAME}\s--force|clean\b{_SAME}\s(?:-\w*f|--force))", _LOSES),
    (r"\b(?:terraform|tofu|pulumi)\s+destroy\b|\bkubectl\s+delete\b", "destroys what runs"),
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
