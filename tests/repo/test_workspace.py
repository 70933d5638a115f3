"""Workspaces: made apart from the person's repository, restored, listed, removed."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from qloop.repo.checkout import Repository, find_repository
from qloop.repo.git import GitFailed
from qloop.repo.guard import check_guard
from qloop.repo.lookup import close_all
from qloop.repo.names import attempt_id, parse_attempt_id, workspace_base
from qloop.repo.scratch import note_setup
from qloop.repo.settings import read_settings
from qloop.repo.starts import hold_start, release_start
from qloop.repo.workspace import (
    SetupFailed,
    create_workspace,
    find_workspaces,
    list_workspaces,
    remove_workspace,
    restore_workspace,
)
from qloop.system import process
from qloop.system.errors import BadInput
from repo.attempt_world import BRANCH, NAME, World, agent, agent_commits, picture, write
from repository import Repo


@pytest.fixture
def world(repo: Repo, tmp_path: Path) -> World:
    """A repository, and a folder for worktrees with a blank, an umlaut and a quote in its name."""
    return World(repo, tmp_path / 'wörk "trees"')


def test_a_workspace_is_a_worktree_on_the_asked_branch_at_the_start(world: World) -> None:
    """The agent finds the start commit checked out on the story's branch, and a clean status."""
    ws = world.make()

    assert agent(ws, "rev-parse", "HEAD") == world.tip
    assert agent(ws, "symbolic-ref", "--short", "HEAD") == BRANCH
    assert agent(ws, "status", "--porcelain") == ""
    assert (ws.tree / "README.md").read_text() == "start\n"
    assert (ws.tree / ".git").read_bytes() == ws.link
    assert ws.tmp.is_dir()


def test_without_a_branch_the_worktree_is_detached(world: World) -> None:
    """A scratch worktree stands at a commit, on no branch."""
    ws = world.make("scratch.r-1", None)

    assert agent(ws, "symbolic-ref", "--quiet", "HEAD", check=False) == ""
    assert agent(ws, "rev-parse", "HEAD") == world.tip


def test_an_agent_commits_as_the_repository_user(world: World) -> None:
    """The identity of the person's repository holds in the worktree."""
    ws = world.make()
    agent_commits(ws, "work", {"a.txt": "a\n"})

    assert agent(ws, "log", "-1", "--format=%an <%ae>") == "Pat Person <pat@example.invalid>"


def test_nothing_an_agent_does_in_git_reaches_the_person(world: World) -> None:
    """Commits, branches, tags, stashes, config, hooks and gc leave the person's .git as it was."""
    write(world.repo.path, {"README.md": "stashed\n"})
    world.repo.git("stash")
    ws = world.make()
    before = picture(world.repo.path)
    agent_commits(ws, "work", {"a.txt": "a\n"})
    agent(ws, "branch", "other")
    agent(ws, "branch", "-f", "main", "HEAD")
    agent(ws, "tag", "v1")
    write(ws.tree, {"a.txt": "b\n"})
    agent(ws, "stash")
    agent(ws, "stash", "clear")
    agent(ws, "config", "user.name", "Mallory")
    agent(ws, "config", "core.hooksPath", "/tmp")
    hooks = Path(agent(ws, "rev-parse", "--git-path", "hooks"))
    assert not hooks.is_relative_to(world.repo.path)
    agent(ws, "reflog", "expire", "--expire=now", "--all")
    agent(ws, "gc", "--quiet", "--prune=now")
    agent(ws, "update-ref", "-d", "refs/heads/other")

    assert picture(world.repo.path) == before
    assert world.repo.git("stash", "list") != ""


def test_a_hook_of_the_person_is_not_run_by_the_agents_git(world: World) -> None:
    """A hooks folder set for the whole machine does not hold in the attempt repository."""
    hooks = Path.home() / "hooks"
    write(hooks, {"pre-commit": "#!/bin/sh\nexit 1\n"})
    (hooks / "pre-commit").chmod(0o755)
    world.repo.git("config", "--global", "core.hooksPath", str(hooks))
    ws = world.make()

    assert agent_commits(ws, "work", {"a.txt": "a\n"})


