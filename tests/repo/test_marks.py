"""The marks themselves: names, the agent's environment, the trace file, reflogs."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.repo.marks import agent_git_environment, committer_mark, marked_attempt
from qloop.repo.reflog import entries_since, log_path, parse_reflog
from qloop.repo.trace import TracedCommand, commands_in, read_trace
from qloop.system import process
from repo.person_world import Agent
from repository import Repo

HANG = "#!/bin/sh\nexec sleep 999\n"


def test_mark_leads_back_to_its_attempt() -> None:
    """Only the exact mark of a well-formed attempt id is a mark."""
    assert marked_attempt(committer_mark("US-1.2.0123abcd")) == "US-1.2.0123abcd"
    assert [
        marked_attempt(name) for name in ("qloop", "qloop x", "Pat", "qloop US-1.2.0123abc")
    ] == [None] * 4


@pytest.mark.parametrize(
    "command",
    [
        ("commit", "-q", "--allow-empty", "-m", "x"),
        ("commit", "-q", "--allow-empty", "--allow-empty-message"),
        ("tag", "-a", "-m", "x", "v1"),
        ("rebase", "-q", "-i", "--root"),
        ("log", "-1"),
    ],
)
def test_git_of_an_agent_cannot_wait_for_anybody(
    repo: Repo, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Signing, editor and pager that hang, set up for all repositories: not one is started."""
    hang = tmp_path / "hang"
    hang.write_text(HANG)
    hang.chmod(0o755)
    for key, setting in {
        "commit.gpgSign": "true",
        "tag.gpgSign": "true",
        "gpg.program": str(hang),
        "core.editor": str(hang),
        "sequence.editor": str(hang),
        "core.pager": str(hang),
        "core.askPass": str(hang),
    }.items():
        repo.git("config", "--global", key, setting)
    agent = Agent(repo)
    done = process.run(["git", *command], cwd=repo.path, env=agent.environment, timeout_s=30)

    assert done.code == 0 or "empty commit message" in done.complaint


def test_signature_that_is_asked_for_is_refused_at_once(repo: Repo) -> None:
    """An agent that signs explicitly gets an error, never a prompt."""
    agent = Agent(repo)
    agent.git("commit", "-q", "--allow-empty", "-S", "-m", "x", code=128)

    assert repo.git("log", "--format=%s") == "start"


def test_agents_commit_has_author_and_mark(repo: Repo) -> None:
    """The author is the repository's user; the committer name is the mark."""
    agent = Agent(repo)
    agent.git("commit", "-q", "--allow-empty", "-m", "x")

    assert repo.git("log", "-1", "--format=%an|%ae|%cn|%ce") == (
        f"Pat Person|pat@example.invalid|qloop {agent.attempt_id}|pat@example.invalid"
    )


def test_password_is_never_asked_for(repo: Repo, tmp_path: Path) -> None:
    """The environment names programs that answer nothing for every kind of question."""
    env = agent_git_environment("P", "p@x", "US-1.1.00000001", tmp_path / "trace")
    done = process.run(
        ["git", "credential", "fill"],
        cwd=repo.path,
        env={**os.environ, **env},
        stdin=b"protocol=https\nhost=example.invalid\n\n",
        timeout_s=30,
    )

    assert b"password=\n" in done.out or done.code != 0
    assert "BatchMode=yes" in env["GIT_SSH_COMMAND"]


def test_trace_tells_words_code_and_children(repo: Repo) -> None:
    """Options before the command's word are told from its own; a killed one has no code."""
    agent = Agent(repo)
    agent.run("git", "-C", str(repo.path), "-c", "a.b=c", "--no-pager", "tag", "-l", "x y")
    agent.git("rev-parse", "nothing", code=128)
    agent.run("git", "--version")
    agent.run("git", "-c", "alias.die=!kill -9 $PPID", "die", code=-9)
    listed, failed, _, killed = read_trace(agent.trace)

    assert (listed.name, listed.args, listed.code) == ("tag", ("-l", "x y"), 0)
    assert listed.text == "git tag -l 'x y'"
    assert failed.failed
    assert (killed.name, killed.code, killed.failed) == ("die", None, False)


