"""Repositories of every kind: where qloop is started, what they are called, how they are set up."""

import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from repository import Repo
from world import QLOOP, World, everything

COMPLETE = "<quantum>COMPLETE</quantum>"


def moved(world: World, path: Path) -> Path:
    """Move the world's repository to another path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    world.path.rename(path)
    world.path = world.repo.path = path
    world.quantum = path / "quantum.json"
    return path


def executable(path: Path, text: str) -> Path:
    """A script that can be executed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


# --- where it is started


def test_from_a_subfolder(world: World) -> None:
    """The state file is the main checkout's; the document's path is relative to the folder."""
    sub = world.path / "docs" / "deep"
    sub.mkdir(parents=True)
    (sub / "prd.md").write_text("# T\n\n### A-1: One\n", encoding="utf-8")
    world.writes_own_file("A-1")

    ran = world.qloop("--coordinator", "prd.md", cwd=sub)
    again = world.qloop("../deep/prd.md", cwd=sub)

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert again.code == 0, again.err
    assert world.document["prdPath"] == "docs/deep/prd.md"
    assert {path.name for path in sub.iterdir()} == {"prd.md"}


def test_from_a_linked_worktree_of_the_persons(world: World, tmp_path: Path) -> None:
    """State, settings and lock are the main checkout's; the worktree itself stays as it is."""
    linked = tmp_path / "linked tree"
    world.repo.git("worktree", "add", "--quiet", str(linked), "-b", "other")
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")
    before = everything(linked)

    ran = world.run(cwd=linked)
    shown = world.qloop("waves", "--next", "--json", cwd=linked)

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.statuses() == {"A-1": "passed"}
    assert everything(linked) == before
    assert json.loads(shown.out) == {"state": "complete", "stories": []}
    assert str(linked) in world.repo.git("worktree", "list")


def test_inside_of_a_hook(world: World, tmp_path: Path) -> None:
    """Variables that would point git at another repository are not obeyed."""
    other = Repo(tmp_path / "other")
    other.commit("other")
    before = everything(other.path)
    world.plan({"id": "A-1"}, testCommand='test -z "$GIT_DIR$GIT_INDEX_FILE"')
    world.writes_own_file("A-1")
    git = str(other.path / ".git")

    ran = world.run(
        GIT_DIR=git,
        GIT_WORK_TREE=str(other.path),
        GIT_INDEX_FILE=f"{git}/index",
        GIT_OBJECT_DIRECTORY=f"{git}/objects",
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0="core.bare",
        GIT_CONFIG_VALUE_0="true",
        GIT_CEILING_DIRECTORIES=str(world.path),
    )

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.files().keys() == {"README.md", "A-1.txt"}
    assert everything(other.path) == before


NAMES = [
    'it\'s a "repo"',
    "größe 試し 🎉",
    "-dash",
    "dollar $HOME `id` ;&|",
    "back\\slash",
    "star*?[x]",
    "#hash%20",
    "a" * 200,
]


@pytest.mark.parametrize("name", NAMES)
def test_a_path_of_any_name(world: World, tmp_path: Path, name: str) -> None:
    """Whatever the repository's folder is called, a run in it works."""
    moved(world, tmp_path / name / name)
    world.plan(
        {"id": "A-1", "verify": ["git status --porcelain && test -e A-1.txt"]},
        testCommand="test -e README.md",
        setupCommands=["true"],
    )
    world.writes_own_file("A-1")

    ran = world.run()
    listed = world.qloop("salvage", "list", "--json")
    left = world.qloop("worktree", "list", "--json")

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.files().keys() == {"README.md", "A-1.txt"}
    assert [row["story"] for row in json.loads(listed.out)] == ["A-1"]
    assert json.loads(left.out) == []


def test_a_path_with_a_line_end_is_refused_in_words(world: World, tmp_path: Path) -> None:
    """Git cannot name such a folder to others; that is said before anything is made."""
    path = moved(world, tmp_path / "two\nlines")
    world.plan({"id": "A-1"})
    before = everything(path)

    ran = world.run()

    assert ran.code == 65, ran.err
    assert "error: " in ran.err
    assert "line end" in ran.err
    assert everything(path) == before


# --- what is checked out


