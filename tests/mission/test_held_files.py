"""What agents change among an intent's lifecycle files is put back, kept aside, and told."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from loaded import Loaded
from qloop.mission.asking import Judged
from qloop.mission.hand_off import Member, hand_over
from qloop.mission.held import (
    HELD,
    Stray,
    check_no_outcome,
    hold,
    kept,
    set_aside_outcome,
    settle,
    settle_cut_off,
)
from qloop.mission.member_call import MemberErred
from qloop.run.reading_desk import ReadingPlace
from qloop.run.talk import Question
from qloop.state.insights import add_insight
from qloop.state.intents import create_intent
from qloop.state.lifecycle import PLACEHOLDER, Stage
from qloop.system.errors import BadInput
from world import World

ASIDE_DOCUMENT = "aside/1/1--export.md"
CODE = ("brainstorming", "planner", "reviewer")
"""Roles that have no agent."""
Made = TypeVar("Made")
FORGED = "---\ndisposition: delivered\n---\nAll done.\n"
SPECIFICATION = {
    "title": "Tea",
    "problem": "No tea.",
    "goals": [{"text": "Tea is said", "sentences": [1]}],
    "acceptanceCriteria": [{"text": "tea.txt says tea"}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An intent's folder, in a path with a space, that has a person's spec and action."""
    made = create_intent(tmp_path / "my intents", "Export", author="ada").folder
    (made / "spec.md").write_bytes(b"\xef\xbb\xbfspec\r\n\xff")
    (made / "actions").mkdir()
    (made / "actions/ACTION_1.md").write_text("one\n")
    return made


def files(folder: Path) -> Mapping[str, bytes]:
    """The lifecycle files, but for what was learnt."""
    names = ["spec.md", "plan.md", "checklist.md", "outcome.md", "actions/ACTION_1.md"]
    return {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}


def document(folder: Path) -> Path:
    """The file that says what is wanted."""
    return folder / f"{folder.name}.md"


def found(strays: tuple[Stray, ...]) -> dict[str, tuple[str | None, str | None]]:
    """Of each stray file where it is kept, and the rule against it."""
    rules = {one.name: None if one.refusal is None else one.refusal.rule for one in strays}
    return {one.name: (one.place, rules[one.name]) for one in strays}


def test_all_is_as_it_was(folder: Path) -> None:
    """Written, taken away, replaced by a link: back, byte for byte; the others are kept."""
    before = files(folder)
    held = hold(folder, "planner")
    (folder / "spec.md").unlink()
    (folder / "plan.md").write_text("mine\n")
    (folder / "outcome.md").symlink_to(document(folder))
    (folder / "checklist.md").mkdir()
    (folder / "actions/ACTION_1.md").write_text("two\n")
    (folder / "actions/ACTION_2.md").write_text("three\n")
    (folder / "actions/notes.md").write_text("nobody's\n")
    strays = settle(folder, held)

    assert found(strays) == {
        "spec.md": (None, "not-yours"),
        "plan.md": ("aside/1/plan.md", None),
        "outcome.md": ("aside/1/outcome.md", "too-early"),
        "checklist.md": ("aside/1/checklist.md", "checklist-too-early"),
        "actions/ACTION_1.md": ("aside/1/actions/ACTION_1.md", None),
        "actions/ACTION_2.md": ("aside/1/actions/ACTION_2.md", None),
    }
    assert files(folder) == before
    assert (folder / "aside/1/actions/ACTION_1.md").read_text() == "two\n"
    assert (folder / "aside/1/outcome.md").is_symlink()
    assert not (folder / HELD).exists()
    assert settle(folder, hold(folder, "planner")) == ()


def test_a_folder_of_actions_that_is_none_any_more(folder: Path, tmp_path: Path) -> None:
    """Nothing behind a link is touched, and the actions are back."""
    held = hold(folder, "planner")
    (folder / "actions").rename(tmp_path / "elsewhere")
    (folder / "actions").symlink_to(tmp_path / "elsewhere")
    strays = found(settle(folder, held))

    assert strays["actions"] == ("aside/1/actions", "no-folder")
    assert (folder / "actions/ACTION_1.md").read_text() == "one\n"
    assert not (folder / "actions").is_symlink()


def test_insights_may_be_added_and_nothing_else(folder: Path) -> None:
    """They stay, also where the rest of the document is put back."""
    held = hold(folder, "spec-specialist")
    add_insight(folder, "quotes matter", stage=Stage.WHY, author="an agent")
    assert settle(folder, held) == ()

    before = document(folder).read_text("utf-8")
    held = hold(folder, "spec-specialist")
    add_insight(folder, "lines too", stage=Stage.WHY, author="an agent")
    changed = document(folder).read_text("utf-8").replace("Export", "Import")
    document(folder).write_text(changed, encoding="utf-8")
    assert found(settle(folder, held)) == {document(folder).name: (ASIDE_DOCUMENT, "not-yours")}
    after = document(folder).read_text("utf-8")
    assert [line for line in after.splitlines() if "lines too" not in line] == before.splitlines()


