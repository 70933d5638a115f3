"""A mission on disk: its state, the pages that people read, the journal's word on each change."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.plan.document import load_document
from qloop.state.active import activate, find_active
from qloop.state.facts import MISSION
from qloop.state.journal import EventKind, Journal
from qloop.state.mission import Mission
from qloop.state.mission_store import change_mission, read_mission, write_mission
from qloop.state.spending import Book, Spent
from qloop.system.errors import QloopError
from qloop.system.files import write_atomic
from qloop.ui.mission_pages import (
    Blocks,
    count_blocks,
    render_budget,
    render_checkpoints,
    render_state,
)


@dataclass(frozen=True, slots=True)
class MissionRecords:
    """One mission's folder, in the `.qloop` folder *private*."""

    private: Path
    folder: Path

    @property
    def journal(self) -> Path:
        """The journal of the repository."""
        return self.private / "events.jsonl"

    def read(self) -> Mission:
        """The mission as it stands. Raises InputMissing, BadInput."""
        return read_mission(self.folder)

    def begin(self, mission: Mission) -> None:
        """Put a new mission into its folder, and make it the active one."""
        write_mission(self.folder, mission)
        activate(self.private, self.folder)
        self.render(mission)

    def change(self, change: Callable[[Mission], Mission]) -> Mission:
        """Change the state, then the pages and the journal."""
        before: list[Mission] = []

        def noted(mission: Mission) -> Mission:
            before.append(mission)
            return change(mission)

        after = change_mission(self.folder, noted)
        if after is not before[0]:
            self.render(after)
            self._tell(before[0], after)
        return after

    def render(self, mission: Mission) -> None:
        """Write the pages anew."""
        spent = self.spent(mission)
        state = render_state(mission, spent, self._blocks())
        write_atomic(self.folder / "STATE.md", state.encode())
        write_atomic(self.folder / "CHECKPOINT.md", render_checkpoints(mission).encode())
        budget = json.dumps(render_budget(mission, spent.usd), indent=2) + "\n"
        write_atomic(self.folder / "budget.json", budget.encode())
        if find_active(self.private) == self.folder:
            where = f"The active mission: {self.folder}\n\n"
            write_atomic(
                self.private / "STATE.md", state.replace("---\n\n", f"---\n\n{where}", 1).encode()
            )

    def spent_usd(self, mission: Mission) -> float:
        """What counts against its limit."""
        return self.spent(mission).usd

    def spent(self, mission: Mission) -> Spent:
        """What its agents have cost since its budget was last reset; what is reserved counts."""
        book = Book()
        book.take(Journal(self.journal).events())
        return mission.since_reset(book.spent_by(mission.run_ids))

    def _blocks(self) -> Blocks | None:
        """How far the plan is carried out; None where there is none that can be read."""
        try:
            return count_blocks(load_document(self.folder / "quantum.json"))
        except QloopError:
            return None

    def _tell(self, before: Mission, after: Mission) -> None:
        """Journal what changed between two states."""
        name = f"{MISSION}{after.id}"
        journal = Journal(self.journal, name)
        for old, new in zip(before.phases, after.phases, strict=True):
            if new.spawns > old.spawns:
                journal.append(
                    EventKind.PHASE_STARTED, phase=new.phase, spawn=new.spawn_id, intent=after.id
                )
            elif new.status is not old.status:
                journal.append(
                    EventKind.PHASE_ENDED,
                    phase=new.phase,
                    intent=after.id,
                    status=new.status,
                    summary=new.note,
                )
        answered = {one.id for one in before.checkpoints if one.answer is not None}
        known = {one.id for one in before.checkpoints}
        for one in after.checkpoints:
            facts: dict[str, Any] = {"checkpoint": one.id, "phase": one.phase, "intent": after.id}
            if one.id not in known:
                journal.append(EventKind.CHECKPOINT_OPENED, **facts, question=one.question)
            if one.answer is not None and one.id not in answered:
                facts |= {"option": one.answer.option, "by": one.answer.by}
                journal.append(EventKind.CHECKPOINT_ANSWERED, **facts)
