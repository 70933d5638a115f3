"""The commands beside `run`, as a person, a script or an agent calls them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from world import QLOOP, World, end_all, everything, processes_with, wait_until

PRD = "# The project\n\n### US-001: The first\n\n### US-002: The second\n\n**Depends on:** US-001\n"


def working(world: World, *more: dict[str, Any]) -> "subprocess.Popen[str]":
    """A run whose agent of A-1 is at work until the file `go` is there."""
    world.plan({"id": "A-1"}, *more)
    world.agent(
        A_1=[
            [
                ["write", "a.txt", "a\n"],
                ["touch", str(world.flags / "at work")],
                ["wait-for", str(world.flags / "go")],
            ]
        ]
    )
    started = world.start("run")
    wait_until((world.flags / "at work").exists)
    return started


def let_go(world: World, started: "subprocess.Popen[str]") -> int:
    """Let the agent end, and the run with it; the run's exit code."""
    (world.flags / "go").touch()
    started.communicate()
    return started.returncode


# --- story


def test_a_story_is_reset_blocked_and_unblocked(world: World) -> None:
    """Each word does what it says, and what a run makes of it follows."""
    world.plan({"id": "A-1", "retries": {"maxAttempts": 1}}, {"id": "B-1", "dependsOn": ["A-1"]})
    world.agent(
        A_1=[[["say", "STORY_FAILED"]], [["write", "a.txt", "a"]]],
        B_1=[[["write", "b.txt", "b"]]],
    )
    failed = world.run()

    reset = world.qloop("story", "reset", "A-1")
    fresh = world.story("A-1")
    blocked = world.qloop("story", "block", "B-1")
    halted = world.run()
    unblocked = world.qloop("story", "unblock", "B-1")
    done = world.run()

    assert (failed.code, halted.code, done.code) == (1, 1, 0), done.err
    assert (reset.code, blocked.code, unblocked.code) == (0, 0, 0)
    assert (fresh["status"], fresh["retries"]["attempts"]) == ("pending", 0)
    assert [one["phase"] for one in fresh["retries"]["failureLog"]] == ["agent_failed"]
    assert {"a.txt", "b.txt"} <= world.files().keys()
    # The number of an attempt is never used again.
    assert world.refs("refs/qloop/attempts/A-1").keys() == {
        "refs/qloop/attempts/A-1/1",
        "refs/qloop/attempts/A-1/2",
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["story", "reset", "A-2"], ["A-2", "A-1"]),
        (["story", "unblock", "A-1"], ["A-1", "not blocked"]),
        (["story", "block", "P-1"], ["P-1", "passed"]),
    ],
)
def test_a_word_that_does_not_fit_is_65(world: World, words: list[str], told: list[str]) -> None:
    """An unknown story and one in the wrong state are named; the file stays as it is."""
    world.plan({"id": "A-1"}, {"id": "P-1", "status": "passed"})
    before = world.quantum.read_bytes()

    ran = world.qloop(*words)

    assert ran.code == 65
    assert ran.err.startswith("error: ")
    assert all(word in ran.err for word in told), ran.err
    assert world.quantum.read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        *(["story", word, "A-1"] for word in ("reset", "block", "unblock")),
        ["plan", "prd.md"],
        ["plan", "prd.md", "--update"],
        ["worktree", "clean"],
        ["status"],
        ["show", "A-1"],
        ["logs", "A-1"],
        [],
    ],
)
@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "{", '{"branchName": "x", "stories": [{}, 1]}', '{"branchName": 1, "stories": 2}'],
)
def test_a_broken_plan_breaks_no_command(world: World, words: list[str], text: str) -> None:
    """Whatever stands in the state file, it is refused in words or not needed, and stays."""
    (world.path / "prd.md").write_text(PRD, encoding="utf-8")
    world.quantum.write_text(text, encoding="utf-8")

    ran = world.qloop(*words)

    assert ran.code in (0, 65, 66), ran.err
    assert (ran.code == 0) == ("error: " not in ran.err)
    assert world.quantum.read_text("utf-8") == text


