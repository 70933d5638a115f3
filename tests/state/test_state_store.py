"""The store: transactions, generations, places, and taking a file over between runs."""

import json
import os
import resource
import stat
from pathlib import Path

import pytest

from qloop.plan.document import render_document
from qloop.plan.model import Json
from qloop.state import generations as generations_module
from qloop.state import store as store_module
from qloop.state.exchange import exchange
from qloop.state.ownership import DRIVER, PLAN, NotOwner, coordinator_of
from qloop.state.store import StateLocked, Store, store_for
from qloop.system.errors import BadInput, InputMissing, InternalFailure
from state.documents import document, new_store, on_disk, save, start, story, story_of


def set_status(store: Store, status: str) -> None:
    """Write the status of US-1 as the driver."""
    with store.transaction(DRIVER) as draft:
        story_of(draft, "US-1")["status"] = status


def generations(store: Store) -> list[str]:
    """The names of all that lies among the generations."""
    return sorted(path.name for path in (store.private / "generations").iterdir())


def aside(store: Store) -> list[bytes]:
    """What was kept aside."""
    return [path.read_bytes() for path in sorted((store.private / "aside").glob("*"))]


def test_a_transaction_is_written(tmp_path: Path) -> None:
    """A change stands in the file when the block has ended, under a later updatedAt."""
    store = new_store(tmp_path, document())
    before = on_disk(store)["updatedAt"]

    set_status(store, "in_progress")

    assert story_of(on_disk(store), "US-1")["status"] == "in_progress"
    assert on_disk(store)["updatedAt"] > before
    assert store.read() == on_disk(store) == store.current()


def test_without_a_change_nothing_is_written(tmp_path: Path) -> None:
    """A block that changes nothing, or puts back what it changed, leaves the file as it is."""
    store = new_store(tmp_path, document())
    before = store.path.read_bytes()

    set_status(store, "pending")
    with store.transaction(DRIVER) as draft:
        draft["updatedAt"] = draft.pop("updatedAt")

    assert store.path.read_bytes() == before
    assert len(generations(store)) == 1


def test_a_block_that_fails_writes_nothing(tmp_path: Path) -> None:
    """An error within the block leaves file and store as they were."""
    store = new_store(tmp_path, document())
    before = store.path.read_bytes()

    with pytest.raises(ZeroDivisionError), store.transaction(DRIVER) as draft:
        draft.update(project=1 / len(draft.pop("stories")[3:]))
    set_status(store, "pending")

    assert store.path.read_bytes() == before


def test_a_foreign_field_is_refused(tmp_path: Path) -> None:
    """The store itself refuses what is not the writer's, and nothing of it is written later."""
    store = new_store(tmp_path, document())
    before = store.path.read_bytes()

    with pytest.raises(NotOwner, match=r"stories\[US-2\]\.title"), store.transaction(DRIVER) as one:
        story_of(one, "US-2").update(status="passed", title="mine")
    with pytest.raises(NotOwner), store.transaction(coordinator_of(["US-1"])) as two:
        story_of(two, "US-2")["review"] = {"codeQuality": {"status": "passed"}}

    assert store.path.read_bytes() == before
    with store.transaction(DRIVER) as draft:
        assert story_of(draft, "US-2") == story("US-2")


def test_the_plan_may_write_everything(tmp_path: Path) -> None:
    """`qloop plan` writes any field, and replaces the whole."""
    store = new_store(tmp_path, document())

    with store.transaction(PLAN) as draft:
        draft["prdHash"] = "sha256:1"
        story_of(draft, "US-1")["status"] = "passed"
    first = on_disk(store)
    store.replace(document(story("A"), branchName="ql/other"))

    assert first["prdHash"] == "sha256:1"
    assert [item["id"] for item in on_disk(store)["stories"]] == ["A"]
    assert on_disk(store)["updatedAt"] > first["updatedAt"]


def test_other_processes_writes_are_seen(tmp_path: Path) -> None:
    """A store that knows the last generation takes notice of a newer one."""
    store = new_store(tmp_path, document())
    other = store_for(store.path, tmp_path)

    set_status(store, "in_progress")
    with other.transaction(coordinator_of(["US-1"])) as draft:
        draft["progress"] = ["x"]
    set_status(store, "passed")

    assert on_disk(store)["progress"] == ["x"]
    assert story_of(on_disk(store), "US-1")["status"] == "passed"


