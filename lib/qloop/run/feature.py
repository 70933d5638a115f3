"""A feature in one context: which sitting takes a story, and what its agent hears of it."""

import secrets
import select
import threading
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from qloop.agents.manifest import SHELL
from qloop.agents.roles import ORCHESTRATOR
from qloop.plan.model import Phase
from qloop.repo.checkout import Repository
from qloop.repo.names import attempt_id
from qloop.repo.person import take_snapshot
from qloop.repo.settings import PersonSettings
from qloop.repo.workspace import create_workspace, remove_workspace
from qloop.run import implementer
from qloop.run.desk import Desk
from qloop.run.implementer import Claim
from qloop.run.orders import AttemptOrder, Settled
from qloop.run.own_program import write_program
from qloop.run.setting_up import set_up
from qloop.run.sitting import Sitting
from qloop.run.sitting_desk import SittingDesk
from qloop.state.store import Store
from qloop.system.cancel import Cancel
from qloop.system.mailbox import Mailbox
from qloop.system.ports import leased_ports

KEPT = (
    Phase.AGENT_FAILED,
    Phase.AGENT_BLOCKED,
    Phase.VERIFICATION,
    Phase.REVIEW,
    Phase.MERGE_REGRESSION,
)
"""How an attempt fails whose work the next one goes on from."""


@dataclass(slots=True)
class Feature:
    """All stories of a feature as one orchestrator works on them."""

    cancel: Cancel
    _sitting: Sitting | None = field(default=None)

    def __post_init__(self) -> None:
        threading.Thread(target=self._heed, name="cancel", daemon=True).start()

    def work(self, store: Store, desk: Desk, order: AttemptOrder) -> Claim:
        """Have a story of *store* worked on by the feature's agent, or by its own commands."""
        former = self._sitting
        if former is not None and not _is_for(former, desk):
            self.end()
        if desk.dispatch.runner.name == SHELL:
            return implementer.work(desk, order)
        if self._sitting is None:
            self._sitting = _sit_down(store, desk, order)
        return self._sitting.work(desk, order)

    def tell(self, settled: Settled) -> None:
        """Tell the agent what became of a story."""
        if self._sitting is None:
            return
        failed = settled.failed
        self._sitting.keeps = failed is not None and failed.phase in KEPT
        text = f"{settled.story} has landed as {settled.landed}."
        if failed is not None:
            text = f"{settled.story} has not landed ({failed.phase}): {failed.reason}"
        self._sitting.handing.judge(settled.landed is not None, text)

    @property
    def has_crashed(self) -> bool:
        """Whether the agent that has the feature ended otherwise than well."""
        return self._sitting is not None and self._sitting.has_crashed

    def end(self) -> None:
        """There is no other story for the agent, which ends."""
        sitting, self._sitting = self._sitting, None
        if sitting is not None:
            sitting.end()

    def _heed(self) -> None:
        select.select([self.cancel], [], [])
        sitting = self._sitting
        if sitting is not None:
            sitting.handing.wake()


def _is_for(sitting: Sitting, desk: Desk) -> bool:
    """Whether a story goes to the same agent."""
    before, now = sitting.desk.dispatch, desk.dispatch
    return (before.runner, before.model) == (now.runner, now.model)


def _sit_down(store: Store, desk: Desk, order: AttemptOrder) -> Sitting:
    """A worktree for an agent that is to stay, set up like an attempt's."""
    place = order.terms.place
    repository = Repository(root=Path(place.root), git_dir=Path(place.git_dir))
    mark = attempt_id(ORCHESTRATOR, 1, secrets.token_hex(4))
    branch = f"ql-wt/{desk.dispatch.story}"
    settings = PersonSettings.from_dict(order.terms.settings)
    with ExitStack() as undo:
        workspace = create_workspace(
            repository, settings, Path(place.base), mark, branch, order.start
        )
        undo.callback(remove_workspace, workspace)
        own = SittingDesk(
            desk.terms,
            desk.wave,
            desk.dispatch,
            replace(workspace, holds=desk.dispatch.attempt_id),
            desk.emit,
            desk.cancel,
            port_base=undo.enter_context(leased_ports()),
            mark=mark,
        )
        # Its set-up was green a moment ago, in the attempt's own worktree.
        ready, _ = set_up(own, repository, order.commands.setup, order.commands.copy_files)
        assert isinstance(ready, SittingDesk)  # set-up gives back the kind of desk it was given
        write_program(ready.programs / "qloop")
        sitting = Sitting(repository, ready, store, take_snapshot(repository), ExitStack())
        undo.callback(Mailbox(ready.mailbox, sitting.handing.answer).close)
        sitting.undo = undo.pop_all()
    return sitting
