"""Conflicts in whole runs: tried again, given to an agent, kept for a person; files made anew."""

import json
import os
import signal
from typing import Any

import pytest

from world import World, everything, wait_until

RESOLVER = "merge-resolver"
RESOLVE = 'on_conflict = "resolve"'
BOTH = "one\ntwo\n"


def clashing(
    world: World,
    *resolver: list[list[Any]],
    settings: str = RESOLVE,
    verify: str = "grep -q two out.txt",
    **top: Any,
) -> None:
    """Two stories of one wave that write the same new file; A-2 lands after A-1.

    *resolver* is what the resolver does, by its calls.
    """
    world.configure(settings)
    world.plan(
        {"id": "A-1", "title": "Say one"},
        {"id": "A-2", "title": "Say two", "verify": [verify], "acceptanceCriteria": ["Says two"]},
        **top,
    )
    landed = "until git -C '{}' log --format=%s ql/feature | grep -q A-1; do sleep 0.05; done"
    second = [
        ["write", "out.txt", "two\n"],
        ["write", "mine.txt", "mine\n"],
        ["commit", "say two"],
        ["sh", landed.format(world.path)],
    ]
    script = {
        "A-1": [[["write", "out.txt", "one\n"], ["commit", "say one"]]],
        "A-2": [second, [["write", "out.txt", BOTH], ["commit", "say both"]]],
        RESOLVER: list(resolver),
    }
    world.script.write_text(json.dumps(script), encoding="utf-8")


def merges(world: World) -> list[dict[str, Any]]:
    """What became of each merge that an agent was given."""
    return [one["data"] for one in world.events("merge.ended")]


def reason(world: World) -> str:
    """Why A-2 failed first."""
    told: str = world.story("A-2")["retries"]["failureLog"][0]["reason"]
    return told


def test_an_agent_that_merges_well_lands_the_story(world: World) -> None:
    """It sees both sides; what it made is one commit with one parent, judged by all commands."""
    look = f"git status --porcelain > '{world.flags}/status'; cp out.txt '{world.flags}/seen'"
    steps = [["sh", look], ["write", "out.txt", BOTH], ["commit", "merge"]]
    clashing(world, steps, testCommand="grep -q one out.txt README.md || test ! -e out.txt")

    ran = world.run()

    head = world.repo.git("rev-list", "--parents", "-1", "ql/feature").split()
    told = (world.path / ".qloop/logs/A-2/1" / f"{RESOLVER}.prompt.md").read_text("utf-8")
    gates = [one["data"]["gate"] for one in world.events("gate.ended") if one.get("story") == "A-2"]
    assert ran.code == 0, ran.err
    assert world.log() == ["start", "A-1: Say one", "A-2: Say two"]
    assert len(head) == 2
    assert world.files()["out.txt"] == BOTH.strip()
    assert world.files()["mine.txt"] == "mine"
    assert world.story("A-2").get("retries") is None
    assert [(one["solved"], one["files"]) for one in merges(world)] == [(True, ["out.txt"])]
    assert RESOLVER in [one["data"]["role"] for one in world.events("budget.settled")]
    assert gates == ["verify-1", "merged-1", "test"]
    assert "AA out.txt" in (world.flags / "status").read_text("utf-8")
    assert "<<<<<<<" in (world.flags / "seen").read_text("utf-8")
    assert "- out.txt" in told
    assert "A-1: Say one" in told
    assert f"A-2 attempt 1: {RESOLVER} merged it with the line: out.txt" in ran.err
    assert world.worktrees() == []


def test_a_merge_that_is_left_in_the_files_counts_as_one_that_is_committed(world: World) -> None:
    """An agent whose sandbox cannot write into a git directory can merge too.

    Its worktree is set up before the merge is in it, and what that leaves does not land.
    """
    look = ["sh", f"cp ready '{world.flags}'"]
    set_up = "touch ready; test ! -e out.txt || ! grep '<<<' out.txt"
    clashing(world, [look, ["write", "out.txt", BOTH]], setupCommands=[set_up])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.files()["out.txt"] == BOTH.strip()
    assert "ready" not in world.files()
    assert (world.flags / "ready").exists()
    assert world.story("A-2").get("retries") is None


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([["sh", "git add -A; git commit -qm merge"]], "marks of the conflict are left in out.txt"),
        (
            [["write", "out.txt", BOTH], ["write", "README.md", "mine\n"]],
            "it changed what is not in conflict: README.md",
        ),
        ([["write", "out.txt", BOTH], ["exit", 3]], "the agent ended with exit code 3"),
        (
            [["write", "out.txt", BOTH], ["sh", "kill -9 $PPID"]],
            "the agent was killed by SIGKILL",
        ),
        ([["write", "out.txt", BOTH], ["say", "STORY_FAILED"]], "the agent said STORY_FAILED"),
        (
            [
                ["sh", "git merge --abort; git reset -q --hard HEAD~1"],
                ["write", "out.txt", BOTH],
                ["commit", "merge"],
            ],
            "neither of the two commits",
        ),
        (
            [
                ["sh", "m=$(git rev-parse MERGE_HEAD); git merge --abort; git reset -q --hard $m"],
                ["write", "out.txt", BOTH],
                ["commit", "merge"],
            ],
            "does not descend from",
        ),
    ],
)
def test_a_merge_that_is_none_fails_the_attempt(
    world: World, steps: list[list[Any]], why: str
) -> None:
    """As a conflict, with the reason; nothing of it lands."""
    clashing(world, steps)

    ran = world.run("--max-retries", "1")

    assert ran.code == 1, ran.err
    assert world.failures("A-2") == ["merge_conflict"]
    assert reason(world).startswith(f"merge conflict in out.txt; the {RESOLVER} did not solve it")
    assert why in reason(world)
    assert [one["solved"] for one in merges(world)] == [False]
    assert world.files()["README.md"] == "start"
    assert world.files()["out.txt"] == "one"
    assert world.worktrees() == []