def test_a_detached_head(world: World) -> None:
    """The feature branch starts at the commit that is checked out, which stays checked out."""
    first = world.repo.git("rev-parse", "HEAD")
    world.repo.commit("second")
    world.repo.git("checkout", "--quiet", "--detach", first)
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")

    ran = world.run()

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.log() == ["start", "A-1"]
    assert world.repo.git("rev-parse", "HEAD") == first


def test_the_feature_branch_is_checked_out(world: World) -> None:
    """The checkout that holds the feature branch is brought up to it at the end."""
    world.repo.git("switch", "--quiet", "-c", "ql/feature")
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")

    ran = world.run()

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert (world.path / "A-1.txt").read_text("utf-8") == "A-1\n"
    assert world.repo.git("status", "--porcelain") == ""


def test_a_shallow_clone(world: World, tmp_path: Path) -> None:
    """Stories land in a shallow clone, which stays shallow."""
    world.repo.commit("second")
    source = tmp_path / "source"
    world.path.rename(source)
    world.repo.git("clone", "-q", "--depth", "1", f"file://{source}", str(world.path), cwd=tmp_path)
    world.repo.git("config", "user.name", "Pat")
    world.repo.git("config", "user.email", "pat@example.invalid")
    world.configure()
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]})
    world.writes_own_file("A-1", "B-1")

    ran = world.run()

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.log() == ["second", "A-1", "B-1"]
    assert world.repo.git("rev-parse", "--is-shallow-repository") == "true"


def test_a_sha256_repository(world: World, tmp_path: Path) -> None:
    """Object names of another length make no difference."""
    world.path.rename(tmp_path / "away")
    world.path.mkdir()
    world.repo.git("init", "-q", "--object-format=sha256", "--initial-branch=main", "--template=")
    world.repo.git("config", "user.name", "Pat")
    world.repo.git("config", "user.email", "pat@example.invalid")
    world.repo.commit("start", {"README.md": "start\n"})
    world.configure()
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]}, testCommand="true")
    world.writes_own_file("A-1", "B-1")

    ran = world.run()
    listed = json.loads(world.qloop("salvage", "list", "--json").out)
    guard = world.qloop("guard", "head-advance", listed[0]["commit"], "ql/feature")

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.log() == ["start", "A-1", "B-1"]
    assert [len(row["commit"]) for row in listed] == [64, 64]
    assert guard.code == 1


def test_a_repository_with_submodules(world: World, tmp_path: Path) -> None:
    """The submodule stays what it is, and set-up commands can fetch it into a worktree."""
    library = Repo(tmp_path / "library")
    library.commit("lib", {"lib.txt": "lib\n"})
    allow = ("-c", "protocol.file.allow=always")
    world.repo.git(*allow, "submodule", "--quiet", "add", str(library.path), "lib")
    world.repo.commit("with a library")
    before = world.repo.git("rev-parse", "HEAD:lib")
    world.plan(
        {"id": "A-1", "verify": ["test -e lib/lib.txt"]},
        setupCommands=["git -c protocol.file.allow=always submodule --quiet update --init"],
        testCommand="test -e lib/lib.txt",
    )
    world.writes_own_file("A-1")

    ran = world.run()

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.repo.git("rev-parse", "ql/feature:lib") == before
    assert "A-1.txt" in world.repo.git("ls-tree", "-r", "--name-only", "ql/feature")


# --- names that clash


@pytest.mark.parametrize(
    ("existing", "branch"),
    [("ql", "ql/feature"), ("ql/feature/more", "ql/feature")],
)
def test_a_branch_name_that_git_cannot_make(world: World, existing: str, branch: str) -> None:
    """A branch in the way is named before anything runs; both stay as they were."""
    world.repo.git("branch", existing)
    world.plan({"id": "A-1"}, branchName=branch)
    world.writes_own_file("A-1")

    ran = world.run()

    assert ran.code == 65, ran.err
    assert "error: " in ran.err
    assert branch in ran.err
    assert existing in ran.err
    assert world.refs("refs/qloop/line") == {}
    assert world.refs("refs/heads").keys() == {"refs/heads/main", f"refs/heads/{existing}"}


def test_a_tag_and_a_remote_branch_of_the_same_name(world: World) -> None:
    """Only the branch is meant, whatever else has its name."""
    other = world.repo.commit("elsewhere")
    world.repo.git("reset", "--quiet", "--hard", "HEAD~1")
    world.repo.git("tag", "ql/feature", other)
    world.repo.git("update-ref", "refs/remotes/origin/ql/feature", other)
    world.repo.git("update-ref", "refs/qloop/line/other", other)
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")

    ran = world.run()

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.log("refs/heads/ql/feature") == ["start", "A-1"]
    assert world.repo.git("rev-parse", "refs/tags/ql/feature") == other


