"""Whole runs with a scripted agent: from a plan to landed commits."""

from world import World

A_B_C_D = (
    {"id": "A-1", "title": "first"},
    {"id": "B-1", "title": "left", "dependsOn": ["A-1"]},
    {"id": "C-1", "title": "right", "dependsOn": ["A-1"]},
    {"id": "D-1", "title": "last", "dependsOn": ["B-1", "C-1"]},
)


def test_a_diamond_lands_one_commit_for_each_story(world: World) -> None:
    """Every story lands as one commit with one parent, and the feature branch holds all."""
    world.plan(*A_B_C_D)
    world.writes_own_file("A-1", "B-1", "C-1", "D-1")

    ran = world.run("--coordinator")

    assert (ran.code, ran.signal) == (0, "<quantum>COMPLETE</quantum>"), ran.err
    assert set(world.statuses().values()) == {"passed"}
    subjects = world.log()
    assert subjects[0] == "start"
    assert subjects[1] == "A-1: first"
    assert subjects[4] == "D-1: last"
    assert world.repo.git("rev-list", "--min-parents=2", "ql/feature") == ""
    assert world.files().keys() >= {"A-1.txt", "B-1.txt", "C-1.txt", "D-1.txt"}
    assert world.worktrees() == []


def test_the_persons_checkout_is_as_it_was(world: World) -> None:
    """Dirty, staged and untracked files and the index stay byte for byte what they were."""
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")
    world.repo.write({"README.md": "dirty\n", "staged.txt": "staged\n", "loose.txt": "loose\n"})
    world.repo.git("add", "staged.txt")
    before = world.repo.git("status", "--porcelain"), (world.path / ".git/index").read_bytes()

    ran = world.run()

    after = world.repo.git("status", "--porcelain"), (world.path / ".git/index").read_bytes()
    assert ran.code == 0, ran.err
    assert after == before
    assert world.repo.git("symbolic-ref", "HEAD") == "refs/heads/main"


def test_a_failed_attempt_is_retried_with_the_end_of_its_failure(world: World) -> None:
    """The next prompt holds why the last attempt failed and what its log ended with."""
    world.plan({"id": "A-1", "verify": ["cat A-1.txt; grep -q right A-1.txt"]})
    world.agent(
        A_1=[
            [["write", "A-1.txt", "a very wrong word\n"], ["commit", "try"]],
            [
                ["sh", "cat > /dev/null; true"],
                ["write", "A-1.txt", "right\n"],
                ["commit", "again"],
                ["echo-prompt"],
                ["say", "STORY_PASSED"],
            ],
        ]
    )

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.failures("A-1") == ["verification"]
    assert world.story("A-1")["retries"]["attempts"] == 1
    prompt = (world.path / ".qloop/logs/A-1/2/prompt.md").read_text("utf-8")
    assert "a very wrong word" in prompt
    assert "A-1: add" not in world.log()


def test_a_red_tree_never_lands(world: World) -> None:
    """A story whose tree fails the plan's test leaves the line where it was."""
    world.plan(
        {"id": "A-1", "retries": {"maxAttempts": 1}},
        testCommand="test ! -e A-1.txt",
    )
    world.writes_own_file("A-1")

    ran = world.run()

    assert (ran.code, ran.signal) == (1, "<quantum>BLOCKED</quantum>")
    assert world.failures("A-1") == ["merge_regression"]
    assert world.log() == ["start"]
    assert "A-1.txt" in world.files("refs/qloop/attempts/A-1/1")


def test_forty_stories_at_forty_at_once(world: World) -> None:
    """Forty independent stories work at the first try, side by side."""
    ids = [f"S-{number}" for number in range(40)]
    world.plan(*({"id": one} for one in ids))
    world.writes_own_file(*ids)

    ran = world.run("--max-parallel", "40")

    assert ran.code == 0, ran.err
    assert len(world.log()) == 41
    assert all("retries" not in world.story(one) for one in ids)
    assert len(world.document["execution"]["completedWaves"]) == 1


def test_garbage_collected_while_a_landing_is_tested_takes_nothing(world: World) -> None:
    """The commit that is to land is kept, though nothing but qloop knows of it yet."""
    world.plan(
        {"id": "A-1"},
        {"id": "B-1", "dependsOn": ["A-1"]},
        testCommand=f"git -C '{world.path}' gc --quiet --prune=now",
    )
    world.writes_own_file("A-1", "B-1")

    ran = world.run()

    assert (ran.code, ran.signal) == (0, "<quantum>COMPLETE</quantum>"), ran.err
    assert [event["attempt"] for event in world.events("story.settled")] == [1, 1]
    assert world.refs("refs/qloop/start") == {}
