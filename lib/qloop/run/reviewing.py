"""Reviews: fresh agents judge an attempt whose commands are green; never its maker.

Each gets a read-only checkout of the attempt's tip. What it says counts as `verdict` weighs it;
an answer that cannot be read is asked for once more, from another fresh agent. A reviewer that
breaks off is not the story's fault. What it does to the person's repository is for the caller to
find, like anything that an attempt does there.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from qloop.agents.hindrances import Cause
from qloop.agents.review import MalformedReview, parse_review
from qloop.plan.model import Phase
from qloop.repo.checkout import Repository
from qloop.repo.cited import count_lines
from qloop.repo.patch import read_patch
from qloop.repo.review_tree import find_changed, renew, review_tree
from qloop.repo.settings import PersonSettings
from qloop.run.agent_call import AgentCall, Answered, call_agent
from qloop.run.call_end import find_hindered, hindered_failure
from qloop.run.desk import Desk, shown
from qloop.run.finding import enumerate_names
from qloop.run.orders import AttemptOrder, Failed, Hindered, Outcome, Reviewer, ReviewNote
from qloop.run.review_brief import QUALITY, SPEC, Case, criteria_of, patch_limit, render_brief
from qloop.run.reviewers import TRIES
from qloop.run.verdict import Verdict, cited_paths, weigh
from qloop.state.journal import EventKind
from qloop.system.clock import render_duration

FIELDS = {SPEC: "spec", QUALITY: "quality"}
"""Which of an outcome's reviews a role fills."""


@dataclass(frozen=True, slots=True)
class _Bench:
    """What the reviews of one attempt share."""

    order: AttemptOrder
    repository: Repository
    desk: Desk
    """With the read-only checkout as its workspace."""
    tip: str


@dataclass(frozen=True, slots=True)
class _Judged:
    """What one reviewer came to: a verdict, or why there is none."""

    verdict: Verdict | None
    failed: Failed | None
    log: str | None
    runner: str = ""
    """Who said it: the runner's name, and its model where that was asked for."""
    calls: int = 0
    """How many agents were asked for the same review up to this one."""
    met: tuple[Hindered, ...] = ()
    """What kept those from working for whom others stood in."""


def review(order: AttemptOrder, repository: Repository, desk: Desk, outcome: Outcome) -> Outcome:
    """The outcome after its reviews; the first that is not good ends them.

    A review that was not made, or broke off, is left as it was before the attempt: pending.
    """
    place, dispatch = order.terms.place, order.dispatch
    assert outcome.tip is not None  # only what has a tip is green
    settings = PersonSettings.from_dict(order.terms.settings)
    base = Path(place.base)
    with review_tree(repository, settings, base, dispatch.attempt_id, outcome.tip) as checkout:
        own = replace(desk, workspace=checkout)
        own.write_story(order.story)
        bench = _Bench(order, repository, own, outcome.tip)
        open_roles = [FIELDS[one.role] for one in dispatch.reviewers]
        for reviewer in dispatch.reviewers:
            outcome = _with(outcome, reviewer, _ask(bench, reviewer, outcome))
            open_roles.remove(FIELDS[reviewer.role])
            if outcome.failed is not None:
                return outcome.model_copy(update=dict.fromkeys(open_roles))
    return outcome


def _ask(bench: _Bench, reviewer: Reviewer, outcome: Outcome) -> _Judged:
    """Ask for a review, and once more where what came back is none.

    Where the runner cannot work, those who stand in for it are asked.
    """
    judged, met = _Judged(None, None, None), []
    for one in _standing(reviewer):
        judged = _ask_runner(bench, one, outcome, judged.calls)
        hindered = judged.failed.hindered if judged.failed is not None else None
        if hindered is None or hindered.cause is Cause.CONFIGURATION:
            break
        met.append(hindered)
    last = judged.failed.hindered if judged.failed is not None else None
    return replace(judged, met=tuple(one for one in met if one is not last))


def _standing(reviewer: Reviewer) -> list[Reviewer]:
    """The reviewer, then who stands in for it, with models of their own."""
    others = [{"runner": one, "model": None} for one in reviewer.stand_ins]
    return [reviewer, *(reviewer.model_copy(update=changes) for changes in others)]


def _ask_runner(bench: _Bench, reviewer: Reviewer, outcome: Outcome, before: int) -> _Judged:
    """Ask one runner; *before* calls were made for the same review."""
    prompt = render_brief(reviewer.role, _case(bench, reviewer, outcome))
    judged = _Judged(None, None, None)
    for number in range(before + 1, before + TRIES + 1):
        call = AgentCall(
            role=reviewer.role,
            prompt=prompt,
            runner=reviewer.runner,
            model=reviewer.model,
            timeout_s=reviewer.timeout_s,
            cwd=bench.desk.workspace.tree,
            log_name=f"{reviewer.role}.log" if number == 1 else f"{reviewer.role}-{number}.log",
        )
        answered = call_agent(bench.desk, call)
        judged = replace(_judge(bench, reviewer, answered), runner=_who(reviewer), calls=number)
        _note_writes(bench, reviewer)
        _tell(bench, reviewer, judged)
        renew(bench.desk.workspace)
        if judged.verdict is not None or not _is_worth_another(answered, judged):
            break
    return judged


