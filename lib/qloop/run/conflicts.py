"""What is done where two stories changed the same places, as qloop.toml says it."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from qloop.plan.paths import find_danger, normalise

OnConflict = Literal["retry", "resolve", "stop"]
"""Try the story again from where the line is now; give the merge to an agent; wait for a person."""


def _inside(path: str) -> str:
    reason = find_danger(path) or (None if normalise(path) else "is the whole repository")
    if reason is not None:
        raise ValueError(f"{path!r} {reason}")
    return normalise(path)


def _something(command: str) -> str:
    if not command.strip():
        raise ValueError("write the command that makes it")
    return command


class Regenerate(BaseModel):
    """One `[[regenerate]]` table: a file, or a folder of files, that a command makes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Annotated[str, AfterValidator(_inside)] = Field(
        description="A file or folder, from the repository's root."
    )
    command: Annotated[str, AfterValidator(_something)] = Field(
        description="What makes it anew, by `bash -c` in the root of the merged tree."
    )

    def makes(self, path: str) -> bool:
        """Whether the command is there for *path*."""
        return path == self.path or path.startswith(f"{self.path}/")
