"""Why a story failed: what code can tell, and what an agent that only reads adds to it.

Nothing is changed. Errors: BadInput for a story that is not in the plan or never failed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from qloop.agents.compression import extract
from qloop.agents.error_trace import find_place
from qloop.agents.role_answers import DiagnosisAnswer
from qloop.mission.asking import Judged, find_cited, form_question, judge, uncited
from qloop.plan.model import Failure, Plan, Story
from qloop.repo.checkout import Repository
from qloop.repo.kept import find_salvage
from qloop.repo.names import workspace_base
from qloop.repo.patch import read_patch
from qloop.run.briefing import last_failure
from qloop.run.config import Config
from qloop.run.forks import new_run_id
from qloop.run.handing_down import read_trace
from qloop.run.holder import private_folder
from qloop.run.reading_desk import ReadingPlace
from qloop.state.journal import Event, EventKind, Journal
from qloop.system.cancel import Cancel
from qloop.system.errors import BadInput
from qloop.ui.debug_page import Investigation, Red

DEBUGGER = "debugger"
PATCH_BYTES = 20_000
TAIL_LINES = 40

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DebugPlace:
    """Where a failure is looked into."""

    repository: Repository
    config: Config
    quantum: Path
    folder: Path
    """Where prompts and output of its agent are kept."""


def investigate(place: DebugPlace, plan: Plan, story: Story) -> Investigation:
    """What code can tell of a story's last failed attempt."""
    repository = place.repository
    story_id = story.id
    failure = last_failure(story)
    if failure is None:
        raise BadInput(
            f"{story_id} has no failed attempt that could be looked into",
            where=str(place.quantum),
            fix=f"see what is known of it: qloop show {story_id}",
        )
    events = Journal(private_folder(repository) / "events.jsonl").events()
    attempt = _dispatch_of(story_id, failure, events)
    own = [one for one in events if (one.story, one.attempt) == (story_id, attempt)]
    base = str(workspace_base(place.config.worktree_root, repository))
    trace = read_trace(failure, repository.root, base)
    kept = find_salvage(repository, story_id, attempt)
    start = next((str(one.data["start"]) for one in own if one.data.get("start")), kept.commit)
    patch = read_patch(repository, plan.branch_name, start, kept.commit, PATCH_BYTES)
    return Investigation(
        story=story_id,
        title=story.title or "",
        attempt=kept.attempt,
        phase=str(failure.phase),
        reason=failure.reason or "",
        log=failure.log or "",
        lines=len(trace.splitlines()),
        finding=extract(trace, place.config.delegate.qa_tokens).text if trace else "",
        first_place=find_place(trace) or "",
        tail=tuple(trace.splitlines()[-TAIL_LINES:]),
        red=tuple(_red(own)),
        earlier=tuple(_earlier(story, failure)),
        branch=plan.branch_name,
        base=patch.base,
        tip=kept.commit,
        patch=patch.text,
    )


def diagnose(
    place: DebugPlace, story: Story, found: Investigation, say: Say, cancel: Cancel
) -> Judged[DiagnosisAnswer]:
    """What the debugger adds, where an agent is set for it; its places are looked up."""
    journal = Journal(private_folder(place.repository) / "events.jsonl", new_run_id("p-"))
    reading = ReadingPlace(
        repository=place.repository,
        config=place.config,
        journal=journal,
        commit=found.tip,
        logs=place.folder,
        branch=found.branch,
    )
    values = {
        "story_id": found.story,
        "tip": found.tip,
        "base": found.base,
        "story": _story_text(story),
        "failure": found.failure_text(),
    }

    def check(answer: DiagnosisAnswer) -> DiagnosisAnswer:
        there = find_cited(place.repository, found.tip, answer.evidence)
        if not there:
            raise uncited(answer.evidence)
        kept = [one for one in answer.evidence if one in there]
        return answer.model_copy(update={"evidence": kept})

    task = f"looks into {found.story}"
    question = form_question(DEBUGGER, task, values, DiagnosisAnswer, check)
    return judge(reading, question, say, cancel)


def _dispatch_of(story: str, failure: Failure, events: list[Event]) -> int | None:
    """The number of the dispatch that a failure is of: the last that settled with its reason."""
    settled = [
        one.attempt
        for one in events
        if one.event is EventKind.STORY_SETTLED
        and one.story == story
        and one.data.get("phase") == failure.phase
        and one.data.get("reason") == failure.reason
    ]
    return settled[-1] if settled else None


def _red(own: list[Event]) -> list[Red]:
    gates = (one.data for one in own if one.event is EventKind.GATE_ENDED)
    return [
        Red(str(data.get("gate", "")), str(data.get("command", "")), str(data.get("log", "")))
        for data in gates
        if data.get("code") != 0
    ]


def _earlier(story: Story, failure: Failure) -> list[str]:
    others = [one for one in story.retries.failure_log if one is not failure]
    return [f"{one.phase}: {one.reason or ''}" for one in others]


def _story_text(story: Story) -> str:
    criteria = "\n".join(f"- {one}" for one in story.acceptance_criteria)
    return "\n\n".join(part for part in (story.title, story.description, criteria) if part)
