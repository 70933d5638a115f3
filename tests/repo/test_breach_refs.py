"""Refs that an agent moved in the person's repository: found, kept, put back."""

from pathlib import Path

import pytest

from qloop.repo.breach import keep_and_undo
from qloop.repo.git import Git
from repo.person_world import Agent, named, value
from repository import Repo


def escaped(repo: Repo, agent: Agent, ref: str) -> str:
    """What is kept of a ref for an attempt."""
    return value(repo, f"refs/qloop/escaped/{agent.attempt_id}/{ref}")


def test_commit_in_the_main_checkout_is_kept_and_the_branch_goes_back(repo: Repo) -> None:
    """`commit -am` by absolute path: branch as before, the commit kept, the files untouched."""
    start = value(repo, "refs/heads/main")
    agent = Agent(repo)
    repo.write({"README.md": "agent\n"})
    agent.git("-C", str(repo.path), "commit", "-qam", "oops", cwd=agent.place)
    made = value(repo, "refs/heads/main")
    changes, said = agent.settle()

    assert named(changes.marked, "ref") == ["refs/heads/main"]
    assert changes.unmarked == ()
    assert value(repo, "refs/heads/main") == start
    assert escaped(repo, agent, "heads/main") == made
    assert (repo.path / "README.md").read_text() == "agent\n"
    assert "oops" in said[0]
    assert made in said[0]
    assert "put back" in said[0]
    assert "untouched" in said[0]


def test_update_ref_is_undone(repo: Repo) -> None:
    """A ref moved by plumbing goes back to the recorded commit."""
    start = repo.git("rev-parse", "HEAD")
    top = repo.commit("top", {"a": "a"})
    agent = Agent(repo)
    agent.git("update-ref", "refs/heads/main", start)
    changes, _ = agent.settle()

    assert [(c.before, c.after) for c in changes.marked] == [(top, start)]
    assert changes.unmarked == ()
    assert value(repo, "refs/heads/main") == top


def test_deleted_branch_comes_back(repo: Repo) -> None:
    """A deletion leaves no reflog: the trace tells it, and the branch is made again."""
    repo.git("branch", "mine")
    repo.git("branch", "other")
    agent = Agent(repo)
    agent.git("branch", "-D", "mine")
    repo.git("branch", "-D", "other")
    changes, _ = agent.settle()

    assert named(changes.marked, "ref") == ["refs/heads/mine"]
    assert named(changes.unmarked, "ref") == ["refs/heads/other"]
    assert value(repo, "refs/heads/mine") == repo.git("rev-parse", "HEAD")
    assert value(repo, "refs/heads/other") == ""


def test_deleted_and_made_again_is_the_recorded_value_again(repo: Repo) -> None:
    """A branch that the agent deleted and made elsewhere has a new reflog, but the old value."""
    start = repo.git("rev-parse", "HEAD")
    top = repo.commit("top", {"a": "a"})
    repo.git("branch", "mine")
    agent = Agent(repo)
    agent.git("branch", "-D", "mine")
    agent.git("branch", "mine", start)
    agent.settle()

    assert value(repo, "refs/heads/mine") == top


@pytest.mark.parametrize(
    "command", [("branch", "-D", "mine"), ("branch", "-d", "mine"), ("update-ref", "-d", "mine")]
)
def test_a_failed_deletion_is_not_blamed_for_the_persons(
    repo: Repo, command: tuple[str, ...]
) -> None:
    """A command that git refused deleted nothing."""
    repo.git("checkout", "-q", "-b", "mine")
    repo.commit("more")
    repo.git("checkout", "-q", "main")
    repo.git("worktree", "add", "-q", str(repo.path.parent / "linked"), "mine")
    agent = Agent(repo)
    agent.run("git", "-C", str(repo.path), *command, code=1)
    repo.git("worktree", "remove", str(repo.path.parent / "linked"))
    repo.git("branch", "-D", "mine")

    assert named(agent.changes().marked, "ref") == []


@pytest.mark.parametrize("old", ["side", "side/deep"])
def test_renamed_branch_gets_its_name_back(repo: Repo, old: str) -> None:
    """A rename is a deletion and a new branch; also where the names exclude each other."""
    start = repo.git("rev-parse", "HEAD")
    repo.git("branch", old)
    new = "side/deep" if old == "side" else "side"
    agent = Agent(repo)
    agent.git("branch", "-m", old, new)
    changes, _ = agent.settle()

    assert sorted(named(changes.marked, "ref")) == ["refs/heads/side", "refs/heads/side/deep"]
    assert changes.unmarked == ()
    assert value(repo, f"refs/heads/{old}") == start
    assert value(repo, f"refs/heads/{new}") == ""


