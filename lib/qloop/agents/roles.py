"""Roles: what an agent is there for. Each is a Markdown file with front matter in `agents/`.

The front matter is plain `key: value` lines, so that agent command lines can read it as well;
below it stands the prompt, with `${name}` for what is filled in.
Errors: InternalFailure for a role file that is missing or not of this form.
"""

import re
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Literal, get_args

from qloop.system.assets import asset_path, read_asset
from qloop.system.errors import InternalFailure

IMPLEMENTER = "implementer"
ORCHESTRATOR = "orchestrator"

Tier = Literal["small", "standard", "large"]
"""How strong a model the role wants: of several models the first, the one whose turn it is, or
the last."""

_FORM = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_REQUIRED = ("name", "description", "tools", "model")
_OPTIONAL = ("output",)


@dataclass(frozen=True, slots=True)
class Role:
    """One role: what it may do, and what it is told."""

    name: str
    description: str
    """What it does, in a sentence."""
    tools: tuple[str, ...]
    """What it may use, in the words of agent command lines."""
    tier: Tier
    output: str | None
    """The JSON Schema of its answer, by name; None where it answers with a signal alone."""
    body: str
    """Its prompt, with places to fill."""

    @property
    def places(self) -> frozenset[str]:
        """The names of what is to be filled in."""
        return frozenset(Template(self.body).get_identifiers())


@cache
def load_role(name: str) -> Role:
    """A role by its name. Raises InternalFailure."""
    return parse_role(name, read_asset("agents", f"{name}.md"))


def role_names() -> tuple[str, ...]:
    """The names of all roles, sorted."""
    return tuple(sorted(path.stem for path in asset_path("agents", "").glob("*.md")))


def parse_role(name: str, text: str) -> Role:
    """The role in a file's text. Raises InternalFailure, which names what is wrong in it."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise _fault(name, "it has no front matter between two lines of ---")
    front = _parse_front(name, match.group(1))
    missing = [key for key in _REQUIRED if not front.get(key)]
    unknown = [key for key in front if key not in (*_REQUIRED, *_OPTIONAL)]
    if missing or unknown:
        told = [*(f"lacks {key}" for key in missing), *(f"has unknown {key}" for key in unknown)]
        raise _fault(name, f"its front matter {', '.join(told)}")
    if front["name"] != name:
        raise _fault(name, f"it calls itself {front['name']!r}")
    if not Template(match.group(2)).is_valid():
        raise _fault(name, "a $ in it neither begins a place nor is doubled")
    return Role(
        name=name,
        description=front["description"],
        tools=tuple(word.strip() for word in front["tools"].split(",")),
        tier=_parse_tier(name, front["model"]),
        output=front.get("output"),
        body=match.group(2).lstrip("\n"),
    )


def _parse_front(name: str, text: str) -> dict[str, str]:
    front: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if not colon or key in front:
            raise _fault(name, f"its front matter has a line that says nothing new: {line!r}")
        front[key.strip()] = value.strip()
    return front


def _parse_tier(name: str, text: str) -> Tier:
    for tier in get_args(Tier):
        if text == tier:
            found: Tier = tier
            return found
    raise _fault(name, f"its model is {text!r}, not one of {', '.join(get_args(Tier))}")


def _fault(name: str, what: str) -> InternalFailure:
    return InternalFailure(
        f"the role {name!r} cannot be used: {what}",
        where=f"agents/{name}.md",
        fix="install qloop again",
    )
