"""Salvage: nothing an agent did in its worktree is lost, and nothing else is kept."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qloop.repo.carry import CarryFailed, carry
from qloop.repo.kept import find_salvage, list_salvage, restore_salvage, show_salvage
from qloop.repo.scratch import note_setup
from qloop.repo.workspace import Workspace, find_workspaces
from qloop.system import process
from qloop.system.clock import parse_utc
from qloop.system.errors import BadInput
from repo.attempt_world import BRANCH, World, agent, agent_commits, write
from repository import Repo

REF = "refs/qloop/attempts/US-001/1"


@pytest.fixture
def world(repo: Repo, tmp_path: Path) -> World:
    """A repository with some files, and a folder for worktrees."""
    repo.commit("files", {"a.txt": "a\n", "dir/b.txt": "b\n", "dir/c.txt": "c\n"})
    return World(repo, tmp_path / "trees")


@pytest.fixture
def ws(world: World) -> Workspace:
    """An attempt's workspace at the person's HEAD."""
    return world.make()


def test_an_attempt_that_did_nothing_gets_its_ref(world: World, ws: Workspace) -> None:
    """The ref is written always; here it holds the start."""
    kept = world.salvage(ws)

    assert (kept.head, kept.tip, kept.dirty, kept.changed_paths) == (ws.start, ws.start, False, ())
    assert world.repo.git("rev-parse", REF) == ws.start


def test_commits_are_carried_over(world: World, ws: Workspace) -> None:
    """The tip is the agent's commit, its objects are the person's now."""
    agent_commits(ws, "one", {"x.txt": "x\n"})
    tip = agent_commits(ws, "two", {"a.txt": "changed\n"})
    kept = world.salvage(ws)

    assert (kept.head, kept.tip, kept.dirty) == (tip, tip, False)
    assert kept.changed_paths == ("a.txt", "x.txt")
    process.run(["rm", "-rf", str(ws.git_dir)])
    assert world.repo.git("fsck", "--strict", REF) == ""
    assert world.content(REF, "a.txt") == "changed\n"


def test_many_objects_come_as_one_pack(world: World, ws: Workspace) -> None:
    """A large attempt is carried as well as a small one."""
    agent_commits(ws, "many", {f"many/{number}.txt": f"{number}\n" for number in range(150)})
    kept = world.salvage(ws)

    assert len(kept.changed_paths) == 150
    assert len(list((world.repo.path / ".git/objects/pack").glob("*.pack"))) == 1


def test_uncommitted_work_becomes_a_commit_on_head(world: World, ws: Workspace) -> None:
    """Staged, unstaged, new and deleted: all of it, authored by the repository's user."""
    head = agent_commits(ws, "one", {"x.txt": "x\n"})
    write(ws.tree, {"staged.txt": "s\n", 'new dir/ünï "q"\n.txt': "n\n", "a.txt": "changed\n"})
    agent(ws, "add", "staged.txt")
    (ws.tree / "dir/b.txt").unlink()
    (ws.tree / "run.sh").symlink_to("a.txt")
    (ws.tree / "dir/c.txt").chmod(0o755)
    kept = world.salvage(ws)
    shown = world.repo.git("log", "-1", "--format=%an <%ae>|%cn|%P|%B", kept.tip)

    assert (kept.head, kept.dirty) == (head, True)
    assert shown.strip() == (
        f"Pat Person <pat@example.invalid>|qloop|{head}|US-001: work left uncommitted"
    )
    assert world.files(kept.tip) == [
        "README.md",
        "a.txt",
        "dir/c.txt",
        'new dir/ünï "q"\n.txt',
        "run.sh",
        "staged.txt",
        "x.txt",
    ]
    assert world.content(kept.tip, "a.txt") == "changed\n"
    modes = world.repo.git("ls-tree", "-r", "--format=%(objectmode) %(path)", kept.tip)
    assert {"120000 run.sh", "100755 dir/c.txt"} <= set(modes.splitlines())