def test_what_changes_state_waits_for_the_end_of_a_run(world: World) -> None:
    """During a run a story's words and a new plan are 75 and name the run; looking works."""
    (world.path / "prd.md").write_text(PRD, encoding="utf-8")
    started = working(world)
    before = world.quantum.read_bytes()

    refused = [
        world.qloop(*words)
        for words in (
            ["story", "reset", "A-1"],
            ["story", "block", "A-1"],
            ["story", "unblock", "A-1"],
            ["plan", "prd.md"],
            ["plan", "prd.md", "--update"],
            ["run"],
        )
    ]
    after = world.quantum.read_bytes()
    looked = [
        world.qloop(*words)
        for words in (
            ["waves", "--next", "--json"],
            ["status", "--json"],
            ["worktree", "list", "--json"],
            ["worktree", "clean", "--all"],
            ["validate"],
        )
    ]
    code = let_go(world, started)

    for ran in refused:
        assert ran.code == 75, ran.err
        assert ran.err.startswith("error: ")
        assert f"pid {started.pid}" in ran.err
    assert after == before
    assert [ran.code for ran in looked] == [0] * 5
    assert json.loads(looked[0].out) == {"state": "running", "stories": []}
    (row,) = json.loads(looked[2].out)
    assert row.keys() == {"story", "attempt", "path", "branch", "commit"}
    assert (row["story"], row["attempt"], row["branch"]) == ("A-1", 1, "ql-wt/A-1")
    assert code == 0


HIDING = {
    "as it is": "{}",
    "without variables": 'env -i PATH="$PATH" HOME="$HOME" {}',
    "without a parent": 'env -i PATH="$PATH" HOME="$HOME" setsid sh -c \'{} & exit 0\'',
}


@pytest.mark.parametrize("how", HIDING)
@pytest.mark.parametrize(
    "words",
    ["story reset B-1", "story block B-1", "stop", "worktree clean --all", "salvage restore A-1"],
)
def test_an_agent_may_not_change_state(world: World, how: str, words: str) -> None:
    """From inside an implementer's process tree it is refused, also where that hides itself."""
    call = world.flags / "call.sh"
    call.write_text(
        f"cd '{world.path}'\n'{sys.executable}' -P -m qloop {words} 2> '{world.flags}/said'\n"
        f"echo $? > '{world.flags}/code.part'; mv '{world.flags}/code.part' '{world.flags}/code'\n",
        encoding="utf-8",
    )
    line = HIDING[how].format(f'sh "{call}"')
    world.plan({"id": "B-1", "status": "blocked"}, {"id": "A-1"})
    world.agent(
        A_1=[[["sh", line], ["wait-for", str(world.flags / "code")], ["write", "a.txt", "a"]]]
    )

    ran = world.run()

    said = (world.flags / "said").read_text("utf-8")
    assert (world.flags / "code").read_text("utf-8").strip() == "64", said
    assert "implementer" in said
    assert ran.code == 1, ran.err
    assert world.statuses() == {"B-1": "blocked", "A-1": "passed"}


# --- plan


def test_a_plan_is_compiled_and_kept(world: World) -> None:
    """`plan` writes the file, says what it did, and is deterministic but for the time."""
    (world.path / "prd.md").write_text(PRD, encoding="utf-8")

    (world.path / "sub").mkdir()

    made = world.qloop("plan", "prd.md", "--json")
    elsewhere = world.qloop("plan", "prd.md", "--out", "sub/other.json")
    other = json.loads((world.path / "sub/other.json").read_text("utf-8"))

    assert (made.code, elsewhere.code) == (0, 0), elsewhere.err
    assert json.loads(made.out) == world.document
    assert world.document["prdPath"] == "prd.md"
    assert world.document["branchName"] == "ql/the-project"
    assert [one["id"] for one in world.document["stories"]] == ["US-001", "US-002"]
    assert other["stories"] == world.document["stories"]
    assert [path.name for path in (world.path / "sub").iterdir()] == ["other.json"]
    assert world.repo.git("status", "--porcelain") == "?? prd.md"