def test_there_is_no_remote_without_need(world: World) -> None:
    """An agent has nowhere to push to."""
    world.repo.git("remote", "add", "origin", "https://example.invalid/x.git")
    ws = world.make()

    assert agent(ws, "remote") == ""


def test_a_submodule_is_an_empty_folder_and_can_be_fetched(world: World, tmp_path: Path) -> None:
    """A gitlink does not hinder the worktree; its URL is resolved, and pushing is not possible."""
    library = Repo(tmp_path / "library")
    library.commit("lib", {"lib.txt": "lib\n"})
    world.repo.git("remote", "add", "origin", "../remote.git")
    world.repo.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", "../library")
    world.repo.commit("with submodule")
    ws = world.make()
    allow = ("-c", "protocol.file.allow=always")

    assert list((ws.tree / "library").iterdir()) == []
    assert agent(ws, "remote", "get-url", "origin") == str(tmp_path / "remote.git")
    agent(ws, *allow, "submodule", "update", "--quiet", "--init")
    assert (ws.tree / "library" / "lib.txt").read_text() == "lib\n"
    assert agent(ws, "push", "origin", "HEAD:main", check=False) == ""
    assert agent(ws, "remote", "get-url", "--push", "origin").startswith("qloop-no-push:")


def test_a_shallow_clone_stays_readable(world: World, tmp_path: Path) -> None:
    """History ends in the worktree where the person's clone ends, and work is carried over."""
    world.repo.commit("two", {"b.txt": "b\n"})
    world.repo.commit("three", {"c.txt": "c\n"})
    clone = tmp_path / "shallow"
    process.run(["git", "clone", "-q", "--depth=1", f"file://{world.repo.path}", str(clone)])
    shallow = World(Repo(clone), world.base)
    ws = shallow.make()
    tip = agent_commits(ws, "work", {"d.txt": "d\n"})
    kept = shallow.salvage(ws)
    check_guard(ws, shallow.repository)

    assert agent(ws, "rev-list", "--count", "HEAD") == "2"
    assert kept.tip == tip
    assert shallow.repo.git("rev-list", "--count", tip) == "2"


def test_a_sha256_repository_works(tmp_path: Path) -> None:
    """The object format is the person's, through to the salvage."""
    folder = tmp_path / "sha256"
    process.run(["git", "init", "-q", "--object-format=sha256", str(folder)])
    world = World(Repo(folder), tmp_path / "trees")
    world.repo.commit("start", {"a.txt": "a\n"})
    ws = world.make()
    tip = agent_commits(ws, "work", {"b.txt": "b\n"})

    assert len(tip) == 64
    assert world.salvage(ws).tip == tip
    check_guard(ws, world.repository)


def test_a_partial_clone_fetches_what_it_left_out(world: World, tmp_path: Path) -> None:
    """A start commit whose files the person's clone does not hold can be checked out and kept."""
    old = world.repo.commit("old", {"old.txt": "old\n", "kept.txt": "kept\n"})
    world.repo.commit("new", {"old.txt": "new\n"})
    world.repo.git("config", "uploadpack.allowFilter", "true")
    world.repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clone = tmp_path / "partial"
    process.run(
        ["git", "clone", "-q", "--filter=blob:none", f"file://{world.repo.path}", str(clone)]
    )
    partial = World(Repo(clone), world.base)
    ws = partial.make(start=old)
    tip = agent_commits(ws, "work", {"d.txt": "d\n"})

    assert (ws.tree / "old.txt").read_text() == "old\n"
    assert partial.salvage(ws).tip == tip
    assert partial.files(tip) == ["README.md", "d.txt", "kept.txt", "old.txt"]


def test_objects_with_a_line_end_in_their_path_are_found(tmp_path: Path) -> None:
    """The path in the alternates file is quoted where it must be."""
    world = World(Repo(tmp_path / 'odd\n"repo\\'), tmp_path / "trees")
    world.repo.commit("start", {"a.txt": "a\n"})
    ws = world.make()

    assert (ws.tree / "a.txt").read_text() == "a\n"


