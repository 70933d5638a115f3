"""The check-up: each finding, made true in a real repository."""

from pathlib import Path
from typing import Any

import pytest

from look_world import World, story
from qloop.repo.checkout import find_repository
from qloop.repo.names import workspace_base
from qloop.repo.settings import read_settings
from qloop.repo.workspace import create_workspace
from qloop.run.checkup import check_up
from qloop.run.checkup_places import check_places
from qloop.run.config import Config
from qloop.run.finding import Finding
from qloop.system import process
from repository import Repo

ATTEMPT = "A.1.0123abcd"


@pytest.fixture
def world(repo: Repo) -> World:
    """A repository to check."""
    return World(repo)


def find(world: World, check: str) -> Finding:
    """The one finding of that name."""
    found = [one for one in check_up(world.repo.path, None) if one.check == check]
    assert len(found) == 1, found
    return found[0]


def none(world: World, check: str) -> bool:
    """Whether there is nothing to say of *check*."""
    return all(one.check != check for one in check_up(world.repo.path, None))


def test_a_healthy_repository(world: World) -> None:
    """Where all is well every finding is ok, without a plan too."""
    found = check_up(world.repo.path, None)

    assert {one.state for one in found} == {"ok"}
    assert find(world, "plan").fix != ""
    assert find(world, "leftovers").state == "ok"


def test_outside_of_a_repository(tmp_path: Path) -> None:
    """No repository is worth a warning: the machine may be fine."""
    last = check_up(tmp_path, None)[-1]

    assert (last.check, last.state) == ("repository", "warn")
    assert "git init" in last.fix


def test_a_bare_repository(world: World) -> None:
    """A bare repository cannot be used."""
    world.repo.git("clone", "--quiet", "--bare", ".", "../bare.git")
    last = check_up(world.repo.path.parent / "bare.git", None)[-1]

    assert (last.check, last.state) == ("repository", "bad")


def test_a_machine_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git nothing else can be looked at."""
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {one.check: one for one in check_up(tmp_path, None)}

    assert found["git"].state == "bad"
    assert found["bash"].state == "bad"
    assert found.keys() == {"git", "python", "bash"}


def test_an_old_git(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that cannot merge without a checkout is too old."""
    old = world.repo.path.parent / "bin" / "git"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho git version 2.37.9\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}:/usr/bin:/bin")

    found = check_up(world.repo.path, None)[0]

    assert (found.state, found.text) == ("bad", "git 2.37.9 is too old")


def test_no_commit_yet(tmp_path: Path) -> None:
    """A repository needs a commit to start from."""
    world = World(Repo(tmp_path / "new"))

    assert find(world, "history").state == "bad"


def test_a_shallow_clone(world: World) -> None:
    """A shallow clone is said to be one, and is no trouble."""
    world.commit("two")
    clone = world.repo.path.parent / "clone"
    world.repo.git("clone", "--quiet", "--depth=1", f"file://{world.repo.path}", str(clone))
    found = next(one for one in check_up(clone, None) if one.check == "history")

    assert found.state == "ok"
    assert "shallow" in found.text


@pytest.mark.parametrize("key", ["user.name", "user.email"])
def test_no_identity(world: World, key: str) -> None:
    """Without a name or address of the person's, qloop authors."""
    world.repo.git("config", "--unset", key)
    found = find(world, "identity")

    assert found.state == "warn"
    assert "qloop" in found.text
    assert key in found.fix


def test_signing(world: World) -> None:
    """Commits of qloop are not signed where the person's are."""
    assert none(world, "signing")
    world.repo.git("config", "commit.gpgSign", "true")

    assert find(world, "signing").state == "warn"


@pytest.mark.parametrize(("tracked", "aside"), [(True, False), (False, True)])
def test_a_folder_of_hooks(world: World, tracked: bool, aside: bool) -> None:
    """Hooks do not run in worktrees; a folder that git does not track is said to be none."""
    hook = world.repo.path / ".husky" / "_" / "pre-commit"
    hook.parent.mkdir(parents=True)
    hook.write_text("#!/bin/sh\n")
    world.repo.write({".gitignore": "" if tracked else ".husky/_\n"})
    world.repo.commit("hooks")
    world.repo.git("config", "core.hooksPath", ".husky/_")
    found = find(world, "hooks")

    assert found.state == "warn"
    assert ".husky/_" in found.text
    assert ("does not track" in found.text) is aside
    assert "qualityCommands" in found.fix


