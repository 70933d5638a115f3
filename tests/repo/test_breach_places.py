"""Stash, configuration, hooks, HEAD and files of the person's: what an agent did there."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from qloop.repo.breach import keep_and_undo
from qloop.system import process
from repo.person_world import Agent, named, value
from repository import Repo


def stashed(repo: Repo, *texts: str) -> list[str]:
    """Stash one change for each text, the last on top; return the commits, the last first."""
    for text in texts:
        repo.write({"README.md": text})
        repo.git("stash", "push", "-q", "-m", text)
    return stash(repo)


def stash(repo: Repo) -> list[str]:
    """The stash as a person sees it."""
    return repo.git("stash", "list", "--format=%H").split()


@pytest.mark.parametrize("command", [("drop",), ("pop",), ("pop", "--quiet"), ("drop", "0")])
def test_dropped_stash_entry_comes_back(repo: Repo, command: tuple[str, ...]) -> None:
    """What an agent drops from the top of the person's stash is there again, message and all."""
    stashed(repo, "one", "two")
    before = repo.git("stash", "list")
    agent = Agent(repo)
    agent.git("stash", *command)
    changes, said = agent.settle()

    assert named(changes.marked, "stash") == ["On main: two"]
    assert repo.git("stash", "list") == before
    assert any("stored again" in sentence for sentence in said)


@pytest.mark.parametrize(
    "command",
    [
        ("stash", "clear"),
        ("update-ref", "-d", "refs/stash"),
        ("reflog", "expire", "--expire=all", "--all"),
    ],
)
def test_cleared_stash_comes_back_in_its_order(repo: Repo, command: tuple[str, ...]) -> None:
    """Every entry is stored again, the oldest first."""
    before = stashed(repo, "one", "two", "three")
    agent = Agent(repo)
    agent.git(*command)
    agent.settle()

    assert stash(repo) == before


def test_entry_below_the_top(repo: Repo) -> None:
    """The entry that was named is the one that is put back."""
    three, two, one = stashed(repo, "one", "two", "three")
    agent = Agent(repo)
    agent.git("stash", "drop", "stash@{1}")
    agent.git("reflog", "delete", "--updateref", "--rewrite", "stash@{1}")
    changes, _ = agent.settle()

    assert sorted(c.before or "" for c in changes.marked) == sorted((two, one))
    assert set(stash(repo)) == {one, two, three}


def test_agents_own_entry_stays_and_is_said(repo: Repo) -> None:
    """An agent that stashes in the person's checkout may have stashed the person's work."""
    repo.write({"README.md": "work of the person"})
    agent = Agent(repo)
    agent.git("stash", "-q")
    changes, said = agent.settle()
    entries = stash(repo)

    assert len(entries) == 1
    assert [c.after for c in changes.marked if c.kind == "stash"] == entries
    assert any(f"git stash apply {entries[0]}" in sentence for sentence in said)


def test_own_entry_taken_back_drops_nothing_of_the_persons(repo: Repo) -> None:
    """Push and pop of its own; meanwhile the person drops an entry: that one stays dropped."""
    stashed(repo, "one")
    agent = Agent(repo)
    repo.write({"README.md": "agent"})
    agent.git("stash", "-q")
    agent.git("stash", "pop", "-q")
    repo.git("stash", "drop", "-q")
    changes, _ = agent.settle()

    assert named(changes.marked, "stash") == []
    assert named(changes.unmarked, "stash") == ["On main: one"]
    assert stash(repo) == []


def test_pop_after_a_push_of_nothing_takes_the_persons(repo: Repo) -> None:
    """With nothing to stash the push made no entry, and the pop took the person's."""
    before = stashed(repo, "one")
    agent = Agent(repo)
    agent.git("stash", "-q")
    agent.git("stash", "pop", "-q")
    agent.settle()

    assert stash(repo) == before


def test_person_stashes_while_the_agent_drops(repo: Repo) -> None:
    """A new entry of the person's moves the numbers; it is left, the dropped one comes back."""
    (one,) = stashed(repo, "one")
    agent = Agent(repo)
    stashed(repo, "new")
    agent.git("stash", "drop", "-q", "stash@{1}")
    changes, _ = agent.settle()

    assert [c.before for c in changes.marked if c.kind == "stash"] == [one]
    assert named(changes.unmarked, "stash") == ["On main: new"]
    assert len(stash(repo)) == 2


