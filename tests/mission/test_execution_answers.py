"""What a person's answer changes before EXECUTION goes on, in this process."""

from pathlib import Path
from typing import Any

import pytest

from plan.plans import plan, story
from qloop.mission.execution_answers import accepted_red, take_answer
from qloop.mission.phase_desk import PhaseDesk
from qloop.mission.phase_order import PhaseOrder
from qloop.repo.checkout import find_repository
from qloop.run.config import load_config
from qloop.run.recognition import RedCommand, being_mended, sort_out
from qloop.state.journal import EventKind, Journal
from qloop.state.store import Store, store_for
from qloop.system.cancel import Cancel
from repository import Repo

RED = {"gate": "verify-1", "command": "test -f tea", "line": "exit 1", "story": "A", "logs": []}
STORIES: list[dict[str, Any]] = [
    {"id": "A", "status": "passed", "verify": ["test -f tea"]},
    {"id": "B", "status": "failed", "retries": {"attempts": 3, "maxAttempts": 3}},
]


@pytest.fixture
def store(repo: Repo) -> Store:
    """A mission's plan, and a wave that was red."""
    folder = repo.path / ".qloop" / "intents" / "1--tea"
    made = store_for(folder / "quantum.json", repo.path)
    folder.mkdir(parents=True)
    made.replace({"branchName": "ql/x", "stories": [dict(one) for one in STORIES]})
    journal = Journal(repo.path / ".qloop" / "events.jsonl", "r-1")
    facts: dict[str, Any] = {"branch": "ql/x", "green": False, "red": [RED], "landed": []}
    journal.append(EventKind.WAVE_RECOGNIZED, wave="wave-2", **facts)
    return made


def desk_for(repo: Repo, failure: str, option: str, asked: str = "cp-1-1") -> PhaseDesk:
    """The desk of a coordinator that is given an answer."""
    repository = find_repository(repo.path)
    order = PhaseOrder.model_validate(
        {
            "phase": "EXECUTION",
            "intent_dir": str(repo.path / ".qloop" / "intents" / "1--tea"),
            "run_id": "r-2",
            "phase_config": {"objectives": [], "agents": [], "output": []},
            "mission_context": {"directive": "tea", "autonomy": "AUTOPILOT"},
            "checkpoint_context": {"failure_type": failure, "checkpoint": asked},
            "user_response": {"option": option, "note": "gently"},
        }
    )
    return PhaseDesk(
        order=order,
        repository=repository,
        config=load_config(repository.root),
        journal=Journal(Path(repo.path) / ".qloop" / "events.jsonl", "r-2"),
        cancel=Cancel(),
        tell=lambda _: None,
        began_s=0.0,
    )


def attempts(store: Store) -> int:
    """The attempts charged to the story that failed; with 3 it has none left."""
    found: int = store.read()["stories"][1]["retries"]["attempts"]
    return found


def test_another_try_gives_failed_stories_their_attempts_once(repo: Repo, store: Store) -> None:
    """A coordinator that takes the place of one that died does not do so again."""
    desk = desk_for(repo, "blocked", "retry")

    assert take_answer(desk, store) is False
    assert (attempts(store), store.read()["stories"][1]["status"]) == (0, "pending")

    store.replace({"branchName": "ql/x", "stories": [dict(one) for one in STORIES]})
    take_answer(desk, store)
    assert attempts(store) == 3

    take_answer(desk_for(repo, "blocked", "retry", "cp-1-2"), store)
    assert attempts(store) == 0


@pytest.mark.parametrize("failure", ["interrupted", "crash", "recognizer_red"])
def test_another_try_after_what_was_no_storys_fault_charges_as_before(
    repo: Repo, store: Store, failure: str
) -> None:
    """Only what was blocked has its attempts anew."""
    assert take_answer(desk_for(repo, failure, "retry"), store) is False
    assert attempts(store) == 3


def test_to_go_on_without_ends_a_blocked_run_and_lets_a_red_command_be_red(
    repo: Repo, store: Store
) -> None:
    """It is one word for two things: what has not passed, and what no longer holds."""
    assert take_answer(desk_for(repo, "blocked", "accept"), store) is True
    assert accepted_red(desk_for(repo, "blocked", "accept")) == ()

    desk = desk_for(repo, "recognizer_red", "accept")

    assert take_answer(desk, store) is False
    assert accepted_red(desk) == ("test -f tea",)


def test_a_repair_is_added_once_while_it_may_still_pass(repo: Repo, store: Store) -> None:
    """Another one, under a name of its own, comes only once the first is of no use."""
    for number in (1, 2):
        take_answer(desk_for(repo, "recognizer_red", "repair", f"cp-1-{number}"), store)
    (repair,) = store.read()["stories"][2:]

    assert (repair["id"], repair["verify"], repair["priority"]) == (
        "fix-wave-2",
        ["test -f tea"],
        0,
    )
    assert "gently" in repair["description"]

    document = store.read()
    document["stories"][2]["status"] = "blocked"
    store.replace(document)
    take_answer(desk_for(repo, "recognizer_red", "repair", "cp-1-3"), store)

    assert [one["id"] for one in store.read()["stories"][2:]] == ["fix-wave-2", "fix-wave-2-2"]


@pytest.mark.parametrize(
    ("fields", "is_mended"),
    [
        ({"status": "pending"}, True),
        ({"status": "in_progress"}, True),
        ({"status": "failed"}, True),
        ({"status": "failed", "retries": {"attempts": 3}}, False),
        ({"status": "passed"}, False),
        ({"status": "blocked"}, False),
    ],
)
def test_a_red_command_is_being_mended_by_a_story_that_may_pass(
    fields: dict[str, Any], is_mended: bool
) -> None:
    """Then it is not red; nor is one that a person has let be."""
    value = plan(story("A", status="passed", verify=["x"]), story("B", verify=["x"], **fields))
    red = [RedCommand(gate="g", command=name, line="exit 1") for name in ("x", "y", "z")]

    found = sort_out(red, ("y",), lambda command: being_mended(value, command))

    names = {kind: [one.command for one in some] for kind, some in found.items()}
    kind = "mending" if is_mended else "red"
    assert names == {"red": ["z"], "mending": [], "accepted": ["y"]} | {
        kind: ["x", *(["z"] if kind == "red" else [])]
    }