def test_no_trick_of_time_or_place_hides_a_change(world: World, ws: Workspace) -> None:
    """Same size and times as before, or the old file seen through a link to its folder."""
    before = (ws.tree / "a.txt").stat()
    (ws.tree / "a.txt").write_text("z\n", encoding="utf-8")
    os.utime(ws.tree / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    (ws.tree / "dir").rename(ws.tree / "moved")
    (ws.tree / "dir").symlink_to("moved")
    kept = world.salvage(ws)

    assert world.content(kept.tip, "a.txt") == "z\n"
    assert world.files(kept.tip) == ["README.md", "a.txt", "dir", "moved/b.txt", "moved/c.txt"]


def test_without_the_first_index_every_file_is_compared(world: World, ws: Workspace) -> None:
    """It may have been lost with a crash, or be of another run's make."""
    ws.first_index.unlink()
    write(ws.tree, {"a.txt": "z\n", "new.txt": "n\n"})

    assert world.salvage(ws).changed_paths == ("a.txt", "new.txt")


def test_the_worktree_is_left_as_it_is(world: World, ws: Workspace) -> None:
    """Salvage moves no branch and stages nothing."""
    write(ws.tree, {"new.txt": "n\n", "a.txt": "changed\n"})
    before = agent(ws, "status", "--porcelain"), agent(ws, "rev-parse", "HEAD")
    world.salvage(ws)

    assert (agent(ws, "status", "--porcelain"), agent(ws, "rev-parse", "HEAD")) == before


def test_ignored_files_stay_out(world: World, ws: Workspace) -> None:
    """What the tree's own .gitignore names is no work; a tracked file is, ignored or not."""
    write(ws.tree, {".gitignore": "*.log\nbuild/\na.txt\n", "x.log": "", "build/out": ""})
    write(ws.tree, {"a.txt": "changed\n"})

    assert world.salvage(ws).changed_paths == (".gitignore", "a.txt")


def test_what_set_up_left_stays_out(world: World, ws: Workspace) -> None:
    """Also where the agent's .gitignore says that it is not ignored."""
    write(ws.tree, {"node_modules/m.js": "m\n", "odd [name] *\\.txt": "s\n"})
    ws = note_setup(ws)
    assert agent(ws, "status", "--porcelain") == ""
    write(ws.tree, {".gitignore": "!node_modules/\n!*.txt\n!*.js\n", "own.js": "o\n"})
    write(ws.tree, {"node_modules/m.js": "changed\n", "node_modules/agents.js": "x\n"})

    assert world.salvage(ws).changed_paths == (".gitignore", "node_modules/agents.js", "own.js")


def test_flags_of_the_index_hide_no_work(world: World, ws: Workspace) -> None:
    """Assume-unchanged and skip-worktree files that differ are salvaged."""
    agent(ws, "update-index", "--assume-unchanged", "a.txt")
    agent(ws, "update-index", "--skip-worktree", "dir/b.txt")
    agent(ws, "update-index", "--assume-unchanged", "dir/c.txt")
    write(ws.tree, {"a.txt": "changed\n", "dir/b.txt": "changed\n"})
    (ws.tree / "dir/c.txt").unlink()

    assert world.salvage(ws).changed_paths == ("a.txt", "dir/b.txt", "dir/c.txt")


@pytest.mark.parametrize("mode", ["--no-cone", "--cone"])
def test_a_sparse_checkout_deletes_nothing(world: World, ws: Workspace, mode: str) -> None:
    """Files that sparse settings keep out are not deleted; new ones outside of them are kept."""
    pattern = "/a.txt" if mode == "--no-cone" else "elsewhere"
    agent(ws, "sparse-checkout", "set", mode, "--sparse-index", pattern)
    assert not (ws.tree / "dir").exists()
    write(ws.tree, {"dir/new.txt": "n\n", "a.txt": "changed\n"})
    kept = world.salvage(ws)

    assert kept.changed_paths == ("a.txt", "dir/new.txt")
    assert "dir/b.txt" in world.files(kept.tip)


def test_a_repository_in_the_worktree_is_taken_as_files(world: World, ws: Workspace) -> None:
    """No gitlink comes of it; its own history and what it ignores stay behind."""
    inner = Repo(ws.tree / "inner")
    inner.commit("inner", {"in.txt": "i\n", ".gitignore": "*.o\n"})
    inner.write({"deep/new.txt": "n\n", "x.o": "o\n"})
    Repo(ws.tree / "inner/deep/er").write({"d.txt": "d\n"})
    process.run(["git", "init", "-q", str(ws.tree / "dir")])
    write(ws.tree, {"dir/new.txt": "n\n"})
    kept = world.salvage(ws)

    assert kept.changed_paths == (
        "dir/new.txt",
        "inner/.gitignore",
        "inner/deep/er/d.txt",
        "inner/deep/new.txt",
        "inner/in.txt",
    )
    assert "160000" not in world.repo.git("ls-tree", "-r", kept.tip)


def test_a_repository_in_the_place_of_tracked_files_is_taken_too(
    world: World, ws: Workspace
) -> None:
    """A tracked file that became a folder, and a folder that became a repository."""
    (ws.tree / "a.txt").unlink()
    Repo(ws.tree / "a.txt").commit("inner", {"in.txt": "i\n"})

    assert world.salvage(ws).changed_paths == ("a.txt", "a.txt/in.txt")


def test_folders_and_files_may_change_places(world: World, ws: Workspace) -> None:
    """A folder that became a link or a file, and a file that became a folder."""
    (ws.tree / "a.txt").unlink()
    write(ws.tree, {"a.txt/deep.txt": "d\n"})
    process.run(["mv", "dir", "moved"], cwd=ws.tree)
    (ws.tree / "dir").symlink_to("moved")
    kept = world.salvage(ws)

    assert world.files(kept.tip) == [
        "README.md",
        "a.txt/deep.txt",
        "dir",
        "moved/b.txt",
        "moved/c.txt",
    ]
    assert world.content(kept.tip, "dir") == "moved"


def test_a_submodules_new_commit_is_named(world: World, tmp_path: Path) -> None:
    """The gitlink moves with the submodule; that its commits stay behind is told."""
    Repo(tmp_path / "library").commit("lib", {"lib.txt": "lib\n"})
    allow = ("-c", "protocol.file.allow=always")
    world.repo.git(*allow, "submodule", "add", "--quiet", "../library")
    world.repo.commit("with submodule")
    ws = world.make()
    agent(ws, "config", "remote.origin.url", str(world.repo.path))
    agent(ws, *allow, "submodule", "update", "--quiet", "--init")
    untouched = world.salvage(ws)
    inner = ("-C", "library", "-c", "user.name=a", "-c", "user.email=a")
    agent(ws, *inner, "commit", "--quiet", "--allow-empty", "-m", "more")
    kept = world.salvage(ws)

    assert (untouched.changed_paths, untouched.unsaved) == ((), ())
    assert (kept.changed_paths, kept.unsaved) == (("library",), ("library",))


def test_names_that_git_refuses_are_told_and_the_rest_is_kept(world: World, ws: Workspace) -> None:
    """A name that would be git's own on another system, and things that are no files."""
    write(ws.tree, {"git~1": "x\n", "sub/.GIT/x": "x\n", "good.txt": "g\n"})
    os.mkfifo(ws.tree / "pipe")
    (ws.tree / "a.txt").unlink()
    os.mkfifo(ws.tree / "a.txt")
    kept = world.salvage(ws)

    assert kept.changed_paths == ("a.txt", "good.txt")
    assert set(kept.unsaved) == {"git~1", "sub/.GIT/x"}


def test_files_without_permission_are_kept(world: World, ws: Workspace) -> None:
    """A file that its owner may not read is opened for reading."""
    write(ws.tree, {"shut.txt": "s\n"})
    (ws.tree / "shut.txt").chmod(0)
    kept = world.salvage(ws)

    assert world.content(kept.tip, "shut.txt") == "s\n"


def test_an_unfinished_rebase_with_conflicts_is_kept(world: World, ws: Workspace) -> None:
    """HEAD is where the rebase stands, and the conflicting files are as they lie there."""
    agent_commits(ws, "one", {"a.txt": "one\n"})
    agent(ws, "checkout", "--quiet", "-b", "other", ws.start)
    head = agent_commits(ws, "two", {"a.txt": "two\n"})
    agent(ws, "checkout", "--quiet", BRANCH)
    agent(ws, "rebase", "other", check=False)
    kept = world.salvage(ws)

    assert (kept.head, kept.dirty) == (head, True)
    assert "<<<<<<<" in world.content(kept.tip, "a.txt")


@pytest.mark.parametrize(
    ("what", "head"),
    [
        (("checkout", "--quiet", "--detach"), "tip"),
        (("branch", "-m", "renamed"), "tip"),
        (("checkout", "--quiet", "-b", "other"), "tip"),
        (("checkout", "--quiet", "--orphan", "unborn"), "tip"),
        (("symbolic-ref", "HEAD", "refs/heads/nowhere"), "tip"),
        (("update-ref", "-d", "HEAD"), "start"),
        (("reset", "--quiet", "--hard", "HEAD~2"), "older"),
    ],
)
def test_head_is_where_the_agent_left_it(
    world: World, ws: Workspace, what: tuple[str, ...], head: str
) -> None:
    """Detached, renamed, switched, unborn: the best commit there is, with the files on it."""
    tip = agent_commits(ws, "one", {"x.txt": "x\n"})
    agent(ws, *what)
    write(ws.tree, {"y.txt": "y\n"})
    kept = world.salvage(ws)
    older = world.repo.git("rev-parse", f"{ws.start}~1")

    assert kept.head == {"tip": tip, "start": ws.start, "older": older}[head]
    assert "y.txt" in world.files(kept.tip)


@pytest.mark.parametrize("broken", ["HEAD", "index", "commondir", "gitdir", "logs"])
def test_broken_files_of_the_worktree_lose_nothing(
    world: World, ws: Workspace, broken: str
) -> None:
    """Whatever is scribbled into the worktree's git directory, commit and files are kept."""
    tip = agent_commits(ws, "one", {"x.txt": "x\n"})
    write(ws.tree, {"y.txt": "y\n"})
    process.run(["rm", "-rf", str(ws.admin / broken)])
    (ws.admin / broken).write_bytes(b"\0nonsense\n")
    kept = world.salvage(ws)

    assert kept.head == tip
    assert "y.txt" in world.files(kept.tip)


@pytest.mark.parametrize("broken", ["HEAD", "index"])
def test_a_pipe_in_gits_place_does_not_hang(world: World, ws: Workspace, broken: str) -> None:
    """A named pipe would keep git waiting for ever."""
    tip = agent_commits(ws, "one", {"x.txt": "x\n"})
    (ws.admin / broken).unlink()
    os.mkfifo(ws.admin / broken)

    assert world.salvage(ws).tip == tip


def test_a_deleted_worktree_leaves_its_commits(world: World, ws: Workspace) -> None:
    """With the folder gone the attempt's branch is what remains."""
    tip = agent_commits(ws, "one", {"x.txt": "x\n"})
    agent(ws, "worktree", "remove", "--force", str(ws.tree))
    assert not ws.tree.exists()
    kept = world.salvage(ws)

    assert (kept.head, kept.tip, kept.dirty) == (tip, tip, False)


def test_a_deleted_repository_leaves_the_files(world: World, ws: Workspace) -> None:
    """With the attempt repository gone the worktree's files are kept on the start."""
    agent_commits(ws, "one", {"x.txt": "x\n"})
    process.run(["rm", "-rf", str(ws.git_dir)])
    kept = world.salvage(ws)

    assert (kept.head, kept.changed_paths) == (ws.start, ("x.txt",))


def test_a_worktree_replaced_by_a_link_is_not_read(world: World, ws: Workspace) -> None:
    """What lies where a link leads is not the attempt's work."""
    process.run(["rm", "-rf", str(ws.tree)])
    ws.tree.symlink_to(world.repo.path)

    assert not world.salvage(ws).dirty


def test_a_changed_git_file_leads_nowhere(world: World, ws: Workspace) -> None:
    """A `.git` that points to the person's repository does not steer the salvage."""
    tip = agent_commits(ws, "one", {"x.txt": "x\n"})
    (ws.tree / ".git").write_text(f"gitdir: {world.repo.path}/.git\n")
    write(ws.tree, {"y.txt": "y\n"})

    assert world.salvage(ws).head == tip
    assert world.repo.git("status", "--porcelain") == ""


def test_an_alternate_of_the_agents_does_not_count(
    world: World, ws: Workspace, tmp_path: Path
) -> None:
    """Commits whose objects lie elsewhere are refused, and the files are kept all the same."""
    elsewhere = tmp_path / "elsewhere"
    agent(ws, "clone", "--quiet", "--bare", str(ws.git_dir), str(elsewhere))
    write(ws.git_dir, {"objects/info/alternates": f"{elsewhere}/objects\n"})
    (ws.tree / "x.txt").write_text("x\n")
    done = process.run(
        ["git", "hash-object", "-w", "x.txt"],
        cwd=ws.tree,
        env={**os.environ, "GIT_OBJECT_DIRECTORY": str(elsewhere / "objects")},
    )
    assert done.code == 0
    agent(ws, "add", "x.txt")
    agent(ws, "commit", "--quiet", "-m", "one")
    (ws.tree / "x.txt").write_text("y\n")

    with pytest.raises(CarryFailed):
        world.salvage(ws)
    assert world.repo.git("log", "-1", "--format=%P %s", REF).split(" ", 1) == [
        ws.start,
        "US-001: work whose commits are broken",
    ]
    assert world.content(REF, "x.txt") == "y\n"


def test_a_broken_object_is_not_taken_over(world: World, ws: Workspace) -> None:
    """A tree with git's own name in it fails the check, and the ref holds the files."""
    blob = agent(ws, "hash-object", "-w", "a.txt")
    entry = b"100644 .git\0" + bytes.fromhex(blob)
    tree = process.run(
        ["git", "hash-object", "-w", "-t", "tree", "--literally", "--stdin"],
        cwd=ws.tree,
        stdin=entry,
    ).text
    commit = agent(ws, "commit-tree", tree, "-p", ws.start, "-m", "evil")

    with pytest.raises(CarryFailed, match="hasDotgit"):
        carry(ws, world.repository, commit)
    agent(ws, "update-ref", "HEAD", commit)
    with pytest.raises(CarryFailed):
        world.salvage(ws)
    assert world.content(REF, "a.txt") == "a\n"
    assert world.repository.git.find(f"{commit}^{{tree}}") is None


def test_a_file_that_no_check_lets_pass_costs_only_itself(world: World, ws: Workspace) -> None:
    """Submodules with a URL that would be an option are refused; all other files are kept."""
    bad = '[submodule "x"]\n\tpath = x\n\turl = -ucommand\n'
    write(ws.tree, {".gitmodules": bad, "x.txt": "x\n"})

    with pytest.raises(CarryFailed, match="gitmodulesUrl"):
        world.salvage(ws)
    assert world.repo.git("diff", "--name-only", ws.start, REF) == "x.txt"


def test_broken_commits_without_files_leave_the_start(world: World, ws: Workspace) -> None:
    """With neither commits nor files to keep the ref holds the start."""
    tree = agent(ws, "rev-parse", "HEAD^{tree}")
    raw = f"tree {tree}\nparent {ws.start}\nauthor nobody\ncommitter nobody\n\nbroken\n"
    commit = process.run(
        ["git", "hash-object", "-w", "-t", "commit", "--literally", "--stdin"],
        cwd=ws.tree,
        stdin=raw.encode(),
    ).text
    agent(ws, "update-ref", "HEAD", commit)
    process.run(["rm", "-rf", str(ws.tree)])

    with pytest.raises(CarryFailed):
        world.salvage(ws)
    assert world.repo.git("rev-parse", REF) == ws.start


def test_a_forged_history_is_not_believed(world: World, ws: Workspace) -> None:
    """A graft, a replacement and a shallow file of the agent's change nothing."""
    tip = agent_commits(ws, "one", {"x.txt": "x\n"})
    agent(ws, "checkout", "--quiet", "--orphan", "root")
    root = agent_commits(ws, "root", {"y.txt": "y\n"})
    agent(ws, "replace", "--graft", root, tip)
    write(ws.git_dir, {"info/grafts": f"{root} {tip}\n"})
    kept = world.salvage(ws)

    assert kept.tip == root
    assert world.repo.git("rev-list", "--count", REF) == "1"


def test_files_that_nobody_touched_are_no_work(world: World) -> None:
    """Content stored before its line ends were settled does not count as changed."""
    (world.repo.path / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    (world.repo.path / "other.txt").write_bytes(b"one\r\n")
    world.repo.git("add", "--all")
    world.repo.commit("crlf")
    blob = "100644", world.repo.git("rev-parse", "HEAD:crlf.txt"), "crlf.txt"
    write(world.repo.path, {".gitattributes": "*.txt text eol=crlf\n"})
    world.repo.git("add", ".gitattributes")
    world.repo.git("update-index", "--cacheinfo", ",".join(blob))
    world.repo.git("commit", "--quiet", "-m", "attributes")
    ws = world.make()
    assert world.salvage(ws).changed_paths == ()
    (ws.tree / "other.txt").write_bytes(b"two\r\n")
    kept = world.salvage(ws)

    assert kept.changed_paths == ("other.txt",)
    assert world.content(kept.tip, "other.txt") == "two\n"


def test_filters_of_the_person_hold(world: World) -> None:
    """A clean filter from the person's configuration is applied to what is salvaged."""
    world.repo.git("config", "--global", "filter.up.clean", "tr a-z A-Z")
    world.repo.git("config", "--global", "filter.up.smudge", "tr A-Z a-z")
    world.repo.commit("attributes", {".gitattributes": "*.up filter=up\n", "x.up": "x\n"})
    ws = world.make()
    assert (ws.tree / "x.up").read_text() == "x\n"
    write(ws.tree, {"y.up": "y\n"})
    kept = world.salvage(ws)

    assert kept.changed_paths == ("y.up",)
    assert world.content(kept.tip, "y.up") == "Y\n"


def test_a_filter_that_fails_loses_nothing(world: World) -> None:
    """A file that a required filter of the person's cannot take is kept as it lies there."""
    world.repo.git("config", "filter.bad.clean", "false")
    world.repo.git("config", "filter.bad.required", "true")
    ws = world.make()
    write(ws.tree, {".gitattributes": "*.bad filter=bad\n", "x, y.bad": "x\n", "z.txt": "z\n"})
    (ws.tree / "x, y.bad").chmod(0o755)
    kept = world.salvage(ws)

    assert kept.changed_paths == (".gitattributes", "x, y.bad", "z.txt")
    assert kept.unsaved == ()
    assert world.content(kept.tip, "x, y.bad") == "x\n"
    assert world.repo.git("ls-tree", kept.tip, "x, y.bad").startswith("100755")


def test_an_agents_filter_is_not_run(world: World, ws: Workspace, tmp_path: Path) -> None:
    """A filter that the agent set up in its repository is gone when its files are read."""
    proof = tmp_path / "proof"
    agent(ws, "config", "filter.evil.clean", f"touch {proof}; cat")
    write(ws.tree, {".gitattributes": "* filter=evil\n", "x.txt": "x\n"})
    world.salvage(ws)

    assert not proof.exists()


def test_large_files_come_along(world: World, ws: Workspace) -> None:
    """What git-lfs stored for the attempt is copied, if it is what its name says."""
    good = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    store = ws.git_dir / "lfs/objects"
    write(store, {f"2d/71/{good}": "x", "tmp/x": "half"})
    agent_commits(ws, "pointer", {"x.bin": f"oid sha256:{good}\n"})
    world.salvage(ws)
    assert (world.repo.path / f".git/lfs/objects/2d/71/{good}").read_text() == "x"
    write(store, {f"00/00/{'0' * 64}": "forged"})
    agent_commits(ws, "pointer", {"y.bin": "y\n"})

    with pytest.raises(CarryFailed, match="large file"):
        world.salvage(ws)
    assert not (world.repo.path / f".git/lfs/objects/00/00/{'0' * 64}").exists()
    assert "y.bin" in world.files(REF)


def test_a_second_salvage_gives_nothing_up(world: World, ws: Workspace) -> None:
    """A worktree that is half removed by then does not replace what was kept."""
    write(ws.tree, {"x.txt": "x\n"})
    first = world.salvage(ws)
    process.run(["rm", "-rf", str(ws.tree)])
    world.salvage(ws)
    assert world.repo.git("rev-parse", REF) == first.tip
    process.run(["rm", "-rf", str(ws.git_dir)])
    world.salvage(ws)

    assert world.repo.git("rev-parse", REF) == first.tip


def test_a_workspace_found_after_a_crash_is_salvaged_like_any_other(
    world: World, ws: Workspace
) -> None:
    """What another process needs is in the record, what set-up left included."""
    write(ws.tree, {"left.txt": "l\n"})
    note_setup(ws)
    write(ws.tree, {"work.txt": "w\n"})
    (found,) = find_workspaces(world.repository)

    assert world.salvage(found).changed_paths == ("work.txt",)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
@pytest.mark.parametrize("mode", [0o000, 0o400, 0o500, 0o300])
def test_what_lies_in_closed_folders_is_there(world: World, ws: Workspace, mode: int) -> None:
    """It is not taken for deleted, and what is new in it is kept; the tree itself may be closed."""
    write(ws.tree, {"dir/new.txt": "new\n", "own/deep/x.txt": "x\n"})
    for closed in ("dir", "own/deep", "own", "."):
        (ws.tree / closed).chmod(mode)

    kept = world.salvage(ws)

    assert kept.changed_paths == ("dir/new.txt", "own/deep/x.txt")
    assert kept.unsaved == ()


def test_the_persons_checkout_is_not_touched(world: World, ws: Workspace) -> None:
    """Branches, index, files and stash are as before; only qloop's ref is new."""
    write(world.repo.path, {"a.txt": "being edited\n"})
    index = (world.repo.path / ".git/index").read_bytes()
    refs = world.repo.git("for-each-ref", "refs/heads", "refs/tags", "refs/stash")
    agent_commits(ws, "one", {"a.txt": "agent\n"})
    world.salvage(ws)

    assert (world.repo.path / ".git/index").read_bytes() == index
    assert world.repo.git("for-each-ref", "refs/heads", "refs/tags", "refs/stash") == refs
    assert (world.repo.path / "a.txt").read_text() == "being edited\n"
    assert not (world.repo.path / ".git/FETCH_HEAD").exists()


def test_the_list_tells_when_and_why(world: World, ws: Workspace) -> None:
    """Rows in order of story and number; the reason is the one given, on one line."""
    assert list_salvage(world.repository) == ()
    kept = world.salvage(ws, "timeout after\n15m")
    world.repo.git("update-ref", "refs/qloop/attempts/US-001/10", kept.tip)
    world.repo.git("update-ref", "refs/qloop/attempts/US-001/2", kept.tip)
    rows = list_salvage(world.repository)

    assert [row.attempt for row in rows] == [1, 2, 10]
    assert (rows[0].story, rows[0].ref, rows[0].commit) == ("US-001", REF, kept.tip)
    assert rows[0].why == "timeout after 15m"
    assert parse_utc(rows[0].when).timestamp() > 0
    assert rows[1].why == "files"
    assert find_salvage(world.repository, "US-001", None).attempt == 10


def test_without_reflogs_the_commit_tells_in_any_object_format(tmp_path: Path) -> None:
    """A repository with long object names, whose salvage has no reflog, is listed too."""
    folder = tmp_path / "sha256"
    process.run(["git", "init", "-q", "--object-format=sha256", str(folder)])
    world = World(Repo(folder), tmp_path / "trees")
    world.repo.commit("the subject")
    world.repo.git("update-ref", REF, "HEAD")

    assert [row.why for row in list_salvage(world.repository)] == ["the subject"]


def test_a_salvage_is_shown_and_restored_as_a_branch(world: World, ws: Workspace) -> None:
    """By default the newest one, on a branch named after it; no checkout moves."""
    write(ws.tree, {"x.txt": "x\n"})
    kept = world.salvage(ws)
    before = world.tip
    row = find_salvage(world.repository, "US-001", 1)

    assert "x.txt | 1 +" in show_salvage(world.repository, row)
    assert restore_salvage(world.repository, "US-001", None, None) == ("qloop/US-001-1", kept.tip)
    assert restore_salvage(world.repository, "US-001", 1, "mine")[0] == "mine"
    assert world.repo.git("rev-parse", "mine") == kept.tip
    assert (world.tip, world.repo.git("status", "--porcelain")) == (before, "")


@pytest.mark.parametrize("branch", ["main", "main/x", "a..b", "-x", "x.lock"])
def test_a_branch_that_cannot_be_made_is_refused(world: World, ws: Workspace, branch: str) -> None:
    """An existing branch is not moved, and a bad name is named."""
    world.salvage(ws)
    before = world.repo.git("for-each-ref", "refs/heads")

    told = "is there already" if branch == "main" else "branch"
    with pytest.raises(BadInput, match=told):
        restore_salvage(world.repository, "US-001", None, branch)
    assert world.repo.git("for-each-ref", "refs/heads") == before


def test_what_was_not_salvaged_cannot_be_restored(world: World, ws: Workspace) -> None:
    """An unknown story or attempt is bad input that says where to look."""
    world.salvage(ws)

    with pytest.raises(BadInput, match="attempt 2 of US-001"):
        restore_salvage(world.repository, "US-001", 2, None)
    with pytest.raises(BadInput, match="salvage list"):
        restore_salvage(world.repository, "US-009", None, None)


NAMES = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12
).filter(lambda name: name not in (".", "..") and "git" not in name.casefold())


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(left=st.sets(NAMES, max_size=4), own=st.sets(NAMES, max_size=4))
def test_any_name_is_salvaged_or_left_out_exactly(
    world: World, left: set[str], own: set[str]
) -> None:
    """Whatever files are called: set-up's are ignored by git itself, the agent's are kept."""
    ws = world.make()
    write(ws.tree, {f"tracked-{ord(name[0])}-{name}": "l" for name in left})
    noted = note_setup(ws)
    assert agent(noted, "status", "--porcelain") == ""
    write(ws.tree, {f"own-{name}": "o" for name in own})

    salvaged = world.salvage(noted)
    refused = set(salvaged.unsaved)
    assert set(salvaged.changed_paths) | refused == {f"own-{name}" for name in own}
