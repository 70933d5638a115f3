"""What a person at a terminal is asked, and that nobody else is."""

import os
import pty
import subprocess

import pytest

from world import QLOOP, World

PRD = "# Shop\n\n### US-1: First\n\n```run\necho {word} > a.txt\n```\n"


def at_a_terminal(world: World, answer: str, *words: str) -> tuple[int, str]:
    """Run qloop with a terminal for everything, and type *answer*."""
    terminal, end = pty.openpty()
    with subprocess.Popen(
        [*QLOOP, *words], cwd=world.path, stdin=end, stdout=end, stderr=end
    ) as process:
        os.close(end)
        os.write(terminal, f"{answer}\n".encode())
        shown = b"".join(iter(lambda: _read(terminal), b""))
    os.close(terminal)
    return process.returncode, shown.decode("utf-8", "replace")


def _read(terminal: int) -> bytes:
    """What the terminal shows next; nothing when its other end is closed."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


@pytest.fixture
def drifted(world: World) -> World:
    """A finished first run, whose document then changed."""
    (world.path / "prd.md").write_text(PRD.format(word="one"), encoding="utf-8")
    assert world.run("--runner", "shell", "prd.md").code == 0
    (world.path / "prd.md").write_text(PRD.format(word="two"), encoding="utf-8")
    return world


def test_update_takes_the_change_into_the_plan(drifted: World) -> None:
    """`update` compiles the document again; the changed story runs."""
    code, shown = at_a_terminal(drifted, "update", "run", "--runner", "shell")

    assert code == 0, shown
    assert drifted.files("ql/shop")["a.txt"] == "two"


def test_keep_pins_the_document_as_it_is(drifted: World) -> None:
    """`keep` leaves the plan alone; nothing is left to do."""
    code, shown = at_a_terminal(drifted, "keep", "run", "--runner", "shell")

    assert code == 0, shown
    assert drifted.files("ql/shop")["a.txt"] == "one"
    assert drifted.run("--runner", "shell").code == 0


@pytest.mark.parametrize("words", [["--non-interactive"], ["--json"]])
def test_nobody_is_asked_who_did_not_want_it(drifted: World, words: list[str]) -> None:
    """With these options a terminal gets the error with both ways out, and no question."""
    code, shown = at_a_terminal(drifted, "update", "run", "--runner", "shell", *words)

    assert code == 65
    assert "--accept-prd-change" in shown


def test_stop_changes_nothing(drifted: World) -> None:
    """`stop` ends with the error, and the plan is as it was."""
    before = drifted.quantum.read_bytes()

    code, _ = at_a_terminal(drifted, "stop", "run", "--runner", "shell")

    assert code == 65
    assert drifted.quantum.read_bytes() == before