def test_ignored_files_are_the_persons(world: World) -> None:
    """Patterns of the user's and the repository's exclude files hold in the worktree."""
    write(Path.home() / ".config" / "git", {"ignore": "*.mine\n!b.mine\n"})
    write(world.repo.path / ".git" / "info", {"exclude": "*.theirs\n"})
    ws = world.make()
    write(ws.tree, {"a.mine": "", "b.mine": "", "a.theirs": "", "a.txt": ""})

    assert world.salvage(ws).changed_paths == ("a.txt", "b.mine")


def test_restoring_undoes_what_bends_git(world: World) -> None:
    """Configuration, excludes, alternates, grafts, attributes: all are as they were made."""
    ws = world.make()
    before = {name: (ws.git_dir / name).read_bytes() for name in ws.pristine}
    agent(ws, "config", "core.fsmonitor", "touch /tmp/never")
    agent(ws, "config", "extensions.worktreeConfig", "true")
    agent(ws, "config", "--worktree", "core.bare", "false")
    write(ws.git_dir, {"info/attributes": "* -text\n", "info/exclude": "*\n", "shallow": ws.start})
    write(ws.git_dir, {"commondir": f"{world.repo.path}/.git\n", "info/grafts": ws.start})
    write(ws.git_dir, {"objects/info/commit-graphs/commit-graph-chain": "x\n"})
    (ws.git_dir / "objects/info/alternates").unlink()
    (ws.admin / "commondir").write_text("/tmp\n")
    restore_workspace(ws)

    assert {name: (ws.git_dir / name).read_bytes() for name in ws.pristine} == before
    assert agent(ws, "rev-parse", "HEAD") == ws.start
    for name in ("commondir", "info/attributes", "info/grafts", "objects/info/commit-graphs"):
        assert not (ws.git_dir / name).exists()
    assert not (ws.admin / "config.worktree").exists()
    assert not (ws.git_dir / "shallow").exists()


def test_restoring_never_writes_through_a_link(world: World) -> None:
    """Files and folders that an agent replaced by links to the person's are replaced, not used."""
    ws = world.make()
    persons = world.repo.path / ".git"
    write(persons / "info", {"exclude": "mine\n"})
    before = picture(persons)
    (ws.git_dir / "config").unlink()
    (ws.git_dir / "config").symlink_to(persons / "config")
    (ws.git_dir / "info" / "exclude").unlink()
    (ws.git_dir / "info").rmdir()
    (ws.git_dir / "info").symlink_to(persons / "info")
    (ws.git_dir / "HEAD").unlink()
    (ws.git_dir / "HEAD").hardlink_to(persons / "HEAD")
    restore_workspace(ws)

    assert picture(persons) == before
    assert agent(ws, "rev-parse", "HEAD") == ws.start


def test_a_removed_workspace_leaves_nothing(world: World) -> None:
    """Tree, repository, temporary files and record go; the person's files stay."""
    ws = world.make()
    before = picture(world.repo.path / ".git")

    assert remove_workspace(ws)
    assert list(world.base.iterdir()) == []
    assert find_workspaces(world.repository) == ()
    for kind in ("json", "index"):
        del before[f"qloop/workspaces/{NAME}.{kind}"]
    assert picture(world.repo.path / ".git") == before


def test_removal_never_follows_a_link(world: World, tmp_path: Path) -> None:
    """A tree replaced by a link, and links in it, are unlinked; where they led stays whole."""
    treasure = tmp_path / "treasure"
    write(treasure, {"gold": "1\n"})
    ws, other = world.make(), world.make("US-002.1.0123abcd")
    (other.tree / "inside").symlink_to(treasure)
    remove_workspace(replace(ws, name="none"))
    process.run(["rm", "-rf", str(ws.tree)])
    ws.tree.symlink_to(treasure)

    assert remove_workspace(ws)
    assert remove_workspace(other)
    assert (treasure / "gold").read_text() == "1\n"


