"""Agents that do what they must not: found out, kept, undone, charged, and never landed."""

import pytest

from world import World

PASS = ["say", "STORY_PASSED"]


def one_try(world: World, steps: list[list[object]], **top: object) -> None:
    """One story with one attempt that goes as *steps* say."""
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}}, **top)
    world.agent(A_1=[steps])


def test_a_commit_in_the_persons_checkout_is_taken_back(world: World) -> None:
    """An agent that commits to the main checkout by path fails; its commit is kept aside."""
    main = world.repo.git("rev-parse", "main")
    here = str(world.path)
    one_try(
        world,
        [
            ["sh", f'cd "{here}" && echo x >> README.md && git commit -qam oops'],
            ["write", "own.txt", "own\n"],
            ["commit", "own"],
        ],
    )

    ran = world.run()

    assert ran.code == 1
    assert world.failures("A-1") == ["guard"]
    assert world.repo.git("rev-parse", "main") == main
    escaped = world.refs("refs/qloop/escaped")
    assert [world.repo.git("log", "-1", "--format=%s", one) for one in escaped] == ["oops"]
    review = world.story("A-1")["review"]
    assert {review["specCompliance"]["status"], review["codeQuality"]["status"]} == {"failed"}
    assert world.document["execution"]["completedWaves"][0]["signal"] == "WAVE_FAILED"
    assert world.log() == ["start"]


def test_a_branch_moved_by_plumbing_is_put_back(world: World) -> None:
    """`update-ref` on the person's branch is undone by compare-and-swap, and charged."""
    main = world.repo.git("rev-parse", "main")
    here = str(world.path)
    one_try(
        world,
        [
            ["write", "own.txt", "own\n"],
            ["commit", "own"],
            [
                "sh",
                f'cd "{here}" && git update-ref refs/heads/main HEAD^{{tree}} ; '
                f'git update-ref refs/heads/main "$(git commit-tree -m evil HEAD^{{tree}})"',
            ],
        ],
    )

    world.run()

    assert world.failures("A-1") == ["guard"]
    assert world.repo.git("rev-parse", "main") == main


def test_a_reset_to_before_the_start_trips_the_guard(world: World) -> None:
    """`reset` and a new commit make a sibling of the start commit: HEAD no longer descends."""
    world.repo.commit("second", {"more.txt": "more\n"})
    one_try(
        world,
        [
            ["git", "reset", "--hard", "--quiet", "HEAD~1"],
            ["write", "own.txt", "own\n"],
            ["commit", "sibling"],
        ],
    )

    world.run()

    assert world.failures("A-1") == ["guard"]
    assert world.repo.git("rev-parse", "HEAD") in str(world.story("A-1")["review"])
    assert "own.txt" in world.files("refs/qloop/attempts/A-1/1")


def test_an_unfinished_rebase_is_not_a_story(world: World) -> None:
    """A worktree left in the middle of a rebase fails, though it looks clean."""
    one_try(
        world,
        [
            ["write", "own.txt", "1\n"],
            ["commit", "one"],
            ["sh", "GIT_SEQUENCE_EDITOR='sed -i s/pick/edit/' git rebase -q -i HEAD~1"],
        ],
    )

    world.run()

    assert world.failures("A-1") == ["guard"]


@pytest.mark.parametrize(
    "words",
    [["switch", "-q", "-c", "other"], ["branch", "-m", "other"], ["checkout", "-q", "--detach"]],
)
def test_another_branch_that_descends_is_adopted(world: World, words: list[str]) -> None:
    """An agent may switch, rename or detach: what descends from the start lands."""
    one_try(world, [["git", *words], ["write", "own.txt", "own\n"], ["commit", "own"]])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert "own.txt" in world.files()


def test_uncommitted_work_is_committed_for_the_agent(world: World) -> None:
    """Files left uncommitted and untracked land like committed ones."""
    one_try(world, [["write", "README.md", "changed\n"], ["write", "new/file.txt", "new\n"]])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.files()["README.md"] == "changed"
    assert world.files()["new/file.txt"] == "new"


@pytest.mark.parametrize(
    ("make", "name"),
    [
        ("echo SECRET > .env.local && git add -f .env.local", ".env.local"),
        ("ln -s /etc/passwd leak && git add leak", "leak"),
        ("git init -q sub && git -C sub commit -q --allow-empty -m x && git add -f sub", "sub"),
        ("head -c 2000000 /dev/zero > big.bin && git add big.bin", "big.bin"),
        ("echo b > brought.txt && git add -f brought.txt", "brought.txt"),
    ],
)
def test_what_must_not_land_is_refused_by_name(world: World, make: str, name: str) -> None:
    """Secrets, outward links, foreign repositories, huge and brought files do not land."""
    (world.path / "brought.txt").write_text("brought\n", encoding="utf-8")
    world.configure("[limits]\nfile_bytes = 1000000")
    one_try(
        world,
        [["sh", f"{make} && git commit -q -m bad"], ["write", "own.txt", "own\n"]],
        copyFiles=["brought.txt"],
    )

    world.run()

    failure = world.story("A-1")["retries"]["failureLog"][0]
    assert failure["phase"] == "verification"
    assert name in failure["reason"]
    assert world.log() == ["start"]


