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


def test_a_red_base_is_mended_by_a_commit_on_the_branch(world: World) -> None:
    """What the person commits to the branch between runs is there before the base is judged."""
    world.plan({"id": "A-1"}, testCommand="test -e ok.txt")
    world.writes_own_file("A-1")
    assert world.run().code == 3
    world.repo.git("switch", "--quiet", "ql/feature")
    world.repo.commit("mended", {"ok.txt": "ok\n"})

    ran = world.run()

    assert ran.code == 0, ran.err
    assert "took in the commits made on ql/feature" in ran.err
    assert world.files().keys() >= {"A-1.txt", "ok.txt"}


def test_red_commits_between_runs_are_not_taken_in(world: World) -> None:
    """A commit on the branch that makes the test red: exit 3, the line and the branch stay."""
    world.plan({"id": "A-1"}, {"id": "B-1"}, testCommand="test ! -e bad")
    world.writes_own_file("A-1", "B-1")
    assert world.run("--max-iterations", "0").code == 2
    line = world.repo.git("rev-parse", "refs/qloop/line/ql/feature")
    world.repo.git("switch", "--quiet", "ql/feature")
    mine = world.repo.commit("oops", {"bad": "bad\n"})

    ran = world.run()

    assert ran.code == 3, ran.err
    assert not world.events("attempt.started")
    assert world.repo.git("rev-parse", "refs/qloop/line/ql/feature") == line
    assert world.repo.git("rev-parse", "ql/feature") == mine


def test_a_story_begins_on_what_the_person_committed_between_runs(world: World) -> None:
    """A story that failed for want of a file finds it, once it is committed on the branch."""
    world.plan({"id": "A-1", "retries": {"maxAttempts": 2}})
    world.agent(A_1=[[["exit", 1]], [["sh", "cp wanted.txt A-1.txt"], ["commit", "a"]]])
    assert world.run("--max-iterations", "1").code == 2
    world.repo.git("switch", "--quiet", "ql/feature")
    world.repo.commit("what it wants", {"wanted.txt": "wanted\n"})

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.files()["A-1.txt"] == "wanted"


def test_commits_after_the_last_story_need_nothing(world: World) -> None:
    """A branch that holds the line and more is no cause for a word at the end of a run."""
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")
    assert world.run().code == 0
    world.repo.git("switch", "--quiet", "ql/feature")
    mine = world.repo.commit("by hand", {"mine.txt": "mine\n"})

    ran = world.run()

    assert (ran.code, ran.signal) == (0, "<quantum>COMPLETE</quantum>"), ran.err
    assert "line" not in ran.err
    assert world.repo.git("rev-parse", "ql/feature") == mine


def test_what_no_agent_would_see_is_said_at_the_start(world: World) -> None:
    """Files that are not committed where the branch begins; later, commits that it lacks."""
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")
    world.repo.write({"loose.txt": "loose\n", "folder/inside.txt": "x\n", "README.md": "mine\n"})
    first = world.run()
    world.repo.git("add", ".")
    world.repo.git("commit", "--quiet", "--message", "more")
    second = world.run()
    world.repo.git("stash", "--quiet", "--include-untracked", check=False)
    world.repo.git("switch", "--quiet", "ql/feature")
    world.repo.git("merge", "--quiet", "--no-edit", "main")
    third = world.run()

    assert "no agent sees it: README.md, folder/, loose.txt\n" in first.err
    assert "main has 1 commit that ql/feature lacks" in second.err
    assert "git switch ql/feature && git merge main" in second.err
    assert "no agent sees" not in second.err.replace("no agent sees them", "")
    assert "no agent sees" not in third.err


def test_the_end_says_how_to_go_on(world: World) -> None:
    """A complete run names the merge that takes its work in, a blocked one the next look."""
    world.plan({"id": "A-1"}, {"id": "B-1", "retries": {"maxAttempts": 1}})
    world.agent(A_1=[[["write", "A-1.txt", "a\n"]]], B_1=[[["exit", 1]], [["write", "b", "b\n"]]])
    blocked = world.run()
    world.qloop("story", "reset", "B-1")
    complete = world.run()
    again = world.qloop("story", "reset", "A-1")

    assert (blocked.code, complete.code) == (1, 0), complete.err
    assert "what to do about it: qloop\n" in blocked.err
    assert "git merge ql/feature" in complete.err
    assert "what it landed stays on ql/feature" in again.err


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
