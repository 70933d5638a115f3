"""INDEX.md: where intents stand, in a file that people edit."""

import shutil
from pathlib import Path

import pytest

from qloop.state.intent import Intent
from qloop.state.intent_index import Group, clustered, parse_index, placed
from qloop.state.intents import change_index, create_intent, read_index
from qloop.state.lifecycle import Disposition
from qloop.state.savepoints import add_savepoint

HAND = """\
Our intents, by hand.

## Active

- [1 - One](1--one/1--one.md) first of all
* [2 — Two [old]](2--two/2--two.md)

Words that stay.

## Future
## Completed

```
- [9 — code](9)
```
- [2 — Two](2--two/2--two.md)
"""


def intent(number: int, title: str = "A title") -> Intent:
    """An intent that lies nowhere."""
    return Intent(number, f"i{number}", title, Path("x"))


def test_an_index_made_by_hand_is_read() -> None:
    """Hyphens, stars and notes do not matter; what is over stays over; code is no line."""
    index = parse_index(HAND.replace("\n", "\r\n"))

    assert index.group_of(1) is Group.ACTIVE
    assert index.group_of(2) is Group.COMPLETED
    assert index.ending_of(2) is Disposition.DELIVERED
    assert (index.group_of(9), index.ending_of(1)) == (None, None)


def test_placing_an_intent_touches_nothing_else() -> None:
    """It leaves the groups it was in, comes last in its new one, and twice is once."""
    text = placed(HAND, intent(2), Group.ABANDONED)
    text = placed(text, intent(3, "With [brackets] — and a dash"), Group.ACTIVE)

    assert placed(text, intent(3), Group.ACTIVE) == text
    assert parse_index(text).groups == {
        Group.COMPLETED: (),
        Group.ABANDONED: (2,),
        Group.ACTIVE: (1, 3),
        Group.FUTURE: (),
    }
    assert "- [1 - One](1--one/1--one.md) first of all\n" in text
    assert "Words that stay.\n- [3 — With (brackets) — and a dash](3--i3/3--i3.md)\n" in text
    headings = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["Active", "Future", "Completed", "Clusters", "Abandoned"]


def test_clusters_name_intents_that_belong_together() -> None:
    """An intent may be in several, each names it once, and it stands where it stood."""
    text = placed("", intent(1), Group.ACTIVE)
    text = clustered(text, "Shop front", [intent(1), intent(2)])
    text = clustered(text, "Later", [intent(2)])
    text = clustered(text, "Shop front", [intent(2), intent(3)])
    index = parse_index(text)

    assert index.clusters == {"Shop front": (1, 2, 3), "Later": (2,)}
    assert index.clusters_of(2) == ("Shop front", "Later")
    assert clustered(text, "Later", [intent(2)]) == text
    assert index.group_of(1) is Group.ACTIVE
    assert index.group_of(2) is None


def test_new_intents_are_active(tmp_path: Path) -> None:
    """Making an intent puts it into the index, whatever a person wrote there."""
    (tmp_path / "INDEX.md").write_bytes(b"\xef\xbb\xbfwords \xff\r\n")
    create_intent(tmp_path, "one", author="a")
    create_intent(tmp_path, "two", author="a")

    assert parse_index(read_index(tmp_path)).groups[Group.ACTIVE] == (1, 2)
    assert b"words \xff\n" in (tmp_path / "INDEX.md").read_bytes()


@pytest.mark.parametrize(
    ("outcome", "done", "group"),
    [
        ("delivered", "delivered", Group.COMPLETED),
        ("abandoned", "abandoned", Group.ABANDONED),
        ("delivered", "abandoned", Group.ACTIVE),
        ("delivered", None, Group.ACTIVE),
        (None, "delivered", Group.ACTIVE),
    ],
)
def test_a_lost_index_is_made_again(
    tmp_path: Path, outcome: str | None, done: str | None, group: Group
) -> None:
    """An intent is over where its outcome and its ledger say so alike."""
    made = create_intent(tmp_path, "one", author="a")
    if outcome is not None:
        (made.folder / "outcome.md").write_text(f"---\ndisposition: {outcome}\n---\n")
    if done is not None:
        add_savepoint(made.folder, "Done", done)
    (tmp_path / "INDEX.md").unlink()
    shutil.copytree(made.folder, tmp_path / "no intent")

    assert change_index(tmp_path, lambda text: text)
    assert not change_index(tmp_path, lambda text: text)
    assert parse_index(read_index(tmp_path)).group_of(1) is group
