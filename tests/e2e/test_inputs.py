"""Input that cannot be used: each kind's exit code, its words, and nothing lost on disk."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from world import Ran, World, everything

PRD = """# The project

### US-001: The first

**Files:** `a.txt`
"""


def assert_refused(ran: Ran, code: int, *words: str) -> None:
    """An error in words on standard error, nothing on standard output, never a traceback."""
    assert ran.code == code, (ran.code, ran.out, ran.err)
    assert ran.out == ""
    assert re.search(r"^error: ", ran.err, re.MULTILINE), ran.err
    assert "Traceback" not in ran.err
    for word in words:
        assert word in ran.err, ran.err


def spawned(world: World) -> bool:
    """Whether any attempt was ever dispatched."""
    return (world.path / ".qloop" / "logs" / "A-1").exists()


# --- 64: the command line


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--max-paralel", "2"], ["--max-paralel", "--max-parallel"]),
        (["--max-parallel", "0"], ["--max-parallel", "0"]),
        (["--max-parallel", "many"], ["--max-parallel", "many"]),
        (["--max-iterations", "-1"], ["--max-iterations"]),
        (["--max-retries", "-1"], ["--max-retries"]),
        (["--timeout", "soon"], ["--timeout", "soon"]),
        (["--gate-timeout", "5 parsecs"], ["--gate-timeout"]),
        (["--wave-timeout", "x"], ["--wave-timeout"]),
        (["--stale-after", "0"], ["--stale-after", "0"]),
        (["--quantum"], ["--quantum"]),
        (["prd.md", "other.md"], ["other.md"]),
        (["orchestrator"], ["--legacy-orchestrator"]),
        (["--legacy-orchestrator", "--coordinator"], ["--legacy-orchestrator", "--coordinator"]),
        (["--budget", "much"], ["--budget", "much"]),
        (["--budget", "nan"], ["--budget", "nan"]),
        (["--budget", "inf"], ["--budget", "inf"]),
    ],
)
def test_a_wrong_command_line_is_64(world: World, words: list[str], told: list[str]) -> None:
    """Unknown options and bad values are named, with where help is; nothing is touched."""
    world.plan({"id": "A-1"})
    before = everything(world.path)

    ran = world.qloop(*words)

    assert_refused(ran, 64, *told, "--help")
    assert everything(world.path) == before


@pytest.mark.parametrize(
    "words",
    [
        ["story"],
        ["story", "frobnicate", "A-1"],
        ["story", "reset"],
        ["waves", "--format", "painting"],
        ["guard", "head-advance"],
        ["schema", "nonsense"],
        ["completion", "tcsh"],
        ["signal", "parse", "--exit-code", "x"],
        ["signal", "parse", "--format", "painting"],
        ["salvage", "show", "A-1", "--attempt", "0"],
        ["plan"],
    ],
)
def test_a_wrong_call_of_any_command_is_64(world: World, words: list[str]) -> None:
    """Every command answers a wrong call in the same way."""
    ran = world.qloop(*words)

    assert_refused(ran, 64)


# --- 65: quantum.json

BROKEN = {
    "not UTF-8": (b'{"branchName": "ql/\xff", "stories": []}', ["UTF-8"]),
    "not JSON": (b'{"branchName": "ql/x",\n  "stories": [}', ["line 2", "column 15"]),
    "empty": (b"", ["JSON"]),
    "an array": (b"[]", ["object"]),
    "duplicate key": (
        b'{"branchName": "ql/x", "stories": [{"id": "A-1", "id": "B-1"}]}',
        ["stories[0].id", "duplicate key"],
    ),
    "no stories": (b'{"branchName": "ql/x"}', ["stories"]),
    "coercion": (
        b'{"branchName": "ql/x", "stories": [{"id": "A-1", "priority": "1"}]}',
        ["stories[0].priority", "'1'"],
    ),
    "many at once": (
        json.dumps(
            {
                "branchName": "a..b",
                "stories": [
                    {"id": "A-1", "dependsOn": ["A-1"]},
                    {"id": "A-1"},
                    {"id": "../B", "priority": "high"},
                    {"id": "C-1", "dependsOn": ["D-1"]},
                    {"id": "D-1", "dependsOn": ["C-1", "nowhere"]},
                    {"id": "E-1", "tasks": [{"filePaths": ["/etc/passwd", "../up"]}]},
                ],
            }
        ).encode(),
        ["a..b", "../B", "high", "nowhere", "/etc/passwd", "../up", "C-1", "D-1", "A-1"],
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("command", [["run"], ["validate"], ["waves"], ["run", "--dry-run"]])
def test_a_broken_state_file_is_65(world: World, kind: str, command: list[str]) -> None:
    """All faults at once, each with its place; the file stays byte for byte what it was."""
    data, told = BROKEN[kind]
    world.quantum.write_bytes(data)

    ran = world.qloop(*command)

    assert_refused(ran, 65, "quantum.json", *told)
    assert world.quantum.read_bytes() == data
    assert not spawned(world)
    assert world.refs("refs/qloop/line") == {}


def test_faults_as_data(world: World) -> None:
    """`validate --json` gives every kind of fault as data, those of the text too."""
    for kind, (data, _) in BROKEN.items():
        world.quantum.write_bytes(data)

        ran = world.qloop("validate", "--json")

        assert ran.code == 65, kind
        told = json.loads(ran.out)
        assert told["valid"] is False
        assert told["faults"], kind
        assert all(fault["message"] for fault in told["faults"])


def test_a_state_file_that_is_a_folder_is_65(world: World) -> None:
    """A folder in the state file's place is refused and left there."""
    world.quantum.mkdir()

    ran = world.qloop("run")

    assert_refused(ran, 65, "quantum.json")
    assert world.quantum.is_dir()


