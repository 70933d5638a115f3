"""The end of an intent: a tail of steps that comes to the same end wherever it is cut off."""

import re
from pathlib import Path

import pytest

from qloop.mission.intent_end import Ending, check_not_over, end_intent
from qloop.run.checkup_intents import check_intents
from qloop.state.delivery_lock import LOCK, claim, make_lock
from qloop.state.intent import Intent
from qloop.state.intent_index import Group, parse_index, placed
from qloop.state.intents import change_index, create_intent, read_index
from qloop.state.lifecycle import Disposition
from qloop.state.savepoints import add_savepoint
from qloop.system.errors import BadInput, Faults, RepositoryBusy
from state.crowd import crowd

STEPS = 5
"""Of an end without a mission and without the lock of somebody dead."""


@pytest.fixture
def intent(tmp_path: Path) -> Intent:
    """A new intent, in a path with a space, whose checklist is done."""
    made = create_intent(tmp_path / "my intents", "Export as CSV", author="ada")
    (made.folder / "checklist.md").write_text("- [x] rows\n")
    return made


def end(intent: Intent, how: str = "delivered", note: str = "Rows come out.") -> list[str]:
    """Bring an intent to its end."""
    private = intent.folder.parent.parent
    return list(end_intent(Ending(private, intent, Disposition(how), note)))


