"""Each option of a run, each setting and each field of the plan, by its effect."""

import json
from pathlib import Path
from typing import Any

import pytest

from world import World, everything

PASSED = "<quantum>STORY_PASSED</quantum>"


def at_once(world: World, awaited: int) -> list[list[Any]]:
    """Steps that note the agent's beginning and end, and wait for *awaited* beginnings."""
    log = world.flags / "at-work"
    log.touch()
    script = (
        f"echo + >> '{log}'; until [ $(grep -c + '{log}') -ge {awaited} ]; do sleep 0.02; done; "
        f"sleep 0.3; echo - >> '{log}'; echo x > $QLOOP_STORY.txt"
    )
    return [["sh", script]]


def most_at_once(world: World) -> int:
    """The most agents that were ever at work at the same time."""
    at_work = most = 0
    for line in (world.flags / "at-work").read_text("utf-8").splitlines():
        at_work += 1 if line == "+" else -1
        most = max(most, at_work)
    return most


def recorder(world: World, *argv: str, table: str = "") -> None:
    """A runner `recorder` that writes its arguments to `flags/STORY.argv`, and passes."""
    script = (
        f"printf '%s\\n' \"$@\" > '{world.flags}'/$QLOOP_STORY.argv; cat > /dev/null; "
        f"echo x > $QLOOP_STORY.txt; echo '{PASSED}'"
    )
    words = json.dumps(["sh", "-c", script, "agent", *argv])
    world.configure(f"{table}\n[runners.recorder]\nargv = {words}")


def recorded(world: World, story: str) -> list[str]:
    """The arguments that the recorder was given for a story."""
    return (world.flags / f"{story}.argv").read_text("utf-8").splitlines()


# --- runner and model


@pytest.mark.parametrize("option", ["--runner", "--tool"])
def test_the_runner_of_the_command_line_and_of_a_story(world: World, option: str) -> None:
    """`--runner` and its other name choose the runner; a story's own wins over it."""
    recorder(world, "--x")
    world.plan({"id": "A-1"}, {"id": "B-1", "runner": "double"})
    world.writes_own_file("B-1")

    ran = world.run(option, "recorder")

    assert ran.code == 0, ran.err
    runners = {one["story"]: one["data"]["runner"] for one in world.events("attempt.started")}
    assert runners == {"A-1": "recorder", "B-1": "double"}
    assert recorded(world, "A-1") == ["--x"]


def test_the_runner_of_the_environment_wins_over_the_file(world: World) -> None:
    """QLOOP_RUNNER stands above qloop.toml."""
    recorder(world)
    world.plan({"id": "A-1"})

    ran = world.run(QLOOP_RUNNER="recorder")

    assert ran.code == 0, ran.err
    assert (world.flags / "A-1.argv").exists()


@pytest.mark.parametrize(
    ("flags", "setting", "expected"),
    [
        (["--model", "large"], 'model = "small"', ["--model", "large", "--last"]),
        ([], 'model = "small"', ["--model", "small", "--last"]),
        ([], "", ["--last"]),
    ],
)
def test_the_model_reaches_its_place(
    world: World, flags: list[str], setting: str, expected: list[str]
) -> None:
    """The model fills `{model}`; without one the flag before it goes too; a story's own wins."""
    recorder(world, "--model", "{model}", "--last", table=setting)
    world.plan({"id": "A-1"}, {"id": "B-1", "model": "own"})

    ran = world.run("--runner", "recorder", *flags)

    assert ran.code == 0, ran.err
    assert recorded(world, "A-1") == expected
    assert recorded(world, "B-1") == ["--model", "own", "--last"]


# --- how many at once

PRECEDENCE = [
    ([], None, None, None, 4),
    ([], None, None, 2, 2),
    ([], None, 3, 2, 3),
    ([], "1", 3, 2, 1),
    (["--max-parallel", "5"], "1", 3, 2, 5),
    (["--sequential", "--max-parallel", "5"], "4", 3, 2, 1),
]


@pytest.mark.parametrize(("flags", "outer", "execution", "setting", "expected"), PRECEDENCE)
def test_who_says_how_many_at_once(
    world: World,
    flags: list[str],
    outer: str | None,
    execution: int | None,
    setting: int | None,
    expected: int,
) -> None:
    """Flags, environment, the plan, qloop.toml, then 4: the first that says something counts."""
    world.configure("" if setting is None else f"max_parallel = {setting}")
    top: dict[str, Any] = {} if execution is None else {"execution": {"maxParallel": execution}}
    world.plan(*({"id": f"S-{number}"} for number in range(6)), **top)
    env: dict[str, Any] = {} if outer is None else {"QLOOP_MAX_PARALLEL": outer}

    ran = world.run("--dry-run", "--json", *flags, **env)
    shown = world.qloop("waves", "--next", "--json", **env)

    assert len(json.loads(ran.out)["waves"][0]) == expected
    assert flags or len(json.loads(shown.out)["stories"]) == expected


