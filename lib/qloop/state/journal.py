"""The journal `events.jsonl`: what happened, one line for each event, only ever appended to.

Any number of processes append; the lock is that of the file itself, which is never replaced. A
line that a crash cut short is closed by the next append and skipped by readers.

Units: offsets are bytes; timestamps UTC. Errors: OSError; ValueError for an event of a wrong form.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from qloop.state.facts import EventKind as EventKind
from qloop.system import clock, files
from qloop.system.masking import mask_strings, own_secrets

_TAIL_BYTES = 65_536

# macOS has no fdatasync(2).
_flush = getattr(os, "fdatasync", os.fsync)


class Event(BaseModel):
    """One line of the journal: a fact, in the past tense."""

    model_config = ConfigDict(frozen=True, strict=True)

    seq: Annotated[int, Field(ge=1, description="1 for the journal's first event, then 2, 3, …")]
    ts: Annotated[str, Field(description="UTC, RFC 3339, milliseconds.")]
    run: Annotated[str, Field(min_length=1, description="The run's id.")]
    event: EventKind
    wave: Annotated[str | None, Field(description="The wave's id, such as `wave-1`.")] = None
    story: Annotated[str | None, Field(description="The story's id.")] = None
    attempt: Annotated[
        int | None, Field(ge=1, description="The number of the story's dispatch.")
    ] = None
    data: Annotated[dict[str, Any], Field(description="What else is known, by kind of event.")]

    def to_line(self) -> bytes:
        """The event as it stands in the journal and in `--json` output, line end included."""
        known = self.model_dump(exclude_none=True)
        known["data"] = self.data  # where None is a value like any other
        try:
            return orjson.dumps(known, option=orjson.OPT_APPEND_NEWLINE)
        except orjson.JSONEncodeError:
            # Bytes of a file name or of output that are not UTF-8 came in as surrogates.
            return orjson.dumps(_printable(known), option=orjson.OPT_APPEND_NEWLINE)


class Journal:
    """The events of all runs in one file; appends in the name of the run given."""

    def __init__(self, path: Path, run_id: str = "") -> None:
        self.path = path
        self.run_id = run_id

    def append(
        self,
        kind: EventKind,
        /,
        *,
        wave: str | None = None,
        story: str | None = None,
        attempt: int | None = None,
        **data: Any,
    ) -> Event:
        """Write an event at the end, without secrets, flushed to disk, and return it."""
        with files.locked(self.path) as handle:
            last, is_torn = _find_last(handle)
            event = Event(
                seq=1 if last is None else last.seq + 1,
                ts=clock.utc_now(),
                run=self.run_id,
                event=kind,
                wave=wave,
                story=story,
                attempt=attempt,
                data=mask_strings(data, own_secrets()),
            )
            line = event.to_line()
            os.lseek(handle, 0, os.SEEK_END)
            _write_all(handle, b"\n" + line if is_torn else line)
            _flush(handle)
        return event

    def read_from(self, offset: int) -> tuple[list[Event], int]:
        """The events from a byte offset on, and the offset to go on from.

        Only whole lines count; lines that are no events are skipped.
        """
        try:
            with self.path.open("rb") as journal:
                journal.seek(offset)
                data = journal.read()
        except FileNotFoundError:
            return [], offset
        whole = data[: data.rfind(b"\n") + 1]
        return list(_parse_lines(whole.split(b"\n"))), offset + len(whole)

    def events(self, run: str | None = None) -> list[Event]:
        """All events, or those of one run."""
        found, _ = self.read_from(0)
        return [event for event in found if run in (None, event.run)]


def _parse_lines(lines: Iterable[bytes]) -> Iterator[Event]:
    for line in lines:
        with suppress(ValidationError):
            yield Event.model_validate_json(line)


def _find_last(handle: int) -> tuple[Event | None, bool]:
    """The newest event, and whether something that is no whole line stands at the end."""
    end = os.lseek(handle, 0, os.SEEK_END)
    size = _TAIL_BYTES
    while True:
        start = max(0, end - size)
        tail = os.pread(handle, end - start, start)
        last = next(_parse_lines(reversed(tail.split(b"\n"))), None)
        if last is not None or start == 0:
            return last, bool(tail) and not tail.endswith(b"\n")
        size *= 4


def _write_all(handle: int, data: bytes) -> None:
    # A disk that fills up takes a part and refuses the rest.
    while data:
        data = data[os.write(handle, data) :]


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    return [_printable(item) for item in value] if isinstance(value, list | tuple) else value