def test_state_files_never_land(world: World) -> None:
    """What an agent writes to quantum.json, .qloop or qloop.toml is left out."""
    one_try(
        world,
        [
            ["write", "quantum.json", "{}\n"],
            ["write", ".qloop/x", "x\n"],
            ["write", "qloop.toml", "runner = 'evil'\n"],
            ["write", "own.txt", "own\n"],
            ["sh", "git add -f . && git commit -qm all"],
        ],
    )

    ran = world.run()

    assert ran.code == 0, ran.err
    assert set(world.files()) == {"README.md", "own.txt"}


def test_an_agent_that_kills_its_coordinator(world: World) -> None:
    """The attempt is charged as a crash, its work is kept, and the story is tried again."""
    world.plan({"id": "A-1"})
    world.agent(
        A_1=[
            [["write", "half.txt", "half\n"], ["kill-parent"], ["sleep", 600]],
            [["write", "own.txt", "own\n"], ["commit", "own"]],
        ]
    )

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.failures("A-1") == ["crash"]
    assert world.story("A-1")["retries"]["attempts"] == 1
    assert world.files("refs/qloop/attempts/A-1/1")["half.txt"] == "half"
    assert world.worktrees() == []


def test_a_limit_that_no_trick_defeats(world: World) -> None:
    """An agent that ignores TERM, detaches children and holds its output is ended in time."""
    one_try(
        world,
        [["ignore", "SIGTERM"], ["ignore", "SIGHUP"], ["spawn", 600], ["sleep", 600]],
    )

    world.run("--timeout", "1s")

    assert world.failures("A-1") == ["timeout"]


def test_what_is_left_running_does_not_delay_judgement(world: World) -> None:
    """A child that holds the output open is ended when the agent is gone."""
    one_try(world, [["spawn", 600], ["write", "own.txt", "own\n"], ["commit", "own"]])

    ran = world.run()

    assert ran.code == 0, ran.err


def test_no_time_at_all(world: World) -> None:
    """A limit of 0 is a limit: nothing is started, and the attempt is out of time."""
    one_try(world, [["write", "own.txt", "own\n"]])

    world.run("--timeout", "0s")

    assert world.failures("A-1") == ["timeout"]


def test_the_agents_git_belongs_to_it_alone(world: World) -> None:
    """Branches, tags, stashes, config, hooks and gc in the worktree never reach the person's."""
    before = world.refs("refs/heads") | world.refs("refs/tags")
    config = (world.path / ".git/config").read_bytes()
    one_try(
        world,
        [
            [
                "sh",
                "git tag t1; git branch b1; echo x > README.md; git stash -q; "
                "git config user.name Evil; git config core.hooksPath /evil; "
                "git gc -q --prune=now; mkdir -p .git-hooks",
            ],
            ["write", "own.txt", "own\n"],
            ["commit", "own"],
        ],
    )

    ran = world.run()

    assert ran.code == 0, ran.err
    after = world.refs("refs/heads") | world.refs("refs/tags")
    assert {name for name in after if name not in before} == {"refs/heads/ql/feature"}
    assert (world.path / ".git/config").read_bytes() == config
    assert world.repo.git("stash", "list") == ""


def test_what_the_person_does_meanwhile_is_theirs(world: World) -> None:
    """Commits, tags, stashes and settings of the person during an attempt are not undone."""
    world.plan({"id": "A-1"})
    go = world.flags / "go"
    world.agent(
        A_1=[
            [
                ["touch", str(world.flags / "at-work")],
                ["wait-for", str(go)],
                ["write", "own.txt", "own\n"],
                ["commit", "own"],
            ]
        ]
    )
    from world import wait_until

    process = world.start("run")
    wait_until((world.flags / "at-work").exists)
    commit = world.repo.commit("by hand", {"mine.txt": "mine\n"})
    world.repo.git("tag", "v1")
    world.repo.git("config", "my.setting", "yes")
    world.repo.write({"README.md": "stashed\n"})
    world.repo.git("stash", "--quiet")
    go.touch()
    _, err = process.communicate()

    assert process.returncode == 0, err
    assert world.repo.git("rev-parse", "main") == commit
    assert world.repo.git("rev-parse", "v1") == commit
    assert world.repo.git("config", "my.setting") == "yes"
    assert "WIP" in world.repo.git("stash", "list")
    assert world.story("A-1")["status"] == "passed"
    assert world.events("person.changed")


def test_changed_settings_of_the_person_are_charged_and_said(world: World) -> None:
    """`git config` on the person's repository by an agent fails the attempt, and is undone."""
    here = str(world.path)
    before = (world.path / ".git/config").read_bytes()
    one_try(
        world,
        [
            ["sh", f'git -C "{here}" config evil.key 1'],
            ["write", "own.txt", "x\n"],
            ["commit", "x"],
        ],
    )

    world.run()

    failure = world.story("A-1")["retries"]["failureLog"][0]
    assert failure["phase"] == "guard"
    assert "evil.key" in failure["reason"]
    assert (world.path / ".git/config").read_bytes() == before


def test_a_breach_stops_no_other_waves_landing_but_fails_its_own(world: World) -> None:
    """The sibling of a breaching story still lands; the wave says WAVE_FAILED."""
    here = str(world.path)
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}}, {"id": "B-1"})
    world.agent(
        A_1=[[["sh", f'git -C "{here}" tag evil'], ["write", "a", "a"], ["commit", "a"]]],
        B_1=[[["write", "b.txt", "b\n"], ["commit", "b"]]],
    )

    world.run()

    assert world.statuses()["A-1"] == "failed"
    assert world.repo.git("tag", "--list") == ""
    assert "a" not in world.files()