def test_rename_over_a_branch_of_the_persons(repo: Repo) -> None:
    """`branch -M` overwrites: both branches have their commits again."""
    start = repo.git("rev-parse", "HEAD")
    repo.git("branch", "low")
    top = repo.commit("top", {"a": "a"})
    repo.git("branch", "high")
    agent = Agent(repo)
    agent.git("branch", "-M", "low", "high")
    agent.settle()

    assert value(repo, "refs/heads/low") == start
    assert value(repo, "refs/heads/high") == top


@pytest.mark.parametrize("options", [(), ("-a", "-m", "note")])
def test_new_tag_is_kept_and_removed(repo: Repo, options: tuple[str, ...]) -> None:
    """A light tag is told by the trace, an annotated one by its tagger."""
    agent = Agent(repo)
    agent.git("tag", *options, "v1")
    if options:
        agent.trace.unlink()
    made = value(repo, "refs/tags/v1")
    changes, _ = agent.settle()

    assert named(changes.marked, "ref") == ["refs/tags/v1"]
    assert value(repo, "refs/tags/v1") == ""
    assert escaped(repo, agent, "tags/v1") == made


def test_deleted_and_moved_tags_come_back(repo: Repo) -> None:
    """`tag -d` and `tag -f` on the person's tags."""
    start = repo.git("rev-parse", "HEAD")
    repo.git("tag", "v1")
    repo.git("tag", "-a", "-m", "note", "v2")
    note = value(repo, "refs/tags/v2")
    repo.commit("top")
    agent = Agent(repo)
    agent.git("tag", "-d", "v2")
    agent.git("tag", "-f", "v1", "HEAD")
    agent.settle()

    assert value(repo, "refs/tags/v1") == start
    assert value(repo, "refs/tags/v2") == note


def test_two_tags_deleted_though_the_command_failed(repo: Repo) -> None:
    """With several names git deletes what it can and fails for the rest."""
    repo.git("tag", "v1")
    agent = Agent(repo)
    agent.git("tag", "-d", "v1", "v2", code=1)
    agent.settle()

    assert value(repo, "refs/tags/v1") == repo.git("rev-parse", "HEAD")


@pytest.mark.parametrize(
    "command",
    [("tag", "-l", "v1"), ("branch", "--list", "v1"), ("log", "-1"), ("branch", "--contains")],
)
def test_reading_command_marks_nothing(repo: Repo, command: tuple[str, ...]) -> None:
    """A person's tag and branch are the person's, however an agent looked at them."""
    agent = Agent(repo)
    agent.git(*command)
    repo.git("tag", "v1")
    repo.git("branch", "v1")
    changes, said = agent.settle()

    assert changes.marked == ()
    assert sorted(named(changes.unmarked, "ref")) == ["refs/heads/v1", "refs/tags/v1"]
    assert said == ()
    assert value(repo, "refs/tags/v1") != ""


def test_person_works_at_the_same_time(repo: Repo) -> None:
    """Commits, branches and tags of the person's are neither charged nor undone."""
    repo.git("branch", "agents")
    agent = Agent(repo)
    agent.git("branch", "-f", "agents", repo.git("commit-tree", "-m", "x", "HEAD^{tree}"))
    agent.git("tag", "theirs")
    theirs = repo.commit("by the person", {"b": "b"})
    repo.git("tag", "mine")
    repo.git("branch", "mine")
    changes, _ = agent.settle()

    assert sorted(named(changes.marked, "ref")) == ["refs/heads/agents", "refs/tags/theirs"]
    assert sorted(named(changes.unmarked, "ref")) == [
        "refs/heads/main",
        "refs/heads/mine",
        "refs/tags/mine",
    ]
    assert value(repo, "refs/heads/main") == theirs
    assert value(repo, "refs/tags/mine") == theirs


def test_person_built_on_the_agents_commit(repo: Repo) -> None:
    """What the person put on top is left; the agent's doing is charged and kept all the same."""
    agent = Agent(repo)
    agent.git("commit", "-q", "--allow-empty", "-m", "oops")
    made = repo.git("rev-parse", "HEAD")
    top = repo.commit("on top")
    changes, said = agent.settle()

    assert named(changes.marked, "ref") == ["refs/heads/main"]
    assert value(repo, "refs/heads/main") == top
    assert escaped(repo, agent, "heads/main") == made
    assert "left" in said[0]


