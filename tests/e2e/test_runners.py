"""Runners: how an agent is called, what it sees, and what is made of what it prints."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from world import World

PASSED = "<quantum>STORY_PASSED</quantum>"


def runner(world: World, script: str, *argv: str, table: str = "", top: str = "") -> None:
    """The default runner: this shell script with these arguments, and lines of its table."""
    words = json.dumps(["sh", "-c", script, "agent", *argv])
    text = f'runner = "own"\n{top}\n[runners.own]\nargv = {words}\n{table}\n'
    (world.path / "qloop.toml").write_text(text, encoding="utf-8")


def passing(*commands: str) -> str:
    """A script that runs commands, changes something, and says that it passed."""
    return "\n".join([*commands, "echo x > $QLOOP_STORY.txt", f"echo '{PASSED}'"])


def reason(world: World, story: str = "A-1") -> str:
    """Why a story's last attempt failed."""
    return str(world.story(story)["retries"]["failureLog"][-1]["reason"])


# --- the prompt


@pytest.mark.parametrize("way", ["stdin", "file", "argument"])
def test_the_prompt_comes_each_way(world: World, way: str) -> None:
    """On standard input, in a file that is named, or as an argument; the rest of stdin is empty."""
    take = {"stdin": "cat > got", "file": 'cat "$1" > got; cat > rest', "argument": None}[way]
    take = take or 'printf %s "$1" > got; cat > rest'
    place = {"stdin": [], "file": ["{prompt_file}"], "argument": ["{prompt}"]}[way]
    runner(world, passing("mkdir out; cd out", take, "cd .."), *place, table=f'prompt = "{way}"')
    world.plan({"id": "A-1", "title": 'größe "$HOME" `id` \\ %s'})

    ran = world.run()

    files = world.files()
    assert ran.code == 0, ran.err
    assert 'größe "$HOME" `id` \\ %s' in files["out/got"]
    assert files.get("out/rest", "") == ""


def test_a_prompt_too_long_for_an_argument_stops_the_run_at_its_start(world: World) -> None:
    """Above 100 KB it is refused as wrong input, before anything starts, with the way out."""
    runner(world, passing("cat"), "{prompt}", table='prompt = "argument"')
    world.plan({"id": "A-1"}, {"id": "B-1", "description": "x" * 100_001, "dependsOn": ["A-1"]})

    ran = world.run()

    assert ran.code == 65
    assert ran.out == ""
    assert "error: " in ran.err
    for word in ("B-1", "own", "argument", "stdin"):
        assert word in ran.err
    assert world.statuses() == {"A-1": "pending", "B-1": "pending"}
    assert not (world.path / ".qloop/logs/A-1").exists()


def test_a_prompt_that_becomes_too_long_is_not_charged(world: World) -> None:
    """Where it grows beyond the limit during a run, the attempt fails as nobody's fault."""
    long = "x" * 60_000
    world.plan({"id": "A-1", "verify": ["false"]})
    grow = (
        f"import json; p = {str(world.quantum)!r}; d = json.load(open(p)); "
        f"d['stories'][0]['description'] = {long!r} * 2; json.dump(d, open(p, 'w'))"
    )
    (world.flags / "grow.py").write_text(grow, encoding="utf-8")
    runner(
        world,
        passing(f"'{sys.executable}' '{world.flags}/grow.py'"),
        "{prompt}",
        table='prompt = "argument"',
    )

    ran = world.run()

    phases = world.failures("A-1")
    assert ran.code == 1
    assert phases[0] == "verification"
    assert set(phases[1:]) == {"infra"}
    assert "argument" in reason(world)
    assert world.story("A-1")["retries"]["attempts"] == 1
    assert len(world.events("agent.started")) == 1


def test_a_long_prompt_on_standard_input_arrives_whole(world: World) -> None:
    """A megabyte of prompt is no problem on standard input."""
    runner(world, passing("wc -c > count"))
    world.plan({"id": "A-1", "description": "ö" * 500_000})

    ran = world.run()

    assert ran.code == 0, ran.err
    assert int(world.files()["count"]) > 1_000_000


# --- the environment

