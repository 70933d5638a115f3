"""The part that the model plays: which tools it calls, one each turn, and what it says last."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_server.talk import Call, Json, Reply, Talk

WRITERS = ("Write", "write_file", "write")
SHELLS = ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell")
PARAMETERS = {
    "path": ("file_path", "filePath", "absolute_path", "path"),
    "content": ("content", "contents"),
    "command": ("command", "cmd"),
    "about": ("description",),
}
"""What clients call the parameters of such tools."""

DEFAULTS: Mapping[str, Any] = {
    "boolean": False,
    "integer": 1,
    "number": 1,
    "array": [],
    "object": {},
}
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""A client that asks for this word takes a command that prints it for the final answer."""

PATHS = re.compile(r"/(?:[^\s\"'`<>\\(),;]|\\u[0-9a-f]{4})+")
ASIDE = "A story"
"""The answer to a request without tools, such as one for a title."""


@dataclass(frozen=True, slots=True)
class Write:
    """Write a file, by the client's own tool where it has one."""

    path: str
    """Relative to the worktree."""
    content: str


@dataclass(frozen=True, slots=True)
class Shell:
    """Run a command in the worktree."""

    command: str


@dataclass(frozen=True, slots=True)
class Play:
    """What the model does for one story."""

    steps: tuple[Write | Shell, ...]
    final: str
    without_tools: bool = False
    """Whether it is for requests that offer none."""


def answer(play: Play, talk: Talk, within: Path) -> Reply:
    """The model's next turn. Files are written below *within* only."""
    if not talk.tools:
        return Reply(play.final if play.without_tools else ASIDE)
    if talk.turns < len(play.steps):
        return Reply("Working on it.", (call(play.steps[talk.turns], talk, within),))
    if SUBMIT in talk.text and talk.turns == len(play.steps):
        said = Shell(f"echo {SUBMIT} && echo '{play.final}'")
        return Reply("Done.", (call(said, talk, within),))
    return Reply(play.final)


def call(step: Write | Shell, talk: Talk, within: Path) -> Call:
    """The use of a client's tool for a step. Raises LookupError if it has no such tool."""
    writer = next((name for name in WRITERS if name in talk.tools), None)
    if isinstance(step, Write) and writer is not None:
        place = work_folder(talk.text, within)
        path = step.path if place is None else str(place / step.path)
        return Call(writer, arguments(talk.tools[writer], path=path, content=step.content))
    shell = next((name for name in SHELLS if name in talk.tools), None)
    if shell is None:
        raise LookupError(f"no tool for {step}, the client offers {', '.join(talk.tools)}")
    command = (
        step.command if isinstance(step, Shell) else f"cat > {step.path} <<'END'\n{step.content}END"
    )
    return Call(shell, arguments(talk.tools[shell], command=command, about="a step of the story"))


def arguments(schema: Json, **values: str) -> Json:
    """Values under the names that a tool's schema has for them; what else it requires, made up."""
    known = schema.get("properties", {})
    given: Json = {}
    for meaning, value in values.items():
        name = next((name for name in PARAMETERS[meaning] if name in known), None)
        if name is not None:
            listed = known[name].get("type") == "array"
            given[name] = ["bash", "-lc", value] if listed else value
    for name in schema.get("required", []):
        given.setdefault(name, DEFAULTS.get(known.get(name, {}).get("type"), "none"))
    return given


def work_folder(text: str, within: Path) -> Path | None:
    """The linked worktree below *within* that a request names, or None.

    Requests name many paths; only a worktree's `.git` is a file.
    """
    for found in dict.fromkeys(PATHS.findall(text)):
        path = Path(found.rstrip(".:"))
        if path.is_relative_to(within) and (path / ".git").is_file():
            return path
    return None