# --- 65: qloop.toml

SETTINGS = {
    "unknown key": ("max_paralel = 3", ["max_paralel", "max_parallel"]),
    "unknown key in a table": ("[limits]\nlog_byte = 10000", ["limits.log_byte", "log_bytes"]),
    "unknown key of the checks": ("[checks]\nblok = true", ["checks.blok", "block"]),
    "no yes or no": ("[checks]\nblock = 1", ["checks.block"]),
    "unknown key of a runner": (
        '[runners.x]\nargv = ["x"]\npromt = "file"',
        ["runners.x.promt", "prompt"],
    ),
    "wrong type": ('max_parallel = "3"', ["max_parallel"]),
    "too small": ("max_parallel = 0", ["max_parallel"]),
    "no duration": ('timeout = "soon"', ["timeout", "soon"]),
    "no time at all": ("stale_after = 0", ["stale_after", "no time at all"]),
    "not TOML": ("runner = ", ["TOML", "line 1"]),
    "reserved name": ('[runners.shell]\nargv = ["x"]', ["shell"]),
    "no command": ("[runners.x]\nargv = []", ["runners.x.argv"]),
    "unknown prompt": ('[runners.x]\nargv = ["x"]\nprompt = "mail"', ["runners.x.prompt"]),
    "prompt goes nowhere": (
        '[runners.x]\nargv = ["x"]\nprompt = "argument"',
        ["runners.x", "{prompt}"],
    ),
    "prompt file goes nowhere": (
        '[runners.x]\nargv = ["x"]\nprompt = "file"',
        ["runners.x", "{prompt_file}"],
    ),
    "prompt twice": (
        '[runners.x]\nargv = ["x", "{prompt}"]',
        ["runners.x", "{prompt}"],
    ),
    "worktrees in the repository": ('worktree_root = "trees"', ["worktree_root"]),
}


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_broken_settings_file_is_65(world: World, kind: str) -> None:
    """The key, the nearest name and the file are named; nothing at all is changed on disk."""
    text, told = SETTINGS[kind]
    world.plan({"id": "A-1"})
    (world.path / "qloop.toml").write_text(text + "\n", encoding="utf-8")
    before = everything(world.path)

    ran = world.run()

    assert_refused(ran, 65, *told)
    assert everything(world.path) == before


