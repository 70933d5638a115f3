"""Landing one attempt in its turn: take in, merge, filter, prove, move the line at once or not.

Everything happens under the repository's landing lock; the reference transaction is fenced by
the run's lease, so that a superseded coordinator moves nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from qloop.plan.model import Phase, Plan, Story
from qloop.repo.checkout import Repository
from qloop.repo.follow import accept_take_in, follow, following, take_in
from qloop.repo.landing import (
    Candidate,
    ForeignCommit,
    LineMoved,
    Superseded,
    land,
    landing_lock,
    propose,
    renew,
)
from qloop.repo.landing_filter import LandingRefused, Rules
from qloop.repo.merging import MergeConflict, shown_path
from qloop.repo.salvage import ATTEMPTS
from qloop.repo.starts import hold_start
from qloop.run.briefing import checks_of
from qloop.run.desk import Emit, logs_folder, shown
from qloop.run.gates import GateCancelled, GateResult, numbered
from qloop.run.orders import Dispatch, Failed, Outcome, Settled, Terms
from qloop.run.proving import TEST, Prover, ScratchSetupFailed
from qloop.run.resolvers import MERGES
from qloop.state.journal import EventKind
from qloop.system.cancel import Cancel
from qloop.system.errors import PersonNeeded

MOVES_OF_THE_LINE = 5


@dataclass(frozen=True, slots=True)
class Lander:
    """Lands a wave's attempts, one at a time."""

    repository: Repository
    terms: Terms
    cancel: Cancel
    is_alone: Callable[[], bool]
    """Whether the driver is gone, asked at the last moment."""
    read_plan: Callable[[], Plan]
    queued: Callable[[], None]
    """Called when an attempt waits for its turn."""
    taken: Callable[[], None]
    """Called when it has its turn."""
    object_to: Callable[[Plan, str, str], str]
    """Told plan, story and the commit that would land: why it should not; empty: it may."""

    def land(self, dispatch: Dispatch, outcome: Outcome, emit: Emit) -> Settled:
        """Settle an attempt whose evidence is green: landed, failed, or waiting for a person.

        Raises MergeConflict where an agent is to be asked first.
        """
        settled = Settled(
            story=dispatch.story, attempt=dispatch.attempt, attempt_id=dispatch.attempt_id
        )
        self.queued()
        with landing_lock(self.repository):
            self.taken()
            try:
                landed = self._in_turn(dispatch, outcome, emit)
            except PersonNeeded as exc:
                failed = Failed.interrupted(f"waits for a person: {exc}")
                return settled.model_copy(update={"failed": failed, "waiting": str(exc)})
            except _Refused as exc:
                changes = {"failed": exc.failed, "waiting": exc.waiting}
                return settled.model_copy(update=changes)
            except GateCancelled:
                return settled.model_copy(update={"failed": Failed.interrupted()})
        return settled.model_copy(update={"landed": landed})

    def _in_turn(self, dispatch: Dispatch, outcome: Outcome, emit: Emit) -> str:
        branch = self.terms.place.branch
        plan = self.read_plan()
        for _ in range(MOVES_OF_THE_LINE):
            self._take_in(plan, emit)
            candidate = self._propose(plan, dispatch, outcome, emit)
            if candidate.restored:
                emit(EventKind.STATE_REPAIRED, restored=list(candidate.restored))
            objection = self.object_to(plan, dispatch.story, candidate.commit)
            if objection:
                raise _Refused(Failed(phase=Phase.VERIFICATION, reason=objection))
            self._prove(plan, dispatch, outcome, candidate, emit)
            if self.cancel.is_set or self.is_alone():
                raise GateCancelled
            try:
                along = following(self.repository, branch, candidate.commit)
                lease = self.terms.lease
                land(self.repository, branch, candidate, dispatch.attempt_id, lease, along)
            except LineMoved:
                continue
            except Superseded as exc:
                raise _Refused(Failed.infra(str(exc))) from exc
            emit(EventKind.STORY_LANDED, commit=candidate.commit, tree=candidate.tree)
            follow(self.repository, branch)
            return candidate.commit
        raise _Refused(Failed.infra(f"the line moved {MOVES_OF_THE_LINE} times meanwhile"))

    def _take_in(self, plan: Plan, emit: Emit) -> None:
        """Take what the person committed to the feature branch into the line, gated."""
        branch = self.terms.place.branch
        taken = take_in(self.repository, branch)
        if taken is None:
            return
        logs = Path(self.terms.place.private) / "logs" / "taken-in" / taken.commit[:12]
        fix = f"mend {branch} and run qloop again"
        try:
            result = self._prover().prove(plan, taken.commit, logs)
        except ScratchSetupFailed as exc:
            where = shown(exc.log, self.terms) if exc.log is not None else branch
            what = f"set-up is red with the commits that were made on {branch}: {exc}"
            raise PersonNeeded(what, where=where, fix=fix) from exc
        if result is not None and not result.green:
            what = f"testCommand is red with the commits that were made on {branch}"
            raise PersonNeeded(what, where=shown(result.log, self.terms), fix=fix)
        accept_take_in(self.repository, branch, taken, self.terms.lease)
        emit(EventKind.PERSON_CHANGED, branch=branch, taken_in=taken.commit)

    def _propose(self, plan: Plan, dispatch: Dispatch, outcome: Outcome, emit: Emit) -> Candidate:
        story = plan.story(dispatch.story) or Story(id=dispatch.story)
        assert outcome.tip is not None  # an attempt without a tip has failed before
        rules = self._rules(plan)
        try:
            candidate = propose(
                self.repository,
                self.terms.place.branch,
                outcome.start,
                outcome.tip,
                story=dispatch.story,
                title=story.title or "",
                attempt=dispatch.attempt,
                attempt_id=dispatch.attempt_id,
                rules=rules,
                mark=outcome.mark,
                solved=outcome.solved,
            )
            if candidate.stale:
                tree = self._make_anew(plan, dispatch, candidate, emit)
                candidate = renew(self.repository, candidate, tree, rules)
        except MergeConflict as exc:
            if dispatch.resolver is not None and outcome.merges < MERGES:
                raise
            raise self._in_conflict(dispatch, exc) from exc
        except ForeignCommit as exc:
            raise _Refused(Failed(phase=Phase.GUARD, reason=str(exc))) from exc
        except LandingRefused as exc:
            raise _Refused(Failed(phase=Phase.VERIFICATION, reason=str(exc))) from exc
        if not candidate.changed and not story.allow_empty:
            reason = "said STORY_PASSED, but changed nothing that may land"
            raise _Refused(Failed(phase=Phase.AGENT_FAILED, reason=reason))
        return candidate

    def _rules(self, plan: Plan) -> Rules:
        return Rules(
            state_paths=state_paths(self.terms),
            copy_files=tuple(plan.copy_files),
            file_bytes=self.terms.limits.file_bytes,
            generated=tuple(one.path for one in self.terms.regenerate),
        )

    def _in_conflict(self, dispatch: Dispatch, conflict: MergeConflict) -> "_Refused":
        """Why a conflict keeps an attempt out, and what a person is told where all is to wait."""
        failed = Failed(phase=Phase.MERGE_CONFLICT, reason=str(conflict))
        if self.terms.on_conflict != "stop":
            return _Refused(failed)
        kept = f"{ATTEMPTS}/{dispatch.story}/{dispatch.attempt}"
        branch = self.terms.place.branch
        fix = f"make room for it on {branch}, or let it be tried anew, and run qloop again"
        return _Refused(
            failed, f"{dispatch.story}: {conflict} with {branch}; its work is kept: {kept}; {fix}"
        )

    def _make_anew(self, plan: Plan, dispatch: Dispatch, candidate: Candidate, emit: Emit) -> str:
        """The candidate's tree with its generated files as commands make them of it."""
        makers = [one for one in self.terms.regenerate if any(map(one.makes, candidate.stale))]
        commands = numbered("regenerate", tuple(one.command for one in makers))
        logs = logs_folder(self.terms, dispatch)

        def is_meant(path: str) -> bool:
            return any(one.makes(path) for one in makers)

        try:
            made = self._prover(dispatch).make_anew(
                plan, commands, candidate.commit, logs, is_meant
            )
        except ScratchSetupFailed as exc:
            raise self._without_setup(exc) from exc
        red = self._tell_gates(made.results, emit)
        if red is not None:
            what = f"both sides changed {', '.join(map(shown_path, candidate.stale))}"
            reason = f"{what}, and what makes them is red: {red.evidence()}"
            log = shown(red.log, self.terms)
            raise _Refused(Failed(phase=Phase.MERGE_CONFLICT, reason=reason, log=log))
        return made.tree

    def _prove(
        self,
        plan: Plan,
        dispatch: Dispatch,
        outcome: Outcome,
        candidate: Candidate,
        emit: Emit,
    ) -> None:
        """The gates on exactly what would land; all of them where it is no work of its maker's."""
        commands = {} if plan.test_command is None else {TEST: plan.test_command}
        if outcome.solved is not None:
            commands = {**_evidence(plan, dispatch.story), **commands}
        if not commands:
            return
        # No ref has the commit yet, and a person may collect garbage while the commands run.
        hold_start(self.repository, candidate.commit, dispatch.attempt_id)
        try:
            results = self._prover(dispatch).run_all(
                plan, commands, candidate.commit, logs_folder(self.terms, dispatch)
            )
        except ScratchSetupFailed as exc:
            raise self._without_setup(exc) from exc
        red = self._tell_gates(results, emit)
        if red is not None:
            phase = Phase.MERGE_REGRESSION if outcome.solved is None else Phase.MERGE_CONFLICT
            log = shown(red.log, self.terms)
            raise _Refused(Failed(phase=phase, reason=red.evidence(), log=log))

    def _tell_gates(self, results: tuple[GateResult, ...], emit: Emit) -> GateResult | None:
        """Journal what commands came to; the one that is red, if one is."""
        for one in results:
            emit(EventKind.GATE_ENDED, gate=one.name, **one.facts(shown(one.log, self.terms)))
        return None if results[-1].green else results[-1]

    def _without_setup(self, exc: ScratchSetupFailed) -> "_Refused":
        log = shown(exc.log, self.terms) if exc.log is not None else None
        return _Refused(Failed(phase=Phase.SETUP, reason=str(exc), log=log))

    def _prover(self, dispatch: Dispatch | None = None) -> Prover:
        about = {} if dispatch is None else {"QLOOP_STORY": dispatch.story}
        return Prover(self.repository, self.terms, self.cancel, about)


def _evidence(plan: Plan, story_id: str) -> dict[str, str]:
    """The commands that judged the attempt, for what a merge made of it."""
    story = plan.story(story_id) or Story(id=story_id)
    return numbered("merged", checks_of(tuple(plan.quality_commands), story))


def state_paths(terms: Terms) -> tuple[str, ...]:
    """The state file's path within the repository, where it lies there."""
    quantum, root = Path(terms.place.quantum), Path(terms.place.root)
    return (str(quantum.relative_to(root)),) if quantum.is_relative_to(root) else ()


class _Refused(Exception):
    """The attempt does not land, for the reason given."""

    def __init__(self, failed: Failed, waiting: str | None = None) -> None:
        self.failed = failed
        self.waiting = waiting
        """What a person must decide before anything can land."""
        super().__init__(failed.reason)