@pytest.mark.parametrize("how", ["flag", "environment", "plan", "setting"])
def test_never_more_at_once_than_asked(world: World, how: str) -> None:
    """With two places, two agents are at work at once, and never three."""
    world.configure("max_parallel = 2" if how == "setting" else "")
    top: dict[str, Any] = {"execution": {"maxParallel": 2}} if how == "plan" else {}
    world.plan(*({"id": f"S-{number}"} for number in range(5)), **top)
    world.agent(**{"*": [at_once(world, 2)]})
    env: dict[str, Any] = {"QLOOP_MAX_PARALLEL": "2"} if how == "environment" else {}

    ran = world.run(*(["--max-parallel", "2"] if how == "flag" else []), **env)

    assert ran.code == 0, ran.err
    assert most_at_once(world) == 2


@pytest.mark.parametrize("how", ["flag", "plan"])
def test_sequential_is_one_story_at_a_time(world: World, how: str) -> None:
    """Waves of one story, the next when the last one has ended."""
    top: dict[str, Any] = {"execution": {"forceSequential": True}} if how == "plan" else {}
    world.plan(*({"id": f"S-{number}"} for number in range(3)), **top)
    world.agent(**{"*": [at_once(world, 1)]})

    ran = world.run(*(["--sequential"] if how == "flag" else []), "--max-parallel", "3")

    assert ran.code == 0, ran.err
    assert most_at_once(world) == 1
    assert [one["data"]["stories"] for one in world.events("wave.started")] == [
        ["S-0"],
        ["S-1"],
        ["S-2"],
    ]
    kinds = [one["event"] for one in world.events() if one["event"].startswith("wave.")]
    assert kinds == ["wave.started", "wave.ended"] * 3


def test_a_dependant_need_not_wait_for_a_slow_sibling(world: World) -> None:
    """A story starts when what it needs has settled, while the wave before still works."""
    flag = world.flags / "dependant was here"
    world.plan({"id": "A-1"}, {"id": "S-1"}, {"id": "B-1", "dependsOn": ["A-1"]})
    world.agent(
        A_1=[[["write", "a.txt", "a"]]],
        S_1=[[["wait-for", str(flag)], ["write", "s.txt", "s"]]],
        B_1=[[["touch", str(flag)], ["write", "b.txt", "b"]]],
    )

    ran = world.run("--max-parallel", "2")

    assert ran.code == 0, ran.err
    assert {"a.txt", "b.txt", "s.txt"} <= world.files().keys()


def test_strict_waves_wait_for_the_whole_wave(world: World) -> None:
    """With `--strict-waves` a wave starts only when the last one has ended."""
    world.plan({"id": "A-1"}, {"id": "S-1"}, {"id": "B-1", "dependsOn": ["A-1"]})
    world.agent(
        A_1=[[["write", "a.txt", "a"]]],
        S_1=[[["sleep", 2], ["write", "s.txt", "s"]]],
        B_1=[[["write", "b.txt", "b"]]],
    )

    ran = world.run("--strict-waves")

    assert ran.code == 0, ran.err
    kinds = [one["event"] for one in world.events() if one["event"].startswith("wave.")]
    assert kinds == ["wave.started", "wave.ended"] * 2


def test_stories_of_one_conflict_or_one_file_are_kept_apart(world: World) -> None:
    """`fileConflicts`, equal paths, and a folder with what is in it are never at work at once."""
    world.plan(
        {"id": "A-1"},
        {"id": "B-1"},
        {"id": "C-1", "tasks": [{"filePaths": ["src"]}]},
        {"id": "D-1", "tasks": [{"filePaths": ["./src/x.py"]}]},
        fileConflicts=[{"file": "x", "stories": ["A-1", "B-1"]}],
    )
    world.writes_own_file("A-1", "B-1", "C-1", "D-1")

    shown = world.run("--dry-run", "--json")
    ran = world.run("--strict-waves")

    assert json.loads(shown.out)["waves"] == [["A-1", "C-1"], ["B-1", "D-1"]]
    assert ran.code == 0, ran.err
    stories = [one["data"]["stories"] for one in world.events("wave.started")]
    assert stories == [["A-1", "C-1"], ["B-1", "D-1"]]


