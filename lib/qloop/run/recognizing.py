"""The recognizer as the driver sees it: one at a time, beside the waves, of the newest tip.

A line that was red when it was last looked at is seen green before anything is built on it.
"""

import os
import selectors
from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import ValidationError

from qloop.plan.model import Json, Status
from qloop.plan.outline import Outline
from qloop.repo.history import LineCommit, line_since
from qloop.repo.line import line_tip
from qloop.run import launch, recognition
from qloop.run.forks import Forks
from qloop.run.opening import Opened
from qloop.run.proving import name_of
from qloop.run.recognition import Recognition, RecognizeOrder, Standing
from qloop.run.recognizer import ROOM
from qloop.run.records import execution_of
from qloop.run.wave import Wave
from qloop.state.journal import EventKind
from qloop.state.ownership import coordinator_of
from qloop.system import process
from qloop.system.tree import Marks, end_tree

READ_BYTES = 65_536
EXIT_S = 5.0
GRACE_S = 5.0
AT_ONCE_S = 0.5
MOST_COMMITS = 50
STOPPED = 0
"""The exit code of one that ended without a word since it was told to."""


@dataclass(slots=True)
class Recognizing:
    """What a run has recognized, and what it still is to recognize."""

    opened: Opened
    forks: Forks
    wanted: bool
    standing: Standing
    due: str | None = None
    """The newest wave whose landings nobody has looked at yet."""
    red: str | None = None
    """What is red, and what a person does about it."""
    unseen: str | None = None
    """Why the newest tip could not be looked at."""
    _stories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of each wave that ended in this run."""
    _process: launch.Launched | None = None
    _order: RecognizeOrder | None = None
    _said: bytes = b""

    @property
    def is_open(self) -> bool:
        """Whether something is looked at, or is to be."""
        return self._process is not None or self.is_due

    @property
    def is_due(self) -> bool:
        """Whether a recognizer is to start now."""
        return self.due is not None and self._process is None and self.red is None

    @property
    def pids(self) -> set[int]:
        """Its process, if there is one."""
        return set() if self._process is None else {self._process.pid}

    def keeps_back(self, *, strict: bool) -> bool:
        """Whether no wave may start before it has spoken."""
        return self.is_open and (strict or self.standing.is_red)

    def note_end(self, wave: Wave) -> None:
        """A wave has ended: what landed is to be looked at."""
        self._stories[wave.wave_id] = wave.stories
        if self.wanted and (wave.landed or not self.standing.is_green):
            self.due = wave.wave_id

    def drop(self) -> None:
        """Look at nothing more."""
        self.due = None

    def begin(self, selector: selectors.BaseSelector, others: Callable[[], Container[int]]) -> None:
        """Start a recognizer, and hear it; *others* are the coordinators of the moment."""
        assert self.due is not None  # or nobody is to be started
        opened = self.opened
        self._order = RecognizeOrder(
            wave=self.due, terms=opened.terms, accepted=opened.wanted.accepted_red
        )
        self.due, self._said = None, b""
        started = launch.launch_recognizer(
            opened.terms.place, self._order.wave, self.forks, (opened.lock,)
        )
        launch.send_line(started.control, self._order.model_dump_json())
        self._process = started
        selector.register(
            started.reports, selectors.EVENT_READ, lambda: self._hear(selector, others())
        )

    def stop(self) -> None:
        """Have it end without a word."""
        self.due = None
        if self._process is not None:
            launch.send_line(self._process.control, "stop")

    def end(self) -> None:
        """End it at once, with all that it runs."""
        if self._process is not None:
            end_tree([self._process.pid], self._marks, grace_s=AT_ONCE_S)

    def _hear(self, selector: selectors.BaseSelector, others: Container[int]) -> None:
        launched, order = self._process, self._order
        assert launched is not None  # or there was nothing to hear
        assert order is not None
        try:
            while data := os.read(launched.reports, READ_BYTES):
                self._said += data
        except BlockingIOError:
            return
        selector.unregister(launched.reports)
        code = self._close(launched, others)
        self._process = None
        seen = _read(self._said)
        if seen is not None or code != STOPPED:
            self._take(order.wave, seen or Recognition(fault=f"its process {_how(code)}"))

    def _close(self, launched: launch.Launched, others: Container[int]) -> int | None:
        """After its end: nothing of it is left running; its exit code, None where it was lost."""
        process.await_exit(launched.pid, timeout_s=EXIT_S)
        end_tree([launched.pid], self._marks, grace_s=GRACE_S, spare=others, orphans=True)
        os.close(launched.control)
        os.close(launched.reports)
        try:
            return process.wait_status(launched.pid)
        except process.StatusLost:
            return None

    def _take(self, wave: str, seen: Recognition) -> None:
        """Write down what was seen, and hold what it means for what comes next."""
        landed = self._landed(seen.tip)
        finding = recognition.finding_of(wave, seen, landed)
        facts = recognition.facts_of(seen, landed, finding)
        self.unseen = finding["text"] if finding is not None and seen.fault is not None else None
        self.opened.journal.append(
            EventKind.WAVE_RECOGNIZED,
            wave=wave,
            branch=self.opened.terms.place.branch,
            since=self.standing.since,
            **facts,
        )
        if finding is not None:
            self._write(wave, finding)
        if seen.red:
            way = recognition.way_out(self.opened.terms.place.branch)
            self.red = f"{recognition.red_words(wave, seen, landed)}; {way}"
        elif seen.green:
            self.standing = Standing(since=seen.tip, is_green=True)
        elif seen.mending:
            self.standing = replace(self.standing, is_red=False)

    def _landed(self, tip: str | None) -> tuple[LineCommit, ...]:
        """What came to the line since it was last green, newest first."""
        if tip is None:
            return ()
        return line_since(self.opened.repository.git, tip, self.standing.since, MOST_COMMITS)

    def _write(self, wave: str, finding: Json) -> None:
        """Add a finding to the entry of a wave, if its coordinator came to write one."""
        stories = self._stories.get(wave, ())
        with self.opened.store.transaction(coordinator_of(stories), ()) as draft:
            for entry in reversed(execution_of(draft).get("completedWaves") or []):
                if entry.get("id") == wave and set(entry.get("stories") or ()) <= set(stories):
                    entry["findings"] = [*(entry.get("findings") or []), finding]
                    return

    @property
    def _marks(self) -> Marks:
        base = Path(self.opened.terms.place.base)
        name = name_of(ROOM, self.opened.terms)
        return Marks(folders=(base / name, base / f"{name}.tmp"))


def take_up(opened: Opened, forks: Forks, outline: Outline) -> Recognizing:
    """What a run begins with: what is known of the line, and what is still to be looked at."""
    wanted = opened.wanted.recognize
    if not (opened.config.gates.recognize if wanted is None else wanted):
        return Recognizing(opened, forks, wanted=False, standing=Standing())
    branch = opened.terms.place.branch
    tip = line_tip(opened.repository, branch)
    standing = recognition.standing_of(opened.journal.events(), branch)
    number = opened.chosen(()).execution.current_wave
    has_landed = any(story.status is Status.PASSED for story in outline.stories)
    is_seen = standing.is_green and standing.since == tip
    due = f"wave-{number}" if has_landed and number and not is_seen else None
    standing = standing if standing.since is not None else replace(standing, since=tip)
    return Recognizing(opened, forks, wanted=True, standing=standing, due=due)


def _read(said: bytes) -> Recognition | None:
    try:
        return Recognition.model_validate_json(said)
    except ValidationError:
        return None


def _how(code: int | None) -> str:
    if code is None:
        return "ended with an exit status that was lost"
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
