"""The `[refinement]` table of qloop.toml: how what people see of a project is tried and judged."""

from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, model_validator

from qloop.run.config_tables import Duration, some_time

Words = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$")]
"""It names files too."""


class Flow(BaseModel):
    """One `[[refinement.flows]]` table: what somebody does from one end to the other."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    commands: tuple[Words, ...] = Field(
        min_length=1, description="Run in order; the first that is not 0 ends the flow."
    )


class Persona(BaseModel):
    """Somebody in whose place an agent looks at the result."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    about: Words


def _rooted(route: str) -> str:
    if not route.startswith("/") or any(char.isspace() or ord(char) < 32 for char in route):
        raise ValueError(f"{route!r} is no route; write one such as /about")
    return route


class Refinement(BaseModel):
    """The `[refinement]` table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    auto: Annotated[bool, Strict()] = Field(
        default=True, description="Whether missions end with the phase REFINEMENT."
    )
    serve: Words | None = Field(
        default=None,
        description="A command that serves the project on port QLOOP_PORT, in the foreground.",
    )
    ready_within: Annotated[Duration, AfterValidator(some_time)] = 60.0
    routes: tuple[Annotated[str, AfterValidator(_rooted)], ...] = Field(
        default=("/",), min_length=1, description="The pages to look at where it is served."
    )
    screenshots: Annotated[bool, Strict()] = Field(
        default=True, description="Whether pages are pictured, where a Chromium is installed."
    )
    flows: tuple[Flow, ...] = ()
    personas: tuple[Persona, ...] = ()

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        for kind, given in (("flows", self.flows), ("personas", self.personas)):
            names = [one.name.lower() for one in given]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ValueError(f"two of the {kind} have the name {twice!r}")
        return self
