"""Role files in the place of an agent command line, in the form that it reads.

Errors: BadInput for a runner that has no such place; OSError.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from qloop.agents.gate.settings import merge_hook
from qloop.agents.manifest import RoleFiles
from qloop.agents.prompt import SCHEMA, render_prompt
from qloop.agents.roles import Role, load_role, role_names
from qloop.agents.shipped import SHIPPED
from qloop.agents.toml import render_value
from qloop.run.config import CONFIG_NAME, Config
from qloop.system.errors import BadInput
from qloop.system.files import read_optional, write_atomic

_HINT = "Where a name stands between < and >, the task that you are given says what belongs there."


class Installed(StrEnum):
    """What was done about one file."""

    WRITTEN = "written"
    SAME = "there already"
    REPLACED = "replaced"
    ADDED = "the gate's hook is added"
    KEPT = "left as it is, for it differs"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an agent command line looks for what qloop can give it."""

    roles: RoleFiles
    hook_file: str | None
    """Its settings, from the checkout's root, where they can hold the gate's hook."""


def find_place(name: str, config: Config) -> Place:
    """Where a runner looks for role files. Raises BadInput where it has no such place."""
    manifest = config.manifest(name)
    if manifest is not None and manifest.role_files is not None:
        return Place(manifest.role_files, manifest.hook_file)
    able = [one for one in SHIPPED if (known := config.manifest(one)) and known.role_files]
    what = "unknown runner" if manifest is None else "no place for role files is known of"
    raise BadInput(f"{what} {name!r}", where=CONFIG_NAME, fix=f"name one of {', '.join(able)}")


def install_roles(root: Path, place: RoleFiles, *, force: bool) -> Iterator[tuple[str, Installed]]:
    """Write each role's file below *root*; the files' paths, and what was done about them.

    One that differs is replaced only by *force*.
    """
    for name in role_names():
        path = Path(place.folder) / f"{name}{place.suffix}"
        text = render_role_file(load_role(name), place).encode()
        there = read_optional(root / path)
        if there == text:
            done = Installed.SAME
        elif there is not None and not force:
            done = Installed.KEPT
        else:
            write_atomic(root / path, text)
            done = Installed.WRITTEN if there is None else Installed.REPLACED
        yield str(path), done


def install_hook(path: Path) -> Installed:
    """Put the gate's hook into settings, beside all that stands there.

    Raises BadInput, which names them, for settings that it cannot be put into; they are left.
    """
    real = path.resolve()  # so that a link stays one
    there = read_optional(real)
    try:
        merged = merge_hook(there)
    except (ValueError, RecursionError) as exc:
        raise BadInput(
            f"the gate's hook cannot be put into these settings: {exc}",
            where=str(path),
            fix="make them JSON that holds, then do this again",
        ) from exc
    if merged is None:
        return Installed.SAME
    write_atomic(real, merged)
    return Installed.WRITTEN if there is None else Installed.ADDED


def render_role_file(role: Role, place: RoleFiles) -> str:
    """A role's file; what qloop would fill in stands in it as names."""
    names = {name: f"<{name}>" for name in role.places - {SCHEMA}}
    body = f"{_HINT}\n\n{render_prompt(role, names)}"
    known = {
        "name": role.name,
        "description": role.description,
        "tools": ", ".join(role.tools),
    }
    front = {key: known[key] for key in place.keys if key in known}
    if place.body_key is not None:
        lines = [f"{key} = {render_value(text)}" for key, text in front.items()]
        return "\n".join([*lines, f"{place.body_key} = {render_value(body)}"]) + "\n"
    lines = [f"{key}: {_yaml(text)}" for key, text in front.items()]
    return "\n".join(["---", *lines, "---", body.rstrip("\n")]) + "\n"


def _yaml(text: str) -> str:
    """A text as a YAML scalar: plain where that is certain to read the same."""
    plain = text.replace(", ", "").replace(".", "").replace("'", "").replace("-", "")
    return text if plain.replace(" ", "").isalnum() else json.dumps(text, ensure_ascii=False)