def test_persons_commit_below_the_agents_stays(repo: Repo) -> None:
    """What goes back is the agent's move alone, not the person's before it."""
    agent = Agent(repo)
    mine = repo.commit("by the person")
    agent.git("commit", "-q", "--allow-empty", "-m", "one")
    agent.git("commit", "-q", "--allow-empty", "-m", "two")
    agent.settle()

    assert value(repo, "refs/heads/main") == mine


def test_moved_again_before_it_is_put_back(repo: Repo) -> None:
    """Between looking and putting back the person moved the branch: it is left, and said."""
    agent = Agent(repo)
    agent.git("commit", "-q", "--allow-empty", "-m", "oops")
    changes = agent.changes()
    top = repo.commit("on top")
    said = keep_and_undo(agent.repository, changes, agent.attempt_id)

    assert value(repo, "refs/heads/main") == top
    assert "moved again" in said[0]


def test_agent_without_its_environment_is_nobody(repo: Repo) -> None:
    """Without marks a change is the person's: reported and left."""
    agent = Agent(repo)
    made = repo.commit("who was it")
    changes, said = agent.settle()

    assert (changes.marked, said) == ((), ())
    assert named(changes.unmarked, "ref") == ["refs/heads/main"]
    assert value(repo, "refs/heads/main") == made


def test_two_attempts_are_charged_with_their_own(repo: Repo) -> None:
    """Each finds its own moves, in whichever order they are settled; all go back."""
    start = repo.git("rev-parse", "HEAD")
    repo.git("branch", "side")
    one, two = Agent(repo, 1), Agent(repo, 2)
    one.git("commit", "-q", "--allow-empty", "-m", "one")
    two.git("commit", "-q", "--allow-empty", "-m", "two")
    two.git("branch", "-f", "side", "HEAD")
    two.git("tag", "-am", "two", "v2")
    first, _ = one.settle()
    second, _ = two.settle()

    assert named(first.marked, "ref") == ["refs/heads/main"]
    assert named(second.marked, "ref") == ["refs/heads/main", "refs/heads/side", "refs/tags/v2"]
    assert first.unmarked == ()
    assert second.unmarked == ()
    assert {value(repo, f"refs/heads/{name}") for name in ("main", "side")} == {start}


def test_second_attempt_begins_on_what_the_first_did(repo: Repo) -> None:
    """An attempt that starts after another's breach does not keep the breach alive."""
    start = repo.git("rev-parse", "HEAD")
    one = Agent(repo, 1)
    one.git("commit", "-q", "--allow-empty", "-m", "one")
    two = Agent(repo, 2)
    two.git("commit", "-q", "--allow-empty", "-m", "two")
    two.settle()
    one.settle()

    assert value(repo, "refs/heads/main") == start


def test_landing_in_the_window_is_not_reported(repo: Repo) -> None:
    """qloop's own moves, of the line and of the branch that follows it, are nobody's change."""
    line = "refs/qloop/line/main"
    git = Agent(repo).repository.git
    git.run("update-ref", "--create-reflog", line, repo.git("rev-parse", "HEAD"))
    agent = Agent(repo, 2)
    landed = git.text("commit-tree", "-p", "HEAD", "-m", "landed", "HEAD^{tree}")
    git.run("update-ref", line, landed)
    git.run("update-ref", "refs/heads/follows", landed)
    git.run("update-ref", "refs/qloop/attempts/US-1/1", landed)

    assert agent.changes().marked == ()
    assert agent.changes().unmarked == ()


@pytest.mark.parametrize("logged", [True, False])
def test_line_goes_back_to_the_last_landing(repo: Repo, logged: bool) -> None:
    """An agent that moves the line loses nothing that landed in between."""
    line = "refs/qloop/line/feature/x"
    git = Git(repo.path / ".git")
    log = ("--create-reflog",) if logged else ()
    git.run("update-ref", *log, line, repo.git("rev-parse", "HEAD"))
    agent = Agent(repo)
    landed = git.text("commit-tree", "-p", "HEAD", "-m", "landed", "HEAD^{tree}")
    git.run("update-ref", line, landed)
    made = agent.git("commit-tree", "-p", landed, "-m", "forged", "HEAD^{tree}")
    agent.git("update-ref", line, made)
    changes, _ = agent.settle()

    assert named(changes.marked, "ref") == [line]
    assert value(repo, line) == landed


