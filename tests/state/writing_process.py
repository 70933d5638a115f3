"""A process that writes: `writing_process.py ACTION FILE WORDS…`, started by tests."""

import signal
import sys
from pathlib import Path

from qloop.state.journal import EventKind, Journal
from qloop.state.ownership import DRIVER, coordinator_of
from qloop.state.store import store_for


def count(path: Path, times: int) -> None:
    """Add one to a counter of the driver's, *times* times."""
    store = store_for(path, path.parent)
    for _ in range(times):
        with store.transaction(DRIVER) as draft:
            retries = draft["stories"][0].setdefault("retries", {})
            retries["attempts"] = retries.get("attempts", 0) + 1


def report(path: Path, name: str, times: int) -> None:
    """Append to the progress as a coordinator would, *times* times."""
    store = store_for(path, path.parent)
    for number in range(times):
        with store.transaction(coordinator_of(["US-1"])) as draft:
            draft.setdefault("progress", []).append(f"{name} {number}")


def count_for_ever(path: Path) -> None:
    """Count without end, and say each number once it is written for good."""
    store = store_for(path, path.parent)
    while True:
        with store.transaction(DRIVER) as draft:
            retries = draft["stories"][0].setdefault("retries", {})
            retries["attempts"] = number = retries.get("attempts", 0) + 1
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


def hold(path: Path) -> None:
    """Sit in a transaction until killed."""
    with store_for(path, path.parent).transaction(DRIVER):
        sys.stdout.write("held\n")
        sys.stdout.flush()
        signal.pause()


def journal(path: Path, name: str, times: int) -> None:
    """Append events, *times* times."""
    book = Journal(path, name)
    for number in range(times):
        book.append(EventKind.GATE_ENDED, story=name, attempt=number + 1, text="x" * number)


def main(action: str, file: str, *words: str) -> None:
    """Do what is asked."""
    path = Path(file)
    match action:
        case "count":
            count(path, int(words[0]))
        case "report":
            report(path, words[0], int(words[1]))
        case "journal":
            journal(path, words[0], int(words[1]))
        case "hold":
            hold(path)
        case _:
            count_for_ever(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