OUTER: dict[str, Any] = {
    "CLAUDECODE": "1",
    "GIT_AUTHOR_NAME": "Mallory",
    "GIT_EDITOR": "vi",
    "SECRET_TOKEN": "s3cret",
    "MYTOOL_KEY": "key",
    "MYTOOL_URL": "url",
    "PASS_ME": "me",
    "PASS_TOO": "too",
    "QLOOP_STORY": "FAKE",
    "LC_MESSAGES": "C",
    "https_proxy": "http://proxy.invalid",
    "SSL_CERT_FILE": "/certs.pem",
    "USER": "pat",
    "SHELL": "/bin/sh",
    "LANG": "C.UTF-8",
    "PYTHONPATH": "/outer",
    "TERM": "xterm",
}
GATE = {"QLOOP_GATE", "QLOOP_GATE_LOG", "QLOOP_GATE_TERMS"}
MYTOOL = {"MYTOOL_KEY", "MYTOOL_URL", "MYTOOL_MODE"}
EXPECTED = {
    *("PATH", "HOME", "USER", "SHELL", "LANG", "LC_MESSAGES", "TERM", "https_proxy"),
    *("SSL_CERT_FILE", "PASS_ME", "PASS_TOO", "TMPDIR"),
    *("QLOOP_STORY", "QLOOP_ATTEMPT", "QLOOP_WAVE", "QLOOP_ROLE", "QLOOP_RUN", "QLOOP_WORKTREE"),
    *("QLOOP_STORY_FILE", "QLOOP_SLOT", "QLOOP_ATTEMPT_ID", "QLOOP_PORT_BASE"),
}
"""What set-up and gates see; an agent sees the manifest's besides."""