def test_a_settings_file_that_is_not_utf8_is_65(world: World) -> None:
    """Bytes that are no text are a fault of the file, not of qloop."""
    world.plan({"id": "A-1"})
    (world.path / "qloop.toml").write_bytes(b'runner = "\xff"\n')

    ran = world.run()

    assert_refused(ran, 65, "qloop.toml")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("QLOOP_MAX_PARALLEL", "many"),
        ("QLOOP_MAX_PARALLEL", "0"),
        ("QLOOP_TIMEOUT", "soon"),
    ],
)
def test_a_wrong_variable_is_65_by_its_name(world: World, name: str, value: str) -> None:
    """A variable's fault names the variable, not the file."""
    world.plan({"id": "A-1"})
    env: dict[str, Any] = {name: value}

    ran = world.run(**env)

    assert_refused(ran, 65, name, value)


def test_an_unknown_runner_is_65(world: World) -> None:
    """The name, the known ones and the table to add are told; nothing starts."""
    world.plan({"id": "A-1"})

    ran = world.run("--runner", "duoble")

    assert_refused(ran, 65, "duoble", "double", "[runners.duoble]")
    assert not spawned(world)


def test_the_runner_of_a_story_is_checked_before_anything_runs(world: World) -> None:
    """A wrong runner of the last story stops the run before the first one."""
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"], "runner": "nobody"})
    world.writes_own_file("A-1", "B-1")

    ran = world.run()

    assert_refused(ran, 65, "nobody", "B-1")
    assert not spawned(world)


# --- 65: the requirements document


def test_drift_names_both_ways_and_both_work(world: World) -> None:
    """A changed document is 65; `plan --update` and `--accept-prd-change` each lead on."""
    world.writes_own_file("US-001", "US-002")
    prd = world.path / "prd.md"
    prd.write_text(PRD, encoding="utf-8")
    assert world.qloop("plan", "prd.md").code == 0
    prd.write_text(PRD + "\n### US-002: The second\n", encoding="utf-8")
    before = world.quantum.read_bytes()

    refused = world.run()
    shown = world.run("--dry-run")
    accepted = world.run("--accept-prd-change", "--max-iterations", "0")
    pinned = world.document["prdHash"]
    again = world.run()
    prd.write_text(PRD + "\n### US-003: The third\n", encoding="utf-8")
    world.writes_own_file("US-001", "US-003")
    drifted = world.run("prd.md")
    updated = world.qloop("plan", "--update", "prd.md")
    last = world.run("prd.md")

    ways = ("qloop plan --update prd.md", "--accept-prd-change")
    assert_refused(refused, 65, "prd.md", *ways)
    assert_refused(shown, 65, "prd.md", *ways)
    assert accepted.code == 2, accepted.err
    assert pinned != json.loads(before)["prdHash"]
    assert (again.code, again.signal) == (0, "<quantum>COMPLETE</quantum>"), again.err
    assert_refused(drifted, 65, *ways)
    assert updated.code == 0, updated.err
    assert last.code == 0, last.err
    assert world.statuses() == {"US-001": "passed", "US-003": "passed"}
    assert world.log("ql/the-project") == ["start", "US-001: The first", "US-003: The third"]


def test_a_document_without_stories_is_65_and_shows_the_form(world: World) -> None:
    """The message holds an example that would do; no plan is made."""
    (world.path / "prd.md").write_text("# Just a title\n\nText.\n", encoding="utf-8")

    ran = world.run("prd.md")

    assert_refused(ran, 65, "prd.md", "### US-001", "**Depends on:**")
    assert not world.quantum.exists()


def test_faults_of_a_document_carry_their_lines(world: World) -> None:
    """Each fault of a document names its line."""
    (world.path / "prd.md").write_text(
        "# T\n\n### US-001: One\n\n**Depends on:** US-009\n\n**Priority:** high\n", encoding="utf-8"
    )

    ran = world.run("prd.md")

    assert_refused(ran, 65, "US-009", "line 5", "line 7")


