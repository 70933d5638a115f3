"""Plain progress: one line for each event worth knowing, with the time since the run began."""

from collections.abc import Callable
from pathlib import Path

from qloop.state.facts import is_beside
from qloop.state.journal import Event, EventKind, Journal
from qloop.state.pauses import Pause
from qloop.system.clock import parse_utc, render_duration
from qloop.system.counting import counted
from qloop.ui import console
from qloop.ui.delegates import DelegateRun, delegate_words
from qloop.ui.pauses import render_pause
from qloop.ui.red_waves import holds_words
from qloop.ui.stages import is_makers

GREEN_GATES_SHOWN = ("test", "base")


class Follower:
    """Reads what the journal has gained since the last look, and shows each event of a run."""

    def __init__(self, path: Path, show: Callable[[Event], None], offset: int) -> None:
        self._journal = Journal(path)
        self._show = show
        self._offset = offset

    def look(self) -> None:
        """Show the events that came since the last look."""
        events, self._offset = self._journal.read_from(self._offset)
        for event in events:
            if not is_beside(event.run):
                self._show(event)


class PlainLines:
    """Shows events as lines, on standard error unless another way to say them is given."""

    def __init__(self, say: Callable[[str], None] = console.say) -> None:
        self._say = say
        self._began: float | None = None

    def __call__(self, event: Event) -> None:
        moment = parse_utc(event.ts).timestamp()
        self._began = moment if self._began is None else self._began
        line = render_event(event)
        if line:
            self._say(f"[{render_duration(moment - self._began):>6}] {line}")


def end_of(path: Path) -> int:
    """Where a journal ends now, in bytes: what comes from here on is new."""
    return path.stat().st_size if path.exists() else 0


def show_json(event: Event) -> None:
    """An event as one line of JSON on standard output."""
    console.result(event.to_line().decode().rstrip("\n"))


def render_event(event: Event) -> str:
    """One event in words, or nothing where a person need not know."""
    data = event.data
    who = f"{event.story} attempt {event.attempt}" if event.story else (event.wave or "run")
    texts: dict[EventKind, Callable[[], str]] = {
        EventKind.RUN_STARTED: lambda: _run_start(event),
        EventKind.WAVE_STARTED: lambda: f"{event.wave}: {', '.join(data.get('stories', []))}",
        EventKind.AGENT_STARTED: lambda: f"{who}: {_agent_start(event)}",
        EventKind.AGENT_ENDED: lambda: f"{who}: {_agent_end(event)}" if is_makers(data) else "",
        EventKind.REVIEW_ENDED: lambda: _review(event, who) if "role" in data else "",
        EventKind.MERGE_ENDED: lambda: _merge(event, who),
        EventKind.DELEGATE_ENDED: lambda: f"{who}: {delegate_words(DelegateRun.of(data))}",
        EventKind.GUARD_BREACHED: lambda: f"{who}: guard: {_first(data.get('reason'))}",
        EventKind.GATE_ENDED: lambda: _gate(event, who),
        EventKind.STORY_LANDED: lambda: f"{event.story} landed as {str(data.get('commit'))[:10]}",
        EventKind.STORY_SETTLED: lambda: _settled(event),
        EventKind.STATE_REPAIRED: lambda: _repaired(event),
        EventKind.PERSON_CHANGED: lambda: _changed(event),
        EventKind.WAVE_ENDED: lambda: _wave_end(event),
        EventKind.WAVE_RECOGNIZED: lambda: _recognized(event),
        EventKind.RUN_HANDED_OVER: lambda: _handed_over(event),
        EventKind.RUNNER_PAUSED: lambda: _paused(event),
        EventKind.RUNNER_RESUMED: lambda: f"{data.get('runner')} may work again",
    }
    make = texts.get(event.event)
    return make() if make is not None else ""


