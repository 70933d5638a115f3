"""Who delivers an intent: `delivery.lock` in its folder, one owner at a time, and its delegates.

The lock is a value on disk that is changed under the folder's lock. Its owner is alive as long as
its process is, where that can be seen from here; else as long as the file was touched less than
`TTL_S` ago. Units: seconds since the epoch (`now_s`).
Errors: RepositoryBusy for what a living owner holds, UsageWrong for who may not ask.
"""

import contextlib
import os
import socket
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from qloop.state.savepoints import append_locked, folder_locked
from qloop.system.clock import epoch_s, utc_now
from qloop.system.errors import RepositoryBusy, UsageWrong
from qloop.system.files import read_optional, write_atomic
from qloop.system.identity import is_alive, parse_process_id, this_process

LOCK = "delivery.lock"
TTL_S = 1800.0
MOST_ENDED = 20
"""How many delegates that have ended are remembered; those at work always are."""
AUDIT = "Lock"


class Held(StrEnum):
    """How a lock stands to who looks at it."""

    FREE = "free"
    OWNED = "owned"
    HELD = "held"
    STALE = "stale"
    CORRUPT = "corrupt"


class Activity(StrEnum):
    """What is known of a delegate's work."""

    ACTIVE = "active"
    FINISHED = "finished"
    FAILED = "failed"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Maker(_Part):
    """By what somebody works; each may be unknown."""

    harness: str | None = None
    agent: str | None = None
    model: str | None = None
    thread: str | None = None


class Delegate(Maker):
    """One who works on the intent for its owner."""

    session: str
    status: Activity = Activity.ACTIVE
    registered_at: str
    last_activity_at: str


class DeliveryLock(_Part):
    """The lock as it stands in the file."""

    type: Literal["delivery"] = "delivery"
    owner_session: str
    host: str
    process: dict[str, Any] | None = None
    """The owner's process, where it lives as long as the owner works."""
    acquired_at: str
    owner_harness: str | None = None
    owner_agent: str | None = None
    owner_model: str | None = None
    owner_thread: str | None = None
    run_mode: Literal["auto", "guided"] = "guided"
    delegates: tuple[str, ...] = ()
    """Sessions that may write in the folder; how their work ended takes nothing from them."""
    delegate_activity: tuple[Delegate, ...] = ()

    def admits(self, session: str) -> bool:
        """Whether a session may write in the intent's folder."""
        return session == self.owner_session or session in self.delegates


class Seen(_Part):
    """A lock that was looked at."""

    held: Held
    lock: DeliveryLock | None = None
    age_s: float = 0.0
    """Since the owner last gave a sign."""


def make_lock(
    session: str, *, is_process: bool, maker: Maker | None = None, is_auto: bool = False
) -> DeliveryLock:
    """The lock of a new owner. *is_process*: it is this process, and ends with it."""
    made = maker or Maker()
    return DeliveryLock(
        owner_session=session,
        host=socket.gethostname(),
        process=this_process().to_json() if is_process else None,
        acquired_at=utc_now(),
        owner_harness=made.harness,
        owner_agent=made.agent,
        owner_model=made.model,
        owner_thread=made.thread,
        run_mode="auto" if is_auto else "guided",
    )


def look(folder: Path, session: str, now_s: float | None = None) -> Seen:
    """How the lock of an intent's folder stands to *session*; takes no lock itself."""
    try:
        beat_s = (folder / LOCK).stat().st_mtime
        data = read_optional(folder / LOCK)
    except FileNotFoundError:
        return Seen(held=Held.FREE)
    if data is None:
        return Seen(held=Held.FREE)
    try:
        lock = DeliveryLock.model_validate_json(data)
    except ValidationError:
        return Seen(held=Held.CORRUPT)
    age_s = (epoch_s() if now_s is None else now_s) - beat_s
    if lock.owner_session == session:
        return Seen(held=Held.OWNED, lock=lock, age_s=age_s)
    held = Held.HELD if _is_living(lock, age_s) else Held.STALE
    return Seen(held=held, lock=lock, age_s=age_s)


def acquire(folder: Path, lock: DeliveryLock, now_s: float | None = None) -> Seen:
    """Take a free lock; what else is found is left as it is, and told."""
    with folder_locked(folder):
        seen = look(folder, lock.owner_session, now_s)
        if seen.held is not Held.FREE:
            return seen
        _write(folder, lock)
        return Seen(held=Held.OWNED, lock=lock)


def take_over(folder: Path, lock: DeliveryLock, now_s: float | None = None) -> Seen:
    """Take the lock of an owner that is gone, or a broken one; the ledger tells of it first.

    Raises RepositoryBusy where its owner lives.
    """
    with folder_locked(folder):
        seen = look(folder, lock.owner_session, now_s)
        if seen.held is Held.HELD:
            raise _busy(folder, seen)
        if seen.held is Held.OWNED:
            return seen
        if seen.held is Held.STALE and seen.lock is not None:
            told = f"takeover: {lock.owner_session} reclaimed from {seen.lock.owner_session}"
            append_locked(folder, AUDIT, told)
        if seen.held is Held.CORRUPT:
            _set_aside(folder)
        _write(folder, lock)
        return Seen(held=Held.OWNED, lock=lock)


