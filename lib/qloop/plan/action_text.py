"""The text of an action: a story of a plan as one file of an intent's `actions/`. Pure.

What `plan.actions` reads from it is the story again.
"""

import json
import re
from collections.abc import Iterator, Mapping

from qloop.plan.model import Json

_FENCE = re.compile(r"`{3,}")


def render_action(story: Json, numbers: Mapping[str, int], *, is_destructive: bool) -> str:
    """The action that a story is; *numbers* are those of all stories' actions, by their ids."""
    front = {
        "id": story["id"],
        "title": _line(story["title"]),
        "depends_on": [str(numbers[name]) for name in story.get("dependsOn") or ()],
        "priority": story.get("priority"),
        "test": list(story.get("verify") or ()),
        "runner": story.get("runner"),
        "destructive": is_destructive or None,
    }
    head = "".join(
        f"{key}: {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in front.items()
        if value not in (None, []) or key == "depends_on"
    )
    return f"---\n{head}---\n\n# {_line(story['title'])}\n\n" + "\n\n".join(_parts(story)) + "\n"


def _parts(story: Json) -> Iterator[str]:
    if (story.get("description") or "").strip():
        yield story["description"].strip()
    timeout = story.get("timeout")
    if timeout:
        yield f"**Timeout:** {timeout}"
    criteria = story.get("acceptanceCriteria") or ()
    if criteria:
        yield "**Acceptance criteria**\n\n" + "\n".join(f"- {_line(one)}" for one in criteria)
    for number, task in enumerate(story.get("tasks") or (), start=1):
        yield from _task(number, task, story)


def _task(number: int, task: Json, story: Json) -> Iterator[str]:
    yield f"## T-{number:03d}: {_line(task.get('title') or story['title'])}"
    if (task.get("description") or "").strip():
        yield task["description"].strip()
    paths = task.get("filePaths") or ()
    if paths:
        yield f"**Files:** {', '.join(f'`{path}`' for path in paths)}"
    for kind, commands in (("run", task.get("run")), ("verify", task.get("commands"))):
        for command in commands or ():
            yield _fenced(command, kind)


def _fenced(command: str, kind: str) -> str:
    longest = max((len(found) for found in _FENCE.findall(command)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}bash {kind}\n{command}\n{fence}"


def _line(text: str) -> str:
    return " ".join(text.split())