def seen(path: Path) -> dict[str, str]:
    """A dumped environment, without what the shell and this machine add."""
    pairs = (entry.split("=", 1) for entry in path.read_text("utf-8").split("\0") if entry)
    own = {"PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}
    own |= {"SSL_CERT_DIR", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"}
    return {name: value for name, value in pairs if name not in own}


def test_an_agent_sees_just_the_environment_that_is_promised(world: World) -> None:
    """The allow-list, the settings' patterns, the manifest's own variables, and qloop's."""
    dump = f"env -0 > '{world.flags}'"
    story_file = f"cp \"$QLOOP_STORY_FILE\" '{world.flags}/story.json'"
    runner(
        world,
        passing(
            f"{dump}/agent", story_file, 'test -d "$TMPDIR" && test "$(pwd)" = "$QLOOP_WORKTREE"'
        ),
        top='env_pass = ["PASS_*", "GIT_*", "QLOOP_*"]',
        table='env = ["MYTOOL_*"]\nset_env = {MYTOOL_MODE = "quiet", QLOOP_STORY = "B-9"}',
    )
    world.plan(
        {"id": "A-1", "verify": [f"{dump}/gate"], "extra": {"kept": True}},
        setupCommands=[f"{dump}/setup"],
    )

    ran = world.run(**OUTER)

    agent, gate = seen(world.flags / "agent"), seen(world.flags / "gate")
    git = {name: value for name, value in agent.items() if name.startswith(("GIT_", "SSH_"))}
    assert ran.code == 0, ran.err
    assert agent.keys() - git.keys() == {*EXPECTED, *GATE, *MYTOOL}
    assert {name for name in gate if not name.startswith(("GIT_", "SSH_"))} == EXPECTED
    assert agent["TERM"] == "dumb"
    assert agent["MYTOOL_MODE"] == "quiet"
    assert (agent["QLOOP_STORY"], agent["QLOOP_ATTEMPT"]) == ("A-1", "1")
    assert (agent["QLOOP_WAVE"], agent["QLOOP_ROLE"]) == ("wave-1", "implementer")
    assert agent["QLOOP_RUN"] == world.events()[0]["run"]
    assert agent["TMPDIR"] != os.environ["TMPDIR"]
    assert "Mallory" not in git.values()
    assert agent.get("GIT_EDITOR") != "vi"
    assert json.loads((world.flags / "story.json").read_text("utf-8"))["extra"] == {"kept": True}


def test_git_in_the_agent_neither_prompts_nor_signs_nor_edits(world: World) -> None:
    """It authors as the repository's user, and marks its committer line with the attempt."""
    world.repo.git("config", "core.editor", "sleep 600")
    world.repo.git("config", "commit.gpgsign", "true")
    world.repo.git("config", "gpg.program", "/bin/false")
    world.repo.git("config", "credential.helper", "!sleep 600")
    runner(
        world,
        passing("echo y > y", "git add .", "git commit -q -m one", "git commit -q --amend || true"),
    )
    world.plan({"id": "A-1"})

    ran = world.run()

    kept = "refs/qloop/attempts/A-1/1"
    attempt = world.events("story.settled")[0]["data"]["attempt_id"]
    assert ran.code == 0, ran.err
    assert "Pat Person <pat@example.invalid>" in world.repo.git("log", "-1", "--format=%an <%ae>")
    lines = world.repo.git("log", "--format=%an <%ae>/%cn %ce", kept)
    assert lines.startswith("Pat Person <pat@example.invalid>/")
    assert attempt in lines


def test_there_is_no_terminal_and_no_input(world: World) -> None:
    """Opening the terminal fails, and standard input ends after the prompt."""
    runner(
        world,
        passing(
            f"( : < /dev/tty ) 2> /dev/null && touch '{world.flags}/terminal'",
            "cat > /dev/null",
            f"read line && touch '{world.flags}/more'",
        ),
    )
    world.plan({"id": "A-1"})

    ran = world.run()

    assert ran.code == 0, ran.err
    assert list(world.flags.iterdir()) == []


# --- output


def test_any_output_is_bytes_and_the_signal_is_found(world: World) -> None:
    """Much output, no line ends, bytes that are no text, and no line end after the signal."""
    runner(
        world,
        "head -c 50000000 /dev/zero | tr '\\0' x; head -c 100000 /dev/urandom; "
        f"printf '\\377\\376\\0\\n'; echo x > a; printf '\\n{PASSED}'",
    )
    world.plan({"id": "A-1"})

    ran = world.run()

    assert ran.code == 0, ran.err
    assert (world.path / ".qloop/logs/A-1/1/output.log").stat().st_size <= 11_000_000


SAID: list[tuple[str, int, str | None]] = [
    (PASSED, 0, None),
    (f"  {PASSED} \\r", 0, None),
    ("<quantum> STORY_PASSED </quantum>", 0, None),
    ("\\033[32m<quantum>STORY_PASSED</quantum>\\033[0m", 0, None),
    (f"<quantum>STORY_FAILED</quantum>\\n{PASSED}", 0, None),
    (f"```\\nan open fence\\n{PASSED}", 0, None),
    ("nothing", 0, "no_signal"),
    ("", 0, "no_signal"),
    (f"I will say {PASSED} soon", 0, "no_signal"),
    (f"> {PASSED}", 0, "no_signal"),
    (f"```\\n{PASSED}\\n```", 0, "no_signal"),
    ("<quantum>story_passed</quantum>", 0, "no_signal"),
    ("<quantum>COMPLETE</quantum>", 0, "no_signal"),
    ("<quantum>WAVE_PASSED</quantum>", 0, "no_signal"),
    ("<quantum>STORY_FAILED</quantum>", 0, "agent_failed"),
    (f"{PASSED}\\n<quantum>STORY_FAILED</quantum>", 0, "agent_failed"),
    ("<quantum>BLOCKED</quantum>", 0, "agent_blocked"),
    (PASSED, 3, "agent_failed"),
    ("nothing", 3, "agent_failed"),
]


def test_what_counts_as_a_signal(world: World) -> None:
    """Each kind of output, by what becomes of the story that ended with it."""
    script = 'cat > /dev/null; . "$1/$QLOOP_STORY"'
    runner(world, script, str(world.flags))
    stories: list[dict[str, Any]] = []
    for number, (text, code, _) in enumerate(SAID):
        body = f"echo x > $QLOOP_STORY.txt; printf '%b\\n' '{text}'; exit {code}\n"
        (world.flags / f"S-{number}").write_text(body, encoding="utf-8")
        stories.append({"id": f"S-{number}", "retries": {"maxAttempts": 1}})
    world.plan(*stories)

    world.run("--max-parallel", "8")

    found = [
        [entry["phase"] for entry in one["retries"].get("failureLog", [])]
        for one in world.document["stories"]
    ]
    expected = [[] if phase is None else [phase] for _, _, phase in SAID]
    assert found == expected


def test_an_echo_of_the_prompt_is_no_signal(world: World) -> None:
    """Even a prompt that was told to hold signals carries none when it is printed."""
    runner(world, "cat; echo x > a")
    world.plan(
        {
            "id": "A-1",
            "description": f"Say\n{PASSED}\nat the end.\n\r{PASSED}\r",
            "acceptanceCriteria": [f"x\n{PASSED}"],
            "retries": {"maxAttempts": 1},
        }
    )

    ran = world.run()

    assert ran.code == 1
    assert world.failures("A-1") == ["no_signal"]


def test_an_agent_that_dies_of_a_signal_is_a_crash(world: World) -> None:
    """What it said before does not count, and the signal is named."""
    runner(world, f"cat > /dev/null; echo x > a; echo '{PASSED}'; kill -SEGV $$")
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}})

    ran = world.run()

    assert ran.code == 1
    assert world.failures("A-1") == ["crash"]
    assert "SIGSEGV" in reason(world)


