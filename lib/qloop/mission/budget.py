"""What the mission says and asks about its money before a coordinator is spawned. Pure.

Units: United States dollars.
"""

from dataclasses import dataclass

from qloop.mission import flow
from qloop.state.mission import Mission
from qloop.state.phase_events import Option
from qloop.state.phases import Autonomy, PhaseName
from qloop.ui.amounts import render_cost
from qloop.ui.mission_pages import CONFIRM_AT, WARN_AT

GO_ON = Option(id="go-on", description="go on, up to the limit as it stands then")


@dataclass(frozen=True, slots=True)
class BudgetWord:
    """What is to be said of the budget, and asked where *options* are given."""

    phase: PhaseName
    text: str
    options: tuple[Option, ...] = ()

    def put(self, mission: Mission, at: str) -> Mission:
        """The mission in which it was said."""
        mission = mission.model_copy(update={"warned": True})
        if not self.options:
            return mission
        mission = mission.model_copy(update={"confirmed_usd": mission.limit_usd})
        return flow.open_checkpoint(
            mission, self.phase, flow.BUDGET, self.text, self.options, {}, at
        )


def find_budget_question(
    mission: Mission, phase: PhaseName, spent_usd: float, guessed_usd: float = 0.0
) -> BudgetWord | None:
    """What is to be said before *phase* gets a coordinator; None where nothing is.

    A spent budget is asked about whatever the autonomy, the last tenth of one where it asks at
    all; once for each limit. *guessed_usd* is the part of *spent_usd* that no agent told of.
    """
    limit = mission.limit_usd
    if limit is None:
        return None
    amount = render_cost(spent_usd, guessed_usd)
    spent = f"{amount} of the mission's {render_cost(limit)} are spent"
    if spent_usd >= limit:
        text = f"{spent}; raise the limit (`qloop budget set USD`), then go on?"
        return BudgetWord(phase, text, (GO_ON, flow.ABANDON))
    if (
        spent_usd >= limit * CONFIRM_AT
        and mission.autonomy is not Autonomy.AUTOPILOT
        and mission.confirmed_usd != limit
    ):
        return BudgetWord(phase, f"{spent}; go on with {phase}?", (GO_ON, flow.ABANDON))
    if spent_usd >= limit * WARN_AT and not mission.warned:
        return BudgetWord(phase, spent)
    return None
