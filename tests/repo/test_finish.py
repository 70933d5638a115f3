"""The end of a run: the person's checkout is fast-forwarded, or told with what command to be."""

import shlex
import subprocess
from pathlib import Path

import pytest

from qloop.repo.finish import Finish, finish
from qloop.repo.line import followed_ref, line_ref
from repo.landing_world import BRANCH, World, fingerprint

HEAD_OF_BRANCH = f"refs/heads/{BRANCH}"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A line one story ahead of its branch, which the main checkout holds."""
    world = World(tmp_path, {"shared.txt": "s\n", "old.txt": "o\n", "kept.txt": "k\n"})
    world.person.git("switch", "--quiet", BRANCH)
    return world


def _finish(world: World) -> tuple[Finish, list[str]]:
    intents: list[str] = []
    return finish(world.repository, BRANCH, journal_intent=intents.append), intents


def _command(world: World) -> str:
    place = shlex.quote(str(world.repository.root))
    return f"git -C {place} merge --ff-only {line_ref(BRANCH)}"


def _refused(world: World) -> str:
    """Finish, check that nothing at all moved, and return the message."""
    before = fingerprint(world.person.path)
    refs = world.person.git("for-each-ref", "refs/heads")
    result, _ = _finish(world)
    assert not result.moved
    assert result.message is not None
    assert fingerprint(world.person.path) == before
    assert world.person.git("for-each-ref", "refs/heads") == refs
    return result.message


def test_checkout_is_fast_forwarded(world: World) -> None:
    """Files, index, branch and followed value are at the line's tip; open edits stay."""
    landed = world.land_files("US-1", {"one.txt": "1\n", "shared.txt": "changed\n"}).commit
    world.person.write({"kept.txt": "open\n", "untracked.txt": "u\n"})

    result, intents = _finish(world)

    assert result == Finish(True, None)
    assert intents == [_command(world)]
    assert world.ref("HEAD") == world.ref(followed_ref(BRANCH)) == landed
    assert world.person.git("symbolic-ref", "HEAD") == HEAD_OF_BRANCH
    assert (world.person.path / "shared.txt").read_text("utf-8") == "changed\n"
    status = world.person.git("status", "--porcelain").split("\n")
    assert status == [" M kept.txt", "?? untracked.txt"]


def test_checkout_at_the_lines_tip_is_left_alone(world: World) -> None:
    """There is nothing to do and nothing to say."""
    assert _finish(world) == (Finish(False, None), [])


def test_branch_that_no_checkout_holds_follows(world: World) -> None:
    """No checkout is written, so no intent is journaled."""
    world.person.git("switch", "--quiet", "main")
    landed = world.land_files("US-1", {"one.txt": "1\n"}).commit
    before = fingerprint(world.person.path)

    assert _finish(world) == (Finish(True, None), [])
    assert world.ref(HEAD_OF_BRANCH) == landed
    assert fingerprint(world.person.path) == before


def test_branch_that_the_person_brought_part_of_the_way_goes_the_rest(world: World) -> None:
    """What it has of the line counts as followed."""
    world.person.git("switch", "--quiet", "main")
    first = world.land_files("US-1", {"one.txt": "1\n"}).commit
    second = world.land_files("US-2", {"two.txt": "2\n"}).commit
    world.person.git("branch", "--force", BRANCH, first)

    assert _finish(world)[0] == Finish(True, None)
    assert world.ref(HEAD_OF_BRANCH) == second


def test_linked_worktree_that_holds_the_branch_is_forwarded(world: World, tmp_path: Path) -> None:
    """The checkout that holds the branch is the one that moves, wherever qloop was started."""
    world.person.git("switch", "--quiet", "main")
    other = tmp_path / "my other"
    world.person.git("worktree", "add", "--quiet", str(other), BRANCH)
    world.land_files("US-1", {"one.txt": "1\n"})
    before = fingerprint(world.person.path)

    result, intents = _finish(world)

    assert result.moved
    assert intents == [f"git -C '{other}' merge --ff-only {line_ref(BRANCH)}"]
    assert (other / "one.txt").exists()
    assert fingerprint(world.person.path) == before


def test_changed_file_in_the_way_is_refused_by_git(world: World) -> None:
    """Nothing is overwritten; the command that is named works once the edit is out of the way."""
    landed = world.land_files("US-1", {"shared.txt": "changed\n"}).commit
    world.person.write({"shared.txt": "open\n"})

    message = _refused(world)

    assert "shared.txt" in message
    assert message.endswith(_command(world))
    world.person.git("checkout", "--quiet", "shared.txt")
    subprocess.run(["bash", "-c", _command(world)], check=True, capture_output=True)
    assert world.ref("HEAD") == landed


