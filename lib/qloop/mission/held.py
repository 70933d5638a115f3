"""An intent's lifecycle files while somebody works on it: what is changed meanwhile is put back.

An agent can write into the folder by its path, whatever its role may. So the files are held before
it begins and compared when it has ended: they are then as they were, and the other version is kept
in `aside/`. What is held outlives a kill; insights may be added at any time.
Errors: OSError, BadInput for an outcome that is there too early.
"""

import base64
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from qloop.mission.stage_gate import (
    DOCUMENT,
    STAGES,
    Refusal,
    Write,
    deliverable_of,
    find_early_outcome,
    judge_write,
)
from qloop.mission.standing import read_standing
from qloop.state.insights import SECTION, add_insight
from qloop.state.intent import parse_folder_name
from qloop.state.lifecycle import (
    ACTIONS,
    OUTCOME,
    Lifecycle,
    action_number,
    read_lifecycle,
    read_real,
)
from qloop.state.savepoints import folder_locked
from qloop.state.sections import find_section, with_lines
from qloop.system.errors import BadInput, InputMissing
from qloop.system.files import read_optional, write_atomic

HELD = "phases/held.json"
ASIDE = "aside"
EVERYTHING = tuple(STAGES)
SOMEBODY = "somebody"
"""Who changed something during a turn that was cut off."""


@dataclass(frozen=True, slots=True)
class Held:
    """The lifecycle files as somebody found them."""

    role: str
    names: tuple[str, ...]
    """Which deliverables are held."""
    files: Mapping[str, bytes]
    """By path in the folder."""

    def to_json(self) -> bytes:
        """The value as a file of JSON."""
        files = {name: base64.b64encode(data).decode() for name, data in self.files.items()}
        told = {"role": self.role, "names": list(self.names), "files": files}
        return (json.dumps(told) + "\n").encode()


@dataclass(frozen=True, slots=True)
class Stray:
    """One of the files that was changed, and is as it was before."""

    name: str
    role: str
    place: str | None
    """Where the other version is kept; None for a file that was taken away."""
    refusal: Refusal | None
    """The rule against the change; None where the role may write it."""

    def __str__(self) -> str:
        rule = "" if self.refusal is None else f" ({self.refusal.rule})"
        how = "taken away" if self.place is None else "written"
        kept = "it is back" if self.place is None else f"kept as {self.place}"
        return f"{self.name} was {how} while {self.role} was at work{rule}: {kept}"


@contextmanager
def kept(folder: Path, role: str, tell: Callable[[str], None]) -> Iterator[list[Stray]]:
    """Have all the files be after the block what they were before it.

    What was changed meanwhile is told, and then in the list.
    """
    held = hold(folder, role)
    strays: list[Stray] = []
    try:
        yield strays
    finally:
        strays += settle(folder, held)
        note(folder, strays, tell)


def hold(folder: Path, role: str, names: Collection[str] = EVERYTHING) -> Held:
    """Note the files of these deliverables before *role* begins."""
    with folder_locked(folder):
        files = {name: _content(folder / name) for name in _present(folder, names)}
        plain = {name: data for name, data in files.items() if data is not None}
        held = Held(role, tuple(names), plain)
        write_atomic(folder / HELD, held.to_json())
    return held


def settle(folder: Path, held: Held) -> tuple[Stray, ...]:
    """Put back what was changed since, and hold the files no more."""
    with folder_locked(folder):
        now = {name: _content(folder / name) for name in _present(folder, held.names)}
        changed = [name for name in sorted({*held.files, *now}) if _is_changed(name, held, now)]
        place = _next_place(folder)
        for name in changed:
            _put_back(folder, name, held, f"{place}/{name}" if name in now else None)
        files = read_lifecycle(folder)
        strays = tuple(
            Stray(
                name,
                held.role,
                f"{place}/{name}" if name in now else None,
                _judge(files, name, now.get(name), held.role),
            )
            for name in changed
        )
        (folder / HELD).unlink(missing_ok=True)
    return strays


def settle_cut_off(folder: Path, tell: Callable[[str], None]) -> None:
    """Put back what was changed during a turn that never came to its end.

    Who did it cannot be known any more. The document stays as it is: a person may correct it.
    """
    held = _read_held(folder)
    if held is not None:
        names = tuple(name for name in held.names if name != DOCUMENT)
        files = {name: data for name, data in held.files.items() if deliverable_of(name) in names}
        note(folder, settle(folder, Held(SOMEBODY, names, files)), tell)