def test_persons_move_of_the_line_is_reported(repo: Repo) -> None:
    """A person who moves the line by hand is told apart from a landing."""
    line = "refs/qloop/line/main"
    Git(repo.path / ".git").run("update-ref", line, repo.git("rev-parse", "HEAD"))
    agent = Agent(repo)
    top = repo.commit("top")
    repo.git("update-ref", line, top)
    changes, _ = agent.settle()

    assert named(changes.unmarked, "ref") == ["refs/heads/main", line]
    assert value(repo, line) == top


def test_forged_and_deleted_refs_of_qloops_own(repo: Repo) -> None:
    """A landing marker that an agent makes is removed, a kept attempt that it deletes is back."""
    start = repo.git("rev-parse", "HEAD")
    git = Git(repo.path / ".git")
    git.run("update-ref", "refs/qloop/attempts/US-2/1", start)
    git.run("update-ref", "refs/qloop/start/x", start)
    agent = Agent(repo)
    agent.git("update-ref", f"refs/qloop/landed/{agent.attempt_id}", "HEAD")
    agent.git("update-ref", "-d", "refs/qloop/attempts/US-2/1")
    git.run("update-ref", "-d", "refs/qloop/start/x")
    changes, _ = agent.settle()

    assert len(changes.marked) == 2
    assert changes.unmarked == ()
    assert value(repo, f"refs/qloop/landed/{agent.attempt_id}") == ""
    assert value(repo, "refs/qloop/attempts/US-2/1") == start


def test_repository_without_reflogs(repo: Repo) -> None:
    """Where git keeps no reflogs, committer lines and the trace tell who moved what."""
    repo.git("config", "core.logAllRefUpdates", "false")
    repo.git("branch", "a")
    repo.git("branch", "b")
    repo.git("branch", "p")
    start = repo.git("rev-parse", "HEAD")
    agent = Agent(repo)
    made = agent.git("commit-tree", "-p", "HEAD", "-m", "x", "HEAD^{tree}")
    agent.git("update-ref", "refs/heads/a", made)
    agent.trace.unlink()
    agent.git("branch", "-f", "b", repo.git("commit-tree", "-m", "y", "HEAD^{tree}"))
    repo.git("branch", "-f", "p", repo.git("commit-tree", "-m", "z", "HEAD^{tree}"))
    changes, _ = agent.settle()

    assert named(changes.marked, "ref") == ["refs/heads/a", "refs/heads/b"]
    assert named(changes.unmarked, "ref") == ["refs/heads/p"]
    assert value(repo, "refs/heads/a") == start
    assert value(repo, "refs/heads/b") == start
    assert value(repo, "refs/heads/p") != start


def test_commits_between_without_reflogs(repo: Repo) -> None:
    """Without reflogs the history itself tells what is the person's and what the agent's."""
    repo.git("config", "core.logAllRefUpdates", "false")
    (repo.path / ".git/logs/refs/heads/main").unlink()
    agent = Agent(repo)
    mine = repo.commit("person below")
    agent.git("commit", "-q", "--allow-empty", "-m", "agent")
    agent.git("branch", "new")
    agent.settle()
    below = value(repo, "refs/heads/main")
    later = Agent(repo, 2)
    later.git("commit", "-q", "--allow-empty", "-m", "agent")
    top = repo.commit("person above")
    changes, _ = later.settle()

    assert below == mine
    assert value(repo, "refs/heads/new") == ""
    assert named(changes.marked, "ref") == ["refs/heads/main"]
    assert value(repo, "refs/heads/main") == top


def test_packed_refs(repo: Repo) -> None:
    """Packed refs are compared and put back like loose ones."""
    start = repo.git("rev-parse", "HEAD")
    repo.git("tag", "v1")
    repo.git("branch", "side")
    repo.git("pack-refs", "--all")
    agent = Agent(repo)
    agent.git("commit", "-q", "--allow-empty", "-m", "x")
    agent.git("branch", "-D", "side")
    agent.git("tag", "-d", "v1")
    agent.git("pack-refs", "--all")
    changes, _ = agent.settle()

    assert len(named(changes.marked, "ref")) == 3
    assert {value(repo, f"refs/{name}") for name in ("heads/main", "heads/side", "tags/v1")} == {
        start
    }


