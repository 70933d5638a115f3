"""A process is more than its pid."""

import os
import signal
from dataclasses import replace

import pytest

from qloop.system.identity import (
    ProcessId,
    identify,
    is_alive,
    parse_process_id,
    send_signal,
    this_process,
)
from system.conftest import Zoo, is_running, until

SLEEP = "import time; time.sleep(600)"


def test_a_process_is_the_same_when_looked_at_twice(zoo: Zoo) -> None:
    """Identifying a running process twice gives equal values, and it is alive."""
    pid = zoo.python(SLEEP)

    first = identify(pid)

    assert first is not None
    assert first == identify(pid)
    assert first.pid == pid
    assert is_alive(first)


def test_this_process_is_alive() -> None:
    """The asking process knows itself."""
    own = this_process()

    assert own.pid == os.getpid()
    assert is_alive(own)


def test_a_pid_used_anew_is_not_the_process(zoo: Zoo) -> None:
    """Another start time under the same pid means that the process is gone."""
    other = identify(zoo.python(SLEEP))
    assert other is not None

    assert not is_alive(replace(other, start=other.start + "0"))


def test_a_reboot_ends_every_process() -> None:
    """A process of another boot is dead, whatever has its pid now."""
    assert not is_alive(replace(this_process(), boot="another"))
    assert not is_alive(replace(this_process(), boot="another", namespace="another"))


def test_a_process_in_another_namespace_counts_as_alive() -> None:
    """What cannot be seen from here is not taken for dead."""
    assert is_alive(replace(this_process(), pid=2**22, namespace="pid:[1]"))


def test_a_zombie_is_not_alive(zoo: Zoo) -> None:
    """A process that ended and was not reaped is there, but does not live."""
    pid = zoo.python("pass")
    until(lambda: not is_running(pid))

    which = identify(pid)

    assert which is not None
    assert not is_alive(which)


def test_a_process_whose_main_thread_ended_is_alive(zoo: Zoo) -> None:
    """Ending the main thread alone makes no process a zombie."""
    pid = zoo.python(
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)"
    )
    until(lambda: not is_running(pid))
    which = identify(pid)

    assert which is not None
    assert is_alive(which)


def test_nothing_has_an_impossible_pid() -> None:
    """A pid that no process has is identified as nothing."""
    assert identify(2**22 + 1) is None


def test_identity_survives_json() -> None:
    """What is written down is read back as the same process."""
    assert parse_process_id(this_process().to_json()) == this_process()


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        "7",
        [],
        {},
        {"pid": 7},
        {"pid": "7", "start": "1", "boot": "b", "namespace": ""},
        {"pid": True, "start": "1", "boot": "b", "namespace": ""},
        {"pid": 0, "start": "1", "boot": "b", "namespace": ""},
        {"pid": -1, "start": "1", "boot": "b", "namespace": ""},
        {"pid": 7, "start": 1, "boot": "b", "namespace": ""},
        {"pid": 7, "start": "1", "boot": None, "namespace": ""},
        {"pid": 7, "start": "1", "boot": "b"},
    ],
)
def test_what_names_no_process_is_read_as_none(value: object) -> None:
    """A damaged record names no process, rather than a wrong one."""
    assert parse_process_id(value) is None


def test_a_signal_reaches_the_process(zoo: Zoo) -> None:
    """A signal to a process that is what it was taken for arrives."""
    which = identify(zoo.python(SLEEP))
    assert which is not None

    send_signal(which, signal.SIGTERM)

    assert zoo.roots[0].wait() == -signal.SIGTERM


@pytest.mark.parametrize(
    "change", [{"start": "1"}, {"boot": "another"}, {"namespace": "pid:[1]"}, {"pid": 2**22 + 1}]
)
def test_a_signal_never_reaches_another_process(zoo: Zoo, change: dict[str, str]) -> None:
    """Where anything of the identity differs, nothing is signalled and nothing raised."""
    which = identify(zoo.python(SLEEP))
    assert which is not None
    other = ProcessId(**{**which.to_json(), **change})

    send_signal(other, signal.SIGKILL)
    send_signal(which, signal.SIGTERM)

    assert zoo.roots[0].wait() == -signal.SIGTERM


def test_proc_of_another_namespace_is_refused(zoo: Zoo) -> None:
    """Where /proc counts other pids than the system calls, no process is taken for another."""
    code = (
        "import sys\n"
        "from qloop.system.errors import InternalFailure\n"
        "from qloop.system.identity import identify\n"
        "try: identify(1)\n"
        "except InternalFailure as error: print(error)\n"
    )
    done = zoo.script(
        "import subprocess, sys\n"
        "unshare = ['unshare', '--user', '--map-root-user', '--pid', '--fork']\n"
        "sys.exit(subprocess.call([*unshare, sys.executable, '-P', '-c', sys.argv[1]]))",
        code,
    )
    if "unshare" in done.complaint:
        pytest.skip("no pid namespace can be made here")

    assert "/proc shows the processes of another pid namespace" in done.text