def test_another_document_than_the_plans_is_65(world: World) -> None:
    """A given document must be the one that the plan names."""
    world.writes_own_file("US-001")
    for name in ("prd.md", "other.md"):
        (world.path / name).write_text(PRD, encoding="utf-8")
    assert world.qloop("plan", "prd.md").code == 0
    before = world.quantum.read_bytes()

    ran = world.run("other.md")

    assert_refused(ran, 65, "prd.md", "other.md", "qloop plan")
    assert world.quantum.read_bytes() == before


def test_a_plans_document_that_is_gone_is_a_warning(world: World) -> None:
    """The stories are enough to run."""
    world.plan({"id": "A-1"}, prdPath="gone.md", prdHash="sha256:" + "0" * 64)
    world.writes_own_file("A-1")

    ran = world.run()

    assert ran.code == 0, ran.err
    assert "gone.md" in ran.err


@pytest.mark.parametrize("data", [b"# \xff\xfe\n", b""], ids=["not UTF-8", "empty"])
def test_a_document_that_is_no_text_is_65(world: World, data: bytes) -> None:
    """What is no document is refused, whatever bytes it has."""
    (world.path / "prd.md").write_bytes(data)

    ran = world.run("prd.md")

    assert_refused(ran, 65, "prd.md")
    assert not world.quantum.exists()


def test_a_document_that_is_a_folder_is_65(world: World) -> None:
    """A folder is no document."""
    (world.path / "docs").mkdir()

    ran = world.run("docs")

    assert_refused(ran, 65, "docs", "folder")


# --- 66


def test_a_document_that_is_not_there_is_66_before_all_else(world: World, tmp_path: Path) -> None:
    """Outside a repository and with a broken plan, a missing document is named first."""
    outside = tmp_path / "outside"
    outside.mkdir()
    world.quantum.write_text("{", encoding="utf-8")
    before = everything(world.path)

    answers = [
        world.qloop(*words, cwd=place)
        for place in (outside, world.path)
        for words in (
            ["gone.md"],
            ["run", "gone.md"],
            ["--dry-run", "gone.md"],
            ["plan", "gone.md"],
        )
    ]

    for ran in answers:
        assert_refused(ran, 66, "gone.md")
    assert everything(world.path) == before
    assert everything(outside) == {}


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "--dry-run"],
        ["waves"],
        ["validate"],
        ["init"],
        ["stop"],
        ["story", "reset", "A-1"],
        ["worktree", "list"],
        ["worktree", "clean"],
        ["salvage", "list"],
        ["guard", "head-advance", "HEAD"],
    ],
)
def test_no_repository_is_66(world: World, tmp_path: Path, words: list[str]) -> None:
    """Every command that needs a repository says so, and makes nothing."""
    outside = tmp_path / "outside"
    outside.mkdir()

    ran = world.qloop(*words, cwd=outside)

    assert_refused(ran, 66, "not a git repository", "outside")
    assert everything(outside) == {}


@pytest.mark.parametrize(
    "words",
    [["run"], ["run", "--dry-run"], ["waves"], ["validate"], ["story", "block", "A-1"]],
)
def test_no_state_file_is_66_and_nothing_is_made(world: World, words: list[str]) -> None:
    """What is missing and how to begin is told; the repository stays as it was."""
    before = everything(world.path)

    ran = world.qloop(*words)

    assert_refused(ran, 66, "quantum.json")
    after = everything(world.path)
    made = {name for name in after if name not in before}
    assert {name: after[name] for name in before} == before
    assert all(name.startswith((".git/qloop", ".qloop")) for name in made), made
    assert not world.quantum.exists()


# --- 69


def test_a_runner_that_is_not_installed_is_69(world: World) -> None:
    """The command is named; nothing was started."""
    world.configure('[runners.absent]\nargv = ["no-such-agent-command"]')
    world.plan({"id": "A-1"})

    ran = world.run("--runner", "absent")

    assert_refused(ran, 69, "absent", "no-such-agent-command", "install")
    assert not spawned(world)
    assert world.statuses() == {"A-1": "pending"}


