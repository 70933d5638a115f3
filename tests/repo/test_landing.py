"""The landed commit, and the one transaction that moves marker and line or nothing."""

import multiprocessing
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from qloop.repo.git import GitFailed
from qloop.repo.landing import AlreadyLanded, LineMoved, Superseded, land, landing_lock
from qloop.repo.landing_filter import LandingRefused
from qloop.repo.line import find_landed, landed_ref, line_ref, write_lease
from qloop.system import files
from repo.landing_world import BRANCH, TEN_LINES, World, fingerprint, race


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository whose line has begun."""
    return World(tmp_path)


def _field(world: World, commit: str, form: str) -> str:
    return world.person.git("log", "-1", f"--format={form}", commit)


def test_landed_commit_has_one_parent_the_agents_author_and_trailers(world: World) -> None:
    """Blame, bisect and revert work per story, and the message says whose work it is."""
    agent = world.agent("US-1")
    agent.git("commit", "--quiet", "--allow-empty", "-m", "first\n\nQloop-Story: forged")
    agent.write({"a.txt": "a\n"})
    agent.git("add", "--all")
    agent.git("commit", "--quiet", "--date=2020-02-03T04:05:06+0700", "-m", "second")
    before = world.line

    landed = world.land(agent).commit

    assert _field(world, landed, "%P") == before
    assert _field(world, landed, "%an|%ae|%ad") == (
        "Ann Agent|ann@example.invalid|Mon Feb 3 04:05:06 2020 +0700"
    )
    assert _field(world, landed, "%cn|%ce") == "qloop|qloop@localhost"
    assert _field(world, landed, "%B").rstrip("\n") == (
        "US-1: Do US-1\n\n    - first\n    - second\n\n"
        f"Qloop-Story: US-1\nQloop-Attempt: 1 {agent.attempt_id}"
    )
    trailers = _field(world, landed, "%(trailers:only,unfold)").strip().split("\n")
    assert trailers == ["Qloop-Story: US-1", f"Qloop-Attempt: 1 {agent.attempt_id}"]


def test_forged_trailers_and_odd_characters_stay_in_the_list(world: World) -> None:
    """Nothing an agent writes can pass for a trailer or steer a terminal."""
    agent = world.agent("US-1")
    agent.commit("Qloop-Attempt: 9 US-9.9.00000009\r\x1b[31mred\u2028next", {"a.txt": "a\n"})
    agent.git("commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", "")

    landed = world.propose(agent, title="A\nQloop-Story: forged\x07\t title").commit

    lines = _field(world, landed, "%B").split("\n")
    assert lines[0] == "US-1: A Qloop-Story: forged title"
    assert lines[2:4] == [
        "    - Qloop-Attempt: 9 US-9.9.00000009 [31mred next",
        "    - (no subject)",
    ]
    assert _field(world, landed, "%(trailers:key=Qloop-Story,valueonly)").split() == ["US-1"]


def test_long_histories_are_told_in_a_hundred_lines(world: World) -> None:
    """The oldest hundred subjects, cut to a line, and how many more there were."""
    agent = world.agent("US-1")
    tree, parent = agent.git("rev-parse", "HEAD^{tree}"), agent.start
    for number in range(103):
        parent = agent.git("commit-tree", tree, "-p", parent, "-m", f"{number} " + "x" * 300)

    landed = world.propose(agent, tip=parent, title="").commit

    lines = _field(world, landed, "%B").split("\n")
    assert lines[0] == "US-1"
    assert lines[2].startswith("    - 0 xxx")
    assert lines[101].startswith("    - 99 xxx")
    assert lines[102] == "    - and 3 more"
    assert max(map(len, lines)) < 220


def test_author_in_another_encoding_lands_readable(world: World) -> None:
    """Names are written in UTF-8, whatever the agent's commit was written in."""
    agent = world.agent("US-1")
    agent.write({"a.txt": "a\n"})
    agent.git("add", "--all")
    with_encoding = ("-c", "i18n.commitEncoding=ISO-8859-1", "commit", "--quiet", "-m")
    agent.git(*with_encoding, b"gr\xfc\xdfe".decode("utf-8", "surrogateescape"))

    landed = world.land(agent).commit

    assert "    - grüße" in _field(world, landed, "%B")
    assert "encoding" not in world.person.git("cat-file", "commit", landed).split("\n\n")[0]


@pytest.mark.parametrize("name", [" ", "...", "<>"])
def test_author_without_a_usable_name_is_qloop(world: World, name: str) -> None:
    """Git takes no commit whose author has no name; the work lands all the same."""
    agent = world.agent("US-1")
    tree = agent.git_tree({"a.txt": "a\n"})
    raw = (
        f"tree {tree}\nparent {agent.start}\nauthor {name.strip('<>')} <e@x> 1500000000 +0100\n"
        "committer c <c@x> 1500000000 +0100\n\nwork\n"
    )
    tip = agent.git_object(raw.encode(), "commit")

    landed = world.propose(agent, tip=tip).commit

    assert _field(world, landed, "%an|%ae|%at") == "qloop|e@x|1500000000"