@pytest.mark.parametrize("kind", ["verify", "testCommand"])
def test_a_merge_that_commands_find_red_does_not_land(world: World, kind: str) -> None:
    """The story's own commands judge it, and those of the plan; then it is tried again."""
    top = {"testCommand": "test ! -e out.txt || ! grep -q bad out.txt"}
    steps = [["write", "out.txt", "bad\n" if kind == "verify" else "one\ntwo\nbad\n"]]
    clashing(world, steps, **({} if kind == "verify" else top))

    ran = world.run()

    name = "merged-1" if kind == "verify" else "test"
    assert ran.code == 0, ran.err
    assert world.failures("A-2") == ["merge_conflict"]
    assert name in reason(world)
    assert world.files()["out.txt"] == BOTH.strip()


def test_the_line_may_move_while_an_agent_merges(world: World) -> None:
    """Other stories land meanwhile; what it made is merged with them, or given to it again."""
    wait = f"until test -e '{world.flags}/go'; do sleep 0.05; done"
    begin = [["sh", f"touch '{world.flags}/merging'"], ["sh", wait], ["write", "out.txt", BOTH]]
    again = [["write", "other.txt", "theirs\nmine\n"]]
    clashing(world, begin, again)
    document = world.document
    document["stories"].append({"id": "A-3", "title": "Other"})
    world.write_document(document)
    script = json.loads(world.script.read_text("utf-8"))
    script["A-2"][0].insert(0, ["write", "other.txt", "mine\n"])
    merging = f"until test -e '{world.flags}/merging'; do sleep 0.05; done"
    script["A-3"] = [[["sh", merging], ["write", "other.txt", "theirs\n"], ["commit", "other"]]]
    world.script.write_text(json.dumps(script), encoding="utf-8")
    process = world.start("run")
    wait_until(lambda: [one for one in world.events("story.landed") if one.get("story") == "A-3"])
    (world.flags / "go").touch()

    _, err = process.communicate(timeout=120)

    assert process.returncode == 0, err
    assert [one["files"] for one in merges(world)] == [["out.txt"], ["other.txt"]]
    assert world.files()["out.txt"] == BOTH.strip()
    assert world.files()["other.txt"] == "theirs\nmine"
    assert world.story("A-2").get("retries") is None


def test_a_run_that_is_killed_while_an_agent_merges_is_taken_up(world: World) -> None:
    """The story is tried anew, at nobody's charge, and nothing of the merge is left."""
    hold = [["touch", str(world.flags / "merging")], ["wait-for", str(world.flags / "never")]]
    clashing(world, hold)
    process = world.start("run")
    wait_until((world.flags / "merging").exists)
    coordinator = world.events("wave.started")[0]["data"]["process"]["pid"]
    for pid in (process.pid, coordinator):
        os.kill(pid, signal.SIGKILL)
    process.communicate()

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.failures("A-2") == ["interrupted"]
    assert world.story("A-2")["retries"].get("attempts", 0) == 0
    assert world.files()["out.txt"] == BOTH.strip()
    assert world.worktrees() == []


def test_what_a_merging_agent_does_in_the_persons_repository_is_undone(world: World) -> None:
    """The guard trips as it does for an implementer."""
    reach = f"git -C '{world.path}' commit -q --allow-empty -m mine"
    clashing(world, [["write", "out.txt", BOTH], ["sh", reach]])
    before = world.repo.git("rev-parse", "HEAD")
    kept = everything(world.path / ".git" / "refs" / "heads")

    world.run()

    assert world.failures("A-2")[0] == "guard"
    assert world.repo.git("rev-parse", "HEAD") == before
    assert kept.items() <= everything(world.path / ".git" / "refs" / "heads").items()


def test_a_conflict_can_stop_the_run(world: World) -> None:
    """Nothing more starts; what and where is said, the work is kept, the exit code is 3."""
    clashing(world, settings='on_conflict = "stop"')

    ran = world.run()

    kept = "refs/qloop/attempts/A-2/1"
    told = world.qloop("prompt", "A-2", "--role", RESOLVER)
    other = world.qloop("prompt", "A-1", "--role", RESOLVER)
    assert ran.code == 3, ran.err
    assert ran.signal == "<quantum>WAITING</quantum>" or "WAITING" in ran.err
    assert "A-2: merge conflict in out.txt with ql/feature" in ran.err
    assert kept in ran.err
    assert world.failures("A-2") == ["merge_conflict"]
    assert world.files(kept)["out.txt"] == "two"
    assert world.files()["out.txt"] == "one"
    assert merges(world) == []
    assert "## The files in conflict\n\n- out.txt\n" in told.out
    assert "A-1: Say one" in told.out
    assert (other.code, "can be merged without conflict" in other.err) == (65, True)


