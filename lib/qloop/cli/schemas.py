"""The JSON Schemas of qloop's files, by name."""

from qloop.plan.model import Json
from qloop.plan.schema import plan_schema, render_schema

PHASE = "phase-"
"""How the names of the schemas of phase events begin."""


def read_schema(name: str) -> str:
    """The text of the schema of that name, one of those that `qloop schema` lists."""
    return render_schema(_schema(name))


def _schema(name: str) -> Json:
    if name == "config":
        from qloop.run.config import config_schema

        return config_schema()
    if name == "event":
        from qloop.state.event_schema import event_schema

        return event_schema()
    if name == "review":
        from qloop.agents.review import review_schema

        return review_schema()
    if name == "plan":
        from qloop.agents.plan_answer import plan_answer_schema

        return plan_answer_schema()
    if name == "facts":
        from qloop.state.codebase import facts_schema

        return facts_schema()
    if name.startswith(PHASE):
        from qloop.state.phase_events import phase_event_schema

        return phase_event_schema(name.removeprefix(PHASE))
    from qloop.agents.role_answers import ROLE_ANSWERS, role_answer_schema

    return role_answer_schema(name) if name in ROLE_ANSWERS else plan_schema()