def test_write_protected_and_very_deep_folders_are_removed(world: World) -> None:
    """Neither a missing permission nor a path beyond the system's limit keeps a worktree."""
    ws = world.make()
    write(ws.tree, {"shut/file": "x"})
    script = "i=0; while [ $i -lt 600 ]; do mkdir longname; cd longname; i=$((i+1)); done"
    process.run(["sh", "-c", script], cwd=ws.tree)
    (ws.tree / "shut").chmod(0o500)

    assert remove_workspace(ws)


def test_leftovers_of_a_dead_workspace_make_room(world: World) -> None:
    """A workspace can be made where one of the same name was left, whatever state it is in."""
    ws = world.make()
    agent_commits(ws, "dead", {"dead.txt": "x"})
    (ws.tree / ".git").unlink()
    again = world.make()

    assert agent(again, "rev-parse", "HEAD") == world.tip
    assert not (again.tree / "dead.txt").exists()


def test_what_qloop_did_not_make_is_not_removed(world: World) -> None:
    """A folder of the person's in the place of the scratch worktree is an error, and stays."""
    write(world.base / "scratch.r-1", {"mine.txt": "mine\n"})

    with pytest.raises(SetupFailed, match="did not make"):
        world.make("scratch.r-1", None)
    assert (world.base / "scratch.r-1" / "mine.txt").exists()


def test_a_workspace_that_cannot_be_made_leaves_nothing(world: World) -> None:
    """An unknown start is git's failure, and no half of a workspace stays."""
    with pytest.raises(GitFailed):
        world.make(start="1" * 40)
    assert list(world.base.iterdir()) == []
    assert find_workspaces(world.repository) == ()


def test_workspaces_are_found_again_by_another_process(world: World) -> None:
    """The record in the person's git directory holds the whole value, once set-up is noted."""
    ws = note_setup(world.make())

    assert find_workspaces(world.repository) == (ws,)
    write(ws.record.parent, {"half.json": "{"})
    assert find_workspaces(world.repository) == (ws,)


def test_the_list_tells_story_attempt_branch_and_commit(world: World) -> None:
    """The scratch worktree is no attempt; a detached or broken worktree has no branch."""
    ws = world.make()
    tip = agent_commits(ws, "work", {"a.txt": "a\n"})
    broken = world.make("US-002.3.0123abcd")
    process.run(["rm", "-rf", str(broken.git_dir)])
    world.make("scratch.r-1", None)
    rows = list_workspaces(world.repository)

    assert [(row.story, row.attempt, row.branch, row.commit) for row in rows] == [
        ("US-001", 1, BRANCH, tip),
        ("US-002", 3, None, broken.start),
    ]
    assert rows[0].path == str(ws.tree)


def test_sixteen_threads_make_and_remove_workspaces_at_once(world: World) -> None:
    """Workspaces share nothing that could be locked, and start refs wait for each other."""
    settings = read_settings(world.repository)
    tip = world.tip

    def live(number: int) -> bool:
        name = attempt_id(f"US-{number}", 1, "0123abcd")
        hold_start(world.repository, tip, name)
        ws = create_workspace(
            world.repository, settings, world.base, name, f"ql-wt/US-{number}", tip
        )
        agent(ws, "commit", "--quiet", "--allow-empty", "-m", "work")
        release_start(world.repository, name)
        return remove_workspace(ws)

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(live, range(32)))
    assert world.repo.git("for-each-ref", "refs/qloop") == ""
    assert list(world.base.iterdir()) == []


def test_a_held_start_outlives_the_branch_it_came_from(world: World) -> None:
    """A commit that no branch holds any more is kept for its attempt, and let go after it."""
    start = world.repo.commit("start of an attempt", {"s.txt": "s\n"})
    hold_start(world.repository, start, NAME)
    world.repo.git("reset", "--quiet", "--hard", "HEAD~1")
    prune = ("-c", "gc.reflogExpire=now", "-c", "gc.reflogExpireUnreachable=now", "gc", "--quiet")
    world.repo.git(*prune, "--prune=now")

    assert world.repository.git.find(f"{start}^{{commit}}") == start
    release_start(world.repository, NAME)
    release_start(world.repository, NAME)
    world.repo.git(*prune, "--prune=now")
    close_all()  # a git that stays may still have its old pack at hand
    assert world.repository.git.find(f"{start}^{{commit}}") is None


