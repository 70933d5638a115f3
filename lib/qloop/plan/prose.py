"""A requirements document in free prose: its front matter, and the plan that somebody made of it.

Pure. What the front matter says holds, whatever the maker of the plan said.
Errors: Faults, with lines, for the document.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from qloop.plan.prd import in_order
from qloop.plan.prd_checks import find_plan_faults
from qloop.plan.prd_fault import LineFault, faults_error
from qloop.plan.prd_front import parse_front_matter, split_front_matter
from qloop.plan.prd_names import default_branch, prd_hash
from qloop.plan.prd_story import fresh_review
from qloop.plan.values import DEFAULT_MAX_ATTEMPTS, Json

STORY_FIELDS = (
    *("id", "title", "description", "acceptanceCriteria", "priority"),
    *("dependsOn", "tasks", "verify"),
)
"""What a plan's maker says of a story."""
TASK_FIELDS = ("id", "title", "description", "filePaths", "commands")
"""What it says of a task."""
PERSONS = ("runner", "model", "timeout")
"""What only a person says of a story; it stays when the plan is made anew."""


@dataclass(frozen=True, slots=True)
class Prose:
    """A document as a planner takes it."""

    path: str
    """As it stands in the plan."""
    text: str
    front: Json
    """The plan's fields that its front matter gives."""


def read_prose(text: str, path: str) -> Prose:
    """The document *text*. Raises Faults for one that is empty or whose front matter is wrong."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    source, body = split_front_matter(text)
    if body is None:
        raise faults_error([LineFault(1, "the front matter is never closed")], path)
    if not body.strip():
        raise faults_error([LineFault(1, "the document says nothing")], path)
    front = parse_front_matter(source)
    faults = list(front.faults)
    if "stories" in front.fields:
        told = "front matter: stories are for the planner to make"
        faults.append(LineFault(front.lines["stories"], told))
    document = {"branchName": default_branch(""), **front.fields, "stories": []}
    faults += find_plan_faults(document, front.lines, (), faults)
    if faults:
        raise faults_error(faults, path)
    return Prose(path, text, front.fields)


def assemble(prose: Prose, answer: Json, former: Json | None, *, now: str) -> Json:
    """The plan that *answer* makes of a document; *now* is the time of its making.

    *answer* has the fields of quantum.json that its maker may give, well formed. Of *former*, the
    plan that it takes the place of, stories keep what only a person says of them.
    """
    told = {name: value for name, value in answer.items() if value not in ("", [])}
    known = {story["id"]: story for story in (former or {}).get("stories", ())}
    fields: Json = {
        "branchName": default_branch(str(prose.front.get("project") or told.get("project") or "")),
        "createdAt": now,
        "progress": [],
        "codebasePatterns": [],
        **told,
        **prose.front,
        "prdPath": prose.path,
        "prdHash": prd_hash(prose.text.encode("utf-8", "surrogatepass")),
        "updatedAt": now,
        "stories": [_story(one, known.get(one["id"], {})) for one in answer["stories"]],
    }
    return in_order(fields)


def content_of(story: Json) -> Json:
    """What a plan's maker would have said of a story that stands in a plan."""
    tasks = [
        {name: task[name] for name in TASK_FIELDS if task.get(name) not in (None, "", [])}
        for task in story.get("tasks") or []
    ]
    told = {**story, "tasks": tasks}
    return {name: told[name] for name in STORY_FIELDS if told.get(name) not in (None, "", [])}


def _story(told: Json, former: Json) -> Json:
    persons = {name: former[name] for name in PERSONS if former.get(name) is not None}
    runs = {task.get("id"): task.get("run") or [] for task in former.get("tasks") or []}
    priority = told.get("priority", former.get("priority"))
    return {
        "id": told["id"],
        "title": told["title"],
        "description": told.get("description", ""),
        "acceptanceCriteria": told.get("acceptanceCriteria", []),
        **({} if priority is None else {"priority": priority}),
        "status": "pending",
        "dependsOn": told.get("dependsOn", []),
        "tasks": _tasks(told.get("tasks", []), runs),
        "verify": told.get("verify", []),
        **persons,
        "review": fresh_review(),
        "retries": {"attempts": 0, "maxAttempts": DEFAULT_MAX_ATTEMPTS, "failureLog": []},
    }


def _tasks(told: list[Json], runs: Mapping[str | None, list[str]]) -> list[Json]:
    taken = {task.get("id") for task in told}
    free = (name for name in map("T-{:03d}".format, range(1, 2 * len(told) + 1)))
    names = (name for name in free if name not in taken)
    return [_task(task, task.get("id") or next(names), runs) for task in told]


def _task(told: Json, task_id: str, runs: Mapping[str | None, list[str]]) -> Json:
    text = told.get("description")
    return {
        "id": task_id,
        "title": told["title"],
        **({"description": text} if text else {}),
        "filePaths": told.get("filePaths", []),
        "run": runs.get(task_id, []),
        "commands": told.get("commands", []),
        "status": "pending",
    }