def test_a_runner_file_that_cannot_be_executed_is_69(world: World, tmp_path: Path) -> None:
    """A file without the right to be executed is no runner."""
    command = tmp_path / "agent"
    command.write_text("#!/bin/sh\n", encoding="utf-8")
    world.configure(f'[runners.dull]\nargv = ["{command}"]')
    world.plan({"id": "A-1"})

    ran = world.run("--runner", "dull")

    assert_refused(ran, 69, "dull", str(command))
    assert not spawned(world)


# --- 70


def test_a_bug_is_70_with_a_saved_report(world: World) -> None:
    """What nobody foresaw ends with 70, a report on disk, and no traceback on the screen."""
    world.plan({"id": "A-1"})
    events = world.path / ".qloop" / "events.jsonl"
    events.mkdir(parents=True)

    ran = world.run()

    saved = re.search(r"report saved in (.+?), QLOOP_DEBUG", ran.err)
    assert_refused(ran, 70, "a bug of qloop")
    assert saved is not None
    assert "Traceback" in Path(saved[1]).read_text("utf-8")
    assert world.statuses() == {"A-1": "pending"}


def test_debug_shows_the_traceback(world: World) -> None:
    """QLOOP_DEBUG=1 adds it to an expected failure too."""
    ran = world.run(QLOOP_DEBUG="1")

    assert ran.code == 66
    assert "Traceback" in ran.err


# --- 3: red before anything


def test_a_red_base_is_3_and_starts_nobody(world: World) -> None:
    """A test that is red before anything was done stops the run before anything is spent."""
    world.plan({"id": "A-1"}, testCommand="echo broken already; exit 1")
    world.writes_own_file("A-1")

    ran = world.run()

    assert (ran.code, ran.signal) == (3, "<quantum>WAITING</quantum>")
    assert "testCommand" in ran.err
    assert not spawned(world)
    assert world.statuses() == {"A-1": "pending"}
    assert world.log() == ["start"]
    log = next((world.path / ".qloop/logs/base").glob("*/test.log"))
    assert "broken already" in log.read_text("utf-8")


# --- 0, 1, 2


def test_all_passed_is_complete_and_so_is_an_empty_plan(world: World) -> None:
    """Nothing left to do is COMPLETE, also when no wave may run and no runner is there."""
    world.plan({"id": "A-1", "status": "passed"})
    done = world.run("--max-iterations", "0")
    world.plan()
    empty = world.run()
    (world.path / "qloop.toml").unlink()
    bare = world.run(PATH="/usr/bin:/bin")

    for ran in (done, empty, bare):
        assert (ran.code, ran.signal) == (0, "<quantum>COMPLETE</quantum>"), ran.err


def test_out_of_iterations_is_2_and_the_last_wave_counts(world: World) -> None:
    """No wave, one wave, and the last wave, after which completion is looked at."""
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]}, testCommand="exit 0")
    world.writes_own_file("A-1", "B-1")

    none = world.run("--max-iterations", "0")
    untouched = world.statuses()
    one = world.run("--max-iterations", "1")
    middle = world.statuses()
    last = world.run("--max-iterations", "1")

    assert (none.code, none.signal) == (2, "<quantum>MAX_ITERATIONS</quantum>")
    assert untouched == {"A-1": "pending", "B-1": "pending"}
    assert (one.code, one.signal) == (2, "<quantum>MAX_ITERATIONS</quantum>")
    assert middle == {"A-1": "passed", "B-1": "pending"}
    assert (last.code, last.signal) == (0, "<quantum>COMPLETE</quantum>")


