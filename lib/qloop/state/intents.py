"""The intents of a project: one folder each under `.qloop/intents/`, or the setting's place.

A folder is made whole or not at all, with an id that no intent of the place ever had.
Errors: BadInput, UsageWrong and InputMissing, which say what to do; OSError.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from qloop.state.intent import (
    Front,
    Intent,
    encodable,
    folder_name,
    one_line,
    parse_folder_name,
    read_front,
    render_document,
    slug_of,
    title_of,
)
from qloop.state.intent_index import ENDINGS, INDEX, Group, parse_index, placed
from qloop.state.lifecycle import Disposition, Stage, read_lifecycle
from qloop.state.savepoints import STARTED, append_locked, last_stage, read_ledger
from qloop.system.clock import utc_now
from qloop.system.errors import BadInput, InputMissing, UsageWrong
from qloop.system.files import locked, read_optional, sync_folder, write_atomic

DEFAULT_ROOT = ".qloop/intents"

_LAST_ID = ".last-id"
"""Locked while an intent is made; holds the newest id, so that none is given twice."""
_INDEX_LOCK = ".index.lock"
_UNFINISHED = ".new-"


def intents_folder(root: Path, setting: str | None) -> Path:
    """Where the intents of the checkout at *root* lie; *setting* is `intents_root`."""
    return root / Path(setting or DEFAULT_ROOT).expanduser()


def create_intent(
    root: Path,
    text: str,
    *,
    author: str,
    sources: Sequence[str] = (),
    chain: Sequence[int] = (),
    tags: Sequence[str] = (),
    group: Group = Group.ACTIVE,
) -> Intent:
    """Make an intent of *text* in *root*, the folder of all intents, under the next free id.

    Its first line of words is its title. Raises UsageWrong for a text without any.
    """
    text = encodable(text)
    title = title_of(text)
    if not title:
        raise UsageWrong("an intent needs words", fix="say what is wanted")
    words = (tuple(one_line(encodable(word)) for word in group) for group in (sources, tags))
    named, tagged = words
    front = Front(utc_now(), one_line(encodable(author)), named, tuple(chain), tagged)
    root.mkdir(parents=True, exist_ok=True)
    with locked(root / _LAST_ID) as handle:
        for left in root.glob(f"{_UNFINISHED}*"):
            shutil.rmtree(left, ignore_errors=True)
        number = _take_id(root, handle)
        intent = Intent(number, slug_of(title), title, root / folder_name(number, slug_of(title)))
        if group is not Group.ACTIVE:
            # Before it is there: cut off in between, it would count as wanted now.
            change_index(root, lambda index: placed(index, intent, group))
        _make_folder(intent, render_document(number, title, text, front))
    change_index(root, lambda index: placed(index, intent, group))
    return intent


def read_index(root: Path) -> str:
    """The text of the index; empty where there is none."""
    return (read_optional(root / INDEX) or b"").decode("utf-8", "surrogateescape")


def change_index(root: Path, change: Callable[[str], str]) -> bool:
    """Change the index in one step, whoever else changes it; True where something changed.

    Intents that it does not have come in on the way: as over where their own files agree on it.
    """
    with locked(root / _INDEX_LOCK):
        before = read_index(root)
        after = before
        known = parse_index(before)
        for folder, number, slug in sorted(_folders(root), key=lambda found: found[1]):
            if known.group_of(number) is None:
                intent = load_intent(folder, number, slug)
                ending = told_ending(folder)
                after = placed(after, intent, ENDINGS[ending] if ending else Group.ACTIVE)
        after = change(after)
        if after == before:
            return False
        write_atomic(root / INDEX, after.encode("utf-8", "surrogateescape"))
        return True


def told_ending(folder: Path) -> Disposition | None:
    """How an intent ended by its own files, where outcome and ledger agree."""
    outcome = read_lifecycle(folder).disposition
    newest = last_stage(read_ledger(folder))
    is_done = newest is not None and (newest.kind, newest.milestone) == (Stage.DONE, outcome)
    return outcome if is_done else None


def list_intents(root: Path) -> list[Intent]:
    """All intents, oldest first. A broken document takes nothing but its title."""
    return sorted((load_intent(*found) for found in _folders(root)), key=lambda one: one.id)


def find_intent(root: Path, word: str) -> Intent:
    """The intent that *word* names: id, slug, folder, path of it, or the slug's beginning.

    Raises InputMissing where none or BadInput where more than one is meant.
    """
    known = list_intents(root)
    exact = [one for one in known if word in (str(one.id), one.slug, one.name)]
    place = Path(word).resolve()
    exact = exact or [one for one in known if place == one.folder.resolve()]
    found = exact or [one for one in known if word and _begins(one, word)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(one.name for one in found)
        raise BadInput(f"{word!r} may be {names}", where=str(root), fix="say its number")
    raise InputMissing(
        f"there is no intent {word[:80]!r}", where=str(root), fix=_advice(known, word)
    )


def _begins(intent: Intent, word: str) -> bool:
    return intent.slug.startswith(word) or ("--" in word and intent.name.startswith(word))


def _advice(known: list[Intent], word: str) -> str:
    import difflib  # only where something is wrong

    if not known:
        return "there are none yet; make one: qloop intent new TEXT"
    near = difflib.get_close_matches(word, [one.slug for one in known], n=1, cutoff=0.4)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"the intents are {', '.join(one.name for one in known[-5:])}"


def _folders(root: Path) -> Iterator[tuple[Path, int, str]]:
    for folder in root.iterdir() if root.is_dir() else ():
        names = parse_folder_name(folder.name)
        if names is not None and folder.is_dir():
            yield folder, *names


def load_intent(folder: Path, number: int, slug: str) -> Intent:
    """The intent of a folder, whose title is its slug where the document tells none."""
    data = read_optional(folder / f"{folder.name}.md") or b""
    title = read_front(data.decode("utf-8", "replace")).get("intent")
    words = " ".join(title.split()) if isinstance(title, str) else ""
    return Intent(number, slug, words or slug.replace("-", " "), folder)


def _take_id(root: Path, handle: int) -> int:
    word = os.pread(handle, 32, 0).strip()
    last = int(word) if word.isdigit() else 0
    names = [parse_folder_name(path.name) for path in root.iterdir()]
    number = max([last, *(name[0] for name in names if name is not None)]) + 1
    os.pwrite(handle, f"{number}\n".encode(), 0)
    os.fsync(handle)
    return number


def _make_folder(intent: Intent, document: str) -> None:
    root = intent.folder.parent
    made = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=root))
    try:
        made.chmod(0o755)
        write_atomic(made / intent.document.name, document.encode())
        for stage, milestone in ((Stage.WHAT, intent.document.name), (Stage.WHY, STARTED)):
            append_locked(made, stage, milestone)
        made.rename(intent.folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    sync_folder(root)
