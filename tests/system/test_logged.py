"""Running a foreign command: its end is told rightly, and nothing of it is left."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from qloop.system.cancel import Cancel
from qloop.system.errors import InternalFailure
from qloop.system.identity import ProcessId, is_alive
from qloop.system.logged import Ended, read_tail, run_logged
from qloop.system.tree import Marks, find_members
from system.conftest import Zoo, is_running
from system.test_tree import SCRUB, SUBREAPER, detach

STUBBORN = "trap '' TERM; while :; do sleep 600; done"


@dataclass
class Bench:
    """A folder to run commands in, with a log."""

    zoo: Zoo
    started: list[ProcessId] = field(default_factory=list)

    @property
    def log(self) -> Path:
        """Where the output goes."""
        return self.zoo.folder / "logs" / "agent.log"

    @property
    def text(self) -> str:
        """What is in the log."""
        return self.log.read_text()

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes | Path = b"",
        log: Path | None = None,
        log_bytes: int = 100_000,
        timeout_s: float = 600,
        cancel: Cancel | None = None,
        grace_s: float = 60,
        on_start: Callable[[ProcessId], None] | None = None,
        on_output: Callable[[bytes], object] | None = None,
    ) -> Ended:
        """`run_logged` in the folder, with the zoo's mark."""
        self.log.parent.mkdir(exist_ok=True)
        return run_logged(
            argv,
            cwd=self.zoo.folder,
            env=self.zoo.env,
            stdin=stdin,
            log=log or self.log,
            log_bytes=log_bytes,
            timeout_s=timeout_s,
            marks=self.zoo.by_env,
            cancel=cancel,
            grace_s=grace_s,
            on_start=on_start or self.started.append,
            on_output=on_output,
        )

    def sh(
        self,
        code: str,
        *,
        timeout_s: float = 600,
        grace_s: float = 60,
        on_start: Callable[[ProcessId], None] | None = None,
    ) -> Ended:
        """Run shell code."""
        argv = ["sh", "-c", code]
        return self.run(argv, timeout_s=timeout_s, grace_s=grace_s, on_start=on_start)


@pytest.fixture
def bench(zoo: Zoo) -> Bench:
    """A bench in the zoo."""
    return Bench(zoo)


def test_code_and_output_are_told(bench: Bench) -> None:
    """Exit code, and both outputs in their order."""
    ended = bench.sh("echo one; echo two >&2; echo three; exit 3")

    assert (ended.code, ended.lost, ended.timed_out, ended.cancelled) == (3, False, False, False)
    assert bench.text == "one\ntwo\nthree\n"
    assert ended.survivors == ()


def test_all_output_is_told_as_it_comes(bench: Bench) -> None:
    """What a cap leaves out of the log is told all the same, before the end is."""
    told: list[bytes] = []
    ended = bench.run(
        ["sh", "-c", "yes | head -c 500000; echo end"], log_bytes=10_000, on_output=told.append
    )
    whole = b"".join(told)

    assert ended.code == 0
    assert (len(whole), whole[-5:]) == (500_004, b"\nend\n")
    assert len(bench.log.read_bytes()) <= 10_000


def test_who_cannot_read_the_output_holds_up_nobody(bench: Bench) -> None:
    """The command goes on to its end and its log is whole; then the fault is told."""

    def refuse(data: bytes) -> None:
        raise ValueError(f"{len(data)} bytes too many")

    with pytest.raises(InternalFailure, match="bytes too many"):
        bench.run(["sh", "-c", "yes | head -c 300000"], log_bytes=500_000, on_output=refuse)

    assert len(bench.log.read_bytes()) == 300_000
    assert not is_alive(bench.started[0])


def test_death_by_a_signal_is_told(bench: Bench) -> None:
    """A killed command has a negative code."""
    assert bench.sh("kill -KILL $$").code == -signal.SIGKILL


def test_the_process_is_told_when_it_starts(bench: Bench) -> None:
    """Its identity names it while it runs, in a session of its own, and is dead afterwards."""
    seen: list[tuple[bool, bool]] = []

    def look(which: ProcessId) -> None:
        seen.append((is_alive(which), os.getsid(which.pid) == which.pid))
        bench.started.append(which)
        (bench.zoo.folder / "told").touch()

    bench.sh("until [ -e told ]; do sleep 0.01; done", on_start=look)

    assert seen == [(True, True)]
    assert not is_alive(bench.started[0])