def test_trace_survives_torn_huge_and_foreign_lines(tmp_path: Path) -> None:
    """What cannot be read is left out; what follows is read."""
    start = json.dumps({"event": "start", "sid": "1", "argv": ["git", "tag", "v1"]}).encode()
    huge = json.dumps({"event": "start", "sid": "2", "argv": ["git", "x" * 3_000_000]}).encode()
    file = tmp_path / "trace"
    odd = [b'{"event":"start","sid":3}', b'{"event":"start","sid":"4","argv":5}', b'["start"]']
    deep = b'{"event":"start","sid":' + b"[" * 200_000
    file.write_bytes(b"\n".join([start[:30], *odd, deep, huge, b"\xff\x00", start, start[:20]]))

    assert [command.argv for command in read_trace(file)] == [("git", "tag", "v1")]
    assert read_trace(tmp_path / "none") == ()


@given(st.lists(st.binary(max_size=60) | st.just(b'{"event":"start","sid":"a","argv":["git"]}')))
def test_any_bytes_are_a_trace(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    """No content of the file is an error."""
    file = tmp_path_factory.mktemp("trace") / "trace"
    file.write_bytes(b"\n".join(lines))

    assert len(read_trace(file)) <= 1


def test_child_without_a_sign_belongs_to_its_parent(repo: Repo) -> None:
    """A process that tells no repository works where its parent does."""
    agent = Agent(repo)
    parent = TracedCommand("a", ("git",), "x", (), 0, worktree=str(repo.path))
    child = TracedCommand("a/b", ("git",), "y", (), 0)
    alone = TracedCommand("c", ("git",), "z", (), 0)

    assert commands_in(agent.repository, [repo.path], [parent, child, alone]) == (parent, child)


def test_long_command_is_shortened() -> None:
    """A message shows the beginning of a command."""
    command = TracedCommand("a", ("git",), "tag", ("x" * 1000,), 0)

    assert command.text.endswith("…")
    assert len(command.text) < 250


def _line(old: str, new: str, who: str = "Pat", message: str = "m") -> bytes:
    return f"{old * 40} {new * 40} {who} <p@x> 1 +0000\t{message}\n".encode()


def test_reflog_entries_tell_who_and_why() -> None:
    """Names may be empty or hold odd letters; torn lines are left out."""
    data = _line("0", "a", "Pat > Person", "x\ty") + b"torn\n" + _line("a", "b", "")
    first, second = parse_reflog(data)

    assert (first.old, first.new, first.committer, first.message) == (
        None,
        "a" * 40,
        "Pat > Person",
        "x\ty",
    )
    assert (second.committer, second.renamed_from) == ("", None)


@pytest.mark.parametrize(
    ("before", "after", "news"),
    [
        (_line("0", "a"), _line("0", "a") + _line("a", "b"), ["b"]),
        (_line("0", "c") + _line("c", "a"), _line("a", "b"), ["b"]),
        (_line("0", "c") + _line("c", "a"), _line("0", "b"), ["b"]),
        (_line("0", "a"), _line("0", "a"), []),
        (b"", _line("a", "b"), ["b"]),
        (_line("0", "c"), _line("0", "c") + _line("c", "a") + _line("a", "b"), ["b"]),
    ],
)
def test_entries_since_a_moment(
    tmp_path: Path, before: bytes, after: bytes, news: list[str]
) -> None:
    """Appended, rewritten, made anew, unchanged, begun, or read a moment too early."""
    path = log_path(tmp_path, "refs/heads/x")
    path.parent.mkdir(parents=True)
    path.write_bytes(after)
    entries = entries_since(tmp_path, "refs/heads/x", len(before), "a" * 40)

    assert [(entry.new or "")[:1] for entry in entries] == news
    assert all(entry.old is not None for entry in entries)


def test_folder_in_place_of_a_reflog(tmp_path: Path) -> None:
    """Where a ref's reflog would be, an empty folder of another ref's may stand."""
    log_path(tmp_path, "refs/heads/x").mkdir(parents=True)

    assert entries_since(tmp_path, "refs/heads/x", 0, None) == ()
