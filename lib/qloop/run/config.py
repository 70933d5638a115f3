"""Settings: defaults < a person's own qloop.toml < the checkout's < `QLOOP_…` variables < flags.

Errors: BadInput, or Faults with one line per fault, for a qloop.toml that cannot be used.
"""

import os
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    model_validator,
)

from qloop.agents.manifest import Manifest, Permissions, RunnerTable
from qloop.agents.roles import role_names
from qloop.agents.shipped import load_shipped
from qloop.run.config_refinement import Refinement
from qloop.run.config_tables import (
    Checks,
    DelegateTable,
    Duration,
    FileLimits,
    Gates,
    Number,
    PhaseTable,
    RoleTable,
    some_time,
)
from qloop.run.conflicts import OnConflict, Regenerate
from qloop.state.phases import PhaseName, TeamSetting
from qloop.system.errors import BadInput, Faults
from qloop.system.own_folder import own_folder

CONFIG_NAME = "qloop.toml"
DEFAULT_PARALLEL = 4
ORCHESTRATOR = "orchestrator"
RESERVED_RUNNERS = ("shell", "auto")

_FROM_ENVIRONMENT = (
    "runner",
    "model",
    "max_parallel",
    "timeout",
    "gate_timeout",
    "wave_timeout",
    "stale_after",
    "worktree_root",
    "team",
)

_OTHER_NAME = {"model": "models", "models": "model"}
"""What says the same thing in another way."""


def _listed(value: Any) -> Any:
    names = [value] if isinstance(value, str) else value
    taken = [name for name in names if name in RESERVED_RUNNERS] if isinstance(names, list) else []
    if taken:
        raise ValueError(f"{taken[0]!r} is no agent command line")
    return names


class Config(BaseModel):
    """qloop.toml, with what the environment adds."""

    model_config = ConfigDict(frozen=True, extra="forbid", title="qloop.toml")

    runner: str | None = None
    model: str | None = None
    models: tuple[str, ...] = Field(
        default=(),
        description="From the smallest to the largest; each charged attempt takes the next.",
    )
    fallback: Annotated[
        tuple[str, ...], BeforeValidator(_listed, json_schema_input_type=str | list[str])
    ] = Field(default=(), description="Runners that stand in, in order, for one that pauses.")
    max_parallel: Number | None = Field(default=None, ge=1)
    timeout: Duration = 900.0
    gate_timeout: Duration = 600.0
    wave_timeout: Duration | None = None
    stale_after: Annotated[Duration, AfterValidator(some_time)] = 1200.0
    worktree_root: str | None = None
    intents_root: str | None = Field(
        default=None, min_length=1, description="Where intents lie, else in .qloop/intents."
    )
    sparse: Annotated[bool, Strict()] = Field(
        default=False,
        description="Whether a worktree holds only the folders of the files that the story names.",
    )
    env_pass: tuple[str, ...] = ()
    permissions: Permissions = Field(
        default="least",
        description='"full" lets agents do everything that you may do; "least" what they need.',
    )
    team: TeamSetting = Field(
        default="auto",
        description="How an intent's team is asked: each member by a call of its own, all by one "
        "agent, none (by code alone), or by what their agents can do.",
    )
    on_conflict: OnConflict = Field(
        default="retry",
        description="What follows when a story changed the same places as one that landed.",
    )
    regenerate: tuple[Regenerate, ...] = Field(
        default=(), description="Files that a command makes anew where both sides changed them."
    )
    runners: dict[str, RunnerTable] = Field(default_factory=dict)
    roles: dict[str, RoleTable] = Field(default_factory=dict)
    phases: dict[PhaseName, PhaseTable] = Field(default_factory=dict)
    limits: FileLimits = FileLimits()
    checks: Checks = Checks()
    gates: Gates = Gates()
    refinement: Refinement = Refinement()
    delegate: DelegateTable = DelegateTable()

    @model_validator(mode="after")
    def _names_models_once(self) -> Self:
        if self.model is not None and self.models:
            raise ValueError("model and models say the same thing; keep one of them")
        return self

    def manifest(self, name: str) -> Manifest | None:
        """The runner of that name: the table's, else the shipped one, else None."""
        table = self.runners.get(name)
        found = load_shipped(name) if table is None else Manifest(name=name, **table.model_dump())
        return found and found.model_copy(update={"permissions": self.permissions})