@pytest.mark.parametrize("command", [("list",), ("show",), ("apply",)])
def test_looking_at_the_stash_drops_nothing(repo: Repo, command: tuple[str, ...]) -> None:
    """An entry that the person drops is not charged to an agent that only looked."""
    stashed(repo, "one")
    agent = Agent(repo)
    agent.git("stash", *command)
    repo.git("stash", "drop", "-q")
    changes, _ = agent.settle()

    assert named(changes.marked, "stash") == []
    assert stash(repo) == []


def test_entry_that_cannot_be_stored_is_said(repo: Repo) -> None:
    """Where git refuses to store it again, the entry is kept behind a ref."""
    (one,) = stashed(repo, "one")
    agent = Agent(repo)
    agent.git("stash", "drop", "-q")
    changes = agent.changes()
    (repo.path / ".git/refs/stash.lock").touch()
    said = keep_and_undo(agent.repository, changes, agent.attempt_id)

    assert "could not be stored again" in said[-1]
    assert value(repo, f"refs/qloop/escaped/{agent.attempt_id}/stash") == one


def test_two_agents_and_one_stash(repo: Repo) -> None:
    """Entries and drops of one attempt are not charged to the other."""
    before = stashed(repo, "one")
    one, two = Agent(repo, 1), Agent(repo, 2)
    one.git("stash", "drop", "-q")
    repo.write({"README.md": "agent"})
    two.git("stash", "-q")
    first, _ = one.settle()
    second, _ = two.settle()

    assert named(first.marked, "stash") == ["On main: one"]
    assert [c.before for c in second.marked if c.kind == "stash"] == [None]
    assert set(before) < set(stash(repo))


CONFIG_WRITES = [
    (("config", "User.Name", "Eve"), "config user.name"),
    (("config", "--local", "--add", "remote.a B.URL", "/x"), "config remote.a B.url"),
    (("config", "--type", "bool", "core.fileMode", "no"), "config core.filemode"),
    (("config", "--unset", "user.email"), "config user.email"),
    (("config", "--remove-section", "user"), "config user.email"),
    (("remote", "add", "up", "/x"), "config remote.up.url"),
    (("branch", "-u", "side"), "config branch.main.merge"),
    (("checkout", "-q", "-b", "new", "--track", "side"), "config branch.new.merge"),
    (("branch", "-m", "kept", "moved"), "config branch.kept.merge"),
    (("sparse-checkout", "set", "x"), "config extensions.worktreeconfig"),
    (("worktree", "add", "-q", "--track", "-b", "w", "../w", "side"), "config branch.w.merge"),
]


@pytest.mark.parametrize(("command", "name"), CONFIG_WRITES)
def test_configuration_that_an_agent_wrote(repo: Repo, command: tuple[str, ...], name: str) -> None:
    """The keys are charged to the command that is able to write them; the file is put back."""
    repo.git("branch", "side")
    repo.git("branch", "--track", "kept", "side")
    before = (repo.path / ".git/config").read_bytes()
    agent = Agent(repo)
    agent.git(*command)
    changes, said = agent.settle()

    assert name in named(changes.marked, "config")
    assert named(changes.unmarked, "config") == []
    assert (repo.path / ".git/config").read_bytes() == before
    assert any(name in sentence and "put back" in sentence for sentence in said)


def _changed_too(config: Path) -> None:
    with config.open("a") as out:
        out.write("[person]\n\tkey = 1\n")


def _replaced_by_a_link(config: Path) -> None:
    config.rename(config.with_name("elsewhere"))
    config.symlink_to("elsewhere")


def _locked(config: Path) -> None:
    config.with_name("config.lock").touch()


@pytest.mark.parametrize("when", ["before it is looked at", "after"])
@pytest.mark.parametrize("meanwhile", [_changed_too, _replaced_by_a_link, _locked])
def test_configuration_that_others_changed_too_stays(
    repo: Repo, when: str, meanwhile: Callable[[Path], None]
) -> None:
    """Only the very bytes that an attempt alone left are replaced, and only under git's lock."""
    config = repo.path / ".git" / "config"
    agent = Agent(repo)
    agent.git("config", "x.agent", "1")
    if when == "after":
        changes = agent.changes()
        meanwhile(config)
    else:
        meanwhile(config)
        changes = agent.changes()
    seen = config.read_bytes()
    said = keep_and_undo(agent.repository, changes, agent.attempt_id)

    assert config.read_bytes() == seen
    assert any("x.agent" in text and "left as it is" in text for text in said)