def test_an_agent_that_cannot_be_executed_after_all_is_not_charged(
    world: World, tmp_path: Path
) -> None:
    """A script whose interpreter is missing fails three times at nobody's charge, then stops."""
    command = tmp_path / "agent"
    command.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    command.chmod(0o755)
    (world.path / "qloop.toml").write_text(
        f'runner = "own"\n[runners.own]\nargv = ["{command}"]\n', encoding="utf-8"
    )
    world.plan({"id": "A-1"})

    ran = world.run()

    assert ran.code == 1
    assert world.failures("A-1") == ["infra"] * 3
    assert str(command) in reason(world)
    assert world.story("A-1")["retries"].get("attempts", 0) == 0
    assert "3 times in a row" in ran.err + ran.out


def test_a_runner_of_the_project_itself(world: World) -> None:
    """A path with a slash is one in the checkout, and what runs is the worktree's version."""
    world.repo.write({"tools/agent.sh": f"#!/bin/sh\ncat > /dev/null\n{passing()}\n"})
    (world.path / "tools/agent.sh").chmod(0o755)
    world.repo.commit("tool")
    sub = world.path / "sub"
    sub.mkdir()
    (world.path / "qloop.toml").write_text(
        'runner = "own"\n[runners.own]\nargv = ["./tools/agent.sh"]\n', encoding="utf-8"
    )
    world.plan({"id": "A-1"})

    ran = world.run(cwd=sub)

    assert ran.code == 0, ran.err


# --- shell and auto


def test_the_shell_runner_does_the_tasks(world: World) -> None:
    """Each task's commands in order, in the worktree, by bash, with qloop's variables."""
    (world.path / "qloop.toml").unlink()
    world.plan(
        {
            "id": "A-1",
            "tasks": [
                {"run": ["[[ -d . ]] && echo one > log", "cd /", "pwd > here; echo two >> log"]},
                {"run": ["echo $QLOOP_STORY $QLOOP_ATTEMPT >> log\ncat >> log\nexit 0"]},
            ],
        }
    )

    ran = world.run("--runner", "shell")

    files = world.files()
    assert ran.code == 0, ran.err
    assert files["log"] == "one\ntwo\nA-1 1"
    assert files["here"] != "/"


def test_the_shell_runner_ends_with_the_first_failure(world: World) -> None:
    """What comes after the first command that is not 0 does not run; its code is told."""
    world.plan(
        {
            "id": "A-1",
            "runner": "shell",
            "retries": {"maxAttempts": 1},
            "tasks": [
                {"run": ["true", "exit 7", f"touch '{world.flags}/after'"]},
                {"run": ["true"]},
            ],
        }
    )

    ran = world.run()

    assert ran.code == 1
    assert world.failures("A-1") == ["agent_failed"]
    assert "7" in reason(world)
    assert not (world.flags / "after").exists()


def test_auto_chooses_for_each_story(world: World) -> None:
    """`run` in every task is for the shell, everything else for the first installed agent."""
    script = json.dumps(["sh", "-c", f"cat > /dev/null; {passing()}"])
    (world.path / "qloop.toml").write_text(
        f'[runners.absent]\nargv = ["no-such-command"]\n[runners.here]\nargv = {script}\n',
        encoding="utf-8",
    )
    world.plan(
        {"id": "A-1", "tasks": [{"run": ["echo a > a"]}, {"run": ["echo b > b"]}]},
        {"id": "B-1", "tasks": [{"run": ["echo c > c"]}, {"title": "by hand"}]},
        {"id": "C-1", "runner": "auto"},
    )

    ran = world.run()

    runners = {one["story"]: one["data"]["runner"] for one in world.events("attempt.started")}
    assert ran.code == 0, ran.err
    assert runners == {"A-1": "shell", "B-1": "here", "C-1": "here"}
