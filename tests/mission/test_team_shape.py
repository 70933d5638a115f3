"""How an intent's team is asked: by what is set, and by what its agents can do."""

import json
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from qloop.agents.manifest import Manifest
from qloop.agents.words import command
from qloop.mission.asking import reading_place
from qloop.mission.phase_desk import PhaseDesk
from qloop.mission.phase_order import PhaseOrder
from qloop.mission.team_calls import WALKERS, fresh_member, team_calls
from qloop.mission.team_shape import Chosen, Shape, choose_shape
from qloop.repo.checkout import find_repository
from qloop.run.config import load_config
from qloop.run.readers import Voice, find_voice
from qloop.run.talk import Question, Thread
from qloop.state.journal import Journal
from qloop.state.phases import TeamSetting
from qloop.system.cancel import Cancel
from repository import Repo

PLAIN = Voice("plain", None, has_helpers=False)
LARGE = Voice("plain", "large", has_helpers=False)
ABLE = Voice("able", None, has_helpers=True)


@pytest.mark.parametrize(
    ("setting", "voices", "shape", "is_autonomous"),
    [
        ("auto", (ABLE, ABLE, ABLE), Shape.EACH, True),
        ("auto", (PLAIN, PLAIN, PLAIN), Shape.ONE, True),
        ("auto", (PLAIN, PLAIN, ABLE), Shape.EACH, True),
        ("auto", (PLAIN, PLAIN, LARGE), Shape.EACH, True),
        ("auto", (PLAIN, None, PLAIN), Shape.EACH, True),
        ("auto", (None, None, None), Shape.NONE, True),
        ("each", (PLAIN, PLAIN, PLAIN), Shape.EACH, False),
        ("each", (None, None, None), Shape.NONE, True),
        ("one", (None, ABLE, PLAIN), Shape.ONE, False),
        ("none", (ABLE, ABLE, ABLE), Shape.NONE, False),
    ],
)
def test_the_case_decides(
    setting: TeamSetting, voices: tuple[Voice | None, ...], shape: Shape, is_autonomous: bool
) -> None:
    """What is set wins; else sub-agents, and whether one agent is meant for all."""
    chosen = choose_shape(setting, dict(zip(WALKERS, voices, strict=True)))

    assert (chosen.shape, chosen.is_autonomous) == (shape, is_autonomous)
    assert chosen.told.startswith("team: ")


def test_one_who_walks_is_the_first_that_is_an_agent() -> None:
    """Whose role leads, and what people are told."""
    voices = dict(zip(WALKERS, (None, ABLE, PLAIN), strict=True))

    assert choose_shape("one", voices) == Chosen(
        Shape.ONE,
        "team: one agent (able) walks from brainstorming to plan: so it is set",
        lead="spec-specialist",
    )


def test_a_session_is_gone_on_with_by_its_own_runner_only() -> None:
    """Nobody else, and none that cannot, and not where each call is to begin anew."""
    able = Manifest(name="able", argv=("a", "{resume}", "-"), resume=("--resume", "{session}"))
    other = able.model_copy(update={"name": "other"})
    thread, fresh = Thread(goes_on=True), Thread()
    for one in (thread, fresh):
        one.begin(able)
        one.end(able, "s-1")

    assert (thread.session, fresh.session) == ("s-1", None)
    assert command(able, {"{session}": "s-1"}, Path()) == ("a", "--resume", "s-1", "-")
    assert command(able, {"{session}": ""}, Path()) == ("a", "-")
    thread.begin(other)
    assert (thread.session, thread.calls) == (None, 2)
    thread.end(Manifest(name="plain", argv=("a",)), "s-2")
    assert thread.session is None


AGENT = """
import json, sys
with open(sys.argv[1], "a") as out:
    print(*sys.argv[2:], file=out)
if "s-2" in sys.argv:
    sys.exit(9)
session = "s-2" if "s-1" in sys.argv else "s-1"
answer = json.dumps({"decisions": []})
print(json.dumps({"type": "result", "result": answer, "session_id": session}))
"""
"""One whose second session cannot be gone on with."""


def desk_at(repo: Repo, team: TeamSetting | None = None) -> PhaseDesk:
    """The desk of a planning with one agent, which tells its words in the file `calls`."""
    folder = repo.path / ".qloop/intents/1--tea"
    folder.mkdir(parents=True)
    (folder / "1--tea.md").write_text("---\nid: 1\n---\n\n## Insights\n", encoding="utf-8")
    argv = [sys.executable, "-c", AGENT, str(repo.path / "calls"), "{resume}"]
    table = f"argv = {json.dumps(argv)}\nresume = ['--resume', '{{session}}']\n"
    table += 'output = "claude-stream-json"\nsubagents = true\n'
    settings = f'runner = "able"\nteam = "one"\n[runners.able]\n{table}'
    (repo.path / "qloop.toml").write_text(settings, encoding="utf-8")
    order = PhaseOrder.model_validate(
        {
            "phase": "PLANNING",
            "intent_dir": str(folder),
            "run_id": "p-1",
            "team": team,
            "phase_config": {"objectives": [], "agents": [], "output": []},
            "mission_context": {"directive": "tea", "autonomy": "AUTOPILOT"},
        }
    )
    (folder / "phases").mkdir()
    repository = find_repository(repo.path)
    journal = Journal(repo.path / ".qloop/events.jsonl", "p-1")
    config = load_config(repo.path)
    return PhaseDesk(order, repository, config, journal, Cancel(), lambda _: None, 0.0)


def test_what_a_person_set_is_no_decision_of_its_own(tmp_path: Path) -> None:
    """The order's word goes before that of the settings; code's part asks nobody."""
    repo = Repo(tmp_path / "a repo")
    commit = repo.commit("start", {"README.md": "start\n"})
    desk = desk_at(repo, "none")
    question = Question("planner", "plans", "stories", str, str)
    with ExitStack() as undo:
        team = team_calls(desk, undo)
        asked = team.member("planner").ask(reading_place(desk, commit), question)

    assert (team.chosen.shape, asked.answer) == (Shape.NONE, None)
    assert asked.note == "no agent is asked as planner"
    assert "team:" not in (desk.folder / "1--tea.md").read_text("utf-8")


def test_one_who_walks_goes_on_in_its_session(tmp_path: Path) -> None:
    """One that cannot be gone on with is begun anew; a fresh member has none."""
    repo = Repo(tmp_path / "a repo")
    commit = repo.commit("start", {"README.md": "start\n"})
    desk = desk_at(repo)
    place = reading_place(desk, commit)
    with ExitStack() as undo:
        team = team_calls(desk, undo)
        for role in (*WALKERS, "reviewer"):
            question = Question(role, "thinks", "decisions", str, str)
            member = team.member(role) if role in WALKERS else fresh_member(desk, role)
            assert member.ask(place, question).answer == '{"decisions": []}'

    calls = (repo.path / "calls").read_text("utf-8").splitlines()
    assert calls == ["", "--resume s-1", "--resume s-2", "", ""]


def test_the_settings_word_and_the_runners_table_count(tmp_path: Path) -> None:
    """As told in the preamble of whoever has sub-agents."""
    repo = Repo(tmp_path / "a repo")
    repo.commit("start", {"README.md": "start\n"})
    desk = desk_at(repo)
    with ExitStack() as undo:
        member = team_calls(desk, undo).member("spec-specialist")

    assert find_voice("planner", desk.config, repo.path) == ABLE
    assert member.has_helpers
    assert member.beside() == "You walk this intent's cycle alone; this is turn 2 of 3.\n"