def test_fifty_rewrites_keep_unknown_fields_and_order(tmp_path: Path) -> None:
    """Fields that qloop does not know, odd numbers and texts, and the order of keys outlive all."""
    odd: Json = {
        "zeta": {"b": 1, "a": [None, 1.0, 12345678901234567890123]},
        "branchName": "ql/x",
        "ünï": "\ud83d \u2028",
        "stories": [{"unknown": {"z": 1, "a": 2}, "id": "US-1", "status": "pending", "x": None}],
        "updatedAt": "2020-01-01T00:00:00Z",
        "last": 1,
    }
    store = new_store(tmp_path, odd)

    for number in range(50):
        with store_for(store.path, tmp_path).transaction(DRIVER) as draft:
            draft["stories"][0]["retries"] = {"attempts": number}

    found = on_disk(store)
    assert list(found) == list(odd)
    assert list(found["stories"][0])[:4] == ["unknown", "id", "status", "x"]
    assert list(found["stories"][0]["unknown"]) == ["z", "a"]
    assert found["zeta"] == odd["zeta"]
    assert found["ünï"] == odd["ünï"]
    assert found["stories"][0]["retries"] == {"attempts": 49}


def test_updated_at_always_increases(tmp_path: Path) -> None:
    """Each write has a later stamp, also after a file that comes from the future."""
    store = new_store(tmp_path, document(updatedAt="2999-12-31T23:59:59.999999Z"))
    stamps = [on_disk(store)["updatedAt"]]

    for number in range(20):
        set_status(store, "passed" if number % 2 else "failed")
        stamps.append(on_disk(store)["updatedAt"])

    assert stamps == sorted(set(stamps))
    assert stamps[0] > "2999-12-31T23:59:59.999999Z"


@pytest.mark.parametrize("odd", ["soon", "", 7, None, "9999-12-31T23:59:59.999999Z", "../../x"])
def test_any_updated_at_can_be_followed(tmp_path: Path, odd: object) -> None:
    """What a person wrote into updatedAt, even nonsense, keeps nothing from being written."""
    path = tmp_path / "quantum.json"
    path.write_text(json.dumps(document(updatedAt=odd)))
    store = store_for(path, tmp_path)

    assert store.adopt() == []
    set_status(store, "passed")

    assert story_of(on_disk(store), "US-1")["status"] == "passed"


def test_the_last_generations_are_kept(tmp_path: Path) -> None:
    """32 generations are kept, whole, the newest being the file itself; nothing else is left."""
    store = new_store(tmp_path, document())

    for number in range(40):
        set_status(store, "passed" if number % 2 else "failed")

    kept = generations(store)
    assert len(kept) == 32
    assert (store.private / "generations" / kept[-1]).read_bytes() == store.path.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".qloop", "quantum.json"]
    names = {path.name for path in store.private.iterdir()}
    assert names == {"generations", "quantum.lock", "quantum.queue"}


def test_the_files_mode_is_kept(tmp_path: Path) -> None:
    """Who may read the file stays as the person set it."""
    store = new_store(tmp_path, document())
    store.path.chmod(0o640)

    set_status(store, "passed")

    assert stat.S_IMODE(store.path.stat().st_mode) == 0o640


def test_without_a_file(tmp_path: Path) -> None:
    """Where there is no file and never was, that is what every way in says."""
    store = store_for(tmp_path / "quantum.json", tmp_path)

    with pytest.raises(InputMissing):
        store.adopt()
    with pytest.raises(InputMissing):
        store.read()
    with pytest.raises(InputMissing), store.transaction(DRIVER):
        pass


def test_a_file_that_was_never_taken_over(tmp_path: Path) -> None:
    """A transaction on a file without generations takes it as it stands; broken, it says so."""
    path = tmp_path / "quantum.json"
    path.write_text(json.dumps(document()))

    set_status(store_for(path, tmp_path), "passed")
    broken = tmp_path / "broken.json"
    broken.write_text("{")

    assert story_of(json.loads(path.read_text()), "US-1")["status"] == "passed"
    with pytest.raises(BadInput, match="not JSON"), store_for(broken, tmp_path).transaction(DRIVER):
        pass
    with pytest.raises(BadInput, match="not JSON"):
        store_for(broken, tmp_path).adopt()
    assert broken.read_text() == "{"


