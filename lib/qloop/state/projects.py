"""`projects.yml`: the projects that a person has registered, in their own configuration folder.

A mapping `projects` from a project's name to its path, its remote, when it was registered, and its
status. A person may edit the file: what is added leaves all other text as it is.
Errors: BadInput for a file of another form, UsageWrong for a name or place that is taken.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml

from qloop.plan.prd_front import parse_front_matter
from qloop.state.intent import plain_lines
from qloop.system.clock import utc_now
from qloop.system.errors import BadInput, InputMissing, UsageWrong
from qloop.system.files import locked, read_optional, write_atomic
from qloop.system.own_folder import own_folder

PROJECTS = "projects.yml"

_LOCK = ".projects.lock"
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_HEAD = re.compile(r"projects:[ \t]*(?:\{\s*\}|null|~)?[ \t]*(?:#.*)?")


class ProjectStatus(StrEnum):
    """Whether a project is worked on."""

    ACTIVE = "active"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class Project:
    """One registered project."""

    name: str
    path: Path
    """Its main checkout."""
    remote: str | None
    registered: str
    status: ProjectStatus = ProjectStatus.ACTIVE

    def to_json(self) -> dict[str, Any]:
        """The project as JSON."""
        return {**asdict(self), "path": str(self.path)}


def projects_file() -> Path:
    """Where this person's projects are written down."""
    return own_folder() / PROJECTS


def read_projects(file: Path) -> list[Project]:
    """All projects, in the file's order; none where there is no file."""
    return parse_projects(_read(file), file)


def find_project(name: str) -> Project:
    """A registered project by its name. Raises InputMissing, which names those that there are."""
    file = projects_file()
    known = read_projects(file)
    found = next((one for one in known if one.name == name), None)
    if found is None:
        raise InputMissing(f"there is no project {name!r}", where=str(file), fix=_advice(known))
    return found


def parse_projects(text: str, file: Path) -> list[Project]:
    """The projects of a file's text. Raises BadInput, which names the first fault."""
    front = parse_front_matter(text)
    if front.faults:
        fault = front.faults[0]
        where = f"{file}, line {fault.line - 1}"
        raise BadInput(f"{PROJECTS} cannot be used: {fault.message}", where=where, fix="correct it")
    entries = front.fields.get("projects", {})
    if not isinstance(entries, dict):
        raise _wrong(file, "projects", "write a name for each project, and its path below")
    return [_project(str(name), entry, file) for name, entry in entries.items()]


def add_project(file: Path, name: str, path: Path, remote: str | None) -> Project:
    """Register a project. Raises UsageWrong where its name or place is taken, or no name."""
    if _NAME.fullmatch(name) is None:
        fix = "small letters, digits and hyphens: --name my-project"
        raise UsageWrong(f"{name!r} is no project's name", fix=fix)
    new = Project(name, path, remote, utc_now())
    with _changing(file):
        text = _read(file)
        for one in parse_projects(text, file):
            if one.name == name or one.path.resolve() == path.resolve():
                raise UsageWrong(
                    f"{one.path} is registered as {one.name!r} already",
                    where=str(file),
                    fix="choose another name: --name NAME" if one.name == name else "use that",
                )
        write_atomic(file, with_project(text, new).encode())
    return new


def drop_project(file: Path, name: str) -> Project:
    """Take a project out of the file. Raises InputMissing where it is not in it."""
    with _changing(file):
        text = _read(file)
        known = parse_projects(text, file)
        found = next((one for one in known if one.name == name), None)
        if found is None:
            raise InputMissing(f"there is no project {name!r}", where=str(file), fix=_advice(known))
        fields = parse_front_matter(text).fields
        entries = {key: entry for key, entry in fields["projects"].items() if key != name}
        write_atomic(file, _without(text, name, {**fields, "projects": entries}).encode())
    return found