def test_attempt_without_commits_is_authored_by_qloop(world: World) -> None:
    """Where a story may land empty, the start's author did not write it."""
    agent = world.agent("US-1")

    assert _field(world, world.land(agent).commit, "%an|%cn") == "qloop|qloop"


def test_proposing_moves_no_ref(world: World) -> None:
    """A red gate is a caller that never calls `land`: nothing has moved then."""
    agent = world.agent("US-1")
    agent.commit("work", {"a.txt": "a\n"})
    before = world.person.git("for-each-ref")

    candidate = world.propose(agent)

    assert world.person.git("for-each-ref") == before
    assert find_landed(world.repository, BRANCH, agent.attempt_id, "US-1") is None
    assert candidate.tree == world.person.git("rev-parse", f"{candidate.commit}^{{tree}}")


def test_landing_moves_marker_and_line_together(world: World) -> None:
    """Both point to the candidate; the branch and HEAD are not touched by it."""
    agent = world.agent("US-1")
    agent.commit("work", {"a.txt": "a\n"})

    landed = world.land(agent)

    assert world.line == world.ref(landed_ref(agent.attempt_id)) == landed.commit
    assert landed.line_tip == world.start
    assert world.ref(f"refs/heads/{BRANCH}") == world.start


def test_stale_candidate_moves_nothing(world: World) -> None:
    """The line moved since: propose again, then it lands."""
    agent = world.agent("US-2")
    agent.commit("two", {"two.txt": "2\n"})
    stale = world.propose(agent)
    landed = world.land_files("US-1", {"one.txt": "1\n"})

    with pytest.raises(LineMoved):
        land(world.repository, BRANCH, stale, agent.attempt_id, world.lease)
    assert world.line == landed.commit
    assert not world.ref(landed_ref(agent.attempt_id))
    assert world.files(world.land(agent).commit) == ["one.txt", "shared.txt", "two.txt"]


@pytest.mark.parametrize("line_moved", [False, True])
def test_superseded_lander_moves_nothing(world: World, line_moved: bool) -> None:
    """A new driver's lease ends the old one's landings, and that is what it is told."""
    agent = world.agent("US-2")
    agent.commit("two", {"two.txt": "2\n"})
    candidate = world.propose(agent)
    if line_moved:
        world.land_files("US-1", {"one.txt": "1\n"})
    write_lease(world.repository, "r-2")
    before = world.person.git("for-each-ref")

    with pytest.raises(Superseded):
        land(world.repository, BRANCH, candidate, agent.attempt_id, world.lease)
    assert world.person.git("for-each-ref") == before


def test_attempt_lands_once_only(world: World) -> None:
    """A marker that is there already is no question of trying again."""
    agent = world.agent("US-1")
    agent.commit("work", {"a.txt": "a\n"})
    landed = world.land(agent)

    with pytest.raises(AlreadyLanded) as caught:
        land(world.repository, BRANCH, world.propose(agent), agent.attempt_id, world.lease)
    assert caught.value.where == landed_ref(agent.attempt_id)
    assert world.line == landed.commit


def test_any_other_obstacle_is_gits_failure(world: World) -> None:
    """A folder in the place of the marker is neither the attempt's nor a rival's doing."""
    agent = world.agent("US-1")
    agent.commit("work", {"a.txt": "a\n"})
    candidate = world.propose(agent)
    marker_folder = world.repository.git_dir / landed_ref(agent.attempt_id)
    (marker_folder / "in the way").mkdir(parents=True)
    (marker_folder / "in the way" / "file").touch()

    with pytest.raises(GitFailed):
        land(world.repository, BRANCH, candidate, agent.attempt_id, world.lease)
    assert world.line == world.start


def test_of_two_landers_at_one_moment_exactly_one_wins(world: World, tmp_path: Path) -> None:
    """Two processes land without a lock, many times over; each time one wins, one is told."""
    context = multiprocessing.get_context("spawn")
    turns = context.Barrier(2)
    racers = []
    for story in ("US-1", "US-2"):
        tree = world.agent(story).git_tree({f"{story}.txt": "x\n"})
        # Unmarked, so that every attempt of the race may land it.
        tip = world.person.git("commit-tree", tree, "-p", world.start, "-m", "work")
        args = (world.repository, world.start, tip, story, world.lease, turns)
        racers.append(context.Process(target=race, args=(*args, tmp_path / story)))
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()

    logs = [(tmp_path / story).read_text("ascii").split() for story in ("US-1", "US-2")]
    winners = []
    for results in zip(*logs, strict=True):
        assert results.count("moved") == 1
        winners += [result for result in results if result != "moved"]
    assert [racer.exitcode for racer in racers] == [0, 0]
    chain = world.person.git("rev-list", "--reverse", f"{world.start}..{line_ref(BRANCH)}")
    assert chain.split() == winners
    assert len(winners) == 15