def test_story_ids_that_look_like_something_else(world: World) -> None:
    """Ids that are names of branches, of revisions or of numbers are just ids."""
    ids = ["HEAD", "main", "FETCH_HEAD", "1", "0" * 40, "refs", "base", "a", "A", "x" * 64]
    world.plan(*({"id": one} for one in ids))
    world.agent(**{"*": [[["sh", "echo x > file-$QLOOP_SLOT-$QLOOP_STORY.txt"]]]})

    ran = world.run("--max-parallel", "10")

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert len(world.log()) == len(ids) + 1


# --- the person's configuration

SETTINGS = {
    "merge.ff": "only",
    "merge.conflictStyle": "diff3",
    "pull.rebase": "true",
    "color.ui": "always",
    "core.quotePath": "true",
    "core.pager": "sleep 600",
    "core.editor": "sleep 600",
    "sequence.editor": "sleep 600",
    "diff.noprefix": "true",
    "diff.external": "false",
    "diff.renames": "copies",
    "status.showUntrackedFiles": "no",
    "status.short": "true",
    "log.showSignature": "true",
    "log.date": "relative",
    "commit.gpgSign": "true",
    "tag.gpgSign": "true",
    "gpg.program": "GPG",
    "commit.template": "/no/such/template",
    "commit.cleanup": "scissors",
    "init.defaultBranch": "trunk",
    "core.abbrev": "4",
    "core.logAllRefUpdates": "false",
    "core.fsmonitor": "false",
    "core.commentChar": "q",
    "user.useConfigOnly": "true",
    "branch.autoSetupMerge": "always",
    "worktree.guessRemote": "true",
    "transfer.fsckObjects": "true",
    "i18n.logOutputEncoding": "latin1",
    "alias.commit": "!false",
    "advice.detachedHead": "false",
    "core.autocrlf": "input",
    "blame.ignoreRevsFile": "no-such-file",
    "grep.lineNumber": "true",
    "submodule.recurse": "true",
    "fetch.prune": "true",
    "rerere.enabled": "true",
    "gc.auto": "1",
}


@pytest.mark.parametrize("where", ["--local", "--global"])
def test_configuration_that_changes_what_git_does(world: World, where: str) -> None:
    """No setting of the person's makes a run wait, fail, or land anything else."""
    hang = executable(world.flags / "gpg", "#!/bin/sh\nsleep 600\n")
    tests = (
        'd=$(mktemp -d) && cd "$d" && git init -q . && '
        "git -c user.name=T -c user.email=t@t commit -q --allow-empty -m x"
    )
    world.plan(
        {"id": "A-1", "verify": [tests]},
        {"id": "B-1", "dependsOn": ["A-1"]},
        testCommand=tests,
    )
    world.agent(
        A_1=[[["write", "größe.txt", "a\n"], ["commit", "größe"]]],
        B_1=[[["write", "b.txt", "b\n"]]],
    )
    for key, value in SETTINGS.items():
        world.repo.git("config", where, key, str(hang) if value == "GPG" else value)

    ran = world.run()
    shown = world.qloop("salvage", "show", "A-1")
    listed = world.qloop("salvage", "list", "--json")

    plain = ("-c", "log.showSignature=false", "-c", "i18n.logOutputEncoding=utf8")
    subjects = world.repo.git(*plain, "log", "--reverse", "--format=%s", "ql/feature")
    names = world.repo.git("-c", "core.quotePath=false", "ls-tree", "--name-only", "ql/feature")
    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert subjects.splitlines() == ["start", "A-1", "B-1"]
    assert set(names.splitlines()) == {"README.md", "größe.txt", "b.txt"}
    assert shown.code == 0, shown.err
    assert "\x1b" not in shown.out
    assert "größe" in shown.out
    assert len(json.loads(listed.out)) == 2


