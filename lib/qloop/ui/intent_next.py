"""What a person does next with an intent: one command. Reads its folder only."""

from pathlib import Path

from qloop.state.delivery_lock import Held
from qloop.state.intent_index import ENDINGS
from qloop.state.lifecycle import Disposition, read_lifecycle
from qloop.state.mission import MissionStatus
from qloop.state.mission_store import STATE, read_mission
from qloop.system.errors import QloopError
from qloop.ui.intents import IntentView


def next_command(view: IntentView) -> str:
    """The command, and in a few words why it is that one where that is not plain."""
    if view.group in ENDINGS.values():
        return f"it is over; what follows from it: qloop intent new TEXT --after {view.id}"
    if view.owner_is == Held.HELD:
        return f"it is being delivered: qloop mission status {view.id}"
    return _next_of_mission(view) or _next_of_outcome(view) or f"qloop auto {view.id}"


def _next_of_mission(view: IntentView) -> str | None:
    folder = Path(view.folder)
    if not (folder / STATE).exists():
        return None
    try:
        mission = read_mission(folder)
    except QloopError as exc:
        return str(exc)
    waiting = mission.open_checkpoint
    if waiting is not None:
        return f"a question waits: qloop answer {waiting.id} {waiting.options[0].id}"
    if mission.status is MissionStatus.ABANDONED:
        return _end(view, Disposition.ABANDONED)
    if mission.status is MissionStatus.COMPLETED:
        return _end(view, Disposition.DELIVERED)
    return None if mission.is_team else f"qloop mission run {view.id}"


def _next_of_outcome(view: IntentView) -> str | None:
    files = read_lifecycle(Path(view.folder))
    if files.outcome is None:
        return None
    return _end(view, files.disposition or Disposition.DELIVERED)


def _end(view: IntentView, how: Disposition) -> str:
    return f"its end is not whole: qloop intent end {view.id} --disposition {how}"
