"""`qloop auto`: the gated team of an intent, from wish to deed, without agents and with them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from loaded import Loaded
from qloop.mission.beginning import as_team
from qloop.mission.destruction import destructive_stories, find_destruction
from qloop.mission.specification import check_kept, sentences_of, specification_of
from qloop.state.mission import Mission, PhaseRun, Triage
from qloop.state.mission_store import read_mission, write_mission
from qloop.state.phases import Autonomy, PhaseName, PhaseStatus
from qloop.system.errors import RepositoryBusy
from qloop.system.identity import this_process
from world import World, wait_until

DOCUMENT = """\
# Tea site

## US-001: Page

```sh run
echo tea > tea.txt
```

## US-002: No old things

**Depends on:** US-001

```sh run
rm -rf old && echo > clean.txt
```
"""
WISH = "A file says tea. It stands in the root."
IDEAS = {
    "decisions": [{"text": "One file", "why": "two would differ"}],
    "findings": [
        {"text": "There is a README", "evidence": ["README.md:1"]},
        {"text": "There is a cache", "evidence": ["cache.py:3"]},
    ],
}
SPECIFICATION = {
    "title": "Tea",
    "problem": "No tea.",
    "goals": [{"text": "Tea is said", "sentences": [1, 2]}],
    "acceptanceCriteria": [{"text": "tea.txt says tea"}],
}
CRITERIA = ["AC-1: tea.txt says tea"]
STORIES = [
    {
        "id": "US-001",
        "title": "Say tea",
        "acceptanceCriteria": CRITERIA,
        "verify": ["grep -q tea tea.txt"],
    }
]
MET = {"met": True, "evidence": ["tea.txt:1"]}
REVIEW: dict[str, Any] = {
    "verdict": "passed",
    "criteria": [{"criterion": 1, **MET}, {"criterion": 2, **MET}],
}
FLAW = {"severity": "major", "text": "It is cold", "evidence": ["tea.txt:1"]}


def make(world: World, text: str) -> Path:
    """An intent's folder."""
    (world.path.parent / "wish.md").write_text(text, encoding="utf-8")
    made = world.qloop("intent", "new", "--from", str(world.path.parent / "wish.md"), "--json")
    assert made.code == 0, made.err
    return Path(json.loads(made.out)["folder"])


def names(folder: Path) -> list[str]:
    """Whose reports are kept, in their order."""
    return [path.name[4:-3] for path in sorted((folder / "reports").iterdir())]


def document(folder: Path) -> str:
    """The intent's document."""
    return (folder / f"{folder.name}.md").read_text("utf-8")


def own_part(folder: Path) -> None:
    """An action that a person wrote, without a plan, and their box."""
    (folder / "actions").mkdir()
    (folder / "actions/ACTION_1.md").write_text("precious\n")
    (folder / "checklist.md").write_text("- [x] [ORCHESTRATOR] it is wanted\n- [x] old\n")


def is_kept(folder: Path) -> bool:
    """Whether that is kept beside the plan that took its place, and the box in it."""
    boxes = (folder / "checklist.md").read_text("utf-8")
    assert "- [x] [ORCHESTRATOR] it is wanted" in boxes
    assert "old" not in boxes
    assert not (folder / "plans/.unfinished").exists()
    return (folder / "plans/earlier-1/actions/ACTION_1.md").read_text() == "precious\n"


def is_last_turn(prompt: str) -> bool:
    """Whether a planner that begins anew is told where it stands, and what was decided before."""
    assert prompt.startswith("=== qloop preamble ===")
    told = prompt.partition("this is turn 3 of 3.\nWhat you decided in the first turn:")[2]
    return "| - One file: two would differ" in told.partition("# Your task")[0]


def kill_once(process: subprocess.Popen[str], flag: Path) -> None:
    """Kill a process when a file is there."""
    wait_until(flag.exists)
    process.kill()
    process.communicate()