def test_lower_priorities_start_first(world: World) -> None:
    """A lower number first; a missing one is 999; then the longest path, then the file's order."""
    world.plan(
        {"id": "LAST", "priority": 1000},
        {"id": "LEAF"},
        {"id": "ROOT"},
        {"id": "TOP", "dependsOn": ["ROOT"]},
        {"id": "FIRST", "priority": 1},
    )

    ran = world.run("--dry-run", "--json", "--sequential")

    waves = json.loads(ran.out)["waves"]
    assert [wave[0] for wave in waves] == ["FIRST", "ROOT", "LEAF", "TOP", "LAST"]


# --- attempts and time


def test_max_retries_is_written_for_every_story(world: World) -> None:
    """The limit stands in the file afterwards, and it is what counts."""
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"], "retries": {"maxAttempts": 7}})
    world.agent(A_1=[[["say", "STORY_FAILED"]]])

    ran = world.run("--max-retries", "2")

    assert ran.code == 1
    assert [one["retries"]["maxAttempts"] for one in world.document["stories"]] == [2, 2]
    assert world.failures("A-1") == ["agent_failed"] * 2


def test_max_retries_of_zero_lets_a_failed_story_be(world: World) -> None:
    """A story that never ran is tried once; what failed is not tried again."""
    world.plan({"id": "A-1"})
    world.agent(A_1=[[["say", "STORY_FAILED"]]])

    ran = world.run("--max-retries", "0")

    assert ran.code == 1
    assert world.failures("A-1") == ["agent_failed"]


@pytest.mark.parametrize("how", ["flag", "environment", "setting", "story", "number"])
def test_an_agent_has_so_much_time(world: World, how: str) -> None:
    """An agent beyond its limit is ended and charged; the story's own limit wins."""
    limits: dict[str, dict[str, Any]] = {"story": {"timeout": "1s"}, "number": {"timeout": 1}}
    own = limits.get(how, {})
    env: dict[str, Any] = {"QLOOP_TIMEOUT": "1s"} if how == "environment" else {}
    world.configure('timeout = "1s"' if how == "setting" else "")
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}, **own})
    world.agent(A_1=[[["write", "half.txt", "half"], ["sleep", 600]]])

    ran = world.run(
        *(["--timeout", "1s"] if how == "flag" else []),
        *(["--timeout", "10m"] if own else []),
        **env,
    )

    assert ran.code == 1
    assert world.failures("A-1") == ["timeout"]
    assert "limit of 1" in world.story("A-1")["retries"]["failureLog"][0]["reason"]
    assert world.story("A-1")["retries"]["attempts"] == 1


@pytest.mark.parametrize("how", ["flag", "setting"])
@pytest.mark.parametrize("gate", ["verify", "testCommand", "setupCommands"])
def test_a_gate_that_runs_too_long_is_red_and_says_so(world: World, how: str, gate: str) -> None:
    """Verifying, testing and setting up have the same limit."""
    slow = "test -e slow.txt && sleep 600; true" if gate == "testCommand" else "sleep 600"
    world.configure('gate_timeout = "1s"' if how == "setting" else "")
    story = {"id": "A-1", "retries": {"maxAttempts": 1}}
    top: dict[str, Any] = {"testCommand": slow} if gate == "testCommand" else {}
    top |= {"setupCommands": [slow]} if gate == "setupCommands" else {}
    world.plan({**story, "verify": [slow]} if gate == "verify" else story, **top)
    world.agent(A_1=[[["write", "slow.txt", "x"]]])

    ran = world.run(*(["--gate-timeout", "1s"] if how == "flag" else []))

    phase = {"verify": "verification", "testCommand": "merge_regression"}.get(gate, "setup")
    assert ran.code == 1, ran.err
    assert world.failures("A-1") == [phase]
    assert "longer than its limit" in world.story("A-1")["retries"]["failureLog"][0]["reason"]
    assert world.log() == ["start"]


@pytest.mark.parametrize("how", ["flag", "setting"])
def test_a_coordinator_has_so_much_time(world: World, how: str) -> None:
    """A wave beyond its limit is ended with all that works in it, and its stories are charged."""
    world.configure('wave_timeout = "3s"' if how == "setting" else "")
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}})
    world.agent(A_1=[[["write", "half.txt", "half"], ["sleep", 600]]])

    ran = world.run(*(["--wave-timeout", "3s"] if how == "flag" else []))

    assert ran.code == 1
    assert world.failures("A-1") == ["timeout"]
    assert "coordinator" in world.story("A-1")["retries"]["failureLog"][0]["reason"]
    assert world.story("A-1")["retries"]["attempts"] == 1