def test_blocked_is_1_and_names_what_blocks(world: World) -> None:
    """A story without attempts left blocks what depends on it, by name, also with 0 waves."""
    world.plan(
        {"id": "A-1", "retries": {"maxAttempts": 1}},
        {"id": "B-1", "dependsOn": ["A-1"]},
        {"id": "C-1", "status": "blocked"},
    )
    world.agent(A_1=[[["say", "STORY_FAILED"]]])

    ran = world.run()
    again = world.run("--max-iterations", "0")

    for one in (ran, again):
        assert (one.code, one.signal) == (1, "<quantum>BLOCKED</quantum>")
        assert "B-1" in one.err + one.out
        assert "A-1" in one.err + one.out
    assert world.statuses() == {"A-1": "failed", "B-1": "pending", "C-1": "blocked"}
    assert world.failures("A-1") == ["agent_failed"]


def test_a_run_ends_with_one_signal_line(world: World) -> None:
    """The summary comes first, then exactly one signal, as the last line."""
    world.plan({"id": "A-1", "title": "first"})
    world.writes_own_file("A-1")

    ran = world.run()

    assert ran.out.count("<quantum>") == 1
    assert ran.signal == "<quantum>COMPLETE</quantum>"
    assert re.search(r"A-1 +first +passed", ran.out)


# --- --json


def test_json_is_nothing_but_events(world: World) -> None:
    """Each line validates against the schema; the last is run.ended and carries the signal."""
    import jsonschema

    schema = json.loads(
        (Path(__file__).parents[2] / "schemas/event.schema.json").read_text("utf-8")
    )
    world.plan({"id": "A-1", "title": "größe"}, {"id": "B-1", "dependsOn": ["A-1"]})
    world.agent(
        A_1=[[["write", "a.txt", "a"]]],
        B_1=[[["say", "STORY_FAILED"]]],
    )

    ran = world.run("--json", "--max-retries", "1")

    events = [json.loads(line) for line in ran.out.splitlines()]
    validator = jsonschema.Draft202012Validator(schema)
    for event in events:
        validator.validate(event)
    assert ran.code == 1
    assert events[0]["event"] == "run.started"
    assert events[-1]["event"] == "run.ended"
    assert events[-1]["data"]["signal"] == "BLOCKED"
    assert {event["run"] for event in events} == {events[0]["run"]}
    assert {"wave.started", "agent.ended", "story.landed", "story.settled"} <= {
        event["event"] for event in events
    }
    assert events == world.events()


@pytest.mark.parametrize("runner", ["no-such", "absent"])
def test_json_of_a_run_that_cannot_start_is_empty(world: World, runner: str) -> None:
    """An error before the start leaves standard output empty."""
    world.configure('[runners.absent]\nargv = ["no-such-agent-command"]')
    world.plan({"id": "A-1"})

    ran = world.run("--json", "--runner", runner)

    assert_refused(ran, 65 if runner == "no-such" else 69)


# --- unusable repositories


def test_a_repository_without_a_commit_is_65(world: World, tmp_path: Path) -> None:
    """An unborn branch is refused with the command that helps; nothing is made."""
    place = tmp_path / "unborn"
    place.mkdir()
    world.repo.git("init", "--quiet", "--template=", cwd=place)
    (place / "quantum.json").write_text('{"branchName": "x", "stories": [{"id": "A-1"}]}')
    before = everything(place)

    ran = world.run(cwd=place)

    assert_refused(ran, 65, "commit", "git commit")
    assert everything(place) == before


def test_a_bare_repository_is_65(world: World, tmp_path: Path) -> None:
    """A bare repository has no checkout to work for."""
    place = tmp_path / "bare.git"
    world.repo.git("clone", "--quiet", "--bare", str(world.path), str(place))
    before = everything(place)

    ran = world.run(cwd=place)

    assert_refused(ran, 65, "bare")
    assert everything(place) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_repository_of_somebody_else_is_65(world: World) -> None:
    """Git's refusal of a folder of dubious ownership is passed on in its words."""
    world.plan({"id": "A-1"})
    for path in (world.path, world.path / ".git"):
        os.chown(path, 12345, 12345)

    ran = world.run(SUDO_UID="")

    for path in (world.path, world.path / ".git"):
        os.chown(path, 0, 0)
    assert_refused(ran, 65, "safe.directory")