def test_an_unfinished_plan_stays_and_a_finished_one_is_archived(world: World) -> None:
    """Over an unfinished plan it refuses and names the ways; a finished one is kept aside."""
    world.writes_own_file("US-001", "US-002")
    (world.path / "prd.md").write_text(PRD, encoding="utf-8")
    (world.path / "next.md").write_text("# Next\n\n### N-1: One\n", encoding="utf-8")
    assert world.qloop("plan", "prd.md").code == 0
    before = world.quantum.read_bytes()

    refused = world.qloop("plan", "next.md")
    between = world.quantum.read_bytes()
    ran = world.run()
    finished = world.document
    replaced = world.qloop("plan", "next.md")

    (kept,) = (world.path / ".qloop/archive").iterdir()
    assert refused.code == 65
    for way in ("not finished", "--update", "--out"):
        assert way in refused.err
    assert between == before
    assert ran.code == 0, ran.err
    assert replaced.code == 0, replaced.err
    assert str(kept) in replaced.err
    assert json.loads(kept.read_text("utf-8")) == finished
    assert world.document["project"] == "Next"


def test_a_plan_into_a_folder_that_is_not_there(world: World) -> None:
    """It is refused in words; no folder is made."""
    (world.path / "prd.md").write_text(PRD, encoding="utf-8")

    ran = world.qloop("plan", "prd.md", "--out", "no/such/folder/plan.json")

    assert ran.code == 66, ran.err
    assert ran.err.startswith("error: ")
    assert "no/such/folder" in ran.err
    assert not (world.path / "no").exists()


# --- init, validate, waves


def test_init_prepares_once(world: World) -> None:
    """It keeps qloop's files out of commits and says what comes next; twice changes nothing."""
    exclude = world.path / ".git/info/exclude"
    exclude.write_text("mine", encoding="utf-8")
    first = world.qloop("init")
    after = everything(world.path)

    second = world.qloop("init")

    lines = exclude.read_text("utf-8").splitlines()
    assert (first.code, second.code) == (0, 0)
    assert lines == ["mine", "/.qloop/", "/quantum.json"]
    assert "qloop --coordinator prd.md" in first.err
    assert everything(world.path) == after
    assert not world.quantum.exists()


