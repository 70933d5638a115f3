"""EXECUTION by itself: its coordinator as a process, an order in, activity and an event out."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from world import PATIENCE_S, QLOOP, World

RUN = "r-20260102T030405Z-000"


@dataclass(frozen=True)
class Said:
    """What a coordinator said until it ended."""

    code: int
    event: dict[str, Any]
    activity: list[str]

    @property
    def options(self) -> list[str]:
        """The ids of the ways out that it offers."""
        listed = self.event.get("recovery_options") or self.event.get("options") or []
        return [one["id"] for one in listed]


class Execution:
    """The intent of a mission whose plan is made."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.folder = world.path / ".qloop" / "intents" / "1--tea"
        self.folder.mkdir(parents=True)
        world.quantum = self.folder / "quantum.json"
        self.runs = 0

    def order(
        self, answer: dict[str, Any] | None = None, autonomy: str = "AUTOPILOT", **context: Any
    ) -> str:
        """The order of the next coordinator; *answer* has option, note and the context."""
        self.runs += 1
        order: dict[str, Any] = {
            "phase": "EXECUTION",
            "intent_dir": str(self.folder),
            "run_id": f"{RUN}{self.runs}",
            "phase_config": {"objectives": [], "agents": [], "output": []},
            "mission_context": {"directive": "tea", "autonomy": autonomy, **context},
        }
        if answer is not None:
            order["checkpoint_context"] = {**answer["context"], "checkpoint": f"cp-1-{self.runs}"}
            order["user_response"] = {"option": answer["option"], "note": answer.get("note", "")}
        return json.dumps(order)

    def start(self, order: str) -> "subprocess.Popen[str]":
        """A coordinator at work; whoever starts it holds its input open, as a mission does."""
        process = subprocess.Popen(
            [*QLOOP, "phase", "EXECUTION", "--intent", str(self.folder)],
            cwd=self.world.path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdin is not None
        process.stdin.write(f"{order}\n")
        process.stdin.flush()
        return process

    def run(self, order: str) -> Said:
        """A coordinator to its end."""
        return self.hear(self.start(order))

    def hear(self, process: "subprocess.Popen[str]") -> Said:
        """What a coordinator says until it ends."""
        assert process.stdin is not None
        assert process.stdout is not None
        lines = [json.loads(line) for line in process.stdout]
        code = process.wait(PATIENCE_S)
        process.stdin.close()
        process.stdout.close()
        (event,) = [line for line in lines if "event" in line]
        return Said(code, event, [line["activity"] for line in lines if "activity" in line])

    def answered(self, said: Said, option: str, note: str = "") -> dict[str, Any]:
        """A person's answer to what a coordinator asked, as the mission hands it down."""
        event = said.event
        context = event.get("context") or {
            "failure_type": event["failure_type"],
            "partial_work": event["partial_work"],
        }
        assert option in said.options
        return {"option": option, "note": note, "context": context}

    def summary(self, story: str) -> str:
        """What was written of a story that has passed."""
        path: Path = self.folder / "execution" / "summaries" / f"{story}.md"
        return path.read_text("utf-8")
