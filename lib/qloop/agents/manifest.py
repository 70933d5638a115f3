"""A runner is data: how to start one agent command line and how to read what it prints.

Source: contract, Runners. Errors: pydantic.ValidationError for a table that is not of this form.
"""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

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
RIGHTS_PLACE = "{permissions}"
"""Where argv takes the words that say what the agent may do."""

RESUME_PLACE = "{resume}"
"""Where argv takes the words that go on with an earlier session."""
SESSION = "{session}"
"""In those words: the session's name, as the agent told it."""

Permissions = Literal["least", "full"]


class Rights(BaseModel):
    """How an agent command line is told what it may do."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    args: tuple[str, ...] = ()
    """Put where argv says `{permissions}`; `{rules}` alone stands for a rule per command."""
    set_env: dict[str, str] = Field(default_factory=dict)
    commands: tuple[str, ...] = ()
    """Commands, by their first words, that it may run besides the story's own checks."""
    rule: tuple[str, ...] = ()
    """The words that allow one command; `{command}` in them is replaced. There are none for
    commands with quotes, brackets, commas or line ends, which no such rule can tell."""
    json_rule: str = ""
    """The same as a piece of JSON, for `{json_rules}` in an element of *args* or in *set_env*."""
    root_needs: str | None = None
    """As root it refuses these rights unless this variable is set."""


class RoleFiles(BaseModel):
    """Where an agent command line looks for role files of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str
    """From the checkout's root."""
    suffix: str = ".md"
    keys: tuple[str, ...] = ("name", "description")
    """What it understands of a role's front matter."""
    body_key: str | None = None
    """The key of the prompt in a file that is TOML; None for Markdown with front matter."""


class RunnerTable(BaseModel):
    """How to call an agent command line: a table `[runners.NAME]`, or a shipped file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = ""
    """What people call it."""
    argv: tuple[str, ...] = Field(min_length=1)
    prompt: Literal["stdin", "file", "argument"] = "stdin"
    output: Form = TEXT
    env: tuple[str, ...] = ()
    """Names, or patterns such as `MYTOOL_*`, passed through from qloop's environment."""
    set_env: dict[str, str] = Field(default_factory=dict)
    default_env: dict[str, str] = Field(default_factory=dict)
    """Set where qloop's environment passes no value of its own."""
    files: dict[str, str] = Field(default_factory=dict)
    """Files by their names and texts, for `{files}/NAME` in a variable's value."""
    read: Rights | None = None
    """Just enough to look and to run the story's checks, for those who judge a change."""
    toolless: Rights | None = None
    """How it is called without any tool, to do nothing but answer. None: it cannot be."""
    least: Rights | None = None
    """Just enough to edit, to commit, and to run the story's checks."""
    full: Rights | None = None
    """Everything, for `permissions = "full"`. Alone: the runner cannot be held to less."""
    version: tuple[str, ...] = ()
    """The words after the program's name that make it tell its version; none: it is not asked."""
    install: str = ""
    """The command that installs it."""
    stagger_s: float = Field(default=0.0, ge=0)
    """Seconds between the starts of two of them."""
    subagents: bool = False
    """Whether it can hand parts of its task to agents of its own."""
    resume: tuple[str, ...] = ()
    """The words that go on with an earlier session, put where argv says `{resume}`; none: it
    begins anew each time."""
    role_files: RoleFiles | None = None
    hook_file: str | None = None
    """The settings, from the checkout's root, that take a hook in Claude Code's form."""
    notes: str = ""
    """What a person should know of it, as prose."""

    @model_validator(mode="after")
    def _has_its_places(self) -> Self:
        """The prompt goes one way, and argv has the places that are needed, and no others."""
        for way, place in PROMPT_PLACES.items():
            if (self.prompt == way) != (place in self.argv):
                raise ValueError(f'prompt = "{way}" and {place} in argv go together')
        if bool(self.resume) != (RESUME_PLACE in self.argv):
            raise ValueError(f"resume and {RESUME_PLACE} in argv go together")
        if self.resume and SESSION not in self.resume:
            raise ValueError(f"resume has no {SESSION}")
        args = any(
            rights is not None and rights.args
            for rights in (self.read, self.toolless, self.least, self.full)
        )
        if args != (RIGHTS_PLACE in self.argv):
            raise ValueError(
                f"args of read, toolless, least or full and {RIGHTS_PLACE} in argv go together"
            )
        return self


class Manifest(RunnerTable):
    """How to call one agent CLI; a new CLI is a new table, not a new class."""

    name: str
    argv: tuple[str, ...] = ()
    """The command; empty only for the embedded shell runner."""
    permissions: Permissions = "least"
    reads_only: bool = False
    """It is called by somebody who is to change nothing."""
    answers_only: bool = False
    """It is called without tools, whatever its permissions."""

    @property
    def rights(self) -> Rights:
        """What it may do, as it is told."""
        if self.answers_only:
            return self.toolless or Rights()
        if self.reads_only and self.permissions == "least" and self.read is not None:
            return self.read
        chosen = self.full if self.permissions == "full" else self.least
        return chosen or self.least or Rights()

    def for_reading(self) -> "Manifest":
        """The same for a call that is to change nothing."""
        return self.model_copy(update={"reads_only": True})

    def for_answering(self) -> "Manifest":
        """The same for a call without tools; only for one that says how."""
        return self.model_copy(update={"answers_only": True})

    @property
    def needs_full(self) -> bool:
        """Whether it can only be given everything, and is not."""
        if self.answers_only:
            return False
        return self.permissions == "least" and self.least is None and self.full is not None


SHELL_MANIFEST = Manifest(name=SHELL)