def test_there_is_no_controlling_terminal(bench: Bench) -> None:
    """Nobody can ask at /dev/tty."""
    assert bench.sh("exec 2> /dev/null < /dev/tty || exit 9").code != 0


@pytest.mark.parametrize("as_file", [False, True])
def test_standard_input_is_given_then_ends(bench: Bench, as_file: bool) -> None:
    """The bytes, or those of a file, arrive whole, and then the end of file."""
    data = bytes(range(256)) * 1000
    source = bench.zoo.folder / "prompt"
    source.write_bytes(data)

    ended = bench.run(["cat"], stdin=source if as_file else data, log_bytes=1_000_000)

    assert ended.code == 0
    assert bench.log.read_bytes() == data


def test_standard_input_need_not_be_read(bench: Bench) -> None:
    """More input than a pipe holds, to a command that reads none of it, holds up nothing."""
    ended = bench.run(["true"], stdin=b"x" * 10_000_000)

    assert ended.code == 0


def test_output_can_be_followed_while_it_runs(bench: Bench) -> None:
    """What a command says is in the log before it ends."""
    code = "echo hello; until grep -q hello logs/agent.log; do sleep 0.05; done; echo seen"

    assert bench.sh(code).code == 0
    assert bench.text == "hello\nseen\n"


def test_what_holds_the_pipe_holds_up_nothing(bench: Bench) -> None:
    """The end of the process is the end; what it left in the background is gone then."""
    ended = bench.sh("sleep 600 & echo $! > left; echo done")

    assert ended.code == 0
    assert bench.text == "done\n"
    assert not is_running(bench.zoo.pid_in("left"))


def test_a_detached_grandchild_with_the_pipe_is_ended(bench: Bench) -> None:
    """A daemon in its own session, with the pipe open, is ended by its mark."""
    ended = bench.run([sys.executable, "-c", detach(parent="os._exit(4)"), "left"])

    assert ended.code == 4
    assert not is_running(bench.zoo.pid_in("left"))


def test_what_cannot_be_found_cannot_hold_up_either(zoo: Zoo) -> None:
    """A daemon without any mark keeps the pipe, and the run ends all the same."""
    done = zoo.script(
        SUBREAPER + "from qloop.system.logged import run_logged\n"
        "argv = [sys.executable, '-c', sys.argv[1], str(Path('left').absolute())]\n"
        "ended = run_logged(argv, cwd=Path.cwd(), env=os.environ, stdin=b'', log=Path('log'),\n"
        "    log_bytes=1000, timeout_s=600, marks=Marks())\n"
        "print(ended.code, Path('log').read_text(), len(find_orphans(())), end='')\n"
        "print(end_tree((), Marks(), grace_s=5, orphans=True))\n",
        detach(parent="os._exit(0)", before="print('hi', flush=True); os.chdir('/')", then=SCRUB),
    )

    assert done.complaint == ""
    assert done.text == "0 hi\n 1()"


def test_a_flood_from_what_cannot_be_found_is_cut_off(zoo: Zoo) -> None:
    """A daemon without any mark that never stops to print does not keep the log open."""
    done = zoo.script(
        SUBREAPER + "from qloop.system.logged import run_logged\n"
        "argv = [sys.executable, '-c', sys.argv[1], str(Path('left').absolute())]\n"
        "ended = run_logged(argv, cwd=Path.cwd(), env=os.environ, stdin=b'', log=Path('log'),\n"
        "    log_bytes=1000, timeout_s=600, marks=Marks())\n"
        "print(ended.code, Path('log').stat().st_size <= 1000)\n"
        "print(end_tree((), Marks(), grace_s=5, orphans=True))\n",
        detach(
            parent="os._exit(0)",
            before="os.chdir('/')",
            then="os.execve('/bin/sh', ['sh', '-c', 'while :; do echo flood; done'], {})",
        ),
    )

    assert done.complaint == ""
    assert done.text == "0 True\n()"