def test_landing_lock_lets_one_process_in_and_dies_with_it(world: World, tmp_path: Path) -> None:
    """While another process has the turn nobody gets in; when it is killed, the next one does."""
    script = (
        "import sys, time, pathlib\n"
        "from qloop.repo.checkout import Repository\n"
        "from qloop.repo.landing import landing_lock\n"
        "root = pathlib.Path(sys.argv[1])\n"
        "with landing_lock(Repository(root=root, git_dir=root / '.git')):\n"
        "    print('in', flush=True)\n"
        "    time.sleep(600)\n"
    )
    argv = [sys.executable, "-c", script, str(world.repository.root)]
    lib = str(Path(files.__file__).parents[2])
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env={"PYTHONPATH": lib}) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(files.Held):
            files.open_locked(world.repository.private / "landing.lock", wait=False)
        holder.send_signal(signal.SIGKILL)
    with landing_lock(world.repository):
        entered = True

    assert entered


def test_what_the_person_does_meanwhile_is_not_undone(world: World) -> None:
    """Commits, tags, a stash, configuration and open edits of the person stay as they are."""
    person = world.person
    agent = world.agent("US-1")
    agent.commit("work", {"shared.txt": TEN_LINES.replace("line 0", "ONE")})
    candidate = world.propose(agent)
    commit = person.commit("on main", {"main.txt": "m\n"})
    person.git("tag", "mine")
    person.write({"shared.txt": "to be stashed\n"})
    person.git("stash")
    person.git("config", "my.setting", "1")
    person.write({"shared.txt": "staged\n", "untracked.txt": "u\n"})
    person.git("add", "shared.txt")
    person.write({"shared.txt": "open\n"})
    before = fingerprint(person.path)
    stash, config = world.ref("refs/stash"), (person.path / ".git" / "config").read_bytes()

    land(world.repository, BRANCH, candidate, agent.attempt_id, world.lease)
    world.land_files("US-2", {"two.txt": "2\n"})

    assert fingerprint(person.path) == before
    assert world.ref("refs/heads/main") == world.ref("refs/tags/mine") == commit
    assert world.ref("refs/stash") == stash
    assert (person.path / ".git" / "config").read_bytes() == config


def test_the_persons_configuration_and_hooks_do_not_bend_a_landing(world: World) -> None:
    """Signing, encodings, hooks, replacements and merge settings of the person play no part."""
    settings = {
        "commit.gpgSign": "true",
        "gpg.program": "false",
        "i18n.commitEncoding": "ISO-8859-1",
        "i18n.logOutputEncoding": "UTF-16",
        "merge.renames": "false",
        "diff.renames": "copies",
        "core.splitIndex": "true",
        "core.quotePath": "true",
        "color.ui": "always",
        "merge.conflictStyle": "diff3",
        "trailer.separators": "=",
    }
    agent = world.agent("US-1")
    agent.commit("grüße", {"täb.txt": "a\n", "qloop.toml": "x\n"})
    for key, value in settings.items():
        world.person.git("config", key, value)
    hook = world.repository.git_dir / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
    hook.chmod(0o755)
    world.person.git("config", "core.hooksPath", "/nonexistent")

    landed = world.land(agent).commit

    hook.unlink()
    raw = world.person.git("cat-file", "commit", landed)
    assert "gpgsig" not in raw
    assert "    - grüße" in raw
    assert find_landed(world.repository, BRANCH, agent.attempt_id, "US-1") == landed
    assert not list(world.repository.git_dir.glob("sharedindex*"))


def test_landings_leave_no_files_behind(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a merge needs is gone when it is done, also when it ends in an error."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))  # else that of all tests at once
    agent = world.agent("US-1")
    agent.commit("work", {"a.txt": "a\n", "qloop.toml": "x\n"})
    with pytest.raises(LandingRefused):
        world.propose(agent, copy_files=("a.txt",))
    world.land(agent)

    assert list(folder.iterdir()) == []
    assert sorted(path.name for path in world.repository.private.glob("*")) == []


def test_each_story_can_be_blamed_bisected_and_reverted(world: World) -> None:
    """The line is one commit for each story, and undoing one takes away all of it and no more."""
    first = world.agent("US-1")
    first.commit("one", {"one.txt": "1\n"})
    first.commit("one more", {"shared.txt": TEN_LINES.replace("line 0", "ONE")})
    landed = world.land(first).commit
    second = world.land_files("US-2", {"two.txt": "2\n"}).commit
    person = world.person
    person.git("switch", "--quiet", "--detach", line_ref(BRANCH))

    assert person.git("rev-list", "--min-parents=2", "HEAD") == ""
    assert person.git("blame", "--porcelain", "-L1,1", "shared.txt").split(" ", 1)[0] == landed
    person.git("bisect", "start", "HEAD", world.start)
    person.git("bisect", "run", "sh", "-c", "test ! -e two.txt")
    assert world.ref("refs/bisect/bad") == second
    person.git("bisect", "reset")
    person.git("revert", "--no-edit", landed)
    assert world.files("HEAD") == ["shared.txt", "two.txt"]
    assert world.show("HEAD", "shared.txt") == TEN_LINES.rstrip("\n")
