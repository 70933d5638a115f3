"""What an agent is told: a role file filled with the story at hand.

Role files are Markdown with front matter and `${name}` places; a name that nothing fills is an
error, not an empty place. No prompt carries a signal alone on a line.
"""

import re
from collections.abc import Mapping
from string import Template

from qloop.agents.signals import hide_signals
from qloop.system.assets import read_asset
from qloop.system.errors import InternalFailure

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def render_role(role: str, values: Mapping[str, str]) -> str:
    """The prompt of a role. Raises InternalFailure for a place that *values* does not fill."""
    body = _FRONT_MATTER.sub("", read_asset("agents", f"{role}.md"), count=1).lstrip("\n")
    try:
        return hide_signals(Template(body).substitute(values))
    except (KeyError, ValueError) as exc:
        raise InternalFailure(
            f"the role {role!r} has a place that nothing fills: {exc}", where=f"agents/{role}.md"
        ) from exc


def bullet_list(items: list[str], empty: str) -> str:
    """Items as a Markdown list, or *empty* where there are none."""
    return "\n".join(f"- {item}" for item in items) if items else empty
