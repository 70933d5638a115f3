"""What `project` does once its words are parsed."""

from pathlib import Path

from qloop.mission.projects import ProjectRow, stand_of
from qloop.repo.checkout import find_repository
from qloop.repo.remote import origin_url
from qloop.run.inside import check_outside
from qloop.state.intent import slug_of
from qloop.state.projects import add_project, drop_project, projects_file, read_projects
from qloop.system.errors import InputMissing
from qloop.ui import console


def add_here(path: Path, name: str | None, *, as_json: bool) -> int:
    """Register a repository."""
    if not path.is_dir():
        raise InputMissing("there is no such folder", where=str(path), fix="check the path")
    repository = find_repository(path)
    check_outside(repository, "project add")
    called = slug_of(repository.root.name) if name is None else name
    made = add_project(projects_file(), called, repository.root, origin_url(repository))
    if as_json:
        console.print_json(stand_of(made).to_json())
    else:
        console.say(f"{made.name}: {made.path}")
        console.say(f"written to {projects_file()}")
    return 0


def list_all(*, as_json: bool) -> int:
    """All projects."""
    rows = [stand_of(one) for one in read_projects(projects_file())]
    if as_json:
        console.print_json([row.to_json() for row in rows])
    elif rows:
        columns = ("project", "status", "active", "future", "waits for you", "path")
        console.table(columns, (_cells(row) for row in rows))
    else:
        console.say("no project is registered; in its folder: qloop project add")
    return 0


def drop_named(name: str) -> int:
    """Forget a project."""
    dropped = drop_project(projects_file(), name)
    console.say(f"{dropped.name} is no longer registered; {dropped.path} stays as it is")
    return 0


def _cells(row: ProjectRow) -> tuple[object, ...]:
    if row.trouble:
        return (row.name, row.status, "", "", "", f"{row.path} ({row.trouble})")
    waits = ", ".join(row.waiting)
    return (row.name, row.status, row.active, row.future, waits, row.path)