@pytest.mark.parametrize(
    "command",
    [
        ("config", "--get", "x.secret"),
        ("config", "--list"),
        ("config", "x.secret"),
        ("config", "--global", "x.secret", "1"),
        ("config", "--file", "other", "x.secret", "1"),
        ("config", "x.other", "1"),
        ("remote", "-v"),
        ("remote", "add", "x", "/x"),
        ("branch", "-vv"),
        ("status",),
    ],
)
def test_configuration_that_the_person_wrote(repo: Repo, command: tuple[str, ...]) -> None:
    """Reading, or writing something else, makes no agent the writer of the person's key."""
    repo.git("config", "x.secret", "0")
    agent = Agent(repo)
    agent.git(*command)
    repo.git("config", "x.secret", "hunter2")
    changes, _ = agent.settle()

    assert "config x.secret" not in named(changes.marked, "config")
    assert "config x.secret" in named(changes.unmarked, "config")
    assert "hunter2" not in repr(changes)


@pytest.mark.parametrize("form", [("--file", "{}"), ("--file={}",), ("-f", "{}")])
def test_configuration_file_written_by_its_path(repo: Repo, form: tuple[str, ...]) -> None:
    """From anywhere, by the path of the file."""
    path = f"{repo.path}/.git/config"
    agent = Agent(repo)
    agent.run("git", "config", *(word.format(path) for word in form), "core.hooksPath", "/x")

    assert named(agent.changes().marked, "config") == ["config core.hookspath"]


def test_configuration_edited_by_hand(repo: Repo) -> None:
    """Comments, and a file that git cannot read any more, are nobody's."""
    agent = Agent(repo)
    with (repo.path / ".git/config").open("a") as config:
        config.write("# note\n")
    note = agent.changes()

    assert named(note.unmarked, "config") == ["config"]
    assert note.marked == ()


def test_hooks_changed_by_hand_and_by_git(repo: Repo, tmp_path: Path) -> None:
    """`git init` brings hooks from a template; a hook that was edited is nobody's."""
    template = tmp_path / "template"
    (template / "hooks").mkdir(parents=True)
    (template / "hooks/post-commit").write_text("#!/bin/sh\n")
    hooks = repo.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").write_text("#!/bin/sh\n")
    agent = Agent(repo)
    agent.git("init", "-q", f"--template={template}")
    (hooks / "pre-commit").chmod(0o755)
    changes, said = agent.settle()

    assert named(changes.marked, "hooks") == ["post-commit"]
    assert named(changes.unmarked, "hooks") == ["pre-commit"]
    assert (hooks / "post-commit").exists()
    assert any("hook post-commit" in sentence for sentence in said)


def test_hooks_written_by_a_program_of_its_own(repo: Repo, tmp_path: Path) -> None:
    """An external git command, such as git-lfs, may write hooks; git-lfs only its four."""
    hooks = repo.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, hook in {"lfs": "pre-push", "flow": "flow-made"}.items():
        program = programs / f"git-{name}"
        program.write_text(f"#!/bin/sh\ntouch $(git rev-parse --git-dir)/hooks/{hook}\n")
        program.chmod(0o755)
    agent = Agent(repo)
    path = f"{programs}:/usr/bin:/bin"
    agent.run("env", f"PATH={path}", "git", "-C", str(repo.path), "lfs", "install")
    (hooks / "by-hand").touch()
    only_lfs = agent.changes()
    agent.run("sh", "-c", f"cd '{repo.path}' && PATH={path} git flow init")

    assert named(only_lfs.marked, "hooks") == ["pre-push"]
    assert named(only_lfs.unmarked, "hooks") == ["by-hand"]
    assert "flow-made" in named(agent.changes().marked, "hooks")


def test_switched_checkout_is_charged_and_left(repo: Repo) -> None:
    """The person's checkout on another branch: said, not switched back."""
    repo.git("branch", "other")
    agent = Agent(repo)
    agent.git("checkout", "-q", "other")
    changes, said = agent.settle()

    assert named(changes.marked, "head") == ["HEAD"]
    assert repo.git("symbolic-ref", "HEAD") == "refs/heads/other"
    assert "git switch" in said[0]