def test_a_conflict_is_tried_again_where_nothing_is_said(world: World) -> None:
    """From where the line is by then."""
    clashing(world, settings="")

    ran = world.run()

    assert ran.code == 0, ran.err
    assert reason(world) == "merge conflict in out.txt"
    assert merges(world) == []


def test_a_resolver_that_is_not_installed_is_named_before_the_run(world: World) -> None:
    """The setting that asks for it stands in the message."""
    clashing(world, settings=f'{RESOLVE}\n[roles.merge-resolver]\nrunner = "nobody"')

    ran = world.run()

    assert ran.code in (65, 69)
    assert "nobody" in ran.err
    assert "merge-resolver" in ran.err


MANIFEST = "set -e\ncat parts/*.txt > all.lock\necho made >> trace.txt\n"
LOCK = '[[regenerate]]\npath = "all.lock"\ncommand = "sh make.sh"'


def locked(world: World, settings: str = LOCK, **top: Any) -> None:
    """Two stories that each add a part, and make `all.lock` of all the parts they know."""
    world.repo.commit("parts", {"parts/0.txt": "zero\n", "make.sh": MANIFEST, "all.lock": "zero\n"})
    world.configure(settings)
    world.plan({"id": "A-1"}, {"id": "A-2"}, **top)
    landed = f"until git -C '{world.path}' log --format=%s ql/feature | grep -q A-1; "
    make = ["sh", "sh make.sh; rm trace.txt"]
    first = [["write", "parts/1.txt", "one\n"], make, ["commit", "one"]]
    second = [["write", "parts/2.txt", "two\n"], make, ["commit", "two"]]
    wait = ["sh", landed + "do sleep 0.05; done"]
    world.agent(A_1=[first], A_2=[[*second, wait]])


def test_a_generated_file_in_conflict_is_made_anew(world: World) -> None:
    """By its command in the merged tree; nothing else that the command does is taken."""
    locked(world, testCommand="cat parts/*.txt | cmp - all.lock")

    ran = world.run()

    gates = [one["data"]["gate"] for one in world.events("gate.ended") if one.get("story") == "A-2"]
    assert ran.code == 0, ran.err
    assert world.files()["all.lock"] == "zero\none\ntwo"
    assert "trace.txt" not in world.files()
    assert world.story("A-2").get("retries") is None
    assert gates == ["regenerate-1", "test"]
    assert len(world.repo.git("rev-list", "--parents", "-1", "ql/feature").split()) == 2


def test_a_command_that_is_red_is_a_conflict(world: World) -> None:
    """With its log, and the line as it was."""
    locked(world, LOCK.replace("sh make.sh", "echo no such part; exit 4"))

    ran = world.run("--max-retries", "1")

    entry = world.story("A-2")["retries"]["failureLog"][0]
    assert ran.code == 1
    assert entry["phase"] == "merge_conflict"
    assert "all.lock" in entry["reason"]
    assert "no such part" in entry["reason"]
    assert entry["log"].endswith("regenerate-1.log")
    assert world.files()["all.lock"] == "zero\none"


def test_an_agent_merges_what_no_command_makes(world: World) -> None:
    """The generated file is no matter of the agent's; it is made once the rest is merged."""
    locked(world, f"{RESOLVE}\n{LOCK}")
    script = json.loads(world.script.read_text("utf-8"))
    for number, story in ((1, "A-1"), (2, "A-2")):
        script[story][0].insert(0, ["write", "parts/3.txt", f"{number}\n"])
    script[RESOLVER] = [[["write", "parts/3.txt", "both\n"], ["commit", "merge"]]]
    world.script.write_text(json.dumps(script), encoding="utf-8")

    ran = world.run()

    assert ran.code == 0, ran.err
    assert [one["files"] for one in merges(world)] == [["parts/3.txt"]]
    assert world.files()["all.lock"] == "zero\none\ntwo\nboth"


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ('on_conflict = "resolv"', "did you mean 'resolve'?"),
        ('[[regenerate]]\npath = "../a"\ncommand = "x"', "leads out by '..'"),
        ('[[regenerate]]\npath = "."\ncommand = "x"', "is the whole repository"),
        ('[[regenerate]]\npath = "a"\ncommand = " "', "write the command that makes it"),
        ('[[regenerate]]\npath = "a"\ncomand = "x"', "did you mean 'command'?"),
    ],
)
def test_settings_that_cannot_be_used_are_named(world: World, settings: str, fault: str) -> None:
    """With the place and the nearest word, before anything starts."""
    clashing(world, settings=settings)

    ran = world.run()

    assert ran.code == 65
    assert fault in ran.err
