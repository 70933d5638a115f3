"""Completion reports: an agent's own, and those that the files give."""

from pathlib import Path

import pytest

from qloop.cli.main import main
from qloop.mission.completion import (
    ENVELOPE,
    account_for,
    parse_report,
    report_contract,
    synthesise_report,
)
from qloop.mission.team import MEMBERS
from qloop.state.insights import add_insight
from qloop.state.intents import create_intent
from qloop.state.lifecycle import Stage

Captured = pytest.CaptureFixture[str]

GOOD = """\
All done.

=== completion report ===
Role: planner
Intent: 1
Stage: How
Status: delivered
Artifacts: plan.md
  actions/ACTION_1.md
Verification: n/a
Checklist: none
Deviations: none
Blockers: none
Insights:
Actions: 1
=== end of report ===
Bye: now
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A new intent's folder."""
    return create_intent(tmp_path / "my intents", "Export as CSV", author="ada").folder


def write(folder: Path, *names: str, text: str = "words\n") -> None:
    """Put files into an intent's folder."""
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def test_a_report_is_read_in_any_form() -> None:
    """Order, case, marks of Markdown, line ends and what stands around do not matter."""
    plain = parse_report(GOOD, "planner", "1")
    lines = GOOD.splitlines()
    keys = ["Insights: none", *reversed(lines[3:6]), *lines[6:13]]
    odd = (
        "\r\n".join(
            ["Status: blocked", "**=== Completion Report ===**"]
            + [f"- **{key.upper()}:**{rest}" for key, _, rest in (k.partition(":") for k in keys)]
        )
        .replace("ARTIFACTS", "Artifacts_written")
        .replace("INTENT:**", "Intent ID**:")
    )

    assert plain.is_delivered
    assert plain.values["artifacts"] == "plan.md\nactions/ACTION_1.md"
    assert (plain.values["insights"], plain.values["actions"]) == ("", "1")
    assert parse_report(odd, "planner", "1").is_delivered
    assert parse_report(f"{GOOD.replace('plan.md', 'old')}\n{GOOD}", "planner", "1") == plain


@pytest.mark.parametrize("key", ENVELOPE)
def test_a_report_without_one_of_its_keys_is_no_use(key: str) -> None:
    """Each key of the envelope must be there, and none twice."""
    kept = [line for line in GOOD.splitlines() if not line.startswith(f"{key}:")]
    twice = GOOD.replace("Actions:", f"{key}: none\nActions:")

    assert parse_report("\n".join(kept), "planner", "1").faults == (f"it lacks {key}",)
    assert f"it says {key} twice" in parse_report(twice, "planner", "1").faults


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("Role: planner", "Role: executor", "of the role 'executor', not 'planner'"),
        ("Intent: 1", "Intent: 12", "of the intent '12', not 1"),
        ("Stage: How", "Stage: Testing", "no stage 'Testing'"),
        ("Status: delivered", "Status: delivered, or blocked", "its status is"),
        ("Status: delivered", "Status:", "it lacks Status"),
    ],
)
def test_a_report_of_something_else_is_no_use(before: str, after: str, fault: str) -> None:
    """Another role, an invented intent or stage, and the form itself given back are no account."""
    found = parse_report(GOOD.replace(before, after), "planner", "1")

    assert not found.is_usable
    assert fault in found.faults[0]


@pytest.mark.parametrize("role", MEMBERS)
def test_the_contract_is_the_form_that_is_read(role: str) -> None:
    """What an agent is told to write is what is looked for, and no report as it stands."""
    told = report_contract(role)
    filled = told.replace("its id, as above", "3").replace("as above", "how")

    assert not parse_report(told, role, "3").is_usable
    done = parse_report(filled.replace("delivered, or blocked", "Delivered."), role, "3")
    assert done.is_delivered
    assert {key.casefold() for key in MEMBERS[role].payload} <= done.values.keys()


