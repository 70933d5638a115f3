"""What a reviewer is told: the story, its criteria, the patch, and what commands said of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from qloop.agents.manifest import LONGEST_ARGUMENT_BYTES, Manifest
from qloop.agents.prompt import bullet_list, render_role
from qloop.plan.model import Story
from qloop.repo.patch import Patch

SPEC = "spec-reviewer"
QUALITY = "quality-reviewer"
PATCH_BYTES = 200_000
ARGUMENT_PATCH_BYTES = LONGEST_ARGUMENT_BYTES // 2


@dataclass(frozen=True, slots=True)
class Case:
    """What is to be reviewed."""

    story: Story
    patch: Patch
    tip: str
    evidence: str
    """What the commands said that judged it."""
    prd: str | None
    patterns: tuple[str, ...]


def criteria_of(story: Story) -> tuple[str, ...]:
    """What a spec review answers: the story's criteria, or that it is done where it has none."""
    return tuple(story.acceptance_criteria) or ("The story is done as it is described.",)


def patch_limit(runner: Manifest) -> int:
    """How many bytes of a patch a prompt for *runner* takes."""
    return ARGUMENT_PATCH_BYTES if runner.prompt == "argument" else PATCH_BYTES


def render_brief(role: str, case: Case) -> str:
    """A reviewer's prompt."""
    story = case.story
    values = {
        "story_id": story.id,
        "story": "\n\n".join(part for part in (story.title, story.description) if part),
        "base": case.patch.base,
        "tip": case.tip,
        "evidence": _quoted(case.evidence),
        "patch": _patch_text(case.patch, case.tip),
    }
    if role == SPEC:
        values["criteria"] = _numbered(criteria_of(story))
        values["prd"] = case.prd or "there is none on this machine"
    else:
        values["patterns"] = bullet_list(list(case.patterns), "None yet.")
    return render_role(role, values)


def _numbered(items: Sequence[str]) -> str:
    return "\n".join(f"{number}. {_indent(text)}" for number, text in enumerate(items, start=1))


def _indent(text: str) -> str:
    return text.strip().replace("\n", "\n   ")


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def _patch_text(patch: Patch, tip: str) -> str:
    """The patch, each of its lines behind a bar: what it holds can neither end nor begin a part."""
    if not patch.text.strip():
        return "It changes no file."
    text = "\n".join(f"| {line}" for line in patch.text.splitlines())
    if not patch.left_out_bytes:
        return text
    return (
        f"{text}\n\nThe last {patch.left_out_bytes} bytes of it are left out here; "
        f"`git diff {patch.base} {tip}` shows all."
    )
