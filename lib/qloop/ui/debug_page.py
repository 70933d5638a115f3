"""Why a story failed, as a page: what code found, then what a debugger says. Pure."""

from dataclasses import dataclass
from typing import Any

from qloop.agents.role_answers import DiagnosisAnswer
from qloop.system.counting import counted
from qloop.ui.report_markdown import fenced
from qloop.ui.views import View


@dataclass(frozen=True, slots=True)
class Red(View):
    """A command that was red."""

    name: str
    command: str
    log: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Investigation(View):
    """What code can tell of a story's last failed attempt."""

    story: str
    title: str
    attempt: int
    """The number of its dispatch."""
    phase: str
    reason: str
    log: str
    lines: int
    """Of the log."""
    finding: str
    """The log's first place and most telling line."""
    first_place: str
    tail: tuple[str, ...]
    """The log's last lines."""
    red: tuple[Red, ...]
    earlier: tuple[str, ...]
    """Why the attempts before it failed."""
    branch: str
    base: str
    tip: str
    """The commit that holds what the attempt left."""
    patch: str

    def failure_text(self) -> str:
        """How it failed, for a prompt: each line of a log behind a bar."""
        lines = [f"{self.phase}: {self.reason}", ""]
        lines += [f"red: `{one.command}`" for one in self.red]
        lines += ["", f"The end of its log ({self.log}):", "", *(f"| {one}" for one in self.tail)]
        lines += ["", "What it changed:", "", *(f"| {one}" for one in self.patch.splitlines())]
        return "\n".join(lines)


def render_debug(found: Investigation, answer: DiagnosisAnswer | None, note: str) -> str:
    """The page as Markdown."""
    lines = [f"# Why {found.story} failed", "", f"{found.title}", ""]
    lines += [f"Attempt {found.attempt}, {found.phase}: {_line(found.reason)}", ""]
    if found.finding:
        lines += [f"Its log of {counted(found.lines, 'line')} comes to: {_line(found.finding)}", ""]
    if found.red:
        lines += ["## Red commands", ""]
        lines += [f"- {one.name}: `{one.command}` ({one.log})" for one in found.red]
        lines += [""]
    if found.earlier:
        lines += ["## Attempts before it", "", *(f"- {_line(one)}" for one in found.earlier), ""]
    lines += ["## What an agent says", "", *_diagnosis(answer, note), ""]
    if found.tail:
        lines += [f"## The end of {found.log}", *fenced("\n".join(found.tail), "text")]
    lines += ["## What it changed", *fenced(found.patch.strip(), "diff")]
    lines += ["", f"The work is kept as {found.tip}: `qloop salvage show {found.story}`"]
    return "\n".join(lines) + "\n"


def debug_json(
    found: Investigation, answer: DiagnosisAnswer | None, note: str, page: str
) -> dict[str, Any]:
    """The same for scripts; *page* is the file that holds it."""
    diagnosis = None if answer is None else answer.model_dump(mode="json", by_alias=True)
    return {**found.to_json(), "diagnosis": diagnosis, "note": note, "page": page}


def _diagnosis(answer: DiagnosisAnswer | None, note: str) -> list[str]:
    if answer is None:
        return [f"Nothing: {note}."]
    lines = [f"({note})", "", f"Cause: {_line(answer.cause)}", ""]
    lines += [f"- {place}" for place in answer.evidence]
    lines += ["", f"Fix: {_line(answer.fix)}"]
    return [*lines, *(f"- {path}" for path in answer.files)]


def _line(text: str) -> str:
    return " ".join(text.split())
