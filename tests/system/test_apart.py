"""Work in a process of its own: its result, its errors, its end."""

import os
import signal
import sys

import pytest

from qloop.system.apart import run_apart
from qloop.system.errors import BadInput, Faults, InternalFailure


def test_a_result_comes_back_by_value() -> None:
    """Nothing that the work changes is changed here."""
    here: list[int] = []

    def work() -> tuple[int, str]:
        here.append(1)
        return os.getpid(), "x" * 1_000_000

    pid, text = run_apart(work)

    assert pid != os.getpid()
    assert len(text) == 1_000_000
    assert here == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_an_expected_failure_comes_back_whole() -> None:
    """Message, place, advice and faults are those that were raised."""

    def work() -> None:
        raise Faults("2 faults", ("a: b", "c: d"), where="file", fix="correct it")

    with pytest.raises(Faults) as told:
        run_apart(work)

    assert (told.value.what, told.value.where, told.value.fix) == ("2 faults", "file", "correct it")
    assert told.value.faults == ("a: b", "c: d")
    assert str(told.value) == "2 faults, file, correct it"


def test_a_bug_comes_back_with_where_it_was() -> None:
    """The traceback of the other process goes with the exception."""

    def work() -> None:
        dict[str, int]()["missing"]

    with pytest.raises(KeyError) as told:
        run_apart(work)

    assert "missing" in "".join(told.value.__notes__)


def test_a_death_is_an_error() -> None:
    """A process that was killed, or left without a word, is never taken for a result."""
    for end in (lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: os._exit(0)):
        with pytest.raises(InternalFailure, match="ended with"):
            run_apart(end)


def test_an_interrupt_does_not_cut_it_short() -> None:
    """What a terminal sends to the whole group is for the caller to answer."""

    def work() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        return "done"

    assert run_apart(work) == "done"


def test_nothing_is_printed_twice(capfd: pytest.CaptureFixture[str]) -> None:
    """Text that waits to be written is written by one process."""
    sys.stdout.write("once")
    run_apart(lambda: None)
    sys.stdout.flush()

    assert capfd.readouterr().out == "once"


def test_an_error_keeps_its_attributes() -> None:
    """Those of subclasses, given after it was made, too."""

    def work() -> None:
        raise BadInput("what", fix="do")

    with pytest.raises(BadInput) as told:
        run_apart(work)

    assert (told.value.exit_code, told.value.fix, told.value.where) == (65, "do", "")
