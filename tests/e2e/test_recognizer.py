"""What landed is looked at again: a wave whose landings break one another turns red."""

import json
import os
import signal
from typing import Any

from repository import Repo
from world import Ran, World, wait_until

STORIES = (
    {"id": "A-1", "title": "one", "verify": ["test -f A-1.txt && test ! -f B-1.txt"]},
    {"id": "B-1", "title": "two", "verify": ["test -f B-1.txt"]},
    {"id": "C-1", "title": "three", "dependsOn": ["A-1", "B-1"]},
)


def recognizing(world: World, *stories: dict[str, Any], **top: Any) -> None:
    """A plan whose landings are recognized; each story writes a file of its own."""
    world.configure("[gates]\nrecognize = true\n")
    world.writes_own_file(*(one["id"] for one in stories))
    world.plan(*stories, **top)


def greens(world: World) -> list[bool | None]:
    """What each recognition came to."""
    return [one["data"]["green"] for one in world.events("wave.recognized")]


def mend(world: World) -> None:
    """A person takes back on the feature branch what broke it, and says so in the plan."""
    tree = world.path.parent / "person"
    world.repo.git("worktree", "add", "--quiet", str(tree), "ql/feature")
    pat = Repo(tree)
    pat.git("rm", "--quiet", "B-1.txt")
    pat.commit("take it back")
    document = world.document
    document["stories"][1]["verify"] = []
    world.write_document(document)


def check_named(world: World, red: Ran) -> None:
    """The red wave is named wherever a person looks."""
    (seen,) = world.events("wave.recognized")
    (command,) = seen["data"]["red"]
    (wave,) = world.document["execution"]["completedWaves"]
    words = (
        "wave-1 is red",
        "test ! -f B-1.txt",
        "A-1's verify-1",
        "(B-1)",
        "commit what mends it",
    )
    shown = [world.qloop(*line).out for line in (("show", "B-1"), ("status",))]
    world.qloop("report", "--out", "report.md", "--format", "markdown")
    shown.append((world.path / "report.md").read_text("utf-8"))

    assert [one for one in words if one not in red.err] == []
    assert (seen["wave"], command["story"], len(command["logs"])) == ("wave-1", "A-1", 2)
    assert {one["story"] for one in seen["data"]["landed"]} == {"A-1", "B-1"}
    assert all((world.path / log).is_file() for log in command["logs"])
    assert wave["signal"] == "WAVE_PASSED"
    assert [one["check"] for one in wave["findings"] if one.get("red")] == ["recognizer"]
    assert [" is red at " in text for text in shown] == [True] * 3
    assert json.loads(world.qloop("status", "--json").out)["redWave"]["wave"] == "wave-1"


def test_a_landing_that_breaks_what_another_showed_turns_its_wave_red(world: World) -> None:
    """Nothing is built on it, it is named, and once a person has mended it the run goes on."""
    recognizing(world, *STORIES, testCommand="test -f README.md", qualityCommands=["true"])

    red = world.run("--strict-waves")
    check_named(world, red)
    before = world.statuses()
    again = world.run()
    kept_back = world.statuses()
    mend(world)
    green = world.run()

    assert (red.code, red.signal) == (3, "<quantum>WAITING</quantum>")
    assert before == kept_back == {"A-1": "passed", "B-1": "passed", "C-1": "pending"}
    assert (again.code, again.signal) == (3, "<quantum>WAITING</quantum>")
    assert (green.code, green.signal) == (0, "<quantum>COMPLETE</quantum>")
    assert greens(world) == [False, False, True, True]
    assert "is red" not in world.qloop("status").out
    assert world.worktrees() == []


def test_what_is_flaky_or_cannot_be_set_up_is_named_and_not_red(world: World) -> None:
    """A command that is red once only, and a worktree that cannot be had, turn no wave red."""
    once = world.flags / "once"
    flaky = f'test "$QLOOP_ROLE" != gate || test -f "{once}" || ! touch "{once}"'
    broken = world.flags / "broken"
    setup = f'case "$QLOOP_WORKTREE" in *recognizer*) test ! -f "{broken}";; esac'
    stories = ({"id": "A-1", "verify": [flaky]}, {"id": "B-1", "dependsOn": ["A-1"]})
    recognizing(world, *stories, setupCommands=[setup])

    first = world.run("--max-iterations", "1")
    broken.touch()
    second = world.run()
    (entry, other) = world.document["execution"]["completedWaves"]

    assert (first.code, second.code) == (2, 0)
    assert greens(world) == [True, None]
    assert "red once, then green" in entry["findings"][0]["text"]
    assert "could not be recognized" in other["findings"][0]["text"]
    assert "wave-2 could not be recognized: its worktree could not be set up" in second.err


def test_a_recognizer_that_dies_is_named_and_one_that_is_stopped_is_not(world: World) -> None:
    """Neither turns a wave red; the next run looks again before it ends."""
    place = world.flags / "recognizer"
    waits = f'case "$QLOOP_WORKTREE" in *recognizer*) echo $PPID > "{place}"; sleep 100;; esac'
    recognizing(world, {"id": "A-1", "verify": [waits]})

    def recognizer() -> int:
        return int(place.read_text("utf-8"))

    process = world.start("run")
    wait_until(recognizer)
    os.kill(recognizer(), signal.SIGKILL)
    _, complaint = process.communicate()
    place.unlink()
    stopped = world.start("run")
    wait_until(recognizer)
    stopped.send_signal(signal.SIGINT)
    stopped.communicate()

    assert process.returncode == 0
    assert "its process was killed by signal 9" in complaint
    assert stopped.returncode == 130
    assert greens(world) == [None]
