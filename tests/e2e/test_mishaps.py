"""What goes wrong beside the agents' work costs a story at most, never its wave or the run."""

from world import World, wait_until


def test_a_runner_that_was_changed_to_an_unknown_one_stops_its_story(world: World) -> None:
    """An edit during a run that names no runner: that story waits, what is at work goes on."""
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]}, {"id": "C-1"})
    there, go = world.flags / "there", world.flags / "go"
    ready = [["touch", str(there)], ["wait-for", str(go)]]
    world.agent(
        A_1=[[*ready, ["write", "A-1.txt", "a\n"], ["commit", "a"]]],
        C_1=[[["write", "C-1.txt", "c\n"], ["commit", "c"]]],
    )

    process = world.start("run")
    wait_until(there.exists)
    edited = world.document
    next(one for one in edited["stories"] if one["id"] == "B-1")["runner"] = "nosuch"
    world.write_document(edited)
    go.touch()
    out, err = process.communicate()

    assert process.returncode == 1, err
    assert "<quantum>BLOCKED</quantum>" in out
    assert "unknown runner 'nosuch' for B-1" in err
    assert world.statuses() == {"A-1": "passed", "B-1": "pending", "C-1": "passed"}
    assert not [event for event in world.events("attempt.started") if event["story"] == "B-1"]


def test_a_persons_commit_that_breaks_the_set_up_waits_for_them(world: World) -> None:
    """Set-up that is red with what the person committed meanwhile: exit 3, and nothing lands."""
    world.repo.git("switch", "--quiet", "-c", "ql/feature")
    world.plan({"id": "A-1"}, setupCommands=["test ! -e bad"], testCommand="test ! -e bad")
    there, go = world.flags / "there", world.flags / "go"
    ready = [["touch", str(there)], ["wait-for", str(go)]]
    world.agent(A_1=[[*ready, ["write", "A-1.txt", "a\n"], ["commit", "a"]]])

    process = world.start("run")
    wait_until(there.exists)
    world.repo.commit("oops", {"bad": "bad\n"})
    go.touch()
    out, err = process.communicate()

    assert "<quantum>WAITING</quantum>" in out, err
    assert process.returncode == 3
    assert "set-up is red with the commits that were made on ql/feature" in err
    assert world.statuses() == {"A-1": "pending"}
    assert world.story("A-1").get("retries", {}).get("attempts", 0) == 0


def test_what_git_cannot_hold_is_named(world: World) -> None:
    """Files that no commit can have are told of before they go with the worktree."""
    world.plan({"id": "A-1"})
    lost = ["sh", "mkdir -p sub/.GIT && echo x > sub/.GIT/x"]
    world.agent(A_1=[[["write", "A-1.txt", "a\n"], ["commit", "a"], lost]])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert "git cannot hold sub/.GIT/x" in ran.err
