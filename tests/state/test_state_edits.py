"""A person's edits while a run is on."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from qloop.plan.model import Json
from qloop.state.ownership import DRIVER, PERSON
from qloop.state.store import Store, store_for
from state.documents import document, new_store, on_disk, save, save_in_place, story, story_of

Save = Callable[[Store, Json], None]
SAVES = pytest.mark.parametrize("write", [save, save_in_place])


class Run:
    """A store in use, and what it said of repairs."""

    def __init__(self, root: Path, value: Json) -> None:
        new_store(root, value)
        self.said: list[str] = []
        self.store = store_for(root / "quantum.json", root, self.said.append)

    def set_status(self, status: str) -> None:
        """Write the status of US-1 as the driver."""
        with self.store.transaction(DRIVER) as draft:
            story_of(draft, "US-1")["status"] = status

    def aside(self) -> list[bytes]:
        """What was kept aside."""
        return [path.read_bytes() for path in sorted((self.store.private / "aside").glob("*"))]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A run on three stories."""
    return Run(tmp_path / "a run", document())


@SAVES
def test_an_edit_is_taken_in(run: Run, write: Save) -> None:
    """A person's change and the driver's next one both stand in the file."""
    value = on_disk(run.store)
    story_of(value, "US-2")["title"] = "new"
    write(run.store, value)

    run.set_status("in_progress")

    found = on_disk(run.store)
    assert story_of(found, "US-2")["title"] == "new"
    assert story_of(found, "US-1")["status"] == "in_progress"
    assert run.said == ["quantum.json was edited; taken: stories[US-2].title"]


@SAVES
def test_an_owned_field_is_put_back(run: Run, write: Save) -> None:
    """A status that a person sets during a run is put back and named, once."""
    value = on_disk(run.store)
    story_of(value, "US-2")["status"] = "passed"
    write(run.store, value)

    seen = run.store.current()
    run.set_status("in_progress")

    assert story_of(seen, "US-2")["status"] == "pending"
    assert story_of(on_disk(run.store), "US-2")["status"] == "pending"
    (note,) = run.said
    assert "put back" in note
    assert "stories[US-2].status" in note


@SAVES
def test_an_edit_of_an_older_generation_is_merged(run: Run, write: Save) -> None:
    """What was written since the editor read the file is not undone by its save."""
    old = on_disk(run.store)
    for status in ("in_progress", "failed", "passed"):
        run.set_status(status)
    story_of(old, "US-1")["notes"] = "from the editor"
    write(run.store, old)

    found = story_of(run.store.current(), "US-1")

    assert (found["notes"], found["status"]) == ("from the editor", "passed")
    assert on_disk(run.store)["updatedAt"] > old["updatedAt"]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"branchName": "ql/other"}, "branch 'ql/other'"),
        ({"branchName": None}, "branch None"),
        ({"updatedAt": "2001-01-01T00:00:00.000000Z"}, "no kept generation"),
        ({"updatedAt": None}, "no kept generation"),
        ({"updatedAt": "../../quantum"}, "no kept generation"),
        ({"stories": [story("A"), story("A")]}, "two stories of one id"),
        ({"stories": [story("US-1", dependsOn=["US-7"])]}, "US-7"),
    ],
)
def test_what_cannot_be_merged_is_kept_aside(run: Run, fields: Json, why: str) -> None:
    """Another plan, or one that cannot be run, is kept; the run goes on with its own."""
    run.set_status("passed")
    strange = {**on_disk(run.store), **fields}
    save(run.store, strange)

    run.set_status("failed")

    assert story_of(on_disk(run.store), "US-1")["status"] == "failed"
    assert len(on_disk(run.store)["stories"]) == 3
    assert [json.loads(kept) for kept in run.aside()] == [strange]
    (note,) = run.said
    assert why in note
    assert "the last generation is restored" in note


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_truncated_file_is_kept_aside(run: Run, share: float) -> None:
    """Half a file that stays half is kept, and the last generation is restored."""
    data = run.store.path.read_bytes()
    broken = data[: int(len(data) * share)]
    run.store.path.write_bytes(broken)

    current = run.store.current()

    assert len(current["stories"]) == 3
    assert on_disk(run.store) == current
    assert run.aside() == [broken]
    assert len(run.said) == 1