def test_time_is_limited(bench: Bench) -> None:
    """A command that outruns its time gets SIGTERM, and says its last word."""
    ended = bench.sh("trap 'echo bye; exit 7' TERM; sleep 600 & wait", timeout_s=0.5)

    assert (ended.timed_out, ended.cancelled, ended.lost) == (True, False, False)
    assert ended.code in (7, -signal.SIGTERM)  # at 0.5 s it may not have come to its trap
    assert ended.seconds >= 0.5
    assert ended.survivors == ()


def test_nothing_outlives_the_limit(bench: Bench) -> None:
    """Ignoring SIGTERM, a detached child and a child that stopped itself are no way out."""
    code = f"sh -c 'kill -STOP $$' & setsid sh -c \"{STUBBORN}\" & {STUBBORN}"

    ended = bench.sh(code, timeout_s=0.5, grace_s=0.1)

    assert ended.timed_out
    assert ended.code == -signal.SIGKILL
    assert ended.survivors == ()
    assert find_members([], bench.zoo.by_env, ()) == set()


def test_no_time_is_no_start(bench: Bench) -> None:
    """With no time left at all, nothing is started."""
    ended = bench.run(["touch", "started"], timeout_s=0)

    assert (ended.timed_out, ended.code, ended.lost) == (True, None, False)
    assert bench.started == []
    assert not (bench.zoo.folder / "started").exists()


def test_a_run_is_cancelled(bench: Bench) -> None:
    """Setting the flag ends a command that is at work."""
    cancel = Cancel()

    ended = bench.run(["sleep", "600"], cancel=cancel, on_start=lambda _: cancel.set("stop"))

    cancel.close()
    assert (ended.cancelled, ended.timed_out, ended.code) == (True, False, -signal.SIGTERM)


def test_a_cancelled_run_is_not_started(bench: Bench) -> None:
    """A flag that is set before keeps a command from starting."""
    cancel = Cancel()
    cancel.set("stop")

    ended = bench.run(["touch", "started"], cancel=cancel)

    cancel.close()
    assert (ended.cancelled, ended.code, ended.lost) == (True, None, False)
    assert bench.started == []


def test_an_unset_flag_changes_nothing(bench: Bench) -> None:
    """A command that ends by itself is not cancelled."""
    cancel = Cancel()

    ended = bench.run(["true"], cancel=cancel)

    cancel.close()
    assert (ended.cancelled, ended.code) == (False, 0)


def test_many_at_once_do_not_touch_each_other(bench: Bench) -> None:
    """Ending one command leaves those of other threads alone."""
    cancel = Cancel()
    up = threading.Barrier(4)

    def one(number: int) -> Ended:
        def start(_: ProcessId) -> None:
            up.wait()
            if number == 0:
                cancel.set("all are up")

        return run_logged(
            ["sh", "-c", f"sleep 0.3 & wait; echo {number}; exit {number}"],
            cwd=bench.zoo.folder,
            env={**bench.zoo.env, "NUMBER": str(number)},
            stdin=b"",
            log=bench.zoo.folder / f"{number}.log",
            log_bytes=1000,
            timeout_s=600,
            marks=Marks(env=(f"NUMBER={number}",)),
            cancel=cancel if number == 0 else None,
            on_start=start,
        )

    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(one, range(4)))

    cancel.close()
    assert [one.code for one in ended] == [-signal.SIGTERM, 1, 2, 3]
    assert [one.cancelled for one in ended] == [True, False, False, False]


