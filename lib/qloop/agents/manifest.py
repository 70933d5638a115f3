"""A runner is data: how to start one agent command line and how to read what it prints.

Source: contract, Runners. Errors: pydantic.ValidationError for a table that is not of this form.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from qloop.agents.forms import TEXT, Form

SHELL = "shell"
AUTO = "auto"
LONGEST_ARGUMENT_BYTES = 100_000

PROMPT_PLACES = {"argument": "{prompt}", "file": "{prompt_file}"}
"""Where argv takes the prompt, for each way but standard input."""

OUTPUT_FILE = "{output_file}"
"""Where argv takes the file to write its output into: read once the agent has ended, and its
standard output is a log only."""

PLACEHOLDERS = ("{model}", "{prompt}", "{prompt_file}", OUTPUT_FILE, "{worktree}", "{story}")


class Manifest(BaseModel):
    """How to call one agent CLI; a new CLI is a new table, not a new class."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    argv: tuple[str, ...] = ()
    """The command; empty only for the embedded shell runner."""
    prompt: Literal["stdin", "file", "argument"] = "stdin"
    output: Form = TEXT
    env: tuple[str, ...] = ()
    """Names, or patterns such as `MYTOOL_*`, passed through from qloop's environment."""
    set_env: dict[str, str] = Field(default_factory=dict)


SHELL_MANIFEST = Manifest(name=SHELL)


def command(manifest: Manifest, values: dict[str, str]) -> tuple[str, ...]:
    """The manifest's argv with each element that is exactly a placeholder replaced.

    *values* maps placeholders such as `{model}`; one whose value is empty is left out together
    with the flag before it.
    """
    words: list[str] = []
    for part in manifest.argv:
        if part not in PLACEHOLDERS:
            words.append(part)
        elif values.get(part):
            words.append(values[part])
        elif words and words[-1].startswith("-"):
            words.pop()
    return tuple(words)
