"""Whether a document is a plan that can be run, with every fault named at once. Pure.

Errors: Faults, one line for each fault with its JSON path and the offending value.
"""

from pydantic import ValidationError

from qloop.plan.faults import Fault, faults_error
from qloop.plan.meaning import find_meaning_faults
from qloop.plan.memory import collector_paused
from qloop.plan.model import Json, Plan, parse_stripped, without_nulls


def find_faults(document: Json) -> tuple[Fault, ...]:
    """All faults of a document, those of form first; none means that it can be run."""
    return _examine(document)[1]


def check_plan(document: Json, where: str) -> Plan:
    """The plan that a document holds; *where* names it in messages. Raises Faults."""
    plan, faults = _examine(document)
    if plan is None or faults:
        raise faults_error(faults, where)
    return plan


def _examine(document: Json) -> tuple[Plan | None, tuple[Fault, ...]]:
    with collector_paused():
        stripped = without_nulls(document)
        plan, faults = _parse(stripped)
        return plan, (*faults, *find_meaning_faults(stripped))


def _parse(stripped: Json) -> tuple[Plan | None, list[Fault]]:
    """The plan, or what keeps the document from being one."""
    try:
        return parse_stripped(stripped), []
    except ValidationError:
        # Imported here: it takes long to load and is slow, and most documents are well formed.
        from qloop.plan.shape import find_shape_faults

        faults = find_shape_faults(stripped)
        if not faults:
            raise  # Models and schema disagree; a file must never pass for that.
        return None, faults
