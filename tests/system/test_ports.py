"""Leased ports: never two holders of one, free when leased, back when the holder is gone."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from qloop.system import ports
from qloop.system.ports import BLOCK, FIRST, is_free, leased_ports

HOLDER = """
import sys
from qloop.system.ports import leased_ports
with leased_ports() as base:
    print(base, flush=True)
    sys.stdin.read()
"""


def start_holder() -> "subprocess.Popen[str]":
    """A process that holds a lease until its standard input ends."""
    words = [sys.executable, "-c", HOLDER]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def base_of(holder: "subprocess.Popen[str]") -> int:
    """What a holder was given."""
    assert holder.stdout is not None
    return int(holder.stdout.readline())


def test_no_two_holders_have_one_port() -> None:
    """In one process and in others the blocks are apart."""
    others = [start_holder(), start_holder()]
    try:
        with leased_ports() as first, leased_ports() as second:
            bases = [first, second, *map(base_of, others)]
    finally:
        for one in others:
            one.communicate()

    assert None not in bases
    assert len(set(bases)) == 4
    assert all((base or 0) % BLOCK == FIRST % BLOCK for base in bases)


def test_a_killed_holder_gives_its_ports_back() -> None:
    """A lease ends with its process."""
    holder = start_holder()
    base = base_of(holder)
    with leased_ports() as meanwhile:
        assert meanwhile != base
    holder.send_signal(signal.SIGKILL)
    holder.communicate()

    with ExitStack() as kept:  # those below it may be other tests'
        bases = iter(lambda: kept.enter_context(leased_ports()), None)
        assert base in bases


def test_a_port_that_somebody_listens_on_is_not_free() -> None:
    """A block is passed over where any port of it is in use."""
    with leased_ports() as base, socket.socket() as server:
        assert base is not None
        assert is_free(base)
        server.bind(("127.0.0.1", base + 7))
        server.listen()

        assert not is_free(base)


def test_a_folder_of_somebody_else_keeps_nobody_from_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another name is taken; with all of them taken there are none, and nothing fails."""
    monkeypatch.setattr(ports, "_PLACE", tmp_path)
    first = tmp_path / f"qloop-ports-{os.getuid()}"
    first.write_text("in the way", encoding="utf-8")

    with leased_ports() as one, leased_ports() as other:
        assert None not in (one, other)
        assert one != other
    assert first.read_text("utf-8") == "in the way"


def test_without_any_folder_there_are_no_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing fails for it: whoever needs ports has to look for some."""
    monkeypatch.setattr(ports, "_PLACE", tmp_path / "nowhere")

    with leased_ports() as base:
        assert base is None
