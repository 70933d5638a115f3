"""What an agent is told: its role's prompt filled with what is at hand.

A place that nothing fills is an error, and so is a value that has no place. No prompt carries a
signal alone on a line.
"""

from collections.abc import Mapping
from string import Template

from qloop.agents.roles import Role, load_role
from qloop.agents.signals import hide_signals
from qloop.system.assets import read_asset
from qloop.system.errors import InternalFailure

SCHEMA = "schema"
"""The place that takes the schema of a role's answer by itself."""


def render_role(role: str, values: Mapping[str, str]) -> str:
    """The prompt of a role. Raises InternalFailure where places and *values* are not the same."""
    return render_prompt(load_role(role), values)


def render_prompt(role: Role, values: Mapping[str, str]) -> str:
    """The same for a role that was loaded."""
    given = {**_schema(role), **values}
    missing = sorted(role.places - given.keys())
    unknown = sorted(given.keys() - role.places)
    if missing or unknown:
        told = [f"nothing fills ${{{name}}}" for name in missing]
        told += [f"it has no place for {name}" for name in unknown]
        raise InternalFailure(
            f"the role {role.name!r} cannot be rendered: {', '.join(told)}",
            where=f"agents/{role.name}.md",
        )
    return hide_signals(Template(role.body).substitute(given))


def bullet_list(items: list[str], empty: str) -> str:
    """Items as a Markdown list, or *empty* where there are none."""
    return "\n".join(f"- {item}" for item in items) if items else empty


def quoted(text: str) -> str:
    """Each line behind a bar: what it holds can neither end nor begin a part of a prompt."""
    return "\n".join(f"| {line}".rstrip() for line in text.splitlines())


def _schema(role: Role) -> dict[str, str]:
    if role.output is None:
        return {}
    return {SCHEMA: read_asset("schemas", f"{role.output}.schema.json").strip()}
