"""The words that both forms of a report share. Pure."""

import re
from collections.abc import Iterator

from qloop.plan.model import ReviewPart, Status
from qloop.plan.values import UNVERIFIED
from qloop.system.clock import render_duration
from qloop.system.counting import counted
from qloop.ui.amounts import render_cost
from qloop.ui.attempts import Attempt, GateRun
from qloop.ui.report_view import Report, RunPart, StoryPart
from qloop.ui.story import attempt_words

_BROKEN = re.compile(r"(?<=\S)[ \t]*\n(?=[^\s*+\d-])")


def title_of(report: Report) -> str:
    """The name of what was built."""
    return report.plan.project or report.plan.branch_name


def prose(text: str) -> str:
    """A text whose lines were broken for some width: one line for each paragraph or item."""
    return _BROKEN.sub(" ", text.strip())


def run_words(run: RunPart) -> str:
    """A run in a sentence."""
    took = render_duration(run.seconds)
    how = f"ended {run.signal}" if run.signal else "has no end in the journal"
    why = f": {'; '.join(run.reasons)}" if run.reasons else ""
    return f"run {run.id} started {run.started_at}, took {took}, {how}{why}"


def notes_of(report: Report) -> Iterator[str]:
    """What nobody should miss."""
    unverified = [one.story.id for one in report.stories if one.standing.unverified]
    if unverified:
        which = "every story" if len(unverified) == len(report.stories) else ", ".join(unverified)
        yield f"unverified, no command judged all of it: {which}"
    if not report.runs:
        yield "the journal knows of no run of this plan"


def story_word(one: StoryPart) -> str:
    """A story's status; one that passed unjudged says so."""
    if one.standing.unverified:
        return "passed, unverified"
    if one.standing.blocked_by is not None and one.story.status is Status.PENDING:
        return "pending, cannot run"
    return str(one.story.status).replace("_", " ")


def attempts_words(one: StoryPart) -> str:
    """How often it was tried, and how many of that at its own charge."""
    tries = len(one.attempts)
    charged = one.standing.attempts
    return f"{tries}, {charged} charged" if charged else str(tries or "")


def cost_words(one: StoryPart) -> str:
    """What its agents cost."""
    return render_cost(one.standing.cost_usd, one.standing.estimated_usd)


def changed_words(one: StoryPart) -> str:
    """How much its landed commit changed."""
    if one.changed is None:
        return ""
    added = sum(row.added or 0 for row in one.changed)
    deleted = sum(row.deleted or 0 for row in one.changed)
    return f"{counted(len(one.changed), 'file')}, +{added} -{deleted}"


def why_not(one: StoryPart) -> str:
    """Why a story has not passed."""
    standing = one.standing
    if one.story.status is Status.PASSED:
        return ""
    if standing.waits_for and standing.blocked_by is None:
        return f"waits for {', '.join(standing.waits_for)}"
    return standing.blocked_by or standing.reason or ""


def review_words(name: str, part: ReviewPart) -> str:
    """A review in a line; one that no command stands behind says so."""
    is_bare = isinstance(part.evidence, str) and part.evidence.startswith(UNVERIFIED)
    verdict = "passed, unverified" if is_bare and part.status == "passed" else part.status
    attempt = f", attempt {part.attempt}" if part.attempt is not None else ""
    return f"{name}: {verdict}{attempt}"


def review_text(part: ReviewPart) -> str:
    """What a review rests on, then what was found wanting."""
    evidence = [] if part.evidence is None else [str(part.evidence)]
    return "\n".join([*evidence, *(f"- {issue}" for issue in part.issues)])


def attempt_head(one: Attempt) -> str:
    """An attempt's number, and how it ended."""
    return f"attempt {'?' if one.number is None else one.number}: {attempt_words(one)}"


def attempt_facts(one: Attempt) -> str:
    """Where and when it was made."""
    took = f"took {render_duration(one.seconds)}" if one.seconds is not None else None
    cost = render_cost(one.cost_usd, one.estimated_usd)
    paid = f"cost {cost}" if cost else None
    known = (one.runner, one.wave, took, paid, one.started_at, one.run)
    return ", ".join(part for part in known if part)


def gate_word(gate: GateRun) -> str:
    """How a command that judged an attempt ended."""
    return "green" if gate.green else f"red, exit {gate.code}"


def ways_of(one: StoryPart) -> Iterator[str]:
    """The commands that show more of a story."""
    if one.standing.landed:
        yield f"git show {one.standing.landed[:10]}"
    for attempt in one.attempts:
        if attempt.number is not None:
            yield f"qloop logs {one.story.id} --attempt {attempt.number}"
            if attempt.salvage_ref and not attempt.landed:
                yield f"qloop salvage show {one.story.id} --attempt {attempt.number}"
