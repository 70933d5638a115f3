"""Coordinators are forked from a process that has loaded all; nothing depends on its life."""

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from victims import (
    check_nothing_left,
    check_uncharged,
    coordinators,
    fork_servers,
    gone,
    kill,
    send,
)
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


def environment_of(pid: int) -> list[bytes]:
    """The environment that a process was started with."""
    return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")


def test_a_fork_is_the_drivers_child_and_shows_its_wave(world: World) -> None:
    """Whoever looks at processes sees a coordinator like any other, that bears the run's mark."""
    world.plan(*chain("A-1", "B-1"))
    waiting(world, "A-1", "B-1")
    process = world.start("run", "--coordinator")
    there(world, "A-1")
    (server,) = fork_servers(process.pid)
    (first,) = coordinators(process.pid)
    words = Path(f"/proc/{first}/cmdline").read_bytes().split(b"\0")
    environments = environment_of(server), environment_of(first)
    go(world, "A-1", "B-1")
    ran = end(process)

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert started(world)["wave-1"] == first
    coordinator = [b"coordinator", b"--wave", b"wave-1", b"--stories", b"A-1"]
    assert words[3:9] == [b"qloop", *coordinator]
    assert words[-1] == b""
    mark = f"QLOOP_RUN={world.events()[0]['run']}".encode()
    assert all(mark in environment for environment in environments)
    check_nothing_left(world)


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_without_its_server_a_run_goes_on(world: World, signum: int) -> None:
    """The next coordinator is started anew; the one at work is not touched."""
    world.plan(*chain("A-1", "B-1"))
    waiting(world, "A-1", "B-1")
    process = world.start("run")
    there(world, "A-1")
    victims = fork_servers(process.pid)
    send(signum, *victims)
    wait_until(lambda: gone(victims))
    go(world, "A-1", "B-1")
    ran = end(process)

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert len(started(world)) == 2
    check_uncharged(world)
    check_nothing_left(world)


def test_it_ends_with_its_driver_and_the_next_run_goes_on(world: World) -> None:
    """A driver that is killed takes it along, and it locks nothing."""
    world.plan(*chain("A-1", "B-1"))
    waiting(world, "A-1", "B-1")
    process = world.start("run")
    there(world, "A-1")
    orphans = fork_servers(process.pid)
    kill(process, world, "driver")
    wait_until(lambda: gone(orphans))
    go(world, "A-1", "B-1")
    ran = world.run()

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    check_uncharged(world)
    check_nothing_left(world)


def test_it_ends_with_a_run_that_is_interrupted(world: World) -> None:
    """TERM ends the run and the server."""
    world.plan(*chain("A-1", "B-1"))
    waiting(world, "A-1", "B-1")
    process = world.start("run")
    there(world, "A-1")
    go(world, "A-1")
    process.terminate()
    ran = end(process)

    assert (ran.code, ran.signal) == (130, "<quantum>INTERRUPTED</quantum>"), ran.err
    check_nothing_left(world)


def test_a_coordinator_of_more_words_than_a_fork_can_show_is_started_anew(world: World) -> None:
    """As with a state file that lies very deep."""
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")
    deep = world.path.joinpath(*["d" * 250] * 15, "quantum.json")
    deep.parent.mkdir(parents=True)
    (world.path / "quantum.json").rename(deep)

    ran = world.run("--quantum", str(deep))

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert len(started(world)) == 1


def test_a_run_without_a_wave_ends_with_its_server(world: World) -> None:
    """Even where that has not loaded all by then; the fixture sees to it that none is left."""
    world.plan({"id": "A-1", "status": "passed"})

    ran = world.run()

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