def test_a_folder_in_the_files_place(tmp_path: Path) -> None:
    """What cannot be read is bad input, not a bug."""
    (tmp_path / "quantum.json").mkdir()

    with pytest.raises(BadInput, match="cannot be read"):
        store_for(tmp_path / "quantum.json", tmp_path).adopt()


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """A write that the system refuses is named, nothing is half done, and the next one works."""
    store = new_store(tmp_path, document(story("US-1", notes="n" * 20_000)))
    before = store.path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(InternalFailure, match="cannot be written: File too large"):
            set_status(store, "passed")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    after = store.path.read_bytes()
    set_status(store, "passed")

    assert after == before
    assert story_of(on_disk(store), "US-1")["status"] == "passed"
    assert all(name.endswith("Z.json") for name in generations(store))


def test_a_file_in_the_folders_place(tmp_path: Path) -> None:
    """Where `.qloop` cannot be a folder, that is what is said."""
    (tmp_path / ".qloop").write_text("mine")

    with pytest.raises(InternalFailure, match="folder cannot be used"):
        store_for(tmp_path / "quantum.json", tmp_path).replace(document())


def test_file_systems_that_cannot_exchange_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where two files cannot take each other's name, the file is replaced all the same."""
    monkeypatch.setattr(generations_module, "exchange", lambda *_: False)
    store = new_store(tmp_path, document())

    set_status(store, "passed")

    assert story_of(on_disk(store), "US-1")["status"] == "passed"
    assert all(name.endswith("Z.json") for name in generations(store))


def test_a_held_lock_is_waited_for_and_then_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that sits in a transaction keeps others out until it is gone, however it goes."""
    store = new_store(tmp_path, document())
    monkeypatch.setattr(store_module, "LOCK_TIMEOUT_S", 0.2)
    with start("hold", store.path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"

        with pytest.raises(StateLocked, match="locked by another process"):
            set_status(store, "passed")
        assert store.read() == on_disk(store)
        holder.kill()
        holder.wait()
        set_status(store, "passed")

    assert story_of(on_disk(store), "US-1")["status"] == "passed"


def test_private_folders(tmp_path: Path) -> None:
    """The root's quantum.json has `.qloop` itself; every other file has a folder of its own."""
    root = tmp_path / "root"
    deep = root / "a"
    deep.mkdir(parents=True)
    link = tmp_path / "link.json"
    link.symlink_to(root / "quantum.json")

    own = root / ".qloop"
    assert store_for(root / "quantum.json", root).private == own
    assert store_for(link, root).private == own
    assert store_for(link, root).path == root / "quantum.json"
    others = [
        store_for(root / "other.json", root).private,
        store_for(deep / "quantum.json", root).private,
        store_for(deep / "other.json", root).private,
        store_for(tmp_path / "other.json", root).private,
    ]
    assert {path.parent for path in others} == {own / "state"}
    assert len({path.name for path in others}) == 4
    assert others[0].name.startswith("other-")
    assert store_for(deep / "quantum.json", None).private == deep / ".qloop"
    assert store_for(deep / "other.json", None).private.parent == deep / ".qloop" / "state"


def test_a_file_on_another_file_system(tmp_path: Path) -> None:
    """What is renamed over a file must lie on its file system: beside it, if need be."""
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system")
    folder = memory / f"qloop-test-{os.getpid()}"
    folder.mkdir()
    try:
        store = store_for(folder / "quantum.json", tmp_path)
        store.replace(document())
        set_status(store, "passed")

        assert store.private == folder / ".qloop"
        assert not (tmp_path / ".qloop").exists()
        assert not exchange(store.path, folder / "missing")
        (tmp_path / "there").touch()
        with pytest.raises(OSError, match="cross-device"):
            exchange(store.path, tmp_path / "there")
    finally:
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        folder.rmdir()


def test_a_linked_file_stays_a_link(tmp_path: Path) -> None:
    """Writing through a symbolic link changes the file that it leads to."""
    (tmp_path / "there").mkdir()
    store = new_store(tmp_path / "there", document())
    link = tmp_path / "quantum.json"
    link.symlink_to(store.path)

    set_status(store_for(link, tmp_path), "passed")

    assert link.is_symlink()
    assert story_of(on_disk(store), "US-1")["status"] == "passed"


def test_adopting_what_was_left_changes_nothing(tmp_path: Path) -> None:
    """A file that is the last generation is taken over without a write or a word."""
    store = new_store(tmp_path, document())
    before = store.path.read_bytes()

    assert store_for(store.path, tmp_path).adopt() == []
    assert store.path.read_bytes() == before


