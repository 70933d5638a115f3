"""The coordinator of a wave when the machine fails it."""

import os
import threading
from collections.abc import Iterator

import pytest

from qloop.repo.checkout import find_repository
from qloop.run import coordinator, dispatch, holder, recover
from qloop.run.control import is_hung_up
from qloop.run.opening import Opened, open_by_hand
from qloop.run.orders import Report, Settled
from qloop.system.cancel import Cancel
from world import World, wait_until


@pytest.fixture
def opened(world: World) -> Iterator[Opened]:
    """Two stories that are in progress, each agent waiting for its word, and the run lock."""
    world.plan({"id": "A-1", "status": "in_progress"}, {"id": "B-1", "status": "in_progress"})
    world.agent(
        **{
            f"{name}_1": [
                [
                    ["wait-for", str(world.flags / name)],
                    ["write", f"{name}.txt", f"{name}\n"],
                    ["commit", name],
                ]
            ]
            for name in ("A", "B")
        }
    )
    made = open_by_hand(find_repository(world.path), world.quantum, None)
    yield made
    holder.release(made.lock)


def serve(opened: Opened) -> tuple[threading.Thread, int, list[str]]:
    """Run the wave of both stories; the pipe with its reports, and its signal once it has ended."""
    slots, counter = dispatch.Slots(2), dispatch.read_counter(opened)
    order = dispatch.hand_out(opened, "wave-1", opened.plan().stories, slots, counter)
    (control, held), (reports, told) = os.pipe(), os.pipe()
    signals: list[str] = []

    def work() -> None:
        with os.fdopen(control) as words, os.fdopen(held, "wb"), os.fdopen(told, "w") as out:
            signals.append(coordinator.serve(order, words, out, Cancel()))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, reports, signals


def test_a_story_whose_reviews_cannot_be_written_is_told_and_the_other_lands(
    world: World, opened: Opened
) -> None:
    """A state file that cannot be written for a while fails one story as infra, uncharged."""
    thread, reports, signals = serve(opened)
    wait_until(lambda: len(world.events("agent.started")) == 2)
    kept = world.path / ".qloop" / "generations"
    aside = kept.with_name("aside")
    kept.rename(aside)
    kept.write_text("in the way", encoding="utf-8")
    settled: list[Settled] = []

    (world.flags / "A").touch()
    with os.fdopen(reports, encoding="utf-8") as lines:
        for line in lines:
            report = Report.model_validate_json(line)
            if report.settled is not None:
                settled.append(report.settled)
            if report.settled is not None and report.settled.story == "A-1":
                kept.unlink()
                aside.rename(kept)
                (world.flags / "B").touch()
    thread.join()

    first, second = settled
    assert signals == ["WAVE_FAILED"]
    assert first.failed is not None
    assert (first.story, first.failed.phase, first.failed.charged) == ("A-1", "infra", False)
    assert (second.story, second.failed) == ("B-1", None)
    findings = world.document["execution"]["completedWaves"][0]["findings"]
    assert len(findings) == 1
    assert findings[0].startswith("A-1: its progress is not written: ")


def test_a_lock_that_another_command_took_meanwhile_stays(world: World) -> None:
    """Only a lock file that was there all the time is one of a command that is gone."""
    refs = world.path / ".git" / "refs" / "qloop"
    refs.mkdir(parents=True)
    dead, living = refs / "dead.lock", refs / "living.lock"
    for lock in (dead, living):
        lock.touch()
    taken = world.path / ".git" / "taken"
    taken.touch()
    os.utime(dead, (0, 0))
    again = threading.Timer(1.0, taken.replace, [living])
    again.start()

    told = recover.remove_dead_locks(find_repository(world.path), "ql/feature")

    again.join()
    assert living.exists()
    assert not dead.exists()
    assert [text for text in told if "dead.lock" in text]


def test_a_driver_that_is_gone_is_noticed_at_once() -> None:
    """A hung-up control pipe is noticed although words are still to be read from it."""
    control, held = os.pipe()
    with os.fdopen(control, encoding="utf-8") as words:
        before = is_hung_up(words)
        os.write(held, b"drain 1\n")
        os.close(held)

        after = is_hung_up(words)

    assert (before, after) == (False, True)
