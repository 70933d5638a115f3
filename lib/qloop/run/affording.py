"""Which stories there is money for: something is reserved for each before it is handed out."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from qloop.plan.model import Story
from qloop.run.choosing import paid_agents
from qloop.run.dispatch import Counter
from qloop.run.opening import Opened
from qloop.run.orders import Reserved
from qloop.run.purse import RAISE_IT, Call
from qloop.state.budget import Refused


@dataclass(slots=True)
class Afforded:
    """What came of asking for some stories."""

    granted: dict[str, tuple[Reserved, ...]] = field(default_factory=dict)
    """The stories that may start, in order, and what is reserved for their agents."""
    stopped: dict[str, str] = field(default_factory=dict)
    """Those whose own budget has nothing left, and why."""
    refused: Refused | None = None
    """Why the others may not start now: the run's budget."""


def afford(opened: Opened, stories: Sequence[Story], counter: Counter) -> Afforded:
    """Reserve for each story's agents, in order, up to the first that the run cannot pay."""
    found = Afforded()
    for story in stories:
        reserved = opened.purse.reserve(_calls(opened, story, counter))
        if not isinstance(reserved, Refused):
            found.granted[story.id] = reserved
        elif reserved.scope == "story":
            found.stopped[story.id] = f"{reserved.text}; {RAISE_IT}"
        else:
            found.refused = reserved
            break
    return found


def _calls(opened: Opened, story: Story, counter: Counter) -> list[Call]:
    """The agents that the story's next attempt will want: its implementer and its reviewers."""
    number = counter.peek(story.id)
    agents = paid_agents(opened.chooser.choose(story))
    return [Call(*agent, story=story.id, attempt=number) for agent in agents]
