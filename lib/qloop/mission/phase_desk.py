"""The desk of a phase coordinator: its order, its repository, its finished steps.

A step that is done is done for good: a fresh coordinator of the same phase goes on behind it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qloop.mission.phase_order import PhaseOrder
from qloop.repo.checkout import Repository
from qloop.run.config import Config
from qloop.state.journal import Journal
from qloop.state.phase_events import Metrics, Option, Output, PhaseCheckpoint, PhaseComplete
from qloop.state.phases import PhaseName, Warmth
from qloop.system.cancel import Cancel
from qloop.system.clock import monotonic_s, render_duration
from qloop.system.files import read_optional, write_atomic

STEPS = "phases"
Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PhaseDesk:
    """One phase coordinator at work."""

    order: PhaseOrder
    repository: Repository
    config: Config
    journal: Journal
    cancel: Cancel
    tell: Callable[[str], None]
    """Says a line of what goes on, for people who watch."""
    began_s: float
    """On the monotonic clock."""

    @property
    def phase(self) -> PhaseName:
        """The phase."""
        return self.order.phase

    @property
    def folder(self) -> Path:
        """The intent's folder."""
        return Path(self.order.intent_dir)

    @property
    def logs(self) -> Path:
        """Where prompts and output of the phase's agents are kept."""
        return self.folder / "logs" / self.phase.lower()

    @property
    def quantum(self) -> Path:
        """The mission's plan."""
        return self.folder / "quantum.json"

    @property
    def spec(self) -> Path:
        """The document that the plan is made from."""
        return self.folder / "spec.md"

    def step(self, name: str, about: object, make: Callable[[], Result]) -> Result:
        """What a step came to: as recorded where it was done about the same, else done now.

        *about* is JSON that the result depends on.
        """
        done = self._done()
        key = json.dumps(about, sort_keys=True, ensure_ascii=False)
        known = done.get(name)
        if known is not None and known["about"] == key:
            result: Result = known["result"]
            return result
        result = make()
        write_atomic(
            self._steps_file,
            _json({"round": self.order.round, "steps": {**done, name: _entry(key, result)}}),
        )
        return result

    def find_step(self, name: str) -> object:
        """What a step that is done was about; None for one that is not."""
        known = self._done().get(name)
        return None if known is None else json.loads(known["about"])

    def forget_steps(self) -> None:
        """Begin the phase from its beginning."""
        write_atomic(self._steps_file, _json({"round": self.order.round, "steps": {}}))

    def write(self, name: str, text: str) -> None:
        """Put a text into the intent's folder."""
        write_atomic(self.folder / name, text.encode())

    def complete(
        self,
        summary: str,
        outputs: tuple[str, ...],
        *,
        metrics: Metrics | None = None,
        warmth: Warmth | None = None,
    ) -> PhaseComplete:
        """The event of a phase that is done."""
        from qloop.mission.phases import after

        seconds = monotonic_s() - self.began_s
        return PhaseComplete(
            phase_id=self.phase,
            duration=render_duration(seconds),
            summary=summary,
            outputs=tuple(
                Output(path=one, type="directory" if (self.folder / one).is_dir() else "file")
                for one in outputs
            ),
            metrics=(metrics or Metrics()).model_copy(update={"duration_s": round(seconds, 3)}),
            warmth=warmth or Warmth(),
            next_phase=after(self.phase),
        )

    def ask(
        self, kind: str, question: str, options: tuple[Option, ...], **context: Any
    ) -> PhaseCheckpoint:
        """The event of a phase that waits for a person."""
        return PhaseCheckpoint(
            phase_id=self.phase,
            checkpoint_type=kind,
            question=question,
            options=options,
            context=context,
        )

    @property
    def _steps_file(self) -> Path:
        return self.folder / STEPS / f"{self.phase}.json"

    def _done(self) -> dict[str, Any]:
        data = read_optional(self._steps_file)
        return {} if data is None else read_steps(data, self.order.round)


def read_steps(data: bytes, round_number: int) -> dict[str, Any]:
    """The steps that a file of them has of a round; none where it is not as it was written.

    A step that is done once more costs less than a phase that can never be done again.
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or found.get("round") != round_number:
        return {}
    steps = found.get("steps")
    if not isinstance(steps, dict) or not all(map(_is_step, steps.values())):
        return {}
    return dict(steps)


def _is_step(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("about"), str)
        and isinstance(value.get("result"), dict)
    )


def _entry(key: str, result: Result) -> dict[str, Any]:
    return {"about": key, "result": result}


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()