@pytest.mark.parametrize(
    "commands",
    [
        [("checkout", "-q", "other"), ("checkout", "-q", "main")],
        [("reset", "-q", "--hard")],
        [("symbolic-ref", "HEAD", "refs/heads/other")],
        [("branch", "-M", "main", "renamed")],
    ],
)
def test_every_rewrite_of_a_checkout_is_charged(
    repo: Repo, commands: list[tuple[str, ...]]
) -> None:
    """Also one that leaves HEAD where it was: the files may have been written."""
    repo.git("branch", "other")
    agent = Agent(repo)
    for command in commands:
        agent.git(*command)

    assert named(agent.changes().marked, "head") == ["HEAD"]


def test_new_branch_under_a_checkout_stays(repo: Repo) -> None:
    """A branch that a checkout stands on is not pulled from under it."""
    agent = Agent(repo)
    agent.git("checkout", "-q", "-b", "new")
    agent.git("commit", "-q", "--allow-empty", "-m", "x")
    made = value(repo, "refs/heads/new")
    changes, said = agent.settle()

    assert named(changes.marked, "ref") == ["refs/heads/new"]
    assert value(repo, "refs/heads/new") == made
    assert "stands on it" in said[0]


def test_person_switches_and_resets(repo: Repo) -> None:
    """A checkout that the person switched is the person's."""
    repo.git("branch", "other")
    agent = Agent(repo)
    agent.git("status")
    repo.git("checkout", "-q", "other")
    changes, said = agent.settle()

    assert (changes.marked, said) == ((), ())
    assert named(changes.unmarked, "head") == ["HEAD"]


def test_detached_checkout_of_the_person(repo: Repo) -> None:
    """A detached HEAD goes back unless the person went on."""
    repo.git("checkout", "-q", "--detach")
    start = repo.git("rev-parse", "HEAD")
    agent = Agent(repo)
    agent.git("commit", "-q", "--allow-empty", "-m", "x")
    agent.settle()
    back = repo.git("rev-parse", "HEAD")
    later = Agent(repo, 2)
    repo.commit("by the person")
    changes, _ = later.settle()

    assert back == start
    assert changes.marked == ()
    assert named(changes.unmarked, "head") == ["HEAD"]


def test_another_attempts_switch_is_not_reported(repo: Repo) -> None:
    """Neither as this attempt's nor as the person's."""
    repo.git("branch", "other")
    one, two = Agent(repo, 1), Agent(repo, 2)
    one.git("checkout", "-q", "other")

    assert two.changes().marked == ()
    assert two.changes().unmarked == ()


def test_worktree_made_and_removed(repo: Repo, tmp_path: Path) -> None:
    """Linked worktrees of the person's that an agent adds or removes are charged."""
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "theirs"))
    agent = Agent(repo)
    agent.git("worktree", "add", "-q", "--detach", str(tmp_path / "made"))
    agent.git("worktree", "remove", str(tmp_path / "theirs"))

    assert named(agent.changes().marked, "head") == ["worktrees/made/HEAD", "worktrees/theirs/HEAD"]


def test_worktrees_of_the_person_while_the_agent_has_its_own(repo: Repo, tmp_path: Path) -> None:
    """What the person adds or removes is not charged to an agent that does the same elsewhere."""
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "theirs"))
    agent = Agent(repo)
    agent.git("worktree", "add", "-q", "--detach", str(tmp_path / "made"))
    agent.git("worktree", "remove", str(tmp_path / "made"))
    repo.git("worktree", "remove", str(tmp_path / "theirs"))
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "new"))
    changes = agent.changes()

    assert changes.marked == ()
    assert named(changes.unmarked, "head") == ["worktrees/new/HEAD", "worktrees/theirs/HEAD"]


@pytest.mark.parametrize(
    ("command", "charged"),
    [
        (("symbolic-ref", "HEAD"), False),
        (("branch", "--list"), False),
        (("stash", "list"), False),
        (("symbolic-ref", "HEAD", "refs/heads/other"), True),
        (("checkout", "-q", "other"), True),
    ],
)
def test_switch_without_a_reflog(repo: Repo, command: tuple[str, ...], charged: bool) -> None:
    """Where HEAD keeps no reflog, the trace tells who switched."""
    repo.git("config", "core.logAllRefUpdates", "false")
    (repo.path / ".git/logs/HEAD").unlink()
    repo.git("branch", "other")
    agent = Agent(repo)
    agent.git(*command)
    repo.git("checkout", "-q", "other")

    assert named(agent.changes().marked, "head") == (["HEAD"] if charged else [])


