"""A run of many stories as its journal, its state file and its commits tell of it, made by hand."""

import heapq
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from many_stories import many_stories
from qloop.plan.model import Json
from qloop.state.journal import Event, EventKind
from qloop.system import process
from repository import Repo

BRANCH = "ql/many"
RUN = "r-20260102T030405Z-4f2a"
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SLOTS = 8


@dataclass
class Told:
    """The events of a run, while they are made up."""

    events: list[Event] = field(default_factory=list)

    def tell(self, at_s: float, kind: EventKind, **facts: Any) -> None:
        """Note an event; *facts* beside `story`, `attempt` and `wave` are its data."""
        named = {name: facts.pop(name) for name in ("story", "attempt", "wave") if name in facts}
        ts = (START + timedelta(seconds=at_s)).isoformat(timespec="milliseconds")
        seq = len(self.events) + 1
        self.events.append(
            Event(seq=seq, ts=ts.replace("+00:00", "Z"), run=RUN, event=kind, **named, data=facts)
        )


def run_of_many(repo: Repo, count: int) -> None:
    """Write a plan of *count* stories, a run that passed nearly all, and what it landed."""
    stories = many_stories(count)
    commits = _land(repo, stories)
    told = Told()
    told.tell(0.0, EventKind.RUN_STARTED, branch=BRANCH, stories=count, max_parallel=SLOTS)
    end_s = _work(told, stories, commits)
    told.tell(end_s + 1, EventKind.RUN_ENDED, signal="BLOCKED", reasons=["one story is left"])
    private = repo.path / ".qloop"
    private.mkdir()
    lines = sorted(told.events, key=lambda event: event.ts)
    (private / "events.jsonl").write_bytes(b"".join(event.to_line() for event in lines))
    plan = {"project": "A plan of many stories", "branchName": BRANCH, "stories": stories}
    (repo.path / "quantum.json").write_text(json.dumps(plan), encoding="utf-8")


def _work(told: Told, stories: list[Json], commits: dict[str, str]) -> float:
    """Put the attempts into slots as they become free; returns when the last one ended."""
    chance = Random(11)
    free = [(1.0, slot) for slot in range(SLOTS)]
    ended = 0.0
    for number, story in enumerate(stories):
        fails = (1, 1, 1) if number == len(stories) - 1 else (1,) * (number % 6 == 5)
        story["retries"] = {"attempts": len(fails), "maxAttempts": 3, "failureLog": []}
        for attempt in range(1, len(fails) + (number < len(stories) - 1) + 1):
            at_s, slot = heapq.heappop(free)
            took_s = 60 + chance.random() * 600
            where = {"story": story["id"], "attempt": attempt, "wave": f"wave-{number // 4 + 1}"}
            told.tell(at_s, EventKind.ATTEMPT_STARTED, **where, runner="claude", slot=slot)
            landed = commits[story["id"]] if attempt > len(fails) else None
            _end(told, at_s + took_s, where, story, landed)
            heapq.heappush(free, (at_s + took_s, slot))
            ended = max(ended, at_s + took_s)
    return ended


def _end(told: Told, at_s: float, where: Json, story: Json, landed: str | None) -> None:
    told.tell(at_s - 9, EventKind.AGENT_ENDED, **where, code=0, signal="STORY_PASSED", seconds=40.0)
    green = landed is not None
    command = f"python -m pytest tests/test_{story['id'].lower().replace('-', '_')}.py"
    gate = {"gate": "verify-1", "command": command, "green": green, "code": int(not green)}
    told.tell(at_s - 5, EventKind.GATE_ENDED, **where, **gate, seconds=3.25)
    evidence = f"verify-1 `{command}`: exit {gate['code']}"
    part = {"status": "passed" if green else "failed", "evidence": evidence}
    bare = {"status": "passed", "evidence": "unverified: no command judges this"}
    quality = bare if where["attempt"] == 2 else {"status": "passed", "evidence": "ruff: exit 0"}
    story["review"] = {"specCompliance": part, "codeQuality": quality}
    story["status"] = "passed" if green else "failed"
    if landed is not None:
        told.tell(at_s - 1, EventKind.STORY_LANDED, **where, commit=landed)
        told.tell(at_s, EventKind.STORY_SETTLED, **where, status="passed", commit=landed)
        return
    why = {"phase": "verification", "reason": f"{evidence}\nAssertionError: 1 != 2"}
    told.tell(at_s, EventKind.STORY_SETTLED, **where, status="failed", **why, charged=True)
    story["retries"]["failureLog"].append({"attempt": where["attempt"], **why})


def _land(repo: Repo, stories: list[Json]) -> dict[str, str]:
    """A commit for each story, one after the other; their names by the stories' ids."""
    start = repo.git("rev-parse", "HEAD")
    stream = [f"reset refs/heads/{BRANCH}\nfrom {start}\n"]
    for story in stories:
        text = "".join(f"{story['id']} {number}\n" for number in range(len(story["title"])))
        stream.append(
            f"commit refs/heads/{BRANCH}\ncommitter Q <q@example.invalid> 1767322800 +0000\n"
            f"data <<END\n{story['id']}: {story['title']}\nEND\n"
            f"M 644 inline src/{story['id']}.py\ndata <<END\n{text}END\n\n"
        )
    done = process.run(
        ["git", "fast-import", "--quiet"], cwd=repo.path, stdin="".join(stream).encode()
    )
    assert done.code == 0, done.complaint
    listed = repo.git("log", "--format=%H %s", f"{start}..{BRANCH}").splitlines()
    return {line.split(" ")[1].rstrip(":"): line.split(" ")[0] for line in listed}