@pytest.mark.parametrize(
    ("lying", "landed"),
    [
        ("secret.log", "secret.log"),
        ("plain.txt", "plain.txt"),
        ("folder.log", "folder.log/file"),
        ("new.log/inside", "new.log"),
        ("sub/deep.log", "sub/deep.log"),
    ],
)
def test_ignored_or_untracked_file_in_the_way(world: World, lying: str, landed: str) -> None:
    """What git would overwrite without a word is found and named first."""
    world.person.commit("ignore", {".gitignore": "*.log\n"})
    world.person.git("update-ref", line_ref(BRANCH), "HEAD")
    agent = world.agent("US-1")
    agent.write({landed: "landed\n"})
    agent.git("add", "--force", landed)
    agent.commit("with a log")
    world.land(agent)
    world.person.write({lying: "precious\n"})

    message = _refused(world)

    assert lying.split("/inside")[0] in message
    assert message.endswith(_command(world))


def test_ignored_file_that_appears_at_the_last_moment_is_kept(world: World) -> None:
    """Git is told, too, to overwrite no ignored file."""
    world.person.commit("ignore", {".gitignore": "*.log\n"})
    world.person.git("update-ref", line_ref(BRANCH), "HEAD")
    agent = world.agent("US-1")
    agent.write({"a.log": "landed\n"})
    agent.git("add", "--force", "a.log")
    agent.commit("with a log")
    world.land(agent)

    def appear(_intent: str) -> None:
        world.person.write({"a.log": "precious\n"})

    result = finish(world.repository, BRANCH, journal_intent=appear)

    assert not result.moved
    assert (world.person.path / "a.log").read_text("utf-8") == "precious\n"


def test_link_in_the_way_is_not_followed(world: World, tmp_path: Path) -> None:
    """An ignored link, be it to nowhere or to a folder, is in the way too."""
    world.person.commit("ignore", {".gitignore": "out\nnowhere\n"})
    world.person.git("update-ref", line_ref(BRANCH), "HEAD")
    agent = world.agent("US-1")
    agent.write({"out/file": "f\n", "nowhere": "n\n"})
    agent.git("add", "--force", "out/file", "nowhere")
    agent.commit("with links in the way")
    world.land(agent)
    outside = tmp_path / "outside"
    outside.mkdir()
    (world.person.path / "out").symlink_to(outside)
    (world.person.path / "nowhere").symlink_to("no such place")

    message = _refused(world)

    assert "in the way lies nowhere, out;" in message
    assert not list(outside.iterdir())


def test_tracked_things_that_change_their_kind_are_not_in_the_way(world: World) -> None:
    """A file that becomes a folder, a folder that becomes a file: git carries them over."""
    world.person.commit("folder", {"folder/a": "a\n", "folder/b": "b\n"})
    world.person.git("update-ref", line_ref(BRANCH), "HEAD")
    agent = world.agent("US-1")
    agent.git("rm", "--quiet", "-r", "old.txt", "folder")
    agent.commit("kinds", {"old.txt/inside": "i\n", "folder": "a file\n"})
    world.land(agent)

    assert _finish(world)[0] == Finish(True, None)
    assert (world.person.path / "folder").is_file()


@pytest.mark.parametrize("doing", ["merge", "cherry-pick", "revert"])
def test_unfinished_operation_in_the_checkout_is_waited_for(world: World, doing: str) -> None:
    """What the person is in the middle of is left to them."""
    world.person.git("switch", "--quiet", "main")
    other = world.person.commit("main", {"shared.txt": "main\n"})
    world.person.commit("main again", {"shared.txt": "main again\n"})
    world.person.git("switch", "--quiet", BRANCH)
    world.land_files("US-1", {"one.txt": "1\n"})
    arguments = {"merge": ["main"], "cherry-pick": ["main"], "revert": ["--no-commit", other]}
    world.person.git("config", "merge.ff", "false")
    world.person.git(
        doing, *(["--no-commit"] if doing == "merge" else []), *arguments[doing], check=False
    )

    message = _refused(world)

    assert "not finished there" in message
    assert message.endswith(_command(world))


