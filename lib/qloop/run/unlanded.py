"""How an attempt is settled that did not land: by its own failure, or by a fault on the way."""

from qloop.run.orders import Dispatch, Failed, Settled
from qloop.run.purse import BudgetReached
from qloop.system.errors import QloopError


def settle_failed(dispatch: Dispatch, failed: Failed) -> Settled:
    """An attempt that failed."""
    return Settled(
        story=dispatch.story,
        attempt=dispatch.attempt,
        attempt_id=dispatch.attempt_id,
        failed=failed,
    )


def settle_fault(dispatch: Dispatch, fault: BaseException) -> Settled:
    """A fault of git, the machine or qloop itself, which the story is not charged for.

    Where an agent could not be paid the story is ready again, and a person decides.
    """
    if isinstance(fault, BudgetReached):
        settled = settle_failed(dispatch, Failed.interrupted(str(fault)))
        return settled.model_copy(update={"waiting": str(fault)})
    kind = "" if isinstance(fault, QloopError) else f"{type(fault).__name__}: "
    return settle_failed(dispatch, Failed.infra(f"{kind}{fault}"))
