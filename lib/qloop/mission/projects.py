"""The registered projects as they stand: their intents, and what waits for a person."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from qloop.repo.checkout import find_repository
from qloop.run.config import load_config
from qloop.run.known_missions import known_missions
from qloop.state.intent_index import Group, parse_index
from qloop.state.intents import intents_folder, list_intents, read_index
from qloop.state.projects import Project, ProjectStatus
from qloop.system.errors import QloopError


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """One project, and what is known of it."""

    name: str
    path: str
    status: ProjectStatus
    remote: str | None
    registered: str
    active: int = 0
    """How many intents are wanted now."""
    future: int = 0
    waiting: tuple[str, ...] = ()
    """Questions of its missions that wait for a person."""
    trouble: str = ""
    """Why nothing is known of it."""

    def to_json(self) -> dict[str, Any]:
        """The row as JSON."""
        return dataclasses.asdict(self)


def stand_of(project: Project) -> ProjectRow:
    """How a project stands. Whatever is wrong there is told, not raised."""
    row = ProjectRow(
        project.name, str(project.path), project.status, project.remote, project.registered
    )
    if not project.path.is_dir():
        return dataclasses.replace(row, trouble="its folder is not there")
    try:
        repository = find_repository(project.path)
        root = intents_folder(repository.root, load_config(repository.root).intents_root)
        index = parse_index(read_index(root))
        groups = [index.group_of(one.id) or Group.ACTIVE for one in list_intents(root)]
        questions = (one.open_checkpoint for one in known_missions(repository))
        waiting = tuple(one.id for one in questions if one is not None)
    except QloopError as exc:
        return dataclasses.replace(row, trouble=exc.what)
    return dataclasses.replace(
        row,
        active=groups.count(Group.ACTIVE),
        future=groups.count(Group.FUTURE),
        waiting=waiting,
    )
