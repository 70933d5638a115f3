"""The base that a run begins on: what the person committed is taken in, and the test is green.

Commits made on the feature branch between runs are there for the first attempt, so that a red
base, or a story that could not be done, can be mended there.
Errors: LineMoved, Superseded and GitFailed as in `follow`.
"""

from qloop.plan.model import Plan
from qloop.repo.follow import TakeIn, accept_take_in, take_in
from qloop.repo.landing import landing_lock
from qloop.repo.line import line_tip
from qloop.run.desk import shown
from qloop.run.gates import GateCancelled, GateResult
from qloop.run.opening import Opened
from qloop.run.proving import Prover, ScratchSetupFailed
from qloop.state.journal import EventKind
from qloop.system.cancel import Cancel
from qloop.system.errors import PersonNeeded


def gate_base(opened: Opened, plan: Plan, cancel: Cancel) -> str | None:
    """Why nothing may start: the test is red before anything was done, or a person is needed.

    None where it is green, or was cut short by *cancel*.
    """
    branch = opened.terms.place.branch
    with landing_lock(opened.repository):
        try:
            taken = take_in(opened.repository, branch)
            tip = taken.commit if taken is not None else line_tip(opened.repository, branch)
            result = _prove(opened, plan, tip, cancel)
        except PersonNeeded as exc:
            return str(exc)
        except GateCancelled:
            return None
        except ScratchSetupFailed as exc:
            return f"set-up is red on {branch} before anything was done: {exc}"
        if taken is not None and (result is None or result.green):
            _accept(opened, taken)
    if result is None or result.green:
        return None
    return (
        f"testCommand is red on {branch} before anything was done ({result.line}); commit what "
        f"mends it on {branch}, or change testCommand in the plan, and run qloop again; "
        f"its output: {shown(result.log, opened.terms)}"
    )


def _prove(opened: Opened, plan: Plan, tip: str, cancel: Cancel) -> GateResult | None:
    """The test command's result on *tip*, journaled; None where there is no test command."""
    logs = opened.private / "logs" / "base" / opened.terms.run_id
    result = Prover(opened.repository, opened.terms, cancel).prove(plan, tip, logs)
    if result is not None:
        facts = result.facts(shown(result.log, opened.terms))
        opened.journal.append(EventKind.GATE_ENDED, gate="base", **facts)
    return result


def _accept(opened: Opened, taken: TakeIn) -> None:
    """Move the line to what was taken in, and tell."""
    branch = opened.terms.place.branch
    accept_take_in(opened.repository, branch, taken, opened.terms.lease)
    opened.journal.append(EventKind.PERSON_CHANGED, branch=branch, taken_in=taken.commit)