def test_without_agents_the_gates_hold_the_same(tmp_path: Path, loaded: Loaded) -> None:
    """What destroys waits for a person; then all lands, each with its account, and it is over."""
    world = World(tmp_path, loaded)
    world.configure()
    (world.path / "qloop.toml").write_text('runner = "shell"\n')
    world.repo.commit("old", {"old/a.py": "a = 1\n"})
    folder = make(world, DOCUMENT)
    stopped = world.qloop("auto", "1", "--non-interactive")

    assert stopped.code == 3, stopped.err
    assert "removes whole folders: rm -rf old" in stopped.out + stopped.err
    assert names(folder) == ["brainstorming", "spec-specialist", "planner"]
    assert "destructive: true" in (folder / "actions/ACTION_2.md").read_text("utf-8")
    assert world.qloop("answer", "cp-1-1", "proceed").code == 0
    ran = world.qloop("auto", "1")

    assert ran.code == 0, ran.err
    files = world.files("ql/1--tea-site")
    assert (files["tea.txt"], "old/a.py" in files) == ("tea", False)
    assert names(folder)[3:] == ["executor", "reviewer"]
    assert "- [ ]" not in (folder / "checklist.md").read_text("utf-8")
    assert "2 stories passed" in (folder / "outcome.md").read_text("utf-8")
    assert "(autonomous): nobody reviewed the whole" in document(folder)
    assert (folder / "savepoint.md").read_text("utf-8").splitlines()[-1].endswith("Done  delivered")
    assert world.qloop("auto", "1").code == 65


def test_what_destroys_is_not_asked_about_with_skip_permissions(
    tmp_path: Path, loaded: Loaded
) -> None:
    """It is carried out like all else, and the intent's document says so."""
    world = World(tmp_path, loaded)
    (world.path / "qloop.toml").write_text('runner = "shell"\n')
    world.repo.commit("old", {"old/a.py": "a = 1\n"})
    folder = make(world, DOCUMENT)

    ran = world.qloop("auto", "1", "--non-interactive", "--skip-permissions")

    assert ran.code == 0, ran.err
    assert "old/a.py" not in world.files("ql/1--tea-site")
    assert "(autonomous): --skip-permissions: US-002 go on" in document(folder)


def test_each_hands_on_to_the_next(tmp_path: Path, loaded: Loaded) -> None:
    """One agent walks up to the plan, a call each turn; killed, it goes on; a reviewer ends it."""
    world = World(tmp_path, loaded)
    folder = make(world, WISH)
    own_part(folder)
    said: dict[str, list[Any]] = {
        "brainstorming": [IDEAS],
        "spec-specialist": [SPECIFICATION],
        "planner": [
            {"stories": [{"id": "US-001", "title": "Say tea"}]},
            {"stories": STORIES, "testCommand": "test -e README.md"},
        ],
        "reviewer": [{**REVIEW, "verdict": "failed", "issues": [FLAW]}, REVIEW],
    }
    script: dict[str, list[Any]] = {
        role: [[["print", json.dumps(one)]] for one in all_] for role, all_ in said.items()
    }
    work = [[["write", "tea.txt", "tea\n"], ["commit", "tea"]]]
    script["planner"].insert(0, [["touch", str(world.flags / "planning")], ["sleep", 60]])
    world.script.write_text(json.dumps({**script, "US-001": work}), encoding="utf-8")
    kill_once(world.start("auto", "1"), world.flags / "planning")
    stopped = world.qloop("auto", "1")

    assert stopped.code == 3, stopped.err
    assert "It is cold" in stopped.out + stopped.err
    assert "There is a README (`README.md:1`)" in document(folder)
    assert "There is a cache" not in document(folder)
    assert "brainstorming (autonomous): One file: two would differ" in document(folder)
    prompts = [one.read_text("utf-8") for one in folder.glob("logs/planning/*/planner-*.prompt.md")]
    assert any(map(is_last_turn, prompts))
    assert "no story covers AC-1: tea.txt says tea" in "".join(prompts)
    assert "(autonomous): team: one agent (double) walks" in document(folder)
    assert json.loads((folder / "quantum.json").read_text())["testCommand"] == "test -e README.md"
    assert (is_kept(folder), world.qloop("answer", "cp-1-1", "retry").code) == (True, 0)
    ran = world.qloop("auto", "1")

    assert ran.code == 0, ran.err
    assert "the reviewer finds that it does what was asked" in (folder / "outcome.md").read_text()
    roles = {"brainstorming": 1, "spec-specialist": 1, "planner": 3, "reviewer": 2}
    calls = {role: world.script.with_suffix(f".{role}").read_text().count("call") for role in roles}
    assert calls == roles


