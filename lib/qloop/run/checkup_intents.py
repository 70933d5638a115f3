"""Intents whose files say different things: the index, the ledger, the outcome, the lock.

The index decides whether an intent is over; each finding says which one counts, and what makes
the others agree.
"""

from collections.abc import Iterator
from pathlib import Path

from qloop.run.finding import Finding
from qloop.state.delivery_lock import Held, look
from qloop.state.intent import KEYS, Intent, read_front
from qloop.state.intent_index import INDEX, STANDINGS, Index, parse_index
from qloop.state.intents import list_intents, read_index
from qloop.state.lifecycle import OUTCOME, Disposition, Lifecycle, Stage, lifecycle_of
from qloop.state.savepoints import LEDGER, last_stage, read_ledger


def check_intents(root: Path) -> Iterator[Finding]:
    """What disagrees among the intents in *root*; one good finding where nothing does."""
    intents = list_intents(root)
    index = parse_index(read_index(root))
    found = [one for intent in intents for one in _check(intent, index)]
    found += _check_lines(index, {intent.id for intent in intents})
    if intents and not found:
        found = [Finding("intents", "ok", f"{len(intents)} in {root}")]
    yield from found


def _check(intent: Intent, index: Index) -> Iterator[Finding]:
    files = lifecycle_of(intent)
    yield from _check_ends(intent, index, files)
    missing = sorted(set(KEYS) - read_front(files.document or "").keys())
    if missing:
        what = "has no document" if files.document is None else f"lacks {', '.join(missing)}"
        yield _warn(intent, f"its front matter {what}", f"correct {intent.document}")
    seen = look(intent.folder, "")
    if seen.held is Held.CORRUPT:
        yield _warn(intent, "delivery.lock cannot be read", "the next owner repairs it")
    if seen.held is Held.STALE and seen.lock is not None:
        text = f"its owner {seen.lock.owner_session!r} is gone"
        yield _warn(intent, text, "whoever works on it next takes over")


def _check_ends(intent: Intent, index: Index, files: Lifecycle) -> Iterator[Finding]:
    ends = {LEDGER: _told_by_ledger(intent.folder), OUTCOME: _told_by_outcome(files)}
    group = index.group_of(intent.id)
    how = index.ending_of(intent.id)
    wrong = [f"{name} says {said or 'nothing'}" for name, said in ends.items() if said != how]
    if group is None:
        fix = f"add its line to {INDEX}, or make another intent, which adds it"
        yield _warn(intent, f"{INDEX} does not have it; it counts as Active", fix)
    elif wrong and how is not None:
        fix = f"qloop intent end {intent.id} --disposition {how}"
        if ends[OUTCOME] not in (None, how):
            fix = f"correct {OUTCOME}, then {fix}"
        yield _warn(intent, f"{INDEX} says {how}, and counts; {' and '.join(wrong)}", fix)
    elif wrong:
        told = next((said for said in ends.values() if said in set(Disposition)), None)
        fix = f"correct {OUTCOME}, or take it away"
        if told is not None:
            fix = f"qloop intent end {intent.id} --disposition {told}, or put the others right"
        yield _warn(intent, f"{INDEX} says {group}, and counts; {' and '.join(wrong)}", fix)


def _told_by_ledger(folder: Path) -> str | None:
    newest = last_stage(read_ledger(folder))
    return newest.milestone if newest is not None and newest.stage is Stage.DONE else None


def _told_by_outcome(files: Lifecycle) -> str | None:
    if files.outcome is None:
        return None
    return "no disposition" if files.disposition is None else files.disposition.value


def _check_lines(index: Index, known: set[int]) -> Iterator[Finding]:
    numbers = [number for group in STANDINGS for number in index.groups.get(group, ())]
    for number in sorted(set(numbers)):
        if number not in known:
            text = f"{INDEX} names intent {number}, which has no folder"
            yield Finding("intents", "warn", text, "put the folder back, or remove the line")
        elif numbers.count(number) > 1:
            counts = index.group_of(number)
            text = f"{INDEX} names intent {number} more than once; {counts} counts"
            yield Finding("intents", "warn", text, "remove the other lines")


def _warn(intent: Intent, text: str, fix: str) -> Finding:
    return Finding("intents", "warn", f"{intent.name}: {text}", fix)