def with_project(text: str, new: Project) -> str:
    """A file's text with a project more, as the first of its entries."""
    facts = new.to_json()
    entry = {key: str(value) for key, value in facts.items() if key != "name" and value}
    block = _indented(yaml.safe_dump({new.name: entry}, sort_keys=False, allow_unicode=True))
    lines = text.split("\n")
    at = next((at for at, line in enumerate(lines) if _HEAD.fullmatch(line)), None)
    if at is None and not parse_front_matter(text).fields.get("projects"):
        start = text if not text.strip() or text.endswith("\n") else f"{text}\n"
        return f"{start}projects:\n{block}"
    if at is not None:
        old = lines[at + 1 :]
        made = "\n".join([*lines[:at], "projects:", _fitted(block, old), *old])
        if _entries(made) == {new.name: _plain(entry), **_entries(text)}:
            return made
    fields = parse_front_matter(text).fields
    fields["projects"] = {new.name: entry, **_entries(text)}
    return yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)


def _without(text: str, name: str, fields: Mapping[str, Any]) -> str:
    """A file's text less one entry: its own lines alone where that gives the same."""
    lines = text.split("\n")
    head = re.compile(rf"([ \t]+)[\"']?{re.escape(name)}[\"']?:.*")
    for at, line in enumerate(lines):
        found = head.fullmatch(line)
        if found is None:
            continue
        end = at + 1
        while end < len(lines) and lines[end].startswith(f"{found[1]} "):
            end += 1
        made = "\n".join([*lines[:at], *lines[end:]])
        if parse_front_matter(made).fields == {k: v for k, v in fields.items() if v}:
            return made
    return yaml.safe_dump(dict(fields), sort_keys=False, allow_unicode=True)


def _project(name: str, entry: Any, file: Path) -> Project:
    place = f"projects.{name}"
    if not isinstance(entry, dict) or not isinstance(entry.get("path"), str) or not entry["path"]:
        raise _wrong(file, f"{place}.path", "write where its checkout lies")
    path = Path(entry["path"]).expanduser()
    if not path.is_absolute():
        raise _wrong(file, f"{place}.path", "write the whole path, from / or ~ on")
    known = {one.value: one for one in ProjectStatus}
    status = known.get(str(entry.get("status", ProjectStatus.ACTIVE)))
    if status is None:
        raise _wrong(file, f"{place}.status", f"write one of {', '.join(known)}")
    remote = entry.get("remote")
    return Project(
        name=name,
        path=path,
        remote=remote if isinstance(remote, str) else None,
        registered=str(entry.get("registered", "")),
        status=status,
    )


def _wrong(file: Path, place: str, fix: str) -> BadInput:
    return BadInput(f"{PROJECTS} cannot be used: {place}", where=str(file), fix=fix)


def _advice(known: list[Project]) -> str:
    names = ", ".join(one.name for one in known)
    return f"the projects are {names}" if names else "none is registered: qloop project add"


def _changing(file: Path) -> Any:
    file.parent.mkdir(parents=True, exist_ok=True)
    return locked(file.parent / _LOCK)


def _read(file: Path) -> str:
    return plain_lines((read_optional(file) or b"").decode("utf-8", "replace"))


def _entries(text: str) -> dict[str, Any]:
    found = parse_front_matter(text).fields.get("projects")
    return found if isinstance(found, dict) else {}


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry as it reads when it is written."""
    front = parse_front_matter(yaml.safe_dump(dict(entry), sort_keys=False, allow_unicode=True))
    return {name: front.fields.get(name) for name in entry}


def _indented(block: str) -> str:
    return "".join(f"  {line}\n" for line in block.splitlines())


def _fitted(block: str, below: list[str]) -> str:
    """A block with the indentation of the entries that stand below it."""
    own = next((line for line in below if line.strip() and not line.lstrip().startswith("#")), "")
    width = len(own) - len(own.lstrip())
    lines = [line.removeprefix("  ") for line in block.splitlines()]
    return "\n".join(" " * (width or 2) + line for line in lines)