def load_config(root: Path) -> Config:
    """The settings of the checkout at *root*: the person's own, its file's, the environment's.

    Raises Faults, BadInput.
    """
    path = root / CONFIG_NAME
    values = _read(path)
    config = _checked(values, path)
    own = _read(own_config())
    if own:
        _checked(own, own_config())
        values = layered(own, values)
        config = _checked(values, path)
    added = _from_environment()
    if added:
        what = "the environment's settings cannot be used"
        config = _validate(layered(values, added), what, "QLOOP_…", prefix="QLOOP_")
    return config


def own_config() -> Path:
    """Where a person's settings for all projects lie."""
    return own_folder() / CONFIG_NAME


def layered(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Settings of which those *above* win: each table's entries one by one, all else as a whole."""
    made = {name: value for name, value in below.items() if _OTHER_NAME.get(name) not in above}
    for name, value in above.items():
        old = made.get(name)
        if isinstance(old, dict) and isinstance(value, dict):
            made[name] = {**old, **value}
        else:
            made[name] = value
    return made


def _checked(values: dict[str, Any], path: Path) -> Config:
    config = _validate(values, f"{CONFIG_NAME} cannot be used", str(path))
    taken = [name for name in config.runners if name in RESERVED_RUNNERS]
    if taken:
        raise BadInput(
            f"the runner name {taken[0]!r} is qloop's own", where=str(path), fix="choose another"
        )
    _check_roles(config, path)
    return config


def _check_roles(config: Config, path: Path) -> None:
    if ORCHESTRATOR in config.roles:
        raise BadInput(
            f"roles.{ORCHESTRATOR}: it is the implementer of all stories, and called as such",
            where=str(path),
            fix="write [roles.implementer]",
        )
    unknown = sorted(config.roles.keys() - role_names()) if config.roles else []
    if unknown:
        known = role_names()
        import difflib  # only where something is wrong

        near = difflib.get_close_matches(unknown[0], known, n=1, cutoff=0.4)
        fix = f"did you mean {near[0]!r}?" if near else f"the roles are {', '.join(known)}"
        raise BadInput(f"roles.{unknown[0]}: there is no such role", where=str(path), fix=fix)


def config_schema() -> dict[str, Any]:
    """The JSON Schema of qloop.toml."""
    schema = Config.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _from_environment() -> dict[str, Any]:
    words = {name: os.environ.get(f"QLOOP_{name.upper()}") for name in _FROM_ENVIRONMENT}
    return {
        name: int(word) if name == "max_parallel" and word.isdecimal() else word
        for name, word in words.items()
        if word
    }


def _validate(values: dict[str, Any], what: str, where: str, prefix: str = "") -> Config:
    """The settings. With a *prefix* it is variables that are at fault, named as such."""
    try:
        return Config.model_validate(values)
    except ValidationError as exc:
        faults = tuple(_fault(error) for error in exc.errors())
        if prefix:
            faults = tuple(f"{prefix}{_upper(fault)}" for fault in faults)
        raise Faults(what, faults, where=where, fix="correct it") from exc


def _upper(fault: str) -> str:
    name, colon, rest = fault.partition(":")
    return f"{name.upper()}{colon}{rest}"


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise BadInput(f"{CONFIG_NAME} is not TOML: {exc}", where=str(path)) from exc


def _fault(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"{place}: unknown key{_nearest(error['loc'])}"
    if error["type"] == "literal_error":
        known = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        near = _hint(str(error["input"]), known) or f", write one of {', '.join(known)}"
        return f"{place}: {error['input']!r} is unknown{near}"
    if error["type"] == "value_error":
        return ": ".join(filter(None, [place, str(error["ctx"]["error"])]))
    return f"{place}: {error['msg'].lower()}, not {error['input']!r}"


def _nearest(location: tuple[Any, ...]) -> str:

    return _hint(str(location[-1]), _model_at(location[:-1]).model_fields)


def _hint(word: str, known: Iterable[str]) -> str:
    import difflib  # only where something is wrong

    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.4)
    return f", did you mean {close[0]!r}?" if close else ""


def _model_at(place: tuple[Any, ...]) -> type[BaseModel]:
    """The form of the table at *place*."""
    form: type[BaseModel] = Config
    for part in place:
        field = form.model_fields.get(str(part))
        if field is not None:  # else an entry's name or number, whose table is known already
            form = _form_in(field.annotation) or form
    return form


def _form_in(annotation: Any) -> type[BaseModel] | None:
    """The form of a table, or of the tables in a list or under names; None for a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_form_in(part) for part in get_args(annotation))
    return next((one for one in found if one is not None), None)