@pytest.mark.parametrize("code", ["0", "3"])
def test_a_lost_status_is_told_as_lost(zoo: Zoo, code: str) -> None:
    """Where the kernel keeps no exit status there is no code, least of all 0."""
    done = zoo.script(
        "import os, signal\n"
        "from pathlib import Path\n"
        "from qloop.system.logged import run_logged\n"
        "from qloop.system.tree import Marks\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        f"ended = run_logged(['sh', '-c', 'echo x; exit {code}'], cwd=Path.cwd(),\n"
        "    env=os.environ, stdin=b'', log=Path('log'), log_bytes=1000, timeout_s=60,\n"
        "    marks=Marks())\n"
        "print(ended.code, ended.lost, ended.timed_out, Path('log').read_text())\n"
    )

    assert done.complaint == ""
    assert done.text == "None True False x"


def test_a_flood_of_output_costs_neither_memory_nor_disk(zoo: Zoo) -> None:
    """300 MB of output: the log keeps to its cap with both ends in it, memory stays small."""
    flood = (
        "import sys\n"
        "out = sys.stdout.buffer\n"
        "out.write(b'first line\\n')\n"
        "block = b'y' * 999_999 + b'\\n'\n"
        "for _ in range(300): out.write(block)\n"
        "out.write(b'last line\\n')\n"
    )
    done = zoo.script(
        "import os, resource, sys\n"
        "from pathlib import Path\n"
        "from qloop.system.logged import read_tail, run_logged\n"
        "from qloop.system.tree import Marks\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "log = Path('log')\n"
        "ended = run_logged([sys.executable, '-c', sys.argv[1]], cwd=Path.cwd(), env=os.environ,\n"
        "    stdin=b'', log=log, log_bytes=1_000_000, timeout_s=600, marks=Marks())\n"
        "grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before\n"
        "data = log.read_bytes()\n"
        "print(ended.code, len(data) <= 1_000_000, grown_kb < 20_000)\n"
        "print(data[:11], read_tail(log, 20), data.count(b'bytes left out here'))\n",
        flood,
    )

    assert done.complaint == ""
    assert done.text == "0 True True\nb'first line\\n' last line\n 1"


def test_what_cannot_be_started_raises(bench: Bench) -> None:
    """The system's own error comes through, and nothing stays open or beside the log."""
    text = bench.zoo.folder / "text"
    text.write_text("hello\n")
    before = len(list(Path("/proc/self/fd").iterdir()))

    with pytest.raises(FileNotFoundError):
        bench.run(["/nowhere/at all"])
    with pytest.raises(PermissionError):
        bench.run([str(text)])
    with pytest.raises(OSError, match="Argument list too long"):
        bench.run(["echo", "x" * 4_000_000])
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert [path.name for path in bench.log.parent.iterdir()] == ["agent.log"]


def test_nothing_stays_open(bench: Bench) -> None:
    """A run gives back every file descriptor."""
    bench.sh("true")
    before = len(list(Path("/proc/self/fd").iterdir()))
    bench.sh("sleep 600 & exit 1")

    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_an_error_of_the_caller_ends_the_command(bench: Bench) -> None:
    """When what is told of the start raises, the command does not run on."""

    def fail(which: ProcessId) -> None:
        bench.started.append(which)
        raise ValueError("no room for you")

    with pytest.raises(ValueError, match="no room"):
        bench.run(["sleep", "600"], on_start=fail)
    assert not is_alive(bench.started[0])


def test_a_full_disk_is_told_after_the_end(bench: Bench) -> None:
    """A log that cannot be written is an error, and the command was not held up by it."""
    code = "head -c 1000000 /dev/zero; touch finished"

    with pytest.raises(InternalFailure, match="No space left on device"):
        bench.run(["sh", "-c", code], log=Path("/dev/full"))
    assert (bench.zoo.folder / "finished").exists()


def test_a_log_that_cannot_be_opened_raises(bench: Bench) -> None:
    """Without a log nothing is started."""
    with pytest.raises(FileNotFoundError):
        bench.run(["touch", "started"], log=bench.zoo.folder / "no such folder" / "log")
    assert not (bench.zoo.folder / "started").exists()


@pytest.mark.parametrize(
    ("limit_bytes", "tail"),
    [
        (100, "one\ntwö\nthree\n"),
        (15, "one\ntwö\nthree\n"),
        (14, "twö\nthree\n"),
        (11, "twö\nthree\n"),
        (10, "three\n"),
        (6, "three\n"),
        (3, "ee\n"),
    ],
)
def test_the_tail_begins_at_a_line(tmp_path: Path, limit_bytes: int, tail: str) -> None:
    """The end of a log is cut at a line's start, where there is one in it."""
    log = tmp_path / "log"
    log.write_text("one\ntwö\nthree\n", encoding="utf-8")

    assert read_tail(log, limit_bytes) == tail


def test_the_tail_of_anything_is_text(tmp_path: Path) -> None:
    """Bytes that are no text are replaced, and no log is an empty text."""
    log = tmp_path / "log"
    log.write_bytes(b"a\xff\n")

    assert read_tail(log, 10) == "a\ufffd\n"
    assert read_tail(tmp_path / "none", 10) == ""