def test_hooks_of_the_persons_are_not_run(world: World) -> None:
    """Hooks that hang or fail, in the repository or by core.hooksPath, hold nothing up."""
    for name in (
        *("pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-checkout"),
        *("reference-transaction", "post-merge", "pre-merge-commit", "post-index-change"),
        *("pre-push", "post-rewrite", "fsmonitor-watchman"),
    ):
        text = f"#!/bin/sh\ntouch '{world.flags}/{name}'\nsleep 600\nexit 1\n"
        executable(world.path / ".git" / "hooks" / name, text)
        executable(world.flags.parent / "hooks" / name, text)
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")

    ran = world.run()
    own = sorted(path.name for path in world.flags.iterdir())
    subprocess.run(
        ["git", "config", "core.hooksPath", str(world.flags.parent / "hooks")],
        cwd=world.path,
        check=True,
    )
    world.plan({"id": "B-1"}, branchName="ql/other")
    world.writes_own_file("B-1")
    second = world.run()

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert own == []
    assert (second.code, second.signal) == (0, COMPLETE), second.err
    assert list(world.flags.iterdir()) == []


def test_line_ends_are_the_persons(world: World) -> None:
    """With core.autocrlf the worktree has CRLF as the checkout has, and LF lands."""
    world.repo.git("config", "core.autocrlf", "true")
    world.plan({"id": "A-1"})
    world.agent(
        A_1=[
            [
                ["sh", f"cp README.md '{world.flags}/readme'; printf 'a\\r\\nb\\r\\n' > a.txt"],
                ["commit", "a"],
            ]
        ]
    )

    ran = world.run()

    landed = subprocess.run(
        ["git", "cat-file", "blob", "ql/feature:a.txt"],
        cwd=world.path,
        stdout=subprocess.PIPE,
        check=True,
    )
    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert (world.flags / "readme").read_bytes() == b"start\r\n"
    assert landed.stdout == b"a\nb\n"


def test_without_an_identity_or_a_home(world: World) -> None:
    """Where nobody said who the person is, qloop is the author, and nothing is asked."""
    world.repo.git("config", "--unset", "user.name")
    world.repo.git("config", "--unset", "user.email")
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")

    ran = world.run()

    assert (ran.code, ran.signal) == (0, COMPLETE), ran.err
    assert world.repo.git("log", "-1", "--format=%an", "ql/feature") == "qloop"


# --- folders that cannot be written to


def in_namespace(world: World, set_up: str) -> subprocess.CompletedProcess[str]:
    """`qloop run` in a mount namespace of its own, after a shell command in it."""
    line = f'{set_up} && exec "$@"'
    return subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", line, "sh", *QLOOP, "run"],
        cwd=world.path,
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def can_unshare() -> bool:
    """Whether a mount namespace can be made and used here."""
    words = ["unshare", "--mount", "--map-root-user", "sh", "-c", "mount -t tmpfs none /mnt"]
    try:
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


READ_ONLY: dict[str, Callable[[World], Path]] = {
    "the state folder": lambda world: world.path / ".qloop",
    "the git directory": lambda world: world.path / ".git",
    "the checkout": lambda world: world.path,
    "the user's state folder": lambda _: Path(os.environ["XDG_STATE_HOME"]),
}


@pytest.mark.skipif(not can_unshare(), reason="no mount namespace can be made here")
@pytest.mark.parametrize("what", READ_ONLY)
def test_a_folder_that_cannot_be_written_to(world: World, what: str) -> None:
    """What cannot be written to is named in words, and nobody is charged for it."""
    folder = READ_ONLY[what](world)
    (world.path / ".qloop").mkdir()
    folder.mkdir(parents=True, exist_ok=True)
    world.plan({"id": "A-1"})
    world.writes_own_file("A-1")

    done = in_namespace(
        world, f"mount --bind '{folder}' '{folder}' && mount -o remount,ro,bind '{folder}'"
    )

    assert done.returncode in (1, 65, 70), (done.returncode, done.stderr)
    assert "Traceback" not in done.stderr
    assert "bug of qloop" not in done.stderr
    assert "ead-only file system" in done.stderr
    assert world.story("A-1").get("retries", {}).get("attempts", 0) == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_the_right_to_write(world: World) -> None:
    """The same where permissions are missing."""
    world.plan({"id": "A-1"})
    world.path.chmod(stat.S_IRUSR | stat.S_IXUSR)

    ran = world.run()

    world.path.chmod(stat.S_IRWXU)
    assert ran.code == 65
    assert str(world.path) in ran.err