def test_a_file_that_was_removed_is_restored(run: Run) -> None:
    """Without the file the run goes on, and puts it back."""
    run.store.path.unlink()

    run.set_status("passed")

    assert story_of(on_disk(run.store), "US-1")["status"] == "passed"
    assert run.said == ["quantum.json was gone; the last generation is restored"]


@pytest.mark.parametrize("gap", ["emptied", "moved away"])
def test_a_save_in_progress_is_waited_for(run: Run, gap: str) -> None:
    """An editor that empties or moves the file before it writes is given the time to do so."""
    value = on_disk(run.store)
    story_of(value, "US-2")["title"] = "new"
    if gap == "emptied":
        run.store.path.write_bytes(b"")
    else:
        run.store.path.rename(run.store.path.with_name("quantum.json~"))
    timer = threading.Timer(0.1, save_in_place, (run.store, value))
    timer.start()

    run.set_status("passed")
    timer.join()

    assert story_of(on_disk(run.store), "US-2")["title"] == "new"
    assert run.aside() == []


@SAVES
def test_an_edit_within_a_transaction_is_taken_in(run: Run, write: Save) -> None:
    """A person who saves while a transaction is at work loses nothing, nor does the writer."""
    with run.store.transaction(DRIVER) as draft:
        value = on_disk(run.store)
        story_of(value, "US-2").update(title="new", status="passed")
        write(run.store, value)
        story_of(draft, "US-1")["status"] = "in_progress"

    found = on_disk(run.store)
    assert story_of(found, "US-2") == {**story("US-2"), "title": "new"}
    assert story_of(found, "US-1")["status"] == "in_progress"
    assert "stories[US-2].status" in run.said[0]


def test_strange_files_within_a_transaction(run: Run) -> None:
    """A file that cannot be merged, or goes, while a transaction is at work harms nothing."""
    with run.store.transaction(DRIVER) as draft:
        run.store.path.write_bytes(b"{")
        story_of(draft, "US-1")["status"] = "in_progress"
    with run.store.transaction(DRIVER) as draft:
        run.store.path.unlink()
        story_of(draft, "US-2")["status"] = "in_progress"

    found = on_disk(run.store)
    assert [item["status"] for item in found["stories"]] == [
        "in_progress",
        "in_progress",
        "pending",
    ]
    assert run.aside() == [b"{"]
    assert len(run.said) == 2


def test_a_failing_block_leaves_the_edit_for_the_next(run: Run) -> None:
    """A transaction that fails neither takes in nor loses what the person saved."""
    value = on_disk(run.store)
    story_of(value, "US-2")["title"] = "new"
    save(run.store, value)

    with pytest.raises(ZeroDivisionError), run.store.transaction(DRIVER):
        _ = 1 / 0
    assert run.said == []
    run.set_status("passed")

    assert story_of(on_disk(run.store), "US-2")["title"] == "new"
    assert len(run.said) == 1


def test_a_persons_transaction_writes_what_an_editor_may(run: Run) -> None:
    """A write in the person's name has the person's fields."""
    with run.store.transaction(PERSON) as draft:
        story_of(draft, "US-1")["notes"] = "n"

    assert story_of(on_disk(run.store), "US-1")["notes"] == "n"


@SAVES
def test_no_edit_is_lost_under_load(run: Run, write: Save) -> None:
    """Saves at any moment, while the driver writes as fast as it can, all end up in the file."""
    stop = threading.Event()
    written = 0

    def drive() -> None:
        nonlocal written
        while not stop.is_set():
            written += 1
            run.set_status("passed" if written % 2 else "failed")

    driver = threading.Thread(target=drive)
    driver.start()
    for number in range(40):
        value = run.store.read()
        story_of(value, "US-3")[f"edit{number}"] = number
        write(run.store, value)
        time.sleep(0.002 * (number % 5))
    stop.set()
    driver.join()

    found = run.store.current()
    edits = story_of(found, "US-3")
    assert [edits.get(f"edit{number}") for number in range(40)] == list(range(40))
    assert story_of(found, "US-1")["status"] == ("passed" if written % 2 else "failed")
    assert run.aside() == []