def test_hooks_of_the_repository(world: World) -> None:
    """Hooks that judge commits are named; others are not missed."""
    hooks = world.repo.path / ".git" / "hooks"
    hooks.mkdir()
    (hooks / "post-checkout").write_text("#!/bin/sh\n")
    assert none(world, "hooks")
    (hooks / "commit-msg").write_text("#!/bin/sh\n")

    assert find(world, "hooks").text.startswith("commit-msg: ")


@pytest.mark.parametrize(
    ("commands", "state"), [([], "warn"), (["git submodule update --init"], "ok")]
)
def test_submodules(world: World, commands: list[str], state: str) -> None:
    """Submodules are empty in worktrees unless a set-up command fills them."""
    assert none(world, "submodules")
    world.repo.commit("module", {".gitmodules": '[submodule "m"]\n\tpath = m\n\turl = ../m\n'})
    world.plan(story("A"), setupCommands=commands)

    assert find(world, "submodules").state == state


def test_state_files_and_git(world: World) -> None:
    """State files are to be kept out of commits, and are said to be tracked where they are."""
    assert none(world, "state files")
    world.plan(story("A"))
    assert find(world, "state files").text == "not kept out of commits: quantum.json"
    world.private.mkdir()
    (world.repo.path / ".git" / "info").mkdir(exist_ok=True)
    exclude = world.repo.path / ".git" / "info" / "exclude"
    exclude.write_text("/.qloop/\n/quantum.json\n")
    assert find(world, "state files").state == "ok"
    world.repo.git("add", "--force", "quantum.json")

    found = find(world, "state files")

    assert found.state == "warn"
    assert found.text.startswith("tracked by git")


def test_a_state_file_elsewhere(world: World, tmp_path: Path) -> None:
    """A state file outside of the checkout is none of git's business."""
    other = tmp_path / "other.json"
    world.plan(story("A", tasks=[{"run": ["true"]}]))
    world.quantum.rename(other)
    found = {one.check: one for one in check_up(world.repo.path, other)}

    assert "state files" not in found
    assert found["plan"].text == "1 story, no fault"


def test_settings(world: World) -> None:
    """A qloop.toml is named; its faults keep a run from starting."""
    settings = world.repo.path / "qloop.toml"
    settings.write_text("max_parallel = 2\n")
    assert find(world, "settings") == Finding("settings", "ok", str(settings))
    settings.write_text('runer = "x"\n')
    found = find(world, "settings")

    assert found.state == "bad"
    assert "did you mean 'runner'?" in found.text
    assert none(world, "worktrees")


def test_worktrees_inside_the_checkout(world: World) -> None:
    """Worktrees must not lie in the checkout."""
    (world.repo.path / "qloop.toml").write_text('worktree_root = "trees"\n')

    assert find(world, "worktrees").state == "bad"


def test_worktrees_where_no_folder_can_be_made(world: World) -> None:
    """A place that cannot hold a folder is found before a run does."""
    (world.repo.path.parent / "file").write_text("")
    (world.repo.path / "qloop.toml").write_text('worktree_root = "../file"\n')

    found = find(world, "worktrees")

    assert found.state == "bad"
    assert found.text.endswith("file")


def test_little_disk_space(world: World) -> None:
    """A disk that is nearly full is worth a warning."""
    repository = find_repository(world.repo.path)
    found = {one.check: one for one in check_places(repository, Config(), little_bytes=2**62)}

    assert found["disk"].state == "warn"
    assert find(world, "disk").state == "ok"


def test_a_plan_with_faults(world: World) -> None:
    """All faults of a plan are named."""
    world.plan(story("A", "pending", "A"), story("A"))
    found = find(world, "plan")

    assert found.state == "bad"
    assert len(found.text.splitlines()) > 2


@pytest.mark.parametrize(
    ("content", "hash_", "state"),
    [
        ("# X\n", None, "ok"),
        ("# X\n", "sha256:0", "bad"),
        (None, "sha256:0", "warn"),
    ],
)
def test_the_document(world: World, content: str | None, hash_: Any, state: str) -> None:
    """A document that has changed stops a run; one that is gone does not."""
    if content is not None:
        world.repo.write({"prd.md": content})
    world.plan(story("A", tasks=[{"run": ["true"]}]), prdPath="prd.md", prdHash=hash_)

    assert find(world, "document").state == state


def test_runners_of_a_plan(world: World) -> None:
    """Stories are counted to the runner that they would use, those that are over to none."""
    runs = [{"run": ["true"]}]
    world.plan(
        *(story(f"S-{number}", tasks=runs) for number in range(7)),
        story("P", "passed"),
        story("B", "blocked"),
    )

    assert find(world, "runners") == Finding(
        "runners", "ok", "shell for S-0, S-1, S-2, S-3, S-4 and 2 more"
    )