# --- what changes nothing


def test_a_dry_run_changes_nothing_at_all(world: World) -> None:
    """Neither with a plan nor with a document alone does anything on disk change."""
    (world.path / "prd.md").write_text("# T\n\n### A-1: One\n\n### B-2: Two\n", encoding="utf-8")
    before = everything(world.path)
    made = world.qloop("--dry-run", "prd.md")
    between = everything(world.path)
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]}, testCommand="touch ran; false")
    planned = everything(world.path)

    ran = world.qloop("--dry-run")

    assert (made.code, ran.code) == (0, 0), made.err + ran.err
    assert "A-1" in made.out
    assert ran.out.index("A-1") < ran.out.index("B-1")
    assert "<quantum>" not in ran.out
    assert between == before
    assert everything(world.path) == planned
    assert world.worktrees() == []


# --- where the state file lies


@pytest.mark.parametrize("where", ["sub/plan.json", "../elsewhere/plan.json", "sub/quantum.json"])
def test_a_state_file_elsewhere(world: World, where: str) -> None:
    """Nothing appears beside it, it is never part of what lands, and git does not see it."""
    path = (world.path / where).resolve()
    path.parent.mkdir()
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]})
    world.quantum.rename(path)
    world.writes_own_file("A-1", "B-1")

    ran = world.run("--quantum", where)
    status = world.qloop("status", "--json", "--quantum", where)

    statuses = [one["status"] for one in json.loads(path.read_text("utf-8"))["stories"]]
    assert ran.code == 0, ran.err
    assert statuses == ["passed", "passed"]
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert not world.quantum.exists()
    assert world.files().keys() == {"README.md", "A-1.txt", "B-1.txt"}
    assert world.repo.git("status", "--porcelain") == ""
    assert status.code == 0, status.err


def test_a_state_file_behind_a_link_stays_a_link(world: World, tmp_path: Path) -> None:
    """The file that the link points at is written, not the link."""
    real = tmp_path / "real.json"
    world.plan({"id": "A-1"})
    world.quantum.rename(real)
    world.quantum.symlink_to(real)
    world.writes_own_file("A-1")

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.quantum.is_symlink()
    assert json.loads(real.read_text("utf-8"))["stories"][0]["status"] == "passed"


def test_worktrees_lie_where_the_setting_says(world: World, tmp_path: Path) -> None:
    """`worktree_root`, relative to the checkout or not, holds the worktrees and is left empty."""
    world.configure('worktree_root = "../my trees"')
    world.plan({"id": "A-1"})
    world.agent(A_1=[[["sh", f"pwd > '{world.flags}/where'"], ["write", "a.txt", "a"]]])

    ran = world.run()

    where = Path((world.flags / "where").read_text("utf-8").strip())
    assert ran.code == 0, ran.err
    assert where.is_relative_to(tmp_path / "my trees")
    assert [one for one in (tmp_path / "my trees").rglob("*") if one.is_file()] == []
    assert world.worktrees() == []


# --- limits


def test_a_file_above_the_limit_does_not_land(world: World) -> None:
    """The attempt fails with the file's name; the limit is a setting."""
    world.configure("[limits]\nfile_bytes = 1000")
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}}, {"id": "B-1"})
    world.agent(
        A_1=[[["write", "large.txt", "x" * 1001]]],
        B_1=[[["write", "small.txt", "x" * 1000]]],
    )

    ran = world.run()

    assert ran.code == 1
    assert "large.txt" in world.story("A-1")["retries"]["failureLog"][0]["reason"]
    assert world.files().keys() == {"README.md", "small.txt"}


def test_a_log_is_kept_to_its_limit(world: World) -> None:
    """Of much output its head and tail are kept, and the signal at its end is found."""
    world.configure("[limits]\nlog_bytes = 20000")
    world.plan({"id": "A-1"})
    world.agent(
        A_1=[
            [
                ["print", "the first line"],
                ["print-bytes", 3_000_000],
                ["write", "a.txt", "a"],
                ["say", "STORY_PASSED"],
            ]
        ]
    )

    ran = world.run()

    log = world.path / ".qloop/logs/A-1/1/output.log"
    assert ran.code == 0, ran.err
    assert log.stat().st_size <= 21_000
    assert log.read_text("utf-8").startswith("the first line")


# --- fields of the plan


