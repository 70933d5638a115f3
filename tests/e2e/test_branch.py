"""The feature branch belongs to the person too: followed, taken in, never moved under them."""

from world import World, wait_until


def on_the_branch(world: World) -> None:
    """The person's checkout stands on the feature branch."""
    world.repo.git("switch", "--quiet", "-c", "ql/feature")


def test_a_checkout_on_the_branch_is_brought_up_at_the_end(world: World) -> None:
    """A clean checkout that holds the branch is fast-forwarded when the run is over."""
    on_the_branch(world)
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")

    ran = world.run()

    assert ran.code == 0, ran.err
    assert (world.path / "A-1.txt").read_text("utf-8") == "A-1\n"
    assert world.repo.git("status", "--porcelain") == ""
    assert world.repo.git("rev-parse", "HEAD") == world.repo.git(
        "rev-parse", "refs/qloop/line/ql/feature"
    )


def test_dirty_files_elsewhere_stay(world: World) -> None:
    """Dirty, staged and untracked files that the landed work does not touch stay as they are."""
    on_the_branch(world)
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")
    world.repo.write({"README.md": "dirty\n", "loose.txt": "loose\n"})

    ran = world.run()

    assert ran.code == 0, ran.err
    assert (world.path / "README.md").read_text("utf-8") == "dirty\n"
    assert (world.path / "A-1.txt").exists()
    assert world.repo.git("status", "--porcelain") == " M README.md\n?? loose.txt"


def test_a_file_in_the_way_is_left_and_the_command_is_said(world: World) -> None:
    """Where git would overwrite work, nothing is written; the one command to run is told."""
    on_the_branch(world)
    (world.path / ".git/info/exclude").write_text("/qloop.toml\n/A-1.txt\n", encoding="utf-8")
    world.plan({"id": "A-1"})
    world.agent(
        A_1=[
            [
                ["write", "A-1.txt", "landed\n"],
                ["sh", "git add -f A-1.txt"],
                ["git", "commit", "-q", "-m", "x"],
            ]
        ]
    )
    world.repo.write({"A-1.txt": "mine, ignored\n"})

    ran = world.run()

    assert ran.code == 0, ran.err
    assert (world.path / "A-1.txt").read_text("utf-8") == "mine, ignored\n"
    assert "merge --ff-only refs/qloop/line/ql/feature" in ran.err
    assert "A-1.txt" in world.files("refs/qloop/line/ql/feature")


def test_the_persons_commits_on_the_branch_are_taken_in(world: World) -> None:
    """What the person commits to the branch during a run is gated, and stays in its history."""
    on_the_branch(world)
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]}, testCommand="test ! -e bad")
    go = world.flags / "go"
    wait = [["touch", str(world.flags / "there")], ["wait-for", str(go)]]
    world.agent(
        A_1=[[["write", "A-1.txt", "a\n"], ["commit", "a"]]],
        B_1=[[*wait, ["write", "B-1.txt", "b\n"], ["commit", "b"]]],
    )

    process = world.start("run")
    wait_until((world.flags / "there").exists)
    mine = world.repo.commit("by hand", {"mine.txt": "mine\n"})
    go.touch()
    _, err = process.communicate()

    assert process.returncode == 0, err
    assert world.repo.git("merge-base", "--is-ancestor", mine, "ql/feature") == ""
    assert world.files().keys() >= {"A-1.txt", "B-1.txt", "mine.txt"}


def test_red_commits_of_the_person_wait_for_them(world: World) -> None:
    """A person's commit that makes the test red is not taken in: nothing lands, exit 3."""
    on_the_branch(world)
    world.plan({"id": "A-1"}, testCommand="test ! -e bad")
    go = world.flags / "go"
    world.agent(
        A_1=[
            [
                ["touch", str(world.flags / "there")],
                ["wait-for", str(go)],
                ["write", "A-1.txt", "a\n"],
                ["commit", "a"],
            ]
        ]
    )

    process = world.start("run")
    wait_until((world.flags / "there").exists)
    world.repo.commit("oops", {"bad": "bad\n"})
    go.touch()
    out, err = process.communicate()

    assert process.returncode == 3, err
    assert "<quantum>WAITING</quantum>" in out
    assert "ql/feature" in err
    assert world.statuses() == {"A-1": "pending"}
    assert world.story("A-1").get("retries", {}).get("attempts", 0) == 0


def test_a_rewritten_branch_waits_for_the_person(world: World) -> None:
    """A branch that was moved back between runs is not moved again: exit 3, and both ways out."""
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")
    assert world.run().code == 0
    world.repo.git("branch", "--force", "ql/feature", "main")
    world.plan({"id": "B-1"})
    world.writes_own_file("B-1")

    ran = world.run()

    assert (ran.code, ran.signal) == (3, "<quantum>WAITING</quantum>"), ran.err
    assert "ql/feature" in ran.err
    assert world.events()[-1]["data"]["signal"] == "WAITING"
    assert world.repo.git("rev-parse", "ql/feature") == world.repo.git("rev-parse", "main")


def test_a_red_base_spends_nothing(world: World) -> None:
    """testCommand is run on the start before anything: red is exit 3 and no agent is started."""
    world.plan({"id": "A-1"}, testCommand="echo broken already; false")
    world.writes_own_file("A-1")

    ran = world.run()

    assert ran.code == 3
    assert ran.signal == "<quantum>WAITING</quantum>"
    assert "before anything was done" in ran.err
    assert not world.events("attempt.started")
    assert world.statuses() == {"A-1": "pending"}


def test_a_reverted_story_does_not_come_back(world: World) -> None:
    """What the person reverts stays reverted when later stories land."""
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")
    assert world.run().code == 0
    world.repo.git("switch", "--quiet", "ql/feature")
    world.repo.git("revert", "--no-edit", "HEAD")
    world.plan({"id": "B-1"})
    world.writes_own_file("B-1")

    ran = world.run()

    assert ran.code == 0, ran.err
    assert "A-1.txt" not in world.files()
    assert "B-1.txt" in world.files()