def test_validate_a_file_anywhere(world: World, tmp_path: Path) -> None:
    """A file is judged outside of any repository too."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.json").write_text('{"branchName": "b", "stories": [{"id": "A-1"}]}')

    named = world.qloop("validate", "x.json", cwd=outside)
    data = world.qloop("validate", "x.json", "--json", cwd=outside)

    assert named.code == 0, named.err
    assert "1 stor" in named.out
    assert json.loads(data.out) == {"valid": True, "faults": []}


STATES: list[tuple[list[dict[str, Any]], dict[str, Any]]] = [
    ([{"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]}], {"state": "ready", "stories": ["A-1"]}),
    ([{"id": "A-1", "status": "failed"}], {"state": "ready", "stories": ["A-1"]}),
    ([{"id": "A-1", "status": "in_progress"}], {"state": "running", "stories": []}),
    ([{"id": "A-1", "status": "passed"}], {"state": "complete", "stories": []}),
    ([], {"state": "complete", "stories": []}),
    ([{"id": "A-1", "status": "blocked"}], {"state": "blocked", "stories": []}),
    (
        [
            {"id": "A-1", "status": "failed", "retries": {"attempts": 3}},
            {"id": "B-1", "dependsOn": ["A-1"]},
        ],
        {"state": "blocked", "stories": []},
    ),
]


def test_the_next_wave_as_data(world: World) -> None:
    """Each state of a plan has its word; nothing is changed by asking."""
    for stories, expected in STATES:
        world.plan(*stories)
        before = everything(world.path)

        ran = world.qloop("waves", "--next", "--json")

        assert ran.code == 0, ran.err
        assert json.loads(ran.out) == expected
        assert everything(world.path) == before


def test_waves_in_each_form(world: World) -> None:
    """Text and JSON show the same waves."""
    world.plan({"id": "A-1", "title": "first"}, {"id": "B-1", "dependsOn": ["A-1"]})

    text = world.qloop("waves")
    data = [
        json.loads(world.qloop("waves", *words).out) for words in (["--json"], ["--format", "json"])
    ]

    assert text.out.splitlines()[0].endswith("A-1: first")
    assert text.out.index("A-1") < text.out.index("B-1")
    assert data == [{"waves": [["A-1"], ["B-1"]]}] * 2


# --- worktree, salvage


def test_lists_without_anything_are_empty_arrays(world: World) -> None:
    """Every list as JSON is an array, also where there is nothing."""
    answers = [
        world.qloop(*words, "--json") for words in (["worktree", "list"], ["salvage", "list"])
    ]

    assert [(ran.code, ran.out) for ran in answers] == [(0, "[]\n")] * 2


def test_worktrees_of_a_dead_run_are_cleaned(world: World) -> None:
    """What a run may take up again stays unless all is asked for; work is salvaged first."""
    started = working(world)
    end_all([*processes_with(str(world.path.parent)), started.pid])
    started.communicate()
    (tree,) = (
        Path(row["path"]) for row in json.loads(world.qloop("worktree", "list", "--json").out)
    )

    kept = world.qloop("worktree", "clean", "--json")
    there = tree.is_dir()
    shown = world.qloop("worktree", "clean", "--all", "--dry-run")
    still_there = tree.is_dir()
    cleaned = world.qloop("worktree", "clean", "--all")
    (salvaged,) = json.loads(world.qloop("salvage", "list", "--json").out)

    assert kept.code == 0, kept.err
    assert json.loads(kept.out)["removed"] == []
    assert "A-1" in json.loads(kept.out)["kept"][0]
    assert (there, still_there) == (True, True)
    assert f"would be removed: {tree}" in shown.out
    assert f"removed: {tree}" in cleaned.out
    assert not tree.exists()
    assert world.worktrees() == []
    assert (salvaged["story"], salvaged["attempt"]) == ("A-1", 1)
    assert world.repo.git("show", f"{salvaged['commit']}:a.txt") == "a"


def test_what_did_not_land_is_listed_shown_and_restored(world: World) -> None:
    """The rows name everything; a restored branch holds the work; no checkout moves."""
    world.plan({"id": "A-1", "retries": {"maxAttempts": 2}, "verify": ["false"]})
    world.agent(A_1=[[["write", "a.txt", "one\n"]], [["write", "a.txt", "two\n"]]])
    world.run()
    head = world.repo.git("rev-parse", "HEAD")

    rows = json.loads(world.qloop("salvage", "list", "--json").out)
    text = world.qloop("salvage", "list")
    shown = world.qloop("salvage", "show", "A-1", "--attempt", "1")
    newest = world.qloop("salvage", "restore", "A-1")
    named = world.qloop("salvage", "restore", "A-1", "--attempt", "1", "--branch", "mine")
    again = world.qloop("salvage", "restore", "A-1")
    nothing = world.qloop("salvage", "show", "B-1")

    assert [row.keys() for row in rows] == [
        {"story", "attempt", "ref", "commit", "when", "why"}
    ] * 2
    assert [row["attempt"] for row in rows] == [1, 2]
    assert rows[0]["ref"] == "refs/qloop/attempts/A-1/1"
    assert text.out.splitlines()[0].split() == ["story", "attempt", "ref", "commit", "when", "why"]
    assert "a.txt" in shown.out
    assert newest.code == 0, newest.err
    assert newest.out.split() == ["qloop/A-1-2", rows[1]["commit"]]
    assert named.out.split() == ["mine", rows[0]["commit"]]
    assert world.repo.git("show", "mine:a.txt") == "one"
    assert (again.code, nothing.code) == (65, 65)
    assert again.err.startswith("error: ")
    assert nothing.err.startswith("error: ")
    assert world.repo.git("rev-parse", "HEAD") == head
    assert world.repo.git("status", "--porcelain") == ""


# --- guard, signal, schema, completion


def test_the_guard_as_a_command(world: World, tmp_path: Path) -> None:
    """Silence for what descends, both names for what does not, 65 for what is unknown."""
    first = world.repo.git("rev-parse", "HEAD")
    second = world.repo.commit("second")
    bare = tmp_path / "bare.git"
    world.repo.git("clone", "-q", "--bare", str(world.path), str(bare))
    world.repo.git("switch", "-q", "-c", "sibling", first)
    sibling = world.repo.commit("sibling")

    quiet = [
        world.qloop("guard", "head-advance", first),
        world.qloop("guard", "head-advance", first, "main"),
        world.qloop("guard", "head-advance", first, first),
        world.qloop("guard", "head-advance", first, cwd=bare),
    ]
    reset = world.qloop("guard", "head-advance", second)
    unknown = [
        world.qloop("guard", "head-advance", *words)
        for words in (["0" * 40], [first, "nowhere"], ["--", "--all"], [f"{first}^{{tree}}"], [""])
    ]

    assert [(ran.code, ran.out, ran.err) for ran in quiet] == [(0, "", "")] * 4
    assert (reset.code, reset.out) == (1, "")
    assert "HEAD reset detected" in reset.err
    assert second in reset.err
    assert sibling in reset.err
    assert [ran.code for ran in unknown] == [65] * 5
    assert all(ran.err.startswith("error: ") for ran in unknown)


EVENTS = (
    b'{"type":"system","subtype":"init"}\nWarning: of something\n'
    b'{"type":"result","is_error":false,"result":"Done.\\n<quantum>STORY_PASSED</quantum>"}\n'
)


@pytest.mark.parametrize(
    ("text", "flags", "expected"),
    [
        (b"x\n<quantum>STORY_PASSED</quantum>", [], ("STORY_PASSED", 2)),
        (b"<quantum>STORY_PASSED</quantum>\n", ["--exit-code", "3"], (None, 1)),
        (b"<quantum>BLOCKED</quantum>\n", ["--exit-code", "3"], ("BLOCKED", 1)),
        (b"<quantum>STORY_PASSED</quantum>\n", ["--format", "text"], ("STORY_PASSED", 1)),
        (EVENTS, [], (None, None)),
        (EVENTS, ["--format", "claude-stream-json"], ("STORY_PASSED", 2)),
        (EVENTS, ["--format", "codex-jsonl"], (None, None)),
        (EVENTS, ["--format", "claude-json", "--exit-code", "1"], (None, 2)),
        (b"\xff\xfe nothing", [], (None, None)),
        (b"", [], (None, None)),
    ],
)
def test_signals_are_parsed_from_standard_input(
    tmp_path: Path, text: bytes, flags: list[str], expected: tuple[str | None, int | None]
) -> None:
    """One JSON object with signal, line and reason, outside of any repository."""
    done = subprocess.run(
        [*QLOOP, "signal", "parse", *flags],
        cwd=tmp_path,
        input=text,
        capture_output=True,
        check=False,
    )

    said = json.loads(done.stdout)
    assert done.returncode == 0
    assert said.keys() == {"signal", "line", "why"}
    assert (said["signal"], said["line"]) == expected
    assert said["why"]


@pytest.mark.parametrize("name", ["quantum", "config", "event", "review"])
def test_the_schemas_are_those_of_the_project(world: World, name: str) -> None:
    """`schema` prints what lies in schemas/, byte for byte."""
    ran = world.qloop("schema", name)

    file = Path(__file__).parents[2] / "schemas" / f"{name}.schema.json"
    assert ran.code == 0
    assert ran.out == file.read_text("utf-8")


def test_the_set_up_of_bash_completion_works(tmp_path: Path) -> None:
    """What is printed can be sourced, and completes a first word and an option."""
    script = f"""
        qloop() {{ '{sys.executable}' -P -m qloop "$@"; }}
        eval "$(qloop completion bash)" || exit 1
        complete -p qloop
    """
    done = subprocess.run(
        ["bash", "-eu", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    asked = subprocess.run(
        [*QLOOP],
        cwd=tmp_path,
        env={
            "PATH": "/usr/bin:/bin",
            "_QLOOP_COMPLETE": "bash_complete",
            "COMP_WORDS": "qloop sal",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "qloop" in done.stdout
    assert "salvage" in asked.stdout


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_set_up_too(world: World, shell: str) -> None:
    """It names the command and its variable."""
    ran = world.qloop("completion", shell)

    assert ran.code == 0
    assert "_QLOOP_COMPLETE" in ran.out


def test_bare_qloop_starts_nothing(world: World) -> None:
    """It shows where things stand and the commands that come next, and changes nothing."""
    world.plan({"id": "A-1", "title": "first"})
    before = everything(world.path)

    ran = world.qloop()

    assert ran.code == 0, ran.err
    assert "ql/feature" in ran.out
    assert "qloop run" in ran.out
    assert everything(world.path) == before
