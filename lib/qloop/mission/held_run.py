"""What agents change in an intent's folder while a run of its team's plan is on.

Of many implementers nobody knows which one did it: the executor as a whole is at fault for it, and
hands nothing on until a person has said how to go on.
Errors: those of the folder.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from qloop.mission.held import hold, note, settle
from qloop.mission.persons_boxes import asked_last, note_open, put_back
from qloop.mission.phase_desk import PhaseDesk
from qloop.mission.team import REVIEWER
from qloop.state.lifecycle import ACTIONS, OUTCOME, PLAN, SPEC

EXECUTOR = "executor"
NAMES = (SPEC, PLAN, ACTIONS, OUTCOME)
"""What an implementer never writes; boxes of the checklist are looked after one by one."""
STEP = "changed meanwhile"


@contextmanager
def run_held(desk: PhaseDesk) -> Iterator[None]:
    """Have a person's boxes, and a team's files, be after the block as they were before it."""
    note_open(desk)
    held = hold(desk.folder, EXECUTOR, NAMES) if _is_team(desk) else None
    try:
        yield
    finally:
        strays = () if held is None else settle(desk.folder, held)
        told = [str(one) for one in strays if one.refusal is not None]
        if told:
            desk.step(STEP, [asked_last(desk), *told], dict)
        note(desk.folder, strays, desk.tell)
        put_back(desk)


def find_fault(desk: PhaseDesk) -> str | None:
    """What was changed since a person last answered; None where nothing was."""
    known = desk.find_step(STEP)
    if not isinstance(known, list) or known[0] != asked_last(desk):
        return None
    return "; ".join(known[1:])


def _is_team(desk: PhaseDesk) -> bool:
    return REVIEWER in desk.order.phase_config.agents
