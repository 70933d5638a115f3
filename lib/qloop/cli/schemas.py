"""The JSON Schemas of qloop's files, by name."""

import json

from qloop.plan.model import Json


def read_schema(name: str) -> str:
    """The schema's text: `quantum`, `config` or `event`."""
    return json.dumps(_schema(name), indent=2, ensure_ascii=False) + "\n"


def _schema(name: str) -> Json:
    if name == "config":
        from qloop.run.config import config_schema

        return config_schema()
    if name == "event":
        from qloop.state.journal import event_schema

        return event_schema()
    from qloop.plan.schema import plan_schema

    return plan_schema()