def contents(folder: Path) -> dict[str, str]:
    """All files below a folder, without times."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    stamp = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
    return {str(path.relative_to(folder)): stamp.sub("T", path.read_text()) for path in files}


def group_of(intent: Intent) -> Group | None:
    """Where the index has it."""
    return parse_index(read_index(intent.folder.parent)).group_of(intent.id)


def test_an_end_is_written_everywhere(intent: Intent) -> None:
    """Outcome, document, index and ledger, in this order; once more there is nothing to do."""
    assert [step.partition(" ")[0] for step in end(intent)] == [
        "outcome.md",
        "1--export-as-csv.md:",
        "INDEX.md:",
        "savepoint.md:",
        "savepoint.md:",
    ]
    assert end(intent) == []
    assert group_of(intent) is Group.COMPLETED
    assert "## Summary\n\nRows come out.\n" in (intent.folder / "outcome.md").read_text()
    assert "## Outcome\n\nDelivered, see [outcome.md]" in intent.document.read_text()
    assert (intent.folder / "savepoint.md").read_text().endswith("Z  Done  delivered\n")
    assert [one.state for one in check_intents(intent.folder.parent)] == ["ok"]


@pytest.mark.parametrize("done", range(STEPS + 1))
def test_an_end_cut_off_after_any_step_comes_to_the_same(
    intent: Intent, tmp_path: Path, done: int
) -> None:
    """What the next call leaves is what an undisturbed one would have."""
    other = create_intent(tmp_path / "others", "Export as CSV", author="ada")
    (other.folder / "checklist.md").write_text("- [x] rows\n")
    private = intent.folder.parent.parent
    ending = Ending(private, intent, Disposition.DELIVERED, "Rows come out.")
    steps = end_intent(ending)
    for _ in range(done):
        next(steps)
    steps.close()
    rest = end(intent)
    end(other)

    assert len(rest) == STEPS - done
    assert contents(intent.folder.parent) == contents(other.folder.parent)


def test_what_is_over_is_never_taken_up_again(intent: Intent) -> None:
    """Not for the other end, nor for more work; whatever its own files say."""
    check_not_over(intent.folder)
    end(intent, "abandoned")

    with pytest.raises(BadInput, match="over already: abandoned"):
        end(intent)
    with pytest.raises(BadInput, match="--after 1"):
        check_not_over(intent.folder)
    (intent.folder / "outcome.md").unlink()
    with pytest.raises(BadInput, match="not taken up again"):
        check_not_over(intent.folder)


def test_an_open_box_keeps_an_intent_from_being_delivered(intent: Intent) -> None:
    """Nothing is written before it is seen; abandoned it may be."""
    (intent.folder / "checklist.md").write_text("- [x] rows\n- [ ] [ORCHESTRATOR] quotes\n")
    before = contents(intent.folder)
    with pytest.raises(Faults, match="open boxes") as raised:
        end(intent)

    assert raised.value.faults == ("[ ] [ORCHESTRATOR] quotes",)
    assert contents(intent.folder) == before
    end(intent, "abandoned")
    assert group_of(intent) is Group.ABANDONED


@pytest.mark.parametrize("text", ["No front matter.\n", "---\ndisposition: abandoned\n---\n"])
def test_an_outcome_of_its_makers_must_agree(intent: Intent, text: str) -> None:
    """It is kept as it is, and never written over."""
    (intent.folder / "outcome.md").write_text(text)
    with pytest.raises(BadInput, match=r"outcome\.md says"):
        end(intent)

    assert (intent.folder / "outcome.md").read_text() == text
    assert group_of(intent) is Group.ACTIVE


def test_a_living_owner_is_not_cut_off(intent: Intent) -> None:
    """What a dead one left is released; a living one is waited for."""
    crowd(1, "die", intent.folder)
    assert end(intent)[-1] == "delivery.lock: released"
    assert not (intent.folder / LOCK).exists()

    other = create_intent(intent.folder.parent, "Import", author="ada")
    claim(other.folder, make_lock("team", is_process=True))
    with pytest.raises(RepositoryBusy, match="'team'"):
        end(other)


def found(root: Path) -> list[str]:
    """What the check-up says."""
    return [f"{one.state} {one.text} -> {one.fix}" for one in check_intents(root)]


def test_the_check_up_names_what_disagrees(intent: Intent) -> None:
    """Index, ledger and outcome, each against the others; the index counts."""
    root = intent.folder.parent
    assert [line[:2] for line in found(root)] == ["ok"]

    (intent.folder / "outcome.md").write_text("words\n")
    assert found(root) == [
        "warn 1--export-as-csv: INDEX.md says Active, and counts; outcome.md says no disposition "
        "-> correct outcome.md, or take it away"
    ]
    (intent.folder / "outcome.md").write_text("---\ndisposition: abandoned\n---\n")
    assert found(root) == [
        "warn 1--export-as-csv: INDEX.md says Active, and counts; outcome.md says abandoned -> "
        "qloop intent end 1 --disposition abandoned, or put the others right"
    ]
    change_index(root, lambda text: placed(text, intent, Group.COMPLETED))
    assert found(root) == [
        "warn 1--export-as-csv: INDEX.md says delivered, and counts; savepoint.md says nothing "
        "and outcome.md says abandoned -> correct outcome.md, then qloop intent end 1 "
        "--disposition delivered"
    ]
    add_savepoint(intent.folder, "Done", "delivered")
    (intent.folder / "outcome.md").unlink()
    assert "delivered, and counts; outcome.md says nothing" in found(root)[0]
    end(intent)
    assert [line[:2] for line in found(root)] == ["ok"]
    add_savepoint(intent.folder, "Exec", "more")
    assert end(intent)[-1] == "savepoint.md: Done delivered"
    assert [line[:2] for line in found(root)] == ["ok"]


def test_the_check_up_names_what_is_broken(intent: Intent) -> None:
    """Front matter, lock, and lines of the index that belong to nothing."""
    root = intent.folder.parent
    (root / "INDEX.md").write_text("## Active\n- [1 - a](1)\n- [7 - b](7)\n## Completed\n")
    intent.document.write_text("---\nid: 1\nintent: x\ntags: []\n---\n")
    (intent.folder / LOCK).write_text("{")

    told = "\n".join(found(root))
    assert "lacks author, chain, created, sources" in told
    assert "delivery.lock cannot be read" in told
    assert "names intent 7, which has no folder" in told
    (root / "INDEX.md").write_text("## Future\n- [1 - a](1)\n## Completed\n- [1 - a](1)\n")
    assert "names intent 1 more than once; Completed counts" in "\n".join(found(root))
    (root / "INDEX.md").unlink()
    assert "INDEX.md does not have it; it counts as Active" in "\n".join(found(root))
