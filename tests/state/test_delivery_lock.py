"""Who delivers an intent: one owner among many processes, its delegates, and who takes over."""

import os
import socket
from pathlib import Path
from threading import Event

import pytest

from qloop.mission.owning import owning
from qloop.state.delivery_lock import (
    LOCK,
    MOST_ENDED,
    TTL_S,
    Activity,
    DeliveryLock,
    Held,
    Maker,
    acquire,
    add_delegate,
    beat,
    claim,
    end_delegate,
    look,
    make_lock,
    release,
    take_over,
)
from qloop.state.savepoints import read_ledger
from qloop.system.clock import epoch_s
from qloop.system.errors import RepositoryBusy, UsageWrong
from state.crowd import crowd


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a space in its path."""
    made = tmp_path / "1--an intent"
    made.mkdir()
    return made


def one(session: str) -> DeliveryLock:
    """The lock of an owner whose process nobody knows."""
    return make_lock(session, is_process=False, maker=Maker(harness="claude", model="m"))


def audits(folder: Path) -> list[str]:
    """What the ledger tells of the lock."""
    return [line.milestone for line in read_ledger(folder) if line.kind == "Lock"]


def test_of_twenty_processes_one_becomes_the_owner(folder: Path) -> None:
    """Whichever comes first; all others are told that it is held."""
    told = crowd(20, "own", folder)

    assert sorted(told) == [Held.HELD] * 19 + [Held.OWNED]


def test_of_twenty_delegates_none_is_lost(folder: Path) -> None:
    """Twenty processes add one each, and all are there."""
    claim(folder, one("boss"))
    crowd(20, "delegate", folder)
    lock = look(folder, "boss").lock

    assert lock is not None
    assert sorted(lock.delegates) == sorted(f"d{number}" for number in range(20))
    assert {each.session for each in lock.delegate_activity} == set(lock.delegates)


def test_a_living_owner_is_never_replaced(folder: Path) -> None:
    """However long its process gave no sign; its own session may ask again."""
    claim(folder, make_lock("a", is_process=True, is_auto=True))
    late_s = epoch_s() + 100 * TTL_S

    assert look(folder, "b", late_s).held is Held.HELD
    with pytest.raises(RepositoryBusy, match="'a'"):
        take_over(folder, one("b"), late_s)
    with pytest.raises(RepositoryBusy, match="'a'"):
        claim(folder, one("b"), late_s)
    again = claim(folder, one("a"))
    assert (again.owner_session, again.run_mode) == ("a", "auto")
    assert audits(folder) == []
    assert not release(folder, "b")
    assert release(folder, "a")
    assert look(folder, "b").held is Held.FREE


def test_a_dead_owner_is_replaced_and_the_ledger_says_so(folder: Path) -> None:
    """A process that ended holds nothing, however fresh its lock; each takeover is a line."""
    assert crowd(1, "die", folder) == [Held.OWNED]
    assert acquire(folder, one("b")).held is Held.STALE
    assert audits(folder) == []
    claim(folder, make_lock("b", is_process=False))
    release(folder, "b")
    crowd(1, "die", folder)
    claim(folder, one("b"))

    assert audits(folder) == ["takeover: b reclaimed from dead-0"] * 2
    assert (folder / LOCK).read_text().count('"b"') == 1


@pytest.mark.parametrize("host", ["elsewhere", socket.gethostname()])
def test_an_owner_that_cannot_be_seen_lives_by_its_signs(folder: Path, host: str) -> None:
    """On another machine, or in another boot of this one, it has half an hour."""
    process = {"pid": 1, "start": "1", "boot": "another", "namespace": ""}
    lock = one("a").model_copy(update={"host": host, "process": process})
    claim(folder, lock)
    begun_s = (folder / LOCK).stat().st_mtime

    assert look(folder, "b", begun_s + TTL_S - 1).held is Held.HELD
    assert look(folder, "b", begun_s + TTL_S + 1).held is Held.STALE
    os.utime(folder / LOCK, (1, 1))
    assert beat(folder, "a")
    assert look(folder, "b").held is Held.HELD


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"type": "delivery"}', b"[]"])
def test_a_broken_lock_is_repaired(folder: Path, data: bytes) -> None:
    """It belongs to nobody; who comes next keeps it aside and says so."""
    (folder / LOCK).write_bytes(data)
    assert acquire(folder, one("a")).held is Held.CORRUPT
    claim(folder, one("a"))
    (folder / LOCK).write_bytes(data)
    claim(folder, one("b"))

    assert look(folder, "b").held is Held.OWNED
    assert (folder / f"{LOCK}.corrupt-1").read_bytes() == data
    assert (folder / f"{LOCK}.corrupt-2").read_bytes() == data
    assert len(audits(folder)) == 2


def test_delegates_keep_their_rights_whatever_became_of_them(folder: Path) -> None:
    """How its work ended is only told; of those that ended twenty are remembered."""
    claim(folder, one("a"))
    add_delegate(folder, "a", "busy", Maker(agent="executor"))
    for number in range(25):
        add_delegate(folder, "a", f"d{number}")
        end_delegate(folder, "a", f"d{number}", Activity.FINISHED)
    add_delegate(folder, "a", "d24")
    end_delegate(folder, "a", "d24", Activity.FAILED)
    lock = look(folder, "a").lock

    assert lock is not None
    told = {each.session: each.status for each in lock.delegate_activity}
    assert len(told) == MOST_ENDED + 1
    assert (told["busy"], told["d5"], told["d24"]) == ("active", "finished", "failed")
    assert lock.delegate_activity[0].agent == "executor"
    assert all(lock.admits(session) for session in ("a", "busy", "d0", "d24"))
    assert not lock.admits("stranger")


def test_only_the_owner_has_delegates(folder: Path) -> None:
    """Nobody adds to what is not theirs, nor tells of whom they never added."""
    with pytest.raises(UsageWrong, match="nobody"):
        add_delegate(folder, "a", "d")
    claim(folder, one("a"))
    with pytest.raises(UsageWrong, match="does not own"):
        add_delegate(folder, "b", "d")
    with pytest.raises(UsageWrong, match="no delegate"):
        end_delegate(folder, "a", "d", Activity.FAILED)


def test_a_process_gives_signs_while_it_works(folder: Path) -> None:
    """From within, without writing anything; when it is done the lock is gone, and stays so."""
    with owning(folder, "a", is_auto=True, beat_s=0.01):
        os.utime(folder / LOCK, (1, 1))
        wait = Event()
        while (folder / LOCK).stat().st_mtime == 1:
            wait.wait(0.01)
        with pytest.raises(RepositoryBusy), owning(folder, "b", is_auto=False):
            pass
    assert not (folder / LOCK).exists()
    assert not beat(folder, "a")
    assert not (folder / LOCK).exists()