def test_runners_that_are_missing(world: World) -> None:
    """A runner that cannot start is bad, told once for all stories that want it."""
    (world.repo.path / "qloop.toml").write_text('[runners.mine]\nargv = ["no-such-program"]\n')
    world.plan(story("A", runner="mine"), story("B", runner="mine"), story("C", runner="odd"))
    found = [one for one in check_up(world.repo.path, None) if one.check == "runners"]

    assert [one.state for one in found] == ["bad", "bad"]
    assert "no-such-program" in found[0].text
    assert found[0].text.endswith("; the same for B")
    assert "odd" in found[1].text


def test_runners_without_a_plan(world: World) -> None:
    """Without a plan the runners of the settings are looked at."""
    (world.repo.path / "qloop.toml").write_text(
        '[runners.here]\nargv = ["bash"]\n[runners.away]\nargv = ["no-such-program"]\n'
    )
    found = [one for one in check_up(world.repo.path, None) if one.check == "runners"]

    assert [(one.state, one.text.split()[0]) for one in found] == [("ok", "here"), ("warn", "away")]


def _leave_everything(world: World) -> None:
    """What a run that was killed leaves."""
    repository = find_repository(world.repo.path)
    head = world.repo.git("rev-parse", "HEAD")
    base = workspace_base(None, repository)
    create_workspace(repository, read_settings(repository), base, ATTEMPT, "ql-wt/A", head)
    world.repo.git("update-ref", f"refs/qloop/start/{ATTEMPT}", head)
    (repository.git_dir / "refs" / "qloop" / "start" / "x.lock").write_text("")


def test_what_a_dead_run_left(world: World) -> None:
    """A run that is gone, its worktrees, references and locks are found, each with its remedy."""
    _leave_everything(world)
    world.hold(dead=True)
    found = {one.check: one for one in check_up(world.repo.path, None)}
    left = ["run", "worktrees left", "references left", "locks left"]

    assert [found[name].state for name in left] == ["warn"] * 4
    assert ATTEMPT in found["worktrees left"].text
    assert f"refs/qloop/start/{ATTEMPT}" in found["references left"].text
    assert "refs/qloop/start/x.lock" in found["locks left"].text
    assert all(found[name].fix for name in left)


def test_a_run_that_is_on_left_nothing(world: World) -> None:
    """What belongs to a run that is on is no leftover."""
    _leave_everything(world)
    world.hold()
    found = {one.check: one for one in check_up(world.repo.path, None)}

    assert found["run"].state == "ok"
    assert not [name for name in found if name.endswith("left")]


def test_the_remedy_for_references_works(world: World) -> None:
    """What is advised removes the references."""
    _leave_everything(world)
    (world.repo.path / ".git" / "refs" / "qloop" / "start" / "x.lock").unlink()
    fix = find(world, "references left").fix

    done = process.run(["bash", "-c", fix], cwd=world.repo.path)

    assert done.code == 0
    assert none(world, "references left")


def test_reviewers_are_named_or_missed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where [gates] asks for them; without an agent command line that is bad."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    world.plan(story("A", runner="shell"))
    settings = world.repo.path / "qloop.toml"
    settings.write_text("[gates]\nspec_review = true\n", "utf-8")
    missed = find(world, "reviewers")
    table = '[runners.own]\nargv = ["sh"]\n'
    settings.write_text(f"[gates]\nspec_review = true\n{table}", "utf-8")

    named = find(world, "reviewers")

    assert missed.state == "bad"
    assert "spec-reviewer" in missed.text
    assert (named.state, named.text) == ("ok", "own as spec-reviewer")


def test_who_merges_what_conflicts_is_named_or_missed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where on_conflict asks for it."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    world.plan(story("A", runner="shell"))
    settings = world.repo.path / "qloop.toml"
    settings.write_text('on_conflict = "resolve"\n', "utf-8")
    missed = find(world, "merge-resolver")
    table = '[runners.own]\nargv = ["sh"]\n'
    settings.write_text(f'on_conflict = "resolve"\n{table}', "utf-8")

    named = find(world, "merge-resolver")

    assert missed.state == "bad"
    assert "on_conflict" in missed.text
    assert (named.state, named.text) == ("ok", "own")


def test_a_stand_in_that_could_not_start_is_bad(world: World) -> None:
    """It would be missed in the middle of a night."""
    world.plan(story("A", runner="shell"))
    settings = 'fallback = ["own"]\n[runners.own]\nargv = ["no-such-command"]\n'
    (world.repo.path / "qloop.toml").write_text(settings, "utf-8")

    found = find(world, "fallback")

    assert found.state == "bad"
    assert "no-such-command" in found.text
