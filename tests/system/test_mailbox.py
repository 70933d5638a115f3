"""Asking through a folder: answers come, late ones wait, and nothing an asker does breaks it."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from qloop.system.mailbox import Letter, Mailbox, MailboxClosed, ask

LIBRARY = str(Path(__file__).resolve().parents[2] / "lib")
ELSEWHERE = """
import sys
from pathlib import Path
from qloop.system.mailbox import ask
print(ask(Path(sys.argv[1]), {"number": 20}, None)["twice"])
"""


class Answers:
    """Doubles numbers; a negative one waits until the gate is open."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.asked: list[Letter] = []

    def __call__(self, letter: Letter) -> Letter:
        """The answer to one letter."""
        self.asked.append(letter)
        if letter["number"] < 0:
            self.gate.wait()
        return {"twice": 2 * letter["number"]}


@pytest.fixture
def answers() -> Answers:
    """What answers."""
    return Answers()


@pytest.fixture
def box(tmp_path: Path, answers: Answers) -> Iterator[Path]:
    """The folder of a mailbox that is served."""
    folder = tmp_path / "a box"
    served = Mailbox(folder, answers)
    yield folder
    answers.gate.set()
    served.close()


def test_each_question_gets_its_answer(box: Path) -> None:
    """Also many at once, and nothing is left in the folder."""
    found: dict[int, Letter | None] = {}

    def question(number: int) -> None:
        found[number] = ask(box, {"number": number}, None)

    threads = [threading.Thread(target=question, args=(number,)) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == {number: {"twice": 2 * number} for number in range(30)}
    assert [path.name for path in box.iterdir()] == ["bell"]


def test_a_question_from_another_process(box: Path) -> None:
    """It needs nothing but the folder."""
    env = {**os.environ, "PYTHONPATH": LIBRARY}
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(box)], env=env, capture_output=True, check=True
    )

    assert done.stdout == b"40\n"


def test_who_does_not_wait_may_ask_again(box: Path, answers: Answers) -> None:
    """A question that takes too long is given up; the next one is answered."""
    early = ask(box, {"number": -1}, 0.05)
    answers.gate.set()

    assert early is None
    assert ask(box, {"number": -1}, None) == {"twice": -2}


def test_what_is_no_question_is_passed_over(box: Path, answers: Answers) -> None:
    """Noise on the bell, names of no letter, letters that are none or lead elsewhere."""
    names = [f"{number:032x}" for number in range(4)]
    (box / f"{names[0]}.ask").write_text("no json")
    (box / f"{names[1]}.ask").write_text("[]")
    (box / f"{names[2]}.ask").symlink_to("/dev/zero")
    os.mkfifo(box / f"{names[3]}.ask")
    with (box / "bell").open("wb") as bell:
        bell.write(b"\xff../../etc\n\n" + "".join(f"{name}\n" for name in names).encode())

    assert ask(box, {"number": 4}, None) == {"twice": 8}
    assert answers.asked == [{"number": 4}]


def test_nobody_there(tmp_path: Path) -> None:
    """A folder that is none, and one whose mailbox is closed."""
    with pytest.raises(MailboxClosed):
        ask(tmp_path / "nowhere", {}, None)
    Mailbox(tmp_path / "box", lambda letter: letter).close()
    with pytest.raises(MailboxClosed):
        ask(tmp_path / "box", {}, None)

    assert [path.name for path in (tmp_path / "box").iterdir()] == ["bell"]