def test_a_missing_report_is_made_from_the_files(folder: Path, capsys: Captured) -> None:
    """Ten lines, the same bytes each time, at every stage."""
    told = [synthesise_report(folder, "executor")]
    write(folder, "spec.md", "plan.md", "actions/ACTION_1.md")
    write(folder, "checklist.md", text="- [x] a\n- [ ] b\n")
    add_insight(folder, "CSV needs quotes", stage=Stage.EXEC, author="executor")
    told.append(synthesise_report(folder, "executor"))
    write(folder, "outcome.md", text="---\ndisposition: abandoned\n---\n")
    told.append(synthesise_report(folder, "executor"))
    assert main(["report", str(folder), "--role", "executor"]) == 0

    assert [len(text.splitlines()) for text in told] == [10, 10, 10]
    assert capsys.readouterr().out == told[2]
    assert [text.splitlines()[5:8] for text in told] == [
        ["Artifacts present: 1--export-as-csv.md", "Checklist: n/a", "Outcome: none"],
        [
            "Artifacts present: 1--export-as-csv.md, spec.md, plan.md, "
            "actions/ACTION_1.md, checklist.md",
            "Checklist: 1/2",
            "Outcome: none",
        ],
        [
            "Artifacts present: 1--export-as-csv.md, spec.md, plan.md, "
            "actions/ACTION_1.md, checklist.md, outcome.md",
            "Checklist: 1/2",
            "Outcome: abandoned",
        ],
    ]
    assert "\nInsights (newest): none\n" in told[0]
    assert told[1].splitlines()[8].endswith("executor: CSV needs quotes")


def test_files_decide_whether_the_work_is_done(folder: Path) -> None:
    """A claim without files is not done; files without a claim are; a blocked agent is not."""
    claimed = account_for(folder, "planner", GOOD)
    assert (claimed.is_authored, claimed.lacking) == (True, "plan.md is not there")

    write(folder, "plan.md", "actions/ACTION_1.md", "checklist.md")
    assert account_for(folder, "planner", GOOD).is_finished
    silent = account_for(folder, "planner", "I did it all.")
    assert (silent.is_authored, silent.is_finished) == (False, True)
    assert silent.text == synthesise_report(folder, "planner")
    blocked = GOOD.replace("delivered", "blocked").replace("Blockers: none", "Blockers: no key")
    assert account_for(folder, "planner", blocked).lacking == (
        "the planner says that it is blocked: no key"
    )
    write(folder, "checklist.md", text="- [ ] a\n- [x] b\n")
    assert account_for(folder, "executor", None).lacking == (
        "1 of 2 boxes of checklist.md are open"
    )
    assert account_for(folder, "reviewer", None).lacking is not None
    (folder / f"{folder.name}.md").unlink()
    assert account_for(folder, "planner", None).lacking is not None


def test_an_agents_own_report_is_preferred(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    """`--authored` takes what can be used of what an agent said, else tells what the files do."""
    said = tmp_path / "said.txt"
    said.write_text(GOOD)
    asked = ["report", str(folder), "--role", "planner", "--authored", str(said)]

    assert main(asked) == 1
    out, err = capsys.readouterr()
    assert "Artifacts: plan.md\nactions/ACTION_1.md\n" in out
    assert "not done: plan.md is not there" in err
    write(folder, "plan.md", "actions/ACTION_1.md", "checklist.md")
    said.write_text("Status: delivered")
    assert main(asked) == 0
    out, err = capsys.readouterr()
    assert "Status: synthesized" in out
    assert "made from the files" in err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["."], 64),
        (["--role", "planner"], 64),
        ([".", "--role", "planer"], 64),
        ([".", "--role", "planner", "--format", "markdown"], 64),
        ([".", "--role", "planner", "--run", "r-1"], 64),
        (["none", "--role", "planner"], 66),
        ([".", "--role", "planner", "--authored", "none"], 66),
    ],
)
def test_what_does_not_belong_together_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int
) -> None:
    """A role's report and the plan's page are two things."""
    monkeypatch.chdir(folder)

    assert main(["report", *words]) == code