def test_edits_between_runs_count_entirely(tmp_path: Path) -> None:
    """Between runs a person may change every field of the last generation."""
    store = new_store(tmp_path, document(progress=["x"]))
    value = on_disk(store)
    story_of(value, "US-1").update(status="passed", title="new")
    value["progress"] = []
    save(store, value)

    assert store.adopt() == []
    after = on_disk(store)
    assert after.pop("updatedAt") > value.pop("updatedAt")
    assert after == value
    assert len(generations(store)) == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"branchName": "ql/other"},
        {"updatedAt": "2001-01-01T00:00:00.000000Z"},
        {"updatedAt": None},
        {"updatedAt": 5},
        {"updatedAt": "../generations"},
    ],
)
def test_another_plan_between_runs_is_taken(tmp_path: Path, fields: Json) -> None:
    """A file of another branch, or that names no kept generation, is another plan."""
    store = new_store(tmp_path, document())
    set_status(store, "passed")
    save(store, {**on_disk(store), "stories": [story("A", status="failed")], **fields})

    assert store.adopt() == []
    assert on_disk(store)["stories"] == [story("A", status="failed")]
    assert aside(store) == []


def test_an_old_buffer_between_runs_is_merged(tmp_path: Path) -> None:
    """An edit of an older generation brings its texts; statuses stay, and that is named."""
    store = new_store(tmp_path, document())
    old = on_disk(store)
    set_status(store, "passed")
    story_of(old, "US-1").update(title="new", status="blocked")
    save(store, old)

    (note,) = store.adopt()

    assert "stories[US-1].status" in note
    assert "put back" in note
    found = story_of(on_disk(store), "US-1")
    assert (found["title"], found["status"]) == ("new", "passed")


def test_an_old_buffer_that_cannot_be_merged_is_taken_as_it_stands(tmp_path: Path) -> None:
    """Between runs a file whose faults validation will name is not the store's to refuse."""
    store = new_store(tmp_path, document())
    old = on_disk(store)
    set_status(store, "passed")
    save(store, {**old, "stories": [story("A"), story("A")]})

    assert store.adopt() == []
    assert on_disk(store)["stories"] == [story("A"), story("A")]


@pytest.mark.parametrize("broken", [b"", b'{"branchName": "ql/x", "stor', b"\xff\xfe{}", b"[]"])
def test_a_broken_file_between_runs_is_kept_aside(tmp_path: Path, broken: bytes) -> None:
    """A file that does not parse is kept, the last generation restored, and both are named."""
    store = new_store(tmp_path, document())
    set_status(store, "passed")
    store.path.write_bytes(broken)

    (note,) = store.adopt()

    assert story_of(on_disk(store), "US-1")["status"] == "passed"
    assert aside(store) == [broken]
    assert "restored" in note
    assert str(store.private / "aside") in note


def cut_short(store: Store, *, visible: bool) -> Json:
    """Leave a write as a crash would, before or after the file was replaced."""
    value = on_disk(store)
    value["updatedAt"] = "2990-01-01T00:00:00.000000Z"
    story_of(value, "US-1")["status"] = "passed"
    folder = store.private / "generations"
    (folder / "2990-01-01T00_00_00.000000Z.json.pending").write_bytes(render_document(value))
    (folder / "next.tmp").write_bytes(b"half")
    if visible:
        store.path.write_bytes(render_document(value))
    return value


@pytest.mark.parametrize("visible", [True, False])
def test_a_write_that_was_cut_short(tmp_path: Path, visible: bool) -> None:
    """A write counts from the moment at which readers could see it, and not before."""
    store = new_store(tmp_path, document())
    cut_short(store, visible=visible)
    said: list[str] = []
    other = store_for(store.path, tmp_path, said.append)

    with other.transaction(DRIVER) as draft:
        seen = story_of(draft, "US-1")["status"]

    assert seen == ("passed" if visible else "pending")
    assert said == []
    assert len(generations(store)) == (2 if visible else 1)
    assert all(name.endswith("Z.json") for name in generations(store))


def test_an_edit_on_top_of_a_write_that_was_cut_short(tmp_path: Path) -> None:
    """A person who edits what a dying process had just written loses nothing."""
    store = new_store(tmp_path, document())
    value = cut_short(store, visible=True)
    story_of(value, "US-1")["title"] = "new"
    save(store, value)

    set_status(store, "failed")

    found = story_of(on_disk(store), "US-1")
    assert (found["title"], found["status"]) == ("new", "failed")