def claim(folder: Path, lock: DeliveryLock, now_s: float | None = None) -> DeliveryLock:
    """Become the owner, whatever is there but a living one. Raises RepositoryBusy for that."""
    seen = acquire(folder, lock, now_s)
    if seen.held is Held.HELD:
        raise _busy(folder, seen)
    if seen.held is not Held.OWNED:
        seen = take_over(folder, lock, now_s)
    assert seen.lock is not None  # it is owned
    return seen.lock


def beat(folder: Path, session: str) -> bool:
    """Give a sign that the owner lives; False where it is the owner no longer. Makes no file."""
    with folder_locked(folder):
        if look(folder, session).held is not Held.OWNED:
            return False
        os.utime(folder / LOCK)
        return True


def release(folder: Path, session: str) -> bool:
    """Give the lock back; True where there was one of this owner."""
    with folder_locked(folder):
        if look(folder, session).held is not Held.OWNED:
            return False
        (folder / LOCK).unlink()
        return True


def add_delegate(folder: Path, owner: str, session: str, maker: Maker | None = None) -> None:
    """Let a session work for the owner; once more where it did before. Raises UsageWrong."""
    now = utc_now()

    def change(lock: DeliveryLock) -> DeliveryLock:
        known = next((one for one in lock.delegate_activity if one.session == session), None)
        facts = (maker or Maker()).model_dump()
        begun = now if known is None else known.registered_at
        new = Delegate(session=session, registered_at=begun, last_activity_at=now, **facts)
        others = tuple(one for one in lock.delegate_activity if one.session != session)
        delegates = tuple(dict.fromkeys((*lock.delegates, session)))
        return lock.model_copy(
            update={"delegates": delegates, "delegate_activity": kept((*others, new))}
        )

    _change(folder, owner, change)


def end_delegate(folder: Path, owner: str, session: str, status: Activity) -> None:
    """Write down how a delegate's work ended. Raises UsageWrong for one that was never added."""
    now = utc_now()

    def change(lock: DeliveryLock) -> DeliveryLock:
        known = next((one for one in lock.delegate_activity if one.session == session), None)
        if known is None:
            raise UsageWrong(f"{session!r} is no delegate", where=str(folder), fix="add it first")
        ended = known.model_copy(update={"status": status, "last_activity_at": now})
        others = tuple(one for one in lock.delegate_activity if one.session != session)
        return lock.model_copy(update={"delegate_activity": kept((*others, ended))})

    _change(folder, owner, change)


def kept(delegates: tuple[Delegate, ...]) -> tuple[Delegate, ...]:
    """Those at work, and the newest of those that have ended."""
    ended = [one for one in delegates if one.status is not Activity.ACTIVE]
    newest = {one.session for one in ended[-MOST_ENDED:]}
    return tuple(one for one in delegates if one.status is Activity.ACTIVE or one.session in newest)


def _change(folder: Path, owner: str, change: Callable[[DeliveryLock], DeliveryLock]) -> None:
    with folder_locked(folder):
        seen = look(folder, owner)
        if seen.held is not Held.OWNED or seen.lock is None:
            who = "nobody" if seen.lock is None else seen.lock.owner_session
            raise UsageWrong(
                f"{owner!r} does not own this intent, {who!r} does",
                where=str(folder / LOCK),
                fix="own it first",
            )
        _write(folder, change(seen.lock))


def _is_living(lock: DeliveryLock, age_s: float) -> bool:
    """By its process where this machine's table has it, else by its last sign."""
    process = parse_process_id(lock.process)
    if process is not None and lock.host == socket.gethostname():
        here = this_process()
        if (process.boot, process.namespace) == (here.boot, here.namespace):
            return is_alive(process)
    return age_s < TTL_S


def _set_aside(folder: Path) -> None:
    """Keep a lock that cannot be read, and say so."""
    taken = {path.name for path in folder.glob(f"{LOCK}.corrupt-*")}
    numbers = (f"{LOCK}.corrupt-{number}" for number in range(1, len(taken) + 2))
    name = next(name for name in numbers if name not in taken)
    append_locked(folder, AUDIT, f"repair: {LOCK} could not be read, kept as {name}")
    with contextlib.suppress(FileNotFoundError):
        (folder / LOCK).rename(folder / name)


def _write(folder: Path, lock: DeliveryLock) -> None:
    write_atomic(folder / LOCK, (lock.model_dump_json(indent=2, exclude_none=True) + "\n").encode())


def _busy(folder: Path, seen: Seen) -> RepositoryBusy:
    who = "somebody" if seen.lock is None else seen.lock.owner_session
    return RepositoryBusy(
        f"the intent is being delivered by {who!r}",
        where=str(folder / LOCK),
        fix="wait for its end",
    )