def test_edited_files_are_reported_only(repo: Repo) -> None:
    """Who edited or made a file in the person's checkout cannot be told."""
    agent = Agent(repo)
    agent.git("status")
    repo.write({"README.md": "edited", "new file": "x"})
    changes, said = agent.settle()

    assert (changes.marked, said) == ((), ())
    assert named(changes.unmarked, "worktree_files") == ["README.md", "new file"]


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (("add", "new"), "new"),
        (("add", "--all"), "new"),
        (("add", "."), "sub/file"),
        (("rm", "-q", "gone"), "gone"),
        (("rm", "-q", "--cached", "gone"), "gone"),
        (("restore", "dirty"), "dirty"),
        (("checkout", "--", "dirty"), "dirty"),
        (("clean", "-qf"), "new"),
        (("reset", "-q", "--", "staged"), "staged"),
        (("mv", "gone", "moved"), "moved"),
    ],
)
def test_quiet_commands_in_the_checkout(repo: Repo, command: tuple[str, ...], path: str) -> None:
    """What a git command did to index or files is charged; nothing of it is undone."""
    names = ("dirty", "gone", "staged", "sub/file")
    repo.commit("files", dict.fromkeys(names, "x"))
    repo.write({"dirty": "y", "new": "n", "staged": "s", "sub/file": "y"})
    repo.git("add", "staged")
    agent = Agent(repo)
    agent.git(*command)
    status = repo.git("status", "--porcelain")
    changes, _ = agent.settle()

    assert path in named(changes.marked, "worktree_files")
    assert repo.git("status", "--porcelain") == status


def test_quiet_command_is_not_blamed_for_the_persons_edit(repo: Repo) -> None:
    """A command that leads to one file did nothing to another, and none makes an edit."""
    repo.commit("files", {"one": "x", "two": "x"})
    agent = Agent(repo)
    repo.write({"one": "y"})
    agent.git("add", "one")
    repo.write({"one": "z", "two": "y"})
    repo.git("add", "two")
    changes = agent.changes()

    assert named(changes.marked, "worktree_files") == []
    assert named(changes.unmarked, "worktree_files") == ["one", "two"]


def test_files_and_index_are_never_written(repo: Repo) -> None:
    """After everything at once, files and index have the bytes that the agent left."""
    stashed(repo, "one")
    repo.write({"README.md": "dirty", "new": "x"})
    agent = Agent(repo)
    agent.git("add", "new")
    agent.git("commit", "-q", "-m", "x")
    agent.git("stash", "drop", "-q")
    agent.git("tag", "v1")
    agent.git("config", "x.y", "z")
    agent.git("update-ref", "refs/heads/main", "HEAD~1")
    before = _bytes(repo)
    agent.settle()

    assert _bytes(repo) == before


def _bytes(repo: Repo) -> dict[str, str]:
    files = [path for path in repo.path.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() + str(path.stat().st_mtime_ns)
        for path in [*files, repo.path / ".git/index"]
    }


def test_everything_at_once_by_the_person(repo: Repo) -> None:
    """An idle agent beside a busy person: nothing is charged, nothing is undone."""
    stashed(repo, "one")
    agent = Agent(repo)
    agent.git("log", "-1")
    agent.git("stash", "list")
    repo.git("stash", "drop", "-q")
    stashed(repo, "two")
    repo.git("config", "x.y", "z")
    repo.git("checkout", "-q", "-b", "new")
    repo.commit("x", {"a": "a"})
    repo.git("tag", "-am", "x", "v1")
    repo.git("branch", "-M", "main", "trunk")
    state = [*process.run(["git", "for-each-ref"], cwd=repo.path).text.split("\n"), *stash(repo)]
    changes, said = agent.settle()
    after = [*process.run(["git", "for-each-ref"], cwd=repo.path).text.split("\n"), *stash(repo)]

    assert (changes.marked, said) == ((), ())
    assert after == state
    assert {change.kind for change in changes.unmarked} == {"ref", "head", "stash", "config"}
