"""What must not leave and what must not come in: secrets, and the caller's agent session."""

import json
import sys
from pathlib import Path

import pytest

from qloop.state.journal import EventKind, Journal
from world import World

PASSED = "<quantum>STORY_PASSED</quantum>"
SECRET = "sk-very-secret-value"
SESSION = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "CLAUDE_CODE_SSE_PORT": "1234",
    "CODEX_SANDBOX": "seatbelt",
    "CODEX_THREAD_ID": "t",
    "GEMINI_CLI": "1",
    "QWEN_CODE": "1",
    "OPENCODE": "1",
    "CURSOR_AGENT": "1",
    "AI_AGENT": "x",
}


def configure(world: World, script: str, *lines: str) -> None:
    """A runner that is a shell script, with lines of its table."""
    argv = json.dumps(["sh", "-c", script])
    text = "\n".join(['runner = "own"', "[runners.own]", f"argv = {argv}", *lines])
    (world.path / "qloop.toml").write_text(text, encoding="utf-8")


def kept(world: World) -> dict[str, bytes]:
    """All that qloop keeps of its runs."""
    files = [world.quantum, *(world.path / ".qloop").rglob("*")]
    return {str(path): path.read_bytes() for path in files if path.is_file()}


def test_a_secret_stands_nowhere(world: World) -> None:
    """Neither in logs, the journal, the prompt, the evidence, nor what qloop says and reports."""
    script = (
        'cat > /dev/null; echo "key: $MYTOOL_KEY"; printf %s "$MYTOOL_KEY" | cut -c1-9; '
        'git -c "http.extraHeader=key $MYTOOL_KEY" status > /dev/null; '
        'printf sk-very; sleep 0.2; printf -- "-secret-value\\n"; '
        f"echo \"$MYTOOL_KEY\" > work.txt; echo '{PASSED}'"
    )
    configure(world, script, 'env = ["MYTOOL_KEY"]')
    world.plan(
        {"id": "A-1", "title": f"Uses {SECRET}", "verify": ["cat work.txt; false"]},
        qualityCommands=["true"],
    )
    world.quantum.write_text(world.quantum.read_text("utf-8").replace(SECRET, "the key"))

    ran = world.run("--max-retries", "2", MYTOOL_KEY=SECRET)
    report = world.qloop("report", "--out", str(world.flags / "r.html"), MYTOOL_KEY=SECRET)

    assert ran.code == 1, ran.err
    assert report.code == 0, report.err
    assert [name for name, data in kept(world).items() if SECRET.encode() in data] == []
    assert (
        b"key: ***\nsk-very-s\n***\n" in (world.path / ".qloop/logs/A-1/1/output.log").read_bytes()
    )
    assert "***" in world.story("A-1")["review"]["specCompliance"]["evidence"]
    assert SECRET not in ran.out + ran.err
    assert SECRET not in (world.flags / "r.html").read_text("utf-8")


def test_what_an_agent_names_after_a_secret_is_told_without_it(world: World) -> None:
    """A branch and a setting that it made in the person's repository, which fail its attempt."""
    at = f"git -C '{world.path}'"
    script = (
        f'cat > /dev/null; {at} branch "b-$MYTOOL_KEY"; {at} config "own.k-$MYTOOL_KEY" 1; '
        f"echo work > work.txt; echo '{PASSED}'"
    )
    configure(world, script, 'env = ["MYTOOL_KEY"]')
    world.plan({"id": "A-1"})

    ran = world.run("--max-retries", "1", MYTOOL_KEY=SECRET)

    assert ran.code == 1, ran.err
    assert world.failures("A-1") == ["guard"]
    assert "b-***" in world.story("A-1")["retries"]["failureLog"][0]["reason"]
    assert [name for name, data in kept(world).items() if SECRET.encode() in data] == []
    assert SECRET not in ran.out + ran.err


def test_a_secret_in_a_story_is_not_put_into_the_prompt(world: World) -> None:
    """Whoever wrote it there, the prompt says it not, in its file and to the agent."""
    configure(world, f"cat > prompt.txt; echo '{PASSED}'", 'env = ["MYTOOL_KEY"]')
    world.plan({"id": "A-1", "description": f"Log in with {SECRET}."})

    ran = world.run(MYTOOL_KEY=SECRET)

    assert ran.code == 0, ran.err
    assert "Log in with ***." in world.files()["prompt.txt"]
    assert SECRET not in (world.path / ".qloop/logs/A-1/1/prompt.md").read_text("utf-8")


def test_a_file_that_the_agent_writes_is_masked_too(world: World) -> None:
    """A runner's own output file is kept without secrets."""
    trajectory = json.dumps(
        {
            "messages": [{"role": "user", "content": f"key {SECRET}"}],
            "info": {"exit_status": "Submitted", "submission": PASSED},
        }
    )
    write = f"import sys; open(sys.argv[1], 'w').write({trajectory!r}); open('a', 'w')"
    argv = json.dumps([sys.executable, "-c", write, "{output_file}"])
    text = f'runner = "own"\n[runners.own]\nargv = {argv}\noutput = "mini-trajectory"\n'
    text += 'set_env = {OWN_TOKEN = "' + SECRET + '"}\n'
    (world.path / "qloop.toml").write_text(text, encoding="utf-8")
    world.plan({"id": "A-1"})

    ran = world.run()

    assert ran.code == 0, ran.err
    assert [name for name, data in kept(world).items() if SECRET.encode() in data] == []


def test_the_journal_masks_what_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever appends to it, an event's strings are without secrets."""
    monkeypatch.setenv("MYTOOL_KEY", SECRET)
    journal = Journal(tmp_path / "events.jsonl", "r-1")

    journal.append(EventKind.STATE_REPAIRED, text=f"saw {SECRET}", deep=[{"a": SECRET}])

    (event,) = journal.events()
    assert event.data == {"text": "saw ***", "deep": [{"a": "***"}]}


@pytest.mark.parametrize("asked", ["[]", '["CLAUDE*", "CODEX*", "GEMINI*", "QWEN*", "*"]'])
def test_a_session_of_another_agent_does_not_leak_in(
    world: World, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A qloop started from inside an agent starts agents that know nothing of that one."""
    dump = world.flags / "env"
    configure(world, f"cat > work.txt; env -0 > '{dump}'; echo '{PASSED}'", f"env = {asked}")
    world.plan({"id": "A-1"})

    for name, value in SESSION.items():
        monkeypatch.setenv(name, value)

    ran = world.run()

    names = {entry.partition("=")[0] for entry in dump.read_text("utf-8").split("\0")}
    assert ran.code == 0, ran.err
    assert not names & SESSION.keys()


def test_masks_do_not_hide_settings(world: World) -> None:
    """Names of git settings in the environment are no secrets."""
    configure(world, f"cat > work.txt; echo commit.gpgSign; echo '{PASSED}'")
    world.plan({"id": "A-1"})

    ran = world.run()

    assert ran.code == 0, ran.err
    assert b"commit.gpgSign" in (world.path / ".qloop/logs/A-1/1/output.log").read_bytes()
