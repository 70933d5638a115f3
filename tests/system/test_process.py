"""Short commands, and exit statuses that are never made up."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from qloop.system import process
from qloop.system.cancel import Cancel
from system.conftest import Zoo, is_running, until

IGNORING = (
    "import os, signal\n"
    "from pathlib import Path\n"
    "from qloop.system import process\n"
    "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
)


def test_a_command_gives_code_and_output() -> None:
    """Exit code, standard output and standard error come back apart."""
    done = process.run(["sh", "-c", "cat; echo oops >&2; exit 3"], stdin=b"hello\n")

    assert (done.code, done.out, done.err) == (3, b"hello\n", b"oops\n")
    assert (done.text, done.complaint) == ("hello", "oops")


def test_a_killed_command_has_a_negative_code() -> None:
    """Death by a signal is told by its number, negative."""
    assert process.run(["sh", "-c", "kill -9 $$"]).code == -signal.SIGKILL


def test_it_runs_in_the_given_place(tmp_path: Path) -> None:
    """Working folder and environment are those given."""
    done = process.run(["sh", "-c", "pwd; echo $WORD"], cwd=tmp_path, env={"WORD": "yes"})

    assert done.text == f"{tmp_path}\nyes"


def test_a_command_that_cannot_be_started_raises() -> None:
    """The system's own error comes through."""
    with pytest.raises(FileNotFoundError):
        process.run(["/nowhere/at all"])


def test_a_command_that_outruns_its_limit_is_killed(tmp_path: Path) -> None:
    """It and its process group are gone when the error is raised."""
    note = tmp_path / "pid"
    code = f"sleep 600 & echo $! > '{note}'; sleep 600"

    with pytest.raises(process.CommandTimeout, match=r"did not end within 0\.5 seconds"):
        process.run(["sh", "-c", code], timeout_s=0.5)
    if note.exists():
        until(lambda: not is_running(int(note.read_text())))


@pytest.mark.parametrize("code", ["0", "3"])
def test_a_lost_exit_status_is_an_error(zoo: Zoo, code: str) -> None:
    """With SIGCHLD ignored the kernel keeps no status: that is never told as a code."""
    done = zoo.script(
        IGNORING + f"try: print('code', process.run(['sh', '-c', 'echo x; exit {code}']).code)\n"
        "except process.StatusLost as error: print('lost', error)\n"
    )

    assert done.text.startswith("lost the exit status of process")
    assert done.complaint == ""


def test_statuses_are_readable_after_the_reset(zoo: Zoo) -> None:
    """An inherited disposition that discards statuses is put right."""
    done = zoo.script(
        IGNORING + "from qloop.system.child_signal import reset_child_signal\n"
        "reset_child_signal()\nprint(process.run(['sh', '-c', 'exit 3']).code)"
    )

    assert done.text == "3"


def test_a_started_process_is_told_by_its_status(tmp_path: Path) -> None:
    """A started command leads its own session and is an own child until it is reaped."""
    out = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
    null = os.open("/dev/null", os.O_RDONLY)
    pid = process.start(
        ["sh", "-c", "echo $$; exit 5"], cwd=tmp_path, env=os.environ, stdin=null, output=out
    )
    before = pid in process.own_children(), os.getsid(pid)

    code = process.wait_status(pid)
    os.close(out)
    os.close(null)

    assert before == (True, pid)
    assert code == 5
    assert pid not in process.own_children()
    assert (tmp_path / "out").read_text() == f"{pid}\n"


def test_a_running_command_is_an_own_child() -> None:
    """What `run` has under way is known by its pid, and forgotten afterwards."""
    before = process.own_children()
    runner = threading.Thread(target=process.run, args=(["sleep", "0.5"],))
    runner.start()
    until(lambda: bool(process.own_children() - before))
    runner.join()

    assert process.own_children() <= before


def test_waiting_twice_is_a_lost_status(tmp_path: Path) -> None:
    """A status that was read already is not read as success."""
    null = os.open("/dev/null", os.O_RDWR)
    pid = process.start(["true"], cwd=tmp_path, env=os.environ, stdin=null, output=null)
    os.close(null)

    assert process.wait_status(pid) == 0
    with pytest.raises(process.StatusLost):
        process.wait_status(pid)


def test_waiting_for_an_exit_ends_with_it(zoo: Zoo) -> None:
    """A process that exits is seen, and not reaped."""
    pid = zoo.python("pass")

    assert process.await_exit(pid, timeout_s=None)
    assert zoo.roots[0].wait() == 0


def test_waiting_for_an_exit_has_a_limit(zoo: Zoo) -> None:
    """The limit ends the wait while the process runs on."""
    pid = zoo.start(["sleep", "600"])

    assert not process.await_exit(pid, timeout_s=0.05)
    assert not process.await_exit(pid, timeout_s=0)
    assert is_running(pid)


def test_waiting_for_an_exit_is_woken(zoo: Zoo) -> None:
    """A readable file descriptor ends the wait, whatever the limit."""
    pid = zoo.start(["sleep", "600"])
    cancel = Cancel()
    cancel.set("enough")

    assert not process.await_exit(pid, timeout_s=1e12, wake=cancel.fileno())
    cancel.close()


def test_waiting_for_nobody_is_over_at_once() -> None:
    """A pid that no process has has exited."""
    assert process.await_exit(2**22 + 1, timeout_s=None)


def test_the_wait_without_pidfds_tells_the_same(zoo: Zoo) -> None:
    """Where the system gives no pidfd, looking now and then comes to the same answers."""
    pid = zoo.start(["sleep", "600"])
    cancel = Cancel()
    timed_out = process._await_by_looking(pid, time.monotonic(), None)
    not_woken = process._await_by_looking(pid, time.monotonic() + 0.1, cancel.fileno())
    cancel.set("enough")
    woken = process._await_by_looking(pid, time.monotonic() + 600, cancel.fileno())
    cancel.close()
    os.kill(pid, signal.SIGKILL)

    assert (timed_out, not_woken, woken) == (False, False, False)
    assert process._await_by_looking(pid, time.monotonic() + 600, None)
    assert process._await_by_looking(2**22 + 1, time.monotonic(), None)


def test_waiting_is_asleep(zoo: Zoo) -> None:
    """A waiting thread does not wake now and then to look."""

    def switches() -> int:
        lines = Path("/proc/thread-self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("voluntary")).split()[1])

    pid = zoo.start(["sleep", "600"])
    before = switches()
    process.await_exit(pid, timeout_s=1)

    assert switches() - before < 5