def _run_start(event: Event) -> str:
    data = event.data
    head = f"run {event.run} on {data.get('branch')}, {data.get('max_parallel')} at once"
    return "\n".join([head, *(f"         {note}" for note in data.get("notes") or [])])


def _agent_start(event: Event) -> str:
    data = event.data
    what = f"{data.get('runner')} at work"
    return what if is_makers(data) else f"{data.get('role')}, {what}"


def _review(event: Event, who: str) -> str:
    data = event.data
    issues = data.get("issues") or []
    if data.get("passed"):
        notes = f", {counted(len(issues), 'remark')}" if issues else ""
        return f"{who}: {data.get('role')}: passed{notes}"
    return f"{who}: {_first(data.get('reason'))} {' '.join(map(str, issues[:1]))}".rstrip()


def _merge(event: Event, who: str) -> str:
    data = event.data
    files = ", ".join(map(str, data.get("files") or ()))
    if data.get("solved"):
        return f"{who}: {data.get('role')} merged it with the line: {files}"
    return f"{who}: {_first(data.get('reason'))}"


def _agent_end(event: Event) -> str:
    data = event.data
    took = render_duration(float(data.get("seconds") or 0))
    left = ", ".join(map(str, data.get("survivors") or ()))
    more = f"; process {left} could not be ended" if left else ""
    if data.get("timed_out"):
        return f"out of time after {took}{more}"
    if data.get("stuck"):
        return f"stuck, ended after {took}{more}"
    said = data.get("signal") or "no signal"
    return f"ended with {data.get('code')} after {took}, {said}{more}"


def _gate(event: Event, who: str) -> str:
    data = event.data
    took = render_duration(float(data.get("seconds") or 0))
    if data.get("green"):
        name = data.get("gate")
        return f"{who}: {name} green ({took})" if name in GREEN_GATES_SHOWN else ""
    return f"{who}: {data.get('gate')} red (exit {data.get('code')}, {took})"


def _settled(event: Event) -> str:
    data = event.data
    if data.get("status") == "passed":
        return f"{event.story} passed"
    charged = "" if data.get("charged") else ", not charged"
    return f"{event.story} {data.get('phase')}{charged}: {_ends(data.get('reason'))}"


def _repaired(event: Event) -> str:
    data = event.data
    if "restored" in data:
        return f"{event.story}: put back what it had dropped: {', '.join(data['restored'])}"
    return str(data.get("text") or data.get("blocked") or "")


def _changed(event: Event) -> str:
    data = event.data
    if "taken_in" in data:
        return f"took in the commits made on {data.get('branch')}"
    return f"not by an agent: {'; '.join(map(str, data.get('changes', [])))}"


def _wave_end(event: Event) -> str:
    told = event.data.get("disagreement")
    return f"{event.wave}: {told}" if told else f"{event.wave}: {event.data.get('signal')}"


def _recognized(event: Event) -> str:
    data = event.data
    if data.get("text"):
        text = str(data["text"])
        return text if text.startswith(f"{event.wave} ") else f"{event.wave}: {text}"
    took = render_duration(float(data.get("seconds") or 0))
    commands = counted(int(data.get("checked") or 0), "command")
    return f"{event.wave}: {holds_words(event)} ({commands}, {took})"


def _handed_over(event: Event) -> str:
    why = event.data.get("reason")
    return f"the orchestrator {why}: coordinators, one for each wave, do the rest"


def _paused(event: Event) -> str:
    pause = Pause.of_event(event)
    return render_pause(pause, parse_utc(event.ts).timestamp()) if pause is not None else ""


def _ends(text: object) -> str:
    """The first line of a reason, and the last one where there are more: what failed, and how."""
    lines = [line.strip() for line in str(text or "").splitlines() if line.strip()]
    return " … ".join([lines[0], lines[-1]]) if len(lines) > 1 else "".join(lines)


def _first(text: object) -> str:
    lines = str(text or "").strip().splitlines()
    return lines[0] if lines else ""
