"""What an implementer is told of its story, and whether its runner can be told that much."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from qloop.agents.manifest import LONGEST_ARGUMENT_BYTES, Manifest
from qloop.agents.prompt import bullet_list, render_role
from qloop.agents.readable import readable_log
from qloop.agents.roles import IMPLEMENTER
from qloop.plan.model import Failure, Phase, Plan, Story
from qloop.run.orders import AttemptOrder
from qloop.system.counting import counted
from qloop.system.errors import BadInput
from qloop.system.logged import read_tail

NOBODYS = (Phase.INTERRUPTED, Phase.INFRA, Phase.WAVE_FAILED)
"""What no attempt can do better than the last one."""
PREVIOUS_LOG_BYTES = 8_000
SHORT_LOG_BYTES = 2_000
"""The same beside what the log comes to."""
OF_COMMANDS = (Phase.VERIFICATION, Phase.MERGE_REGRESSION, Phase.SETUP)
"""Where the log is that of a command, and no agent's own."""


class PromptTooLong(BadInput):
    """The prompt is longer than a command's argument may be."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """What every implementer of a run is told besides its story."""

    prd: str | None
    root: Path
    """The person's main checkout, which logs are named from."""
    patterns: tuple[str, ...]
    quality: tuple[str, ...]
    finding: str = ""
    """What the last failure's trace comes to, where that is too long to be told."""
    lines: int = 0
    """How long it is then."""
    by_model: bool = False
    """Whether a model said the finding, and not an extract."""
    preamble: str = ""
    """What stands before all else."""

    @classmethod
    def of_order(cls, order: AttemptOrder) -> Self:
        """The briefing of an attempt."""
        place = order.terms.place
        quality, told = order.commands.quality, order.terms.preamble
        return cls(place.prd, Path(place.root), order.patterns, quality, preamble=told)

    @classmethod
    def of_plan(cls, plan: Plan, prd: str | None, root: Path) -> Self:
        """The briefing of an attempt that would be made now."""
        patterns = tuple(str(item) for item in plan.codebase_patterns)
        return cls(prd, root, patterns, tuple(plan.quality_commands))

    def render(self, story: Story, role: str = IMPLEMENTER) -> str:
        """The maker's prompt: preamble, role, story, document, patterns, and the last failure."""
        told = render_role(
            role,
            {
                "story_id": story.id,
                "story": "\n\n".join(part for part in (story.title, story.description) if part),
                "criteria": bullet_list(
                    story.acceptance_criteria, "Nothing beyond the story itself."
                ),
                "tasks": _tasks_text(story),
                "prd": self.prd or "there is none on this machine",
                "patterns": bullet_list(list(self.patterns), "None yet."),
                "previous": self._previous_text(story),
                "checks": _checks_text(self.quality, story),
            },
        )
        return f"{self.preamble}\n{told}" if self.preamble else told

    def _previous_text(self, story: Story) -> str:
        """Why the last attempt failed, with the end of its log or what that comes to, and what
        reviewers found before."""
        last = last_failure(story)
        if last is None:
            return ""
        reason = last.reason or ""
        if self.finding:
            reason = reason.strip().partition("\n")[0]
        text = f"## The last attempt failed\n\nPhase: {last.phase}. {reason}"
        if last.phase == Phase.REVIEW:
            return text  # the reason is the findings; a reviewer's own log is nothing to go by
        failures = story.retries.failure_log
        reviewed = next((one for one in reversed(failures) if one.phase == Phase.REVIEW), None)
        if reviewed is not None:
            text += f"\n\nBefore that, {reviewed.reason or 'a review failed'}"
        if not last.log or not (self.root / last.log).is_file():
            return text
        log = readable_log(self.root / last.log)
        if self.finding:
            text += (
                f"\n\nIts log of {counted(self.lines, 'line')} comes to:\n\n{_indent(self.finding)}"
            )
            text += f"\n\nThe whole log: {log}"
        if self.finding and last.phase in OF_COMMANDS:
            return text
        tail = read_tail(log, SHORT_LOG_BYTES if self.by_model else PREVIOUS_LOG_BYTES)
        return f"{text}\n\nThe end of its log:\n\n{_indent(tail)}"


def last_failure(story: Story) -> Failure | None:
    """The last failure that an attempt could do better than."""
    failures = [one for one in story.retries.failure_log if one.phase not in NOBODYS]
    return failures[-1] if failures else None


def encode_prompt(prompt: str, manifest: Manifest, story_id: str) -> bytes:
    """The prompt's bytes. Raises PromptTooLong where it would have to be too long an argument."""
    data = prompt.encode("utf-8", "backslashreplace")
    if manifest.prompt != "argument":
        return data
    if len(data) > LONGEST_ARGUMENT_BYTES:
        raise PromptTooLong(
            f"the prompt of {story_id} has {len(data)} bytes, "
            f"and as an argument it may have {LONGEST_ARGUMENT_BYTES}",
            where=f"[runners.{manifest.name}]",
            fix='set prompt = "stdin" or "file" there, or shorten the story',
        )
    return data.replace(b"\0", b"")  # which no argument can hold


def _tasks_text(story: Story) -> str:
    parts: list[str] = []
    for task in story.tasks:
        head = ": ".join(part for part in (task.id, task.title) if part) or "Step"
        parts.append("\n".join(filter(None, [f"- {head}", _indent(task.description)])))
        parts += [f"  - file: {path}" for path in task.file_paths]
        parts += [f"  - could be done by: `{item}`" for item in task.run]
    return "\n".join(parts) or "Take the steps that you find right."


def _indent(text: str | None) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n")) if text else ""


def checks_of(quality: tuple[str, ...], story: Story) -> tuple[str, ...]:
    """The commands that judge a story's attempt, in their order."""
    own = (item for task in story.tasks for item in task.commands)
    return (*own, *story.verify, *quality)


def _checks_text(quality: tuple[str, ...], story: Story) -> str:
    commands = [f"`{item}`" for item in checks_of(quality, story)]
    return bullet_list(commands, "No command judges this story.")