def test_rebase_that_returns_to_the_branch_is_waited_for(world: World) -> None:
    """The checkout that rebases is named, though its HEAD names no branch."""
    world.person.commit("mine", {"shared.txt": "mine\n"})
    world.person.git("update-ref", line_ref(BRANCH), "HEAD")
    world.person.git("switch", "--quiet", "main")
    world.person.commit("main", {"shared.txt": "main\n"})
    world.land_files("US-1", {"one.txt": "1\n"})
    world.person.git("rebase", "main", BRANCH, check=False)

    message = _refused(world)

    assert "a rebase or bisect is not finished" in message
    assert message.endswith(_command(world))


def test_branch_in_two_checkouts_is_not_moved_under_either(world: World, tmp_path: Path) -> None:
    """Forwarding one would leave the other behind its own branch."""
    other = tmp_path / "other"
    world.person.git("worktree", "add", "--quiet", "--force", str(other), BRANCH)
    world.land_files("US-1", {"one.txt": "1\n"})

    assert f"checked out in {other} too" in _refused(world)


def test_branch_with_commits_of_its_own_is_told(world: World) -> None:
    """A fast-forward is impossible, so a merge is named; it brings the two together."""
    landed = world.land_files("US-1", {"one.txt": "1\n"}).commit
    mine = world.person.commit("mine", {"mine.txt": "m\n"})

    message = _refused(world)

    assert "--ff-only" not in message
    command = message[message.rindex("git -C") :]
    subprocess.run(["bash", "-c", command], check=True, capture_output=True)
    assert world.person.git("log", "-1", "--format=%P").split() == [mine, landed]


@pytest.mark.parametrize("deleted", [True, False])
def test_branch_that_lost_what_was_followed_is_told(world: World, deleted: bool) -> None:
    """The run's end says what the next start would say."""
    world.person.commit("mine", {"mine.txt": "m\n"})
    for ref in (line_ref(BRANCH), followed_ref(BRANCH)):
        world.person.git("update-ref", ref, "HEAD")
    world.person.git("reset", "--quiet", "--hard", "HEAD^")
    if deleted:
        world.person.git("switch", "--quiet", "main")
        world.person.git("branch", "-D", BRANCH)

    assert f"was {'deleted' if deleted else 'moved back'}" in _refused(world)


def test_the_persons_configuration_counts_but_no_hook_runs(world: World, tmp_path: Path) -> None:
    """Line ends are the person's choice; hooks, stashing and maintenance are not qloop's to run."""
    proof = tmp_path / "hook ran"
    for name in ("post-merge", "post-checkout", "pre-merge-commit", "reference-transaction"):
        hook = world.repository.git_dir / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch '{proof}'\n", encoding="utf-8")
        hook.chmod(0o755)
    world.person.git("config", "core.autocrlf", "true")
    world.person.git("config", "merge.autoStash", "true")
    world.person.git("config", "merge.ff", "false")
    proof.unlink(missing_ok=True)
    world.land_files("US-1", {"one.txt": "1\n"})
    proof.unlink(missing_ok=True)

    result, _ = _finish(world)

    assert result.moved
    assert not proof.exists()
    assert (world.person.path / "one.txt").read_bytes() == b"1\r\n"


def test_edit_in_the_way_is_never_stashed(world: World) -> None:
    """The person's own setting to stash before a merge is overruled."""
    world.person.git("config", "merge.autoStash", "true")
    world.land_files("US-1", {"shared.txt": "changed\n"})
    world.person.write({"shared.txt": "open\n"})

    _refused(world)

    assert not world.ref("refs/stash")


def test_git_variables_of_the_caller_are_not_obeyed(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Started from a hook, qloop still forwards this repository's checkout."""
    landed = world.land_files("US-1", {"one.txt": "1\n"}).commit
    with monkeypatch.context() as inside:
        inside.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
        inside.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
        inside.setenv("GIT_WORK_TREE", str(tmp_path))
        result, _ = _finish(world)

    assert result.moved
    assert world.ref("HEAD") == landed
    assert world.person.git("status", "--porcelain") == ""


def test_held_checkout_stays_byte_equal_until_the_end(world: World) -> None:
    """Landings go by without a trace in the checkout; the fast-forward brings all of them."""
    world.person.write({"kept.txt": "open\n", "untracked.txt": "u\n"})
    world.person.git("add", "--intent-to-add", "untracked.txt")
    before = fingerprint(world.person.path)
    for number in range(3):
        world.land_files(f"US-{number}", {f"{number}.txt": "x\n"})
        assert fingerprint(world.person.path) == before

    result, _ = _finish(world)

    assert result.moved
    assert {f"{number}.txt" for number in range(3)} <= set(fingerprint(world.person.path))