def test_a_turn_that_was_cut_off_is_settled_by_the_next(folder: Path) -> None:
    """What is held outlives its process; a person's correction of the document stays."""
    before = files(folder)
    hold(folder, "planner")
    (folder / "plan.md").write_text("forged\n")
    document(folder).write_text(document(folder).read_text("utf-8") + "\nmore\n")
    said: list[str] = []
    settle_cut_off(folder, said.append)

    assert said == ["plan.md was written while somebody was at work: kept as aside/1/plan.md"]
    assert files(folder) == before
    text = document(folder).read_text("utf-8")
    assert ("\nmore\n" in text, "(autonomous): plan.md was written" in text) == (True, True)
    for broken in ("{", "[]", "null", '{"role": 1, "names": 2, "files": {"a": 3}}'):
        (folder / HELD).write_text(broken)
        settle_cut_off(folder, said.append)
    assert len(said) == 1


def test_an_outcome_is_for_the_end(folder: Path) -> None:
    """One that turns up is set aside; one that was there before anybody began is asked about."""
    said: list[str] = []
    (folder / "outcome.md").write_text(f"{PLACEHOLDER}\n")
    set_aside_outcome(folder, "EXECUTION", said.append)
    check_no_outcome(folder)
    (folder / "outcome.md").write_text(FORGED)

    with pytest.raises(BadInput, match="qloop intent end 1 --disposition delivered"):
        check_no_outcome(folder)
    hold(folder, "planner")
    check_no_outcome(folder)
    set_aside_outcome(folder, "EXECUTION", said.append)
    assert (folder / "aside/1/outcome.md").read_text() == FORGED
    assert len(said) == 1


def test_it_is_written_down_though_nobody_listens(folder: Path) -> None:
    """A mission that was killed hears no more; the files are back, and the document tells it."""

    def tell(text: str) -> None:
        raise BrokenPipeError(text)

    with pytest.raises(BrokenPipeError), kept(folder, "planner", tell):
        (folder / "outcome.md").write_text(FORGED)
    assert not (folder / "outcome.md").exists()
    assert "outcome.md was written while planner was at work" in document(folder).read_text()


def test_a_member_at_fault_hands_nothing_on(folder: Path) -> None:
    """Whether its call came to an answer or not, and nothing of it is left."""
    said: list[str] = []
    asked: Question[str] = Question("planner", "plans", "key", str, str)
    place = cast("ReadingPlace", None)

    def voice(_: ReadingPlace, question: Question[Made], /) -> Judged[Made]:
        (folder / "outcome.md").write_text(FORGED)
        if len(said) > 0:
            raise MemberErred("planner", "it crashed")
        return Judged(question.read("words"), "an agent")

    def work(member: Member) -> None:
        member.ask(place, asked)

    member = Member(folder, "planner", voice, said.append)
    for reason in (r"outcome\.md was written", "it crashed"):
        with pytest.raises(MemberErred, match=reason):
            hand_over(member, 1, work, lambda _: None)
    assert not (folder / "outcome.md").exists()
    assert (member.said, len(said)) == (["words"], 2)


def spoilers(folder: Path) -> dict[str, Any]:
    """What agents do that write into an intent's folder by its path, beside their work."""
    forge = ["write", str(folder / "outcome.md"), FORGED]
    plan = ["write", str(folder / "plan.md"), "# Mine\n"]
    action = ["write", str(folder / "actions/ACTION_1.md"), "# Mine\n"]
    spoilt = ["write", str(folder / "spec.md"), "nothing is asked\n"]
    told = [["print", json.dumps(SPECIFICATION)]]
    return {
        "scout": [[plan, action]],
        "spec-specialist": [[forge, *told], told],
        "US-001": [[forge, spoilt, ["write", "tea.txt", "tea\n"], ["commit", "tea"]]],
    }


def test_whoever_writes_too_early_stops_the_team(tmp_path: Path, loaded: Loaded) -> None:
    """A planning agent, then an implementer: each is failed, asked about, and tried again."""
    world = World(tmp_path, loaded)
    made = world.qloop("intent", "new", "A file says tea.", "--json")
    folder = Path(json.loads(made.out)["folder"])
    world.repo.commit("code", {"tea.py": "a = 1\n"})
    world.configure("".join(f'[roles.{one}]\nrunner = "shell"\n' for one in CODE))
    world.script.write_text(json.dumps(spoilers(folder)), encoding="utf-8")
    first = world.qloop("auto", "1")

    assert first.code == 3, first.err
    assert "plan.md was written while scout was at work (plan-too-early): kept as" in first.err
    assert "outcome.md was written while spec-specialist was at work (too-early)" in first.err
    assert not (folder / "spec.md").exists()
    assert "spec-specialist-1 failed" in (folder / "savepoint.md").read_text("utf-8")
    assert world.qloop("answer", "cp-1-1", "retry").code == 0
    second = world.qloop("auto", "1")

    assert second.code == 3, second.err
    assert "the executor hands nothing on" in second.err
    assert (folder / "aside/3/spec.md").read_text() == "nothing is asked\n"
    assert "tea.txt says tea" in (folder / "spec.md").read_text("utf-8")
    assert "executor-1 failed" in (folder / "savepoint.md").read_text("utf-8")
    assert world.qloop("answer", "cp-1-2", "retry").code == 0
    ran = world.qloop("auto", "1")

    assert ran.code == 0, ran.err
    assert "All done." not in (folder / "outcome.md").read_text("utf-8")
    notes = document(folder).read_text("utf-8")
    assert "(autonomous): outcome.md was written while spec-specialist was at work" in notes