def _who(reviewer: Reviewer) -> str:
    return ", ".join(filter(None, [reviewer.runner.name, reviewer.model]))


def _case(bench: _Bench, reviewer: Reviewer, outcome: Outcome) -> Case:
    order = bench.order
    notes = (outcome.spec, outcome.quality)
    place = order.terms.place
    limit = patch_limit(reviewer.runner)
    return Case(
        story=order.read_story(),
        patch=read_patch(bench.repository, place.branch, order.start, bench.tip, limit),
        tip=bench.tip,
        evidence="\n".join(note.evidence for note in notes if note is not None),
        prd=place.prd,
        patterns=order.patterns,
    )


def _judge(bench: _Bench, reviewer: Reviewer, answered: Answered) -> _Judged:
    log = shown(answered.log, bench.desk.terms)
    failed = _broken_off(reviewer, answered, log)
    if failed is None:
        try:
            verdict = _weighed(bench, reviewer, answered)
        except MalformedReview as exc:
            reason = f"the {reviewer.role}'s answer cannot be used: {exc}"
            failed = Failed(phase=Phase.REVIEW, reason=reason, log=log)
        else:
            failed = None if verdict.passed else _refused(reviewer, verdict, log)
            return _Judged(verdict, failed, log)
    hindered = find_hindered(answered, reviewer.runner)
    return _Judged(None, failed if hindered is None else hindered_failure(hindered, log), log)


def _weighed(bench: _Bench, reviewer: Reviewer, answered: Answered) -> Verdict:
    """The verdict of an answer. Raises MalformedReview."""
    found = parse_review(answered.reading.answer)
    asked = criteria_of(bench.order.read_story()) if reviewer.role == SPEC else ()
    lines = count_lines(bench.repository, bench.tip, cited_paths(found))
    return weigh(found, asked, lines)


def _broken_off(reviewer: Reviewer, answered: Answered, log: str) -> Failed | None:
    """Why a call came to no answer, at nobody's charge; None where it ended well."""
    ended = answered.ended
    if ended.cancelled:
        return Failed.interrupted(log=log)
    if ended.timed_out:
        how = f"ran longer than its limit of {render_duration(reviewer.timeout_s)}"
    elif ended.stuck:
        how = "was stuck: it did nothing at all for too long"
    elif ended.lost:
        how = "ended with an exit status that was lost"
    elif answered.denied is not None:
        how = f"was stuck at the gate: {answered.denied.text}"
    elif ended.code != 0:
        how = f"ended with exit code {ended.code}"
    elif answered.reading.failed:
        how = "says itself that its call failed"
    else:
        return None
    return Failed.infra(f"the {reviewer.role} ({reviewer.runner.name}) {how}", log)


def _is_worth_another(answered: Answered, judged: _Judged) -> bool:
    ended = answered.ended
    hindered = judged.failed is not None and judged.failed.hindered is not None
    return not (hindered or ended.cancelled or ended.timed_out or ended.stuck)


def _refused(reviewer: Reviewer, verdict: Verdict, log: str) -> Failed:
    found = "\n".join(f"- {issue}" for issue in verdict.issues)
    return Failed(
        phase=Phase.REVIEW, reason=f"the {reviewer.role} found it wanting:\n{found}", log=log
    )


def _note_writes(bench: _Bench, reviewer: Reviewer) -> None:
    changed = find_changed(bench.desk.workspace)
    if changed:
        names = enumerate_names(changed)
        text = f"the {reviewer.role} changed its read-only checkout ({names}); that is thrown away"
        bench.desk.emit(EventKind.STATE_REPAIRED, text=f"{bench.order.dispatch.story}: {text}")


def _tell(bench: _Bench, reviewer: Reviewer, judged: _Judged) -> None:
    verdict, failed = judged.verdict, judged.failed
    bench.desk.emit(
        EventKind.REVIEW_ENDED,
        role=reviewer.role,
        runner=reviewer.runner.name,
        model=reviewer.model,
        passed=verdict is not None and verdict.passed,
        issues=list(verdict.issues) if verdict is not None else [],
        reason=failed.reason if failed is not None else None,
        log=judged.log,
    )


def _with(outcome: Outcome, reviewer: Reviewer, judged: _Judged) -> Outcome:
    """The outcome with what a reviewer found, beside what commands said of the same."""
    field = FIELDS[reviewer.role]
    failed = judged.failed
    note = None
    if failed is None or failed.charged:
        before = outcome.spec if reviewer.role == SPEC else outcome.quality
        note = _note(reviewer.role, judged, before.evidence if before is not None else "")
    changes = {"failed": failed, "met": (*outcome.met, *judged.met), field: note}
    return outcome.model_copy(update=changes)


def _note(role: str, judged: _Judged, commands: str) -> ReviewNote:
    verdict, failed = judged.verdict, judged.failed
    said = f"{role} ({judged.runner}): {'passed' if failed is None else 'failed'}"
    found = verdict.lines if verdict is not None else ()
    issues = verdict.issues if verdict is not None else (failed.reason if failed else "",)
    return ReviewNote(
        status="passed" if failed is None else "failed",
        evidence="\n".join(filter(None, [commands, said, *found])),
        issues=tuple(issues),
    )
