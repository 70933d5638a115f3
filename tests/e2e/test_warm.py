"""A coordinator is ready ahead of its wave; having one harms nothing, whatever becomes of it."""

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from victims import check_nothing_left, check_uncharged, coordinators, gone, kill, ready, send
from world import Ran, World, wait_until

COMPLETE = "<quantum>COMPLETE</quantum>"

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="only where a process can be shown anew"
)


def waiting(world: World, *ids: str) -> None:
    """Each story's agent says that it is there, and goes on when it may."""
    world.agent(
        **{
            one.replace("-", "_"): [
                [
                    ["write", f"{one}.txt", f"{one}\n"],
                    ["commit", f"add {one}"],
                    ["touch", str(world.flags / f"there-{one}")],
                    ["wait-for", str(world.flags / f"go-{one}")],
                ]
            ]
            for one in ids
        }
    )


def there(world: World, story: str) -> None:
    """Wait until a story's agent is at work."""
    wait_until((world.flags / f"there-{story}").exists)


def go(world: World, *ids: str) -> None:
    """Let agents go on."""
    for one in ids:
        (world.flags / f"go-{one}").touch()


def end(process: "subprocess.Popen[str]") -> Ran:
    """A run's end."""
    out, err = process.communicate(timeout=120)
    return Ran(process.returncode, out, err)


def chain(*ids: str) -> list[dict[str, Any]]:
    """Stories each of which needs the one before it."""
    return [
        {"id": one, "dependsOn": [before] if before else []}
        for before, one in zip(("", *ids), ids, strict=False)
    ]


def started(world: World) -> dict[str, int]:
    """The process of each wave's coordinator, as the journal has it."""
    return {one["wave"]: one["data"]["process"]["pid"] for one in world.events("wave.started")}


def test_the_next_waves_coordinator_is_the_one_that_was_ready(world: World) -> None:
    """It is the driver's child, and shows itself as any coordinator once it has its wave."""
    world.plan(*chain("A-1", "B-1", "C-1"))
    waiting(world, "A-1", "B-1", "C-1")
    process = world.start("run", "--coordinator")
    there(world, "A-1")
    wait_until(lambda: len(ready(process.pid)) == 1)
    first = ready(process.pid)
    go(world, "A-1")
    there(world, "B-1")
    words = Path(f"/proc/{first[0]}/cmdline").read_bytes().split(b"\0")
    environment = Path(f"/proc/{first[0]}/environ").read_bytes().split(b"\0")
    at_work = coordinators(process.pid)
    go(world, "B-1", "C-1")
    ran = end(process)

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert at_work == first
    assert started(world)["wave-2"] == first[0]
    coordinator = [b"coordinator", b"--wave", b"wave-2", b"--stories", b"B-1"]
    assert words[3:9] == [b"qloop", *coordinator]
    assert words[-1] == b""
    assert f"QLOOP_RUN={world.events()[0]['run']}".encode() in environment
    check_nothing_left(world)


@pytest.mark.parametrize(
    ("stories", "options"),
    [
        ([{"id": "A-1"}], []),
        (chain("A-1", "B-1"), ["--max-iterations", "1"]),
        ([{"id": "A-1"}, {"id": "B-1", "status": "blocked"}], []),
        ([{"id": "A-1"}, {"id": "B-1", "status": "passed"}], ["--sequential"]),
    ],
)
def test_none_is_ready_where_no_wave_can_follow(
    world: World, stories: list[dict[str, Any]], options: list[str]
) -> None:
    """The last stories are at work, no more waves are wanted, or the rest can never run."""
    world.plan(*stories)
    waiting(world, "A-1")
    process = world.start("run", *options)
    there(world, "A-1")
    found = ready(process.pid)
    go(world, "A-1")
    end(process)

    assert found == []
    check_nothing_left(world)


def test_one_that_was_not_needed_is_gone_with_the_run(world: World) -> None:
    """It has said nothing and left nothing, though a wave was expected."""
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}}, {"id": "B-1", "dependsOn": ["A-1"]})
    world.agent(A_1=[[["say", "STORY_FAILED"]]])

    ran = world.run()

    assert (ran.code, ran.signal) == (1, "<quantum>BLOCKED</quantum>"), ran.err
    names = [path.name for path in (world.path / ".qloop/waves").glob("*/*")]
    assert sorted(names) == ["wave-1.err", "wave-1.out"]
    check_nothing_left(world)


def test_one_that_died_is_replaced(world: World) -> None:
    """Its death is no story's fault: another coordinator takes the wave."""
    world.plan(*chain("A-1", "B-1"))
    waiting(world, "A-1", "B-1")
    process = world.start("run")
    there(world, "A-1")
    wait_until(lambda: ready(process.pid))
    victims = ready(process.pid)
    send(signal.SIGKILL, *victims)
    wait_until(lambda: gone(victims))
    go(world, "A-1", "B-1")
    ran = end(process)

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert started(world)["wave-2"] not in victims
    check_uncharged(world)
    check_nothing_left(world)


def test_it_ends_with_its_driver_and_the_next_run_goes_on(world: World) -> None:
    """A driver that is killed takes it along; no word of it is anywhere, and it locks nothing."""
    world.plan(*chain("A-1", "B-1"))
    waiting(world, "A-1", "B-1")
    process = world.start("run")
    there(world, "A-1")
    wait_until(lambda: ready(process.pid))
    orphans = ready(process.pid)
    kill(process, world, "driver")
    wait_until(lambda: gone(orphans))
    said = [path.read_text("utf-8") for path in (world.path / ".qloop/waves").glob("*/wave-2.*")]
    go(world, "A-1", "B-1")
    ran = world.run()

    assert said == ["", ""]
    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    check_uncharged(world)
    check_nothing_left(world)


def test_it_ends_with_a_run_that_is_interrupted(world: World) -> None:
    """TERM ends the run and what was ready."""
    world.plan(*chain("A-1", "B-1"))
    waiting(world, "A-1", "B-1")
    process = world.start("run")
    there(world, "A-1")
    wait_until(lambda: ready(process.pid))
    go(world, "A-1")
    process.terminate()
    ran = end(process)

    assert (ran.code, ran.signal) == (130, "<quantum>INTERRUPTED</quantum>"), ran.err
    check_nothing_left(world)


def test_a_wave_of_longer_names_than_expected_gets_a_new_one(world: World) -> None:
    """A story that came meanwhile does not fit the words that the ready one can show."""
    longer = "L-" + "1" * 62
    world.plan(*chain("A-1", "B-1"))
    waiting(world, "A-1", "B-1", longer)
    process = world.start("run")
    there(world, "A-1")
    wait_until(lambda: ready(process.pid))
    first = ready(process.pid)
    document = world.document
    document["stories"].insert(1, {"id": longer, "dependsOn": ["A-1"]})
    world.write_document(document)
    go(world, "A-1", "B-1", longer)
    ran = end(process)

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert started(world)["wave-2"] not in first
    check_nothing_left(world)
