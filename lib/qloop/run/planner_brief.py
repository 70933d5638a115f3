"""What a planner is told: the document, the plan that there is, and why its last answer failed."""

import json
from collections.abc import Sequence

from qloop.agents.prompt import bullet_list, render_role
from qloop.plan.model import Json
from qloop.plan.prose import Prose, content_of

PLANNER = "planner"
"""The role of an agent that makes plans."""
MOST_QUOTED = 40_000
"""How many characters of an answer it is shown again, from the end."""
MOST_TOLD = 50
"""How many faults it is told of at once."""

_TOP = ("project", "description", "setupCommands", "testCommand", "qualityCommands")


def render_planner(prose: Prose, former: Json | None, previous: str = "") -> str:
    """A planner's prompt; *former* is the plan that is to be brought up to date."""
    values = {
        "prd_path": prose.path,
        "prd": _quoted(prose.text),
        "former": "" if former is None else _former_text(former),
        "previous": previous,
    }
    return render_role(PLANNER, values)


def previous_text(faults: Sequence[str], answer: str) -> str:
    """What a planner is told of an answer that cannot be used."""
    more = [f"and {len(faults) - MOST_TOLD} more"] if len(faults) > MOST_TOLD else []
    shown = answer.strip()[-MOST_QUOTED:]
    was = f"It was:\n\n{_quoted(shown)}" if shown else "There was none."
    return (
        "## The last answer cannot be used\n\n"
        f"{bullet_list([*faults[:MOST_TOLD], *more], '')}\n\n{was}\n\n"
        "Put all of that right, and answer with the whole plan."
    )


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
        f"{_quoted(text)}"
    )


def _quoted(text: str) -> str:
    """Each line behind a bar: what it holds can neither end nor begin a part."""
    return "\n".join(f"| {line}".rstrip() for line in text.splitlines())
