"""What must hold before a wave's stories are worked on. Pure."""

from qloop.plan.model import Plan


def unmet_precondition(plan: Plan, story_ids: list[str]) -> str:
    """Why these stories cannot be worked on now, in words; empty where they can."""
    passed = {story.id for story in plan.stories if story.status == "passed"}
    for story_id in story_ids:
        story = plan.story(story_id)
        if story is None:
            return f"{story_id} is not in the plan"
        if story.status != "in_progress":
            return f"{story_id} is {story.status}, not in_progress"
        waiting = [other for other in story.depends_on if other not in passed]
        if waiting:
            return f"{story_id} waits for {', '.join(waiting)}"
    return ""
