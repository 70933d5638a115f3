"""What a repository is, as facts: each with the file, and line or key, that it was read from.

Sizes are in bytes, shares between 0 and 1, lines count from 1, paths are from the repository's
root. Of a file that cannot be used as it is, `unread` names the fault; nothing else comes of it.
"""

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from qloop.plan.model import Json
from qloop.plan.schema import DIALECT
from qloop.system.errors import BadInput

Purpose = Literal["test", "build", "lint", "format", "types", "run", "setup", "other"]
Use = Literal["run", "dev"]
Basis = Literal["declared", "inferred", "seen"]
HISTORY = "git log"
"""What stands for a path where a fact was read from the commits."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Source(_Part):
    """Where a fact was read."""

    path: str
    line: int | None = None
    key: str | None = None
    """The key of a file with keys, such as `project.scripts`; else a word or two."""

    @property
    def text(self) -> str:
        """The place in one line."""
        line = f":{self.line}" if self.line is not None else ""
        return f"{self.path}{line}" + (f" ({self.key})" if self.key else "")


class Language(_Part):
    """One language, of the files that are not vendored or generated."""

    name: str
    is_source: bool
    """Whether programs and pages are written in it; not so prose, data and settings."""
    files: int
    bytes: int
    share: float
    """Of the bytes of all source languages; 0 for the others."""
    source: Source
    """Its largest file."""


class EntryPoint(_Part):
    """Where a program, package or page begins."""

    kind: str
    """What it is: `command`, `module`, `program`, `container`, `server`, `package`, `page`."""
    name: str
    target: str
    """What it leads to, as its file says it."""
    source: Source


class Command(_Part):
    """A command line that does something with the repository."""

    purpose: Purpose
    command: str
    folder: str = "."
    """Where it is to be run, from the repository's root."""
    basis: Basis
    """The repository declares it, its tools' settings imply it, or its CI was seen to run it."""
    source: Source


class Convention(_Part):
    """How things are done here."""

    topic: str
    text: str
    source: Source


class Document(_Part):
    """A document that says how to work here."""

    kind: str
    """Whom it is for: `agents`, `contributors`, `readers`, `decisions`, `owners`, `license`."""
    title: str
    bytes: int
    source: Source


class Dependency(_Part):
    """Something of others that the code stands on."""

    name: str
    version: str
    """As it is asked for; empty where anything will do."""
    ecosystem: str
    use: Use
    framework: str | None = None
    """What it is, where it shapes the code that uses it: `web`, `ui`, `tests`, `data`."""
    source: Source


class UiSign(_Part):
    """Something by which a person would see the program."""

    kind: str
    count: int
    source: Source


class Area(_Part):
    """A folder that stands for a part of the code."""

    path: str
    files: int
    bytes: int
    languages: tuple[str, ...]
    """Source languages, the largest first."""


class Arrow(_Part):
    """One area imports from another."""

    tail: str
    head: str
    count: int
    source: Source
    """The first place where it does."""


class Unread(_Part):
    """A file that could not be read as what it is."""

    reason: str
    source: Source


class Size(_Part):
    """How much there is, vendored and generated files apart."""

    files: int
    bytes: int
    source_files: int
    source_bytes: int
    set_apart: int
    """Tracked files that are vendored or generated."""


class Facts(_Part):
    """All that is known of a repository at a commit."""

    commit: str | None
    """None where there is no commit yet."""
    fingerprint: str
    """SHA-256, in hex, over the names of all tracked files and the content of those that
    facts were read from; the same as long as the facts still hold but for sizes."""
    size: Size
    languages: tuple[Language, ...] = ()
    entry_points: tuple[EntryPoint, ...] = ()
    commands: tuple[Command, ...] = ()
    conventions: tuple[Convention, ...] = ()
    documents: tuple[Document, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    ui: tuple[UiSign, ...] = ()
    areas: tuple[Area, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    imports_read: int = 0
    """Files whose imports were looked at for the arrows."""
    imports_left: int = 0
    """Such files that were beyond the bounds of what is looked at."""
    unread: tuple[Unread, ...] = ()

    @property
    def is_greenfield(self) -> bool:
        """Whether nothing is written yet: no tracked source file."""
        return self.size.source_files == 0

    @property
    def has_ui(self) -> bool:
        """Whether there is something that a person would look at."""
        return bool(self.ui)

    def find_command(self, purpose: Purpose) -> Command | None:
        """The one to use for a purpose, to be run in the root; None where none is certain.

        What the repository declares goes before what its settings imply; what CI was seen to run
        may need what only CI has, and never counts.
        """
        at_root = [one for one in self.commands if one.purpose == purpose and one.folder == "."]
        for basis in ("declared", "inferred"):
            for one in at_root:
                if one.basis == basis:
                    return one
        return None

    def is_known_by(self, fingerprint: str | None) -> bool:
        """Whether these are the facts that a fingerprint was stored for."""
        return self.fingerprint == fingerprint


def render_facts(facts: Facts) -> str:
    """The facts as the text of facts.json."""
    return json.dumps(facts.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"


def parse_facts(text: str, where: str) -> Facts:
    """The facts that a text tells. Raises BadInput."""
    try:
        return Facts.model_validate_json(text)
    except ValidationError as exc:
        first = exc.errors()[0]
        at = ".".join(map(str, first["loc"]))
        raise BadInput(
            f"these are no facts of a repository: {at}: {first['msg']}",
            where=where,
            fix="remove it; it is made again",
        ) from exc


def facts_schema() -> Json:
    """The JSON Schema of facts.json."""
    schema: dict[str, Any] = Facts.model_json_schema(schema_generator=_Described)
    return {"$schema": DIALECT, "$id": "urn:qloop:schema:facts", **schema}


class _Described(GenerateJsonSchema):
    """Fields are told by their docstrings alone: a title would only repeat the name."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        made.pop("title", None)
        return made