@pytest.mark.parametrize("way", ["cd", "git-dir", "environment", "inside", "alias", "push"])
def test_every_way_into_the_repository(repo: Repo, way: str, tmp_path: Path) -> None:
    """The trace leads to the person's repository, however a command came to it."""
    start = repo.git("rev-parse", "HEAD")
    repo.git("tag", "v1")
    repo.git("config", "alias.untag", "!git tag -d")
    own = tmp_path / "own.git"
    agent = Agent(repo)
    agent.run("git", "init", "-q", "--bare", str(own))
    agent.run("git", "-C", str(own), "tag", "-d", "v1", code=1)
    untagged = agent.changes()
    ways = {
        "cd": ("sh", "-c", f"cd '{repo.path}' && git tag -d v1"),
        "git-dir": ("git", f"--git-dir={repo.path}/.git", "tag", "-d", "v1"),
        "environment": ("env", f"GIT_DIR={repo.path}/.git", "git", "tag", "-d", "v1"),
        "inside": ("sh", "-c", f"cd '{repo.path}/.git' && git tag -d v1"),
        "alias": ("git", "-C", str(repo.path), "untag", "v1"),
        "push": ("git", "-C", str(own), "push", "-q", str(repo.path), ":refs/tags/v1"),
    }
    agent.run(*ways[way])
    changes, _ = agent.settle()

    assert untagged.marked == ()
    assert named(changes.marked, "ref") == ["refs/tags/v1"]
    assert value(repo, "refs/tags/v1") == start


def test_same_command_elsewhere_marks_nothing(repo: Repo, tmp_path: Path) -> None:
    """An agent's command in another repository says nothing about the person's."""
    repo.git("tag", "v1")
    other = Repo(tmp_path / "other")
    other.commit("x")
    other.git("tag", "v1")
    agent = Agent(repo)
    agent.git("tag", "-d", "v1", cwd=other.path)
    repo.git("tag", "-d", "v1")

    assert agent.changes().marked == ()


def test_linked_worktree_of_the_persons(repo: Repo, tmp_path: Path) -> None:
    """The deed is found in any checkout of the person's; a detached one goes back as well."""
    start = repo.git("rev-parse", "HEAD")
    one, two = tmp_path / "linked one", tmp_path / "linked two"
    repo.git("worktree", "add", "-q", "-b", "side", str(one))
    repo.git("worktree", "add", "-q", "--detach", str(two))
    agent = Agent(repo)
    agent.git("commit", "-q", "--allow-empty", "-m", "x", cwd=one)
    agent.git("commit", "-q", "--allow-empty", "-m", "x", cwd=two)
    agent.git("tag", "v1", cwd=two)
    made = repo.git("rev-parse", "HEAD", cwd=two)
    changes, _ = agent.settle()

    assert named(changes.marked, "ref") == ["refs/heads/side", "refs/tags/v1"]
    assert len(named(changes.marked, "head")) == 1
    assert value(repo, "refs/heads/side") == start
    assert repo.git("rev-parse", "HEAD", cwd=two) == start
    assert made in repo.git("for-each-ref", f"refs/qloop/escaped/{agent.attempt_id}/worktrees")


def test_two_values_of_one_ref_are_both_kept(repo: Repo) -> None:
    """Keeping again under the same name loses nothing of the first time."""
    agent = Agent(repo)
    agent.git("commit", "-q", "--allow-empty", "-m", "one")
    one = repo.git("rev-parse", "HEAD")
    agent.settle()
    agent.git("commit", "-q", "--allow-empty", "-m", "two")
    two = repo.git("rev-parse", "HEAD")
    agent.settle()
    kept = repo.git("for-each-ref", "--format=%(objectname)", "refs/qloop/escaped").split("\n")

    assert {one, two} <= set(kept)


def test_remote_refs(repo: Repo, tmp_path: Path) -> None:
    """Remote-tracking refs that an agent drops with a remote come back, its HEAD is reported."""
    start = repo.git("rev-parse", "HEAD")
    repo.git("remote", "add", "origin", str(tmp_path))
    repo.git("update-ref", "refs/remotes/origin/main", start)
    repo.git("update-ref", "refs/remotes/origin/side", start)
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    agent = Agent(repo)
    agent.git("remote", "set-head", "origin", "side")
    agent.git("branch", "-rd", "origin/main")
    changes, said = agent.settle()

    assert named(changes.marked, "ref") == ["refs/remotes/origin/HEAD", "refs/remotes/origin/main"]
    assert value(repo, "refs/remotes/origin/main") == start
    assert repo.git("symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/side"
    assert any("left" in sentence for sentence in said)
