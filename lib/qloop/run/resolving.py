"""Solving an attempt's conflict with the line: a fresh agent merges the two.

It works in a worktree of its own that holds the merge, outside of the landing lock, guarded as an
implementer is. No word of it is believed: what it leaves must be a merge of the two commits and of
nothing else; the plan's commands judge it when it is about to land.
"""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from qloop.agents.prompt import bullet_list, render_role
from qloop.plan.model import Phase, Story
from qloop.repo.checkout import Repository
from qloop.repo.landing import Solved
from qloop.repo.merge_tree import NotSolved, begin_merge, list_landed, merge_tree, read_solution
from qloop.repo.merging import MergeConflict, shown_path
from qloop.repo.settings import PersonSettings
from qloop.run.agent_call import AgentCall, call_agent
from qloop.run.attempt import LONGEST_TRACE_BYTES, Watch, breached, undo_marked
from qloop.run.briefing import checks_of
from qloop.run.call_end import find_failure
from qloop.run.desk import Desk, shown
from qloop.run.looking import Lookout
from qloop.run.orders import AttemptOrder, Dispatch, Failed, Outcome
from qloop.run.resolvers import RESOLVER
from qloop.run.setting_up import set_up
from qloop.state.journal import EventKind
from qloop.system.masking import mask_file
from qloop.system.ports import leased_ports


@dataclass(frozen=True, slots=True)
class MergeDesk(Desk):
    """The desk of an agent that merges."""

    @property
    def trace(self) -> Path:
        """Where its git commands are recorded."""
        return self.logs / "git-trace.merge.jsonl"


def resolve(
    order: AttemptOrder, watch: Watch, outcome: Outcome, conflict: MergeConflict
) -> Outcome:
    """The outcome once an agent was asked to solve its conflict: with a solution, or failed.

    *order* starts at our commit of the conflict.
    """
    place = order.terms.place
    outcome = outcome.model_copy(update={"merges": outcome.merges + 1})
    if watch.halted.is_set():
        return outcome.model_copy(update={"failed": Failed.not_started()})
    repository = Repository(root=Path(place.root), git_dir=Path(place.git_dir))
    settings, base = PersonSettings.from_dict(order.terms.settings), Path(place.base)
    attempt_id, merge = order.dispatch.attempt_id, conflict.merge
    with (
        leased_ports() as port_base,
        closing(Lookout(repository)) as lookout,
        merge_tree(repository, settings, base, attempt_id, merge) as workspace,
    ):
        desk = MergeDesk(
            order.terms,
            order.wave,
            _as_resolvers(order),
            workspace,
            watch.emit,
            watch.cancel,
            port_base=port_base,
        )
        solved = _within(order, desk, lookout, outcome, conflict)
    _tell(desk, conflict, solved)
    return solved


def _as_resolvers(order: AttemptOrder) -> Dispatch:
    """The dispatch, with the resolver for its agent."""
    resolver = order.dispatch.resolver
    assert resolver is not None  # or nobody would be asked
    changes = {"runner": resolver.runner, "model": resolver.model, "timeout_s": resolver.timeout_s}
    return order.dispatch.model_copy(update=changes)


def _within(
    order: AttemptOrder, desk: Desk, lookout: Lookout, outcome: Outcome, conflict: MergeConflict
) -> Outcome:
    commands = order.commands
    ready, failed = set_up(
        desk, lookout.repository, commands.setup, commands.copy_files, kind="merge-setup"
    )
    if failed is not None:
        return outcome.model_copy(update={"failed": failed})
    begin_merge(ready.workspace, conflict.merge)
    before = lookout.begin()()
    ready.write_story(order.story)
    try:
        answered = call_agent(ready, _call(order, ready, conflict, outcome.merges))
        marked, _ = undo_marked(ready, lookout.repository, before, lookout.begin()())
    finally:
        mask_file(ready.trace, ready.secrets(), LONGEST_TRACE_BYTES)
    log = shown(answered.log, ready.terms)
    if marked:
        return breached(ready, outcome, "\n".join(marked), log)
    failed = find_failure(ready, answered, log)
    if failed is not None:
        return outcome.model_copy(update={"failed": _as_conflict(conflict, failed)})
    try:
        tree = read_solution(ready.workspace, lookout.repository, conflict.merge)
    except NotSolved as exc:
        failed = Failed(phase=Phase.MERGE_CONFLICT, reason=str(exc), log=log)
        return outcome.model_copy(update={"failed": _as_conflict(conflict, failed)})
    solved = Solved(tree, conflict.merge.ours, conflict.stale)
    return outcome.model_copy(update={"solved": solved})


def _as_conflict(conflict: MergeConflict, failed: Failed) -> Failed:
    """The failure of a resolver: the attempt's conflict, unless it is at nobody's charge."""
    if not failed.charged:
        return failed
    reason = f"{conflict}; the {RESOLVER} did not solve it: {failed.reason}"
    return failed.model_copy(update={"phase": Phase.MERGE_CONFLICT, "reason": reason})


def _call(order: AttemptOrder, desk: Desk, conflict: MergeConflict, number: int) -> AgentCall:
    story, dispatch = order.read_story(), desk.dispatch
    checks = checks_of(order.commands.quality, story)
    landed = list_landed(desk.workspace.git, conflict.merge)
    return AgentCall(
        role=RESOLVER,
        prompt=render_merge(story, conflict, landed, checks),
        runner=dispatch.runner,
        model=dispatch.model,
        timeout_s=dispatch.timeout_s,
        cwd=desk.workspace.tree,
        checks=checks,
        log_name=f"{RESOLVER}.log" if number == 1 else f"{RESOLVER}-{number}.log",
    )


def render_merge(
    story: Story, conflict: MergeConflict, landed: list[str], checks: tuple[str, ...]
) -> str:
    """What an agent is told that is to solve a conflict."""
    commands = [f"`{item}`" for item in checks]
    return render_role(
        RESOLVER,
        {
            "story_id": story.id,
            "story": "\n\n".join(part for part in (story.title, story.description) if part),
            "criteria": bullet_list(story.acceptance_criteria, "Nothing beyond the story itself."),
            "files": bullet_list([shown_path(path) for path in conflict.files], "None."),
            "landed": bullet_list(landed, "Nothing that is known by name."),
            "checks": bullet_list(commands, "No command judges this story."),
        },
    )


def _tell(desk: Desk, conflict: MergeConflict, outcome: Outcome) -> None:
    failed = outcome.failed
    desk.emit(
        EventKind.MERGE_ENDED,
        role=RESOLVER,
        runner=desk.dispatch.runner.name,
        model=desk.dispatch.model,
        files=[shown_path(path) for path in conflict.files],
        solved=failed is None,
        reason=failed.reason if failed is not None else None,
        log=failed.log if failed is not None else None,
    )