def test_attempt_ids_are_read_back() -> None:
    """The parts of an id come back; anything else is none."""
    name = attempt_id("A_b-1", 12, "00ff00ff")
    parts = parse_attempt_id(name)

    assert name == "A_b-1.12.00ff00ff"
    assert parts is not None
    assert (parts.story, parts.attempt, parts.nonce) == ("A_b-1", 12, "00ff00ff")
    for text in (
        "scratch.r-1",
        "A.0.00ff00ff",
        "A.1.00FF00FF",
        "../A.1.00ff00ff",
        "A.1.00ff00ff\n",
    ):
        assert parse_attempt_id(text) is None
    with pytest.raises(BadInput):
        attempt_id("a/b", 1, "00ff00ff")


def test_the_base_is_a_folder_per_repository_in_the_state_folder(world: World) -> None:
    """Its name is plain, and differs for repositories of one name."""
    base = workspace_base(None, world.repository)
    other = replace(world.repository, git_dir=Path("/elsewhere/.git"))

    assert base.parent == Path.home() / "state" / "qloop"
    assert base.name.startswith("a-repo-")
    assert workspace_base(None, other).name != base.name
    assert workspace_base("../trees", world.repository).parent == world.repo.path.parent / "trees"
    assert workspace_base("~/trees", world.repository).parent == Path.home() / "trees"


def test_the_base_must_not_lie_in_the_checkout(world: World) -> None:
    """Worktrees inside the repository are refused, also by way of a link."""
    link = world.repo.path.parent / "link"
    link.symlink_to(world.repo.path)

    for override in ("trees", str(link), ".git/x"):
        with pytest.raises(BadInput, match="worktree_root"):
            workspace_base(override, world.repository)


def test_settings_are_resolved_from_all_of_the_persons_configuration(world: World) -> None:
    """Global and local values are carried in order and survive JSON; others are not."""
    world.repo.git("config", "--global", "filter.x.clean", 'sed "s/a/\\tb/" # c')
    world.repo.git("config", "--global", "core.autocrlf", "input")
    world.repo.git("config", "core.autocrlf", "false")
    world.repo.git("config", "--global", "alias.st", "status")
    world.repo.git("config", 'filter.we"ird\\name.smudge', "cat")
    settings = read_settings(world.repository)
    ws = world.make()

    assert type(settings).from_dict(settings.to_dict()) == settings
    assert agent(ws, "config", "--local", "filter.x.clean") == 'sed "s/a/\\tb/" # c'
    assert agent(ws, "config", "--local", 'filter.we"ird\\name.smudge') == "cat"
    assert agent(ws, "config", "--local", "core.autocrlf") == "false"
    assert agent(ws, "config", "--local", "alias.st", check=False) == ""
    assert settings.fetch_url is None


def test_without_an_identity_qloop_is_the_author(tmp_path: Path) -> None:
    """Agents can commit where the person never said who they are."""
    folder = tmp_path / "nobody"
    process.run(["git", "init", "-q", str(folder)])
    settings = read_settings(find_repository(folder))

    assert (settings.name, settings.email) == ("qloop", "qloop@localhost")


def test_an_exclude_file_that_is_no_utf8_still_ignores(world: World) -> None:
    """A byte that JSON cannot carry matches as any one byte."""
    exclude = world.repo.path / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_bytes(b"\xef\xbb\xbfplain\ncaf\xe9\n")
    ws = world.make()
    (ws.tree / "plain").touch()
    Path(str(ws.tree) + "/caf\udce9").touch()

    assert agent(ws, "status", "--porcelain") == ""


def test_repository_values_are_plain(world: World) -> None:
    """The workspace's repository is the person's, also when found from within the checkout."""
    found = find_repository(world.repo.path)

    assert found == Repository(world.repo.path.resolve(), world.repo.path.resolve() / ".git")