def test_untracked_files_are_brought_and_do_not_land(world: World) -> None:
    """`copyFiles` and `.worktreeinclude` bring files; the agent and the gates see them."""
    world.repo.commit("ignore", {".gitignore": ".env\nlocal/\n", ".worktreeinclude": "local/*\n"})
    world.repo.write({".env": "SECRET=1\n", "local/tool.cfg": "cfg\n", "config dir/x": "x\n"})
    world.plan(
        {"id": "A-1", "verify": ["test -e .env && test -e local/tool.cfg"]},
        copyFiles=[".env", "config dir"],
        testCommand="test -e .env && test -e local/tool.cfg && test -e 'config dir/x'",
    )
    world.agent(A_1=[[["sh", "cat .env local/tool.cfg 'config dir/x' > seen.txt"]]])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.files()["seen.txt"] == "SECRET=1\ncfg\nx"
    assert world.files().keys() == {"README.md", ".gitignore", ".worktreeinclude", "seen.txt"}


def test_a_missing_file_to_bring_is_a_red_set_up(world: World) -> None:
    """What `copyFiles` names must be there."""
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}}, copyFiles=[".env"])
    world.writes_own_file("A-1")

    ran = world.run()

    assert ran.code == 1
    assert world.failures("A-1") == ["setup"]
    assert ".env" in world.story("A-1")["retries"]["failureLog"][0]["reason"]


def test_set_up_commands_run_once_in_each_worktree(world: World) -> None:
    """What they leave untracked is there for agent and gates, and lands nowhere."""
    world.plan(
        {"id": "A-1", "verify": ["test -e made/by-setup"]},
        {"id": "B-1"},
        setupCommands=[f"echo x >> '{world.flags}/setups'", "mkdir made; echo x > made/by-setup"],
        testCommand="test -e made/by-setup",
    )
    world.agent(**{"*": [[["sh", "cp made/by-setup $QLOOP_STORY.txt"]]]})

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.files().keys() == {"README.md", "A-1.txt", "B-1.txt"}
    # One for each story, one for the scratch worktree.
    assert len((world.flags / "setups").read_text("utf-8").splitlines()) == 3


def test_a_red_set_up_is_charged_and_no_agent_starts(world: World) -> None:
    """The attempt fails in phase setup with the command's output."""
    world.plan(
        {"id": "A-1", "retries": {"maxAttempts": 2}},
        setupCommands=["echo no such package; exit 7"],
    )
    world.writes_own_file("A-1")

    ran = world.run()

    assert ran.code == 1
    assert world.failures("A-1") == ["setup", "setup"]
    assert world.story("A-1")["retries"]["attempts"] == 2
    reason = world.story("A-1")["retries"]["failureLog"][0]["reason"]
    assert "exit 7" in reason
    assert "no such package" in reason
    assert world.events("agent.started") == []


def test_quality_commands_judge_code_quality(world: World) -> None:
    """A red one fails the attempt and the second review, not the first."""
    world.plan(
        {"id": "A-1", "verify": ["true"], "retries": {"maxAttempts": 1}},
        {"id": "B-1", "verify": ["true"]},
        qualityCommands=["true", "test ! -e A-1.txt"],
    )
    world.writes_own_file("A-1", "B-1")

    ran = world.run()

    red, green = world.story("A-1")["review"], world.story("B-1")["review"]
    assert ran.code == 1
    assert world.failures("A-1") == ["verification"]
    assert (red["specCompliance"]["status"], red["codeQuality"]["status"]) == ("passed", "failed")
    assert (green["specCompliance"]["status"], green["codeQuality"]["status"]) == (
        "passed",
        "passed",
    )


def test_nothing_that_judges_is_unverified(world: World) -> None:
    """Without any command the reviews pass, and say of themselves what they are worth."""
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")

    ran = world.run()

    review = world.story("A-1")["review"]
    assert ran.code == 0, ran.err
    assert review["specCompliance"]["evidence"].startswith("unverified:")
    assert review["codeQuality"]["evidence"].startswith("unverified:")
    assert "unverified" in ran.out
    assert "unverified" in world.qloop("show", "A-1").out


def test_only_a_story_that_says_so_may_change_nothing(world: World) -> None:
    """`allowEmpty` lets a story pass that changed nothing."""
    world.plan(
        {"id": "A-1", "allowEmpty": True},
        {"id": "B-1", "retries": {"maxAttempts": 1}},
    )
    world.agent(**{"*": [[["say", "STORY_PASSED"]]]})

    ran = world.run()

    assert ran.code == 1
    assert world.statuses() == {"A-1": "passed", "B-1": "failed"}
    assert world.failures("B-1") == ["agent_failed"]
