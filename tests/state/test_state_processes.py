"""Many processes on one state file, and processes that are killed while they write."""

import json
import random
import signal
import time
from pathlib import Path

from qloop.state.ownership import DRIVER
from qloop.state.store import store_for
from state.documents import document, new_store, on_disk, start, story_of

WRITERS = 8
TIMES = 75
KILLS = 30


def test_sixteen_processes_lose_nothing(tmp_path: Path) -> None:
    """Drivers that count and coordinators that append, 75 times each, are all in the file."""
    store = new_store(tmp_path / "a run", document())
    writers = [start("count", store.path, str(TIMES)) for _ in range(WRITERS)]
    writers += [start("report", store.path, f"w{one}", str(TIMES)) for one in range(WRITERS)]
    codes = []
    for writer in writers:
        with writer:
            codes.append(writer.wait())

    found = on_disk(store)
    assert codes == [0] * 2 * WRITERS
    assert story_of(found, "US-1")["retries"] == {"attempts": WRITERS * TIMES}
    for one in range(WRITERS):
        mine = [line for line in found["progress"] if line.startswith(f"w{one} ")]
        assert mine == [f"w{one} {number}" for number in range(TIMES)]
    assert len(found["progress"]) == WRITERS * TIMES


def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    """Killed at any instant, a process leaves a file that holds all that it said it wrote."""
    store = new_store(tmp_path, document(notes="n" * 50_000))
    chance = random.Random(20260102)
    stamps = [on_disk(store)["updatedAt"]]
    said: list[str] = []
    for _ in range(KILLS):
        with start("count-for-ever", store.path) as writer:
            assert writer.stdout is not None
            first = writer.stdout.readline()
            time.sleep(chance.random() * 0.03)
            writer.send_signal(signal.SIGKILL)
            numbers = [int(line) for line in [first, *writer.stdout] if line.endswith("\n")]
        found = json.loads(store.path.read_bytes())

        assert story_of(found, "US-1")["retries"]["attempts"] in (numbers[-1], numbers[-1] + 1)
        stamps.append(found["updatedAt"])
        with store_for(store.path, tmp_path, said.append).transaction(DRIVER) as draft:
            assert draft == found
            draft.setdefault("execution", {})["currentWave"] = len(stamps)
        stamps.append(on_disk(store)["updatedAt"])

    assert said == []
    assert stamps == sorted(set(stamps))
    assert not (store.private / "aside").exists()
    kept = [path.name for path in (store.private / "generations").iterdir()]
    assert all(name.endswith("Z.json") for name in kept)