def set_aside_outcome(folder: Path, role: str, tell: Callable[[str], None]) -> None:
    """Keep an outcome that is there before the intent's end in another place."""
    with folder_locked(folder):
        if read_real(folder / OUTCOME) is None:
            return
        place = f"{_next_place(folder)}/{OUTCOME}"
        _move(folder, OUTCOME, place)
    why = Refusal("too-early", f"{OUTCOME} belongs to the end", "let qloop write it")
    note(folder, (Stray(OUTCOME, role, place, why),), tell)


def check_no_outcome(folder: Path) -> None:
    """Raise BadInput for an outcome that is there while nobody works: a person is to decide.

    One of a turn that was cut off is set aside by the next.
    """
    names = parse_folder_name(folder.name)
    number = folder.name if names is None else names[0]
    early = find_early_outcome(read_lifecycle(folder), number)
    if early is not None and _read_held(folder) is None:
        raise BadInput(early.reason, where=str(folder), fix=early.fix)


def note(folder: Path, strays: Collection[Stray], tell: Callable[[str], None]) -> None:
    """Write down in the intent's document what was put back, then say it.

    Whoever listens may be gone by then.
    """
    for stray in strays:
        with suppress(InputMissing):
            stage = read_standing(folder).stage
            add_insight(folder, str(stray), stage=stage, author="qloop", is_autonomous=True)
    for stray in strays:
        tell(str(stray))


def _read_held(folder: Path) -> Held | None:
    """What is held by somebody who is gone; None where nothing is, or it cannot be read."""
    try:
        told = json.loads(read_optional(folder / HELD) or b"null")
        files = {str(name): base64.b64decode(data) for name, data in told["files"].items()}
        return Held(str(told["role"]), tuple(map(str, told["names"])), files)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _present(folder: Path, names: Collection[str]) -> Iterator[str]:
    """The files of these deliverables that are there, whatever they are."""
    for path in folder.iterdir():
        if path.name == ACTIONS and ACTIONS in names:
            if path.is_symlink() or not path.is_dir():
                yield ACTIONS
            else:
                found = (one.name for one in path.iterdir() if action_number(one.name) is not None)
                yield from (f"{ACTIONS}/{name}" for name in found)
        elif deliverable_of(path.name) in names:
            yield path.name


def _content(path: Path) -> bytes | None:
    """What a file holds; None for anything that is no plain file."""
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def _is_changed(name: str, held: Held, now: Mapping[str, bytes | None]) -> bool:
    before, after = held.files.get(name), now.get(name)
    if before == after:
        return before is None and name in now
    if deliverable_of(name) != DOCUMENT or before is None or after is None:
        return True
    return _split_insights(before)[0] != _split_insights(after)[0]


def _put_back(folder: Path, name: str, held: Held, place: str | None) -> None:
    """Have a file be what it was, and keep what it is in *place*."""
    after = None if place is None else _content(folder / name)
    if place is not None:
        _move(folder, name, place)
    before = held.files.get(name)
    if before is None:
        return
    if after is not None and deliverable_of(name) == DOCUMENT:
        before = _with_insights(before, after)
    write_atomic(folder / name, before)


def _move(folder: Path, name: str, place: str) -> None:
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).rename(folder / place)


def _next_place(folder: Path) -> str:
    known = folder / ASIDE
    taken = [one.name for one in known.iterdir()] if known.is_dir() else []
    return f"{ASIDE}/{1 + max((int(name) for name in taken if name.isdigit()), default=0)}"


def _judge(files: Lifecycle, name: str, data: bytes | None, role: str) -> Refusal | None:
    """The rule against what was done; to take a file away is to write another one."""
    if deliverable_of(name) is None:
        return Refusal("no-folder", f"{name} is no folder any more", "leave it as it is")
    text = "taken away" if data is None else data.decode("utf-8", "replace")
    return judge_write(files, Write(name, text, role))


def _split_insights(data: bytes) -> tuple[list[str], list[str]]:
    """The lines of a document but for its insights, and those."""
    lines = data.decode("utf-8", "surrogateescape").splitlines()
    found = find_section(lines, SECTION)
    if found is None:
        return [line for line in lines if line.strip()], []
    start, stop = found
    rest = [line for line in (*lines[: start - 1], *lines[stop:]) if line.strip()]
    return rest, [line for line in lines[start:stop] if line.strip()]


def _with_insights(before: bytes, after: bytes) -> bytes:
    """A document as it was, with what was learnt since."""
    known = _split_insights(before)[1]
    new = [line for line in _split_insights(after)[1] if line not in known]
    text = before.decode("utf-8", "surrogateescape")
    return (with_lines(text, SECTION, new) if new else text).encode("utf-8", "surrogateescape")
