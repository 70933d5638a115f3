"""What the agents of a phase are told of the mission. Pure."""

from qloop.agents.prompt import bullet_list, quoted
from qloop.mission.phase_order import MissionContext

_TITLES = ("Constraints", "Known patterns", "Known gotchas", "What the person prefers")


def mission_text(context: MissionContext) -> str:
    """Directive, autonomy, constraints, warmth and phases before, as a part of a prompt."""
    warmth = context.warmth
    groups = (
        context.constraints,
        warmth.patterns,
        warmth.gotchas,
        warmth.user_preferences,
    )
    lists = [
        f"{title}:\n\n{bullet_list(list(items), '')}"
        for title, items in zip(_TITLES, groups, strict=True)
        if items
    ]
    prior = [f"{one.phase}: {one.summary}" for one in context.prior_phases]
    if prior:
        lists.append(f"Phases before this one:\n\n{bullet_list(prior, '')}")
    head = f"{quoted(context.directive)}\n\nAutonomy: {context.autonomy}."
    return "\n\n".join([head, *lists])
