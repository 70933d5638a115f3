"""What one attempt needs to know, from the plan as it stands when it begins."""

from qloop.plan.model import parse_plan
from qloop.run.orders import AttemptOrder, Commands, Dispatch, WaveOrder
from qloop.run.records import story_document
from qloop.state.store import Store


def order_attempt(order: WaveOrder, store: Store, dispatch: Dispatch, start: str) -> AttemptOrder:
    """The order of a wave's attempt that starts at the commit *start*."""
    document = store.part([one.story for one in order.dispatches])
    plan = parse_plan(document)
    return AttemptOrder(
        wave=order.wave,
        terms=order.terms,
        dispatch=dispatch,
        start=start,
        story=story_document(document, dispatch.story),
        commands=Commands(
            setup=tuple(plan.setup_commands),
            quality=tuple(plan.quality_commands),
            copy_files=tuple(plan.copy_files),
        ),
        patterns=tuple(str(item) for item in plan.codebase_patterns),
    )
