"""What a planner is told: the document, and the plan that there is."""

import json

from qloop.agents.prompt import quoted, render_role
from qloop.plan.model import Json
from qloop.plan.prose import Prose, content_of

PLANNER = "planner"
"""The role of an agent that makes plans."""

_TOP = ("project", "description", "setupCommands", "testCommand", "qualityCommands")


def render_planner(prose: Prose, former: Json | None, previous: str = "", mission: str = "") -> str:
    """A planner's prompt; *former* is the plan that is to be brought up to date.

    *mission* is what it is told of the mission that the plan is for.
    """
    values = {
        "prd_path": prose.path,
        "prd": quoted(prose.text),
        "former": "" if former is None else _former_text(former),
        "mission": mission,
        "previous": previous,
    }
    return render_role(PLANNER, values)


def _former_text(former: Json) -> str:
    stories = [
        {**content_of(story), "status": story.get("status", "pending")}
        for story in former["stories"]
    ]
    top = {name: former[name] for name in _TOP if former.get(name)}
    text = json.dumps({**top, "stories": stories}, indent=1, ensure_ascii=False)
    return (
        "## The plan as it stands\n\n"
        "An earlier state of the document was planned, and worked on. Give a story again word for "
        "word, under its id, where the document still asks for the same: what was done of it is "
        "kept then. Change, add or leave out stories only where the document has changed; a new "
        "one gets an id that none had. Leave out `status`, which is not yours to say.\n\n"
        f"{quoted(text)}"
    )