def test_without_an_agent_each_sentence_is_to_hold() -> None:
    """What nobody specified is asked by its own words, and has criteria."""
    answer = specification_of(WISH)

    assert [one.text for one in answer.acceptance_criteria] == [
        "A file says tea.",
        "It stands in the root.",
    ]
    assert check_kept(answer, sentences_of(WISH)) is answer
    assert specification_of("- x").acceptance_criteria[0].sentences == [1]


def test_a_mission_that_has_planned_goes_on_without_a_team() -> None:
    """One that has not becomes a team's; one that is being run is left alone."""
    triage = Triage(complexity="SIMPLE")
    told: dict[str, Any] = {"slug": "tea", "directive": "tea", "started_at": "", "updated_at": ""}
    fresh = Mission(id=1, autonomy=Autonomy.GUIDED, triage=triage, **told)
    planned = fresh.with_phase(
        PhaseRun(phase=PhaseName.PLANNING, status=PhaseStatus.COMPLETE, spawns=1)
    )
    living = fresh.model_copy(update={"process": this_process().to_json()})
    team = as_team(fresh, 2.0, may_destroy=True)

    assert (team.is_team, team.limit_usd, team.may_destroy) == (True, 2.0, True)
    assert as_team(team, None, may_destroy=False) is team
    assert as_team(planned, None, may_destroy=False) is planned
    with pytest.raises(RepositoryBusy):
        as_team(living, None, may_destroy=False)


def test_a_mission_is_begun_once(tmp_path: Path) -> None:
    """Of two that found none, the second one leaves what the first one has written."""
    triage = Triage(complexity="SIMPLE")
    told: dict[str, Any] = {"slug": "tea", "directive": "tea", "started_at": "", "updated_at": ""}
    first = Mission(id=1, autonomy=Autonomy.GUIDED, triage=triage, limit_usd=2.0, **told)
    write_mission(tmp_path, first)
    with pytest.raises(RepositoryBusy, match="just now"):
        write_mission(tmp_path, first.model_copy(update={"limit_usd": None}))

    assert read_mission(tmp_path).limit_usd == 2.0


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf build",
        "rm --recursive build",
        "find . -name '*.py' -delete",
        'psql -c "DROP TABLE users"',
        "git push --force origin main",
        "git filter-branch -f HEAD",
        "git reset --hard HEAD~3",
        "rm build -rf",
        "/bin/rm -v --recursive build",
        "find . -type f -exec rm {} +",
        "git ls-files | xargs -n 1 rm",
        "git push -f",
        "git -C a push origin +main",
        "git push origin :old",
        "git branch -D old",
        "git stash clear",
        "git clean -d --force",
        "dropdb shop",
        "terraform destroy -auto-approve",
        "python -c 'import shutil; shutil.rmtree(\"a\")'",
    ],
)
def test_commands_that_destroy(command: str) -> None:
    """They are known wherever in a story they stand."""
    assert find_destruction({"verify": [f"true\n{command}"]})
    assert find_destruction({"tasks": [{"run": [command]}]})


def test_what_destroys_nothing() -> None:
    """Nor does what only looks like it; what says so itself does."""
    quiet = [
        "rm a.txt",
        "git push origin main",
        "git push --follow-tags origin HEAD:main",
        "git branch -d merged",
        "git commit -m 'push -f and rebase'",
        "rm a.txt && grep -r b .",
        "make format",
        "grep -r rm .",
        "echo dropped table",
    ]
    story = {"id": "A-1", "verify": quiet}

    assert find_destruction(story) is None
    assert destructive_stories([story], ["A-1"]) == {"A-1": "it says so itself"}
