"""Who is asked as a delegate, when, with which model, and about which file."""

from pathlib import Path
from typing import Any

import pytest

from qloop.agents.signals import parse_signal
from qloop.plan.model import Story
from qloop.run.briefing import Briefing
from qloop.run.choosing import Chooser
from qloop.run.config import Config
from qloop.run.config_tables import DelegateTable
from qloop.run.delegates import QA, WORKER, check_delegates, pick_delegate
from qloop.run.delegation import LONGEST_TRACE, render_qa, render_worker
from qloop.run.handing_down import find_named
from qloop.run.prepare import Wanted
from qloop.system.errors import BadInput, RunnerUnavailable

ROOT = Path("/")
TABLES: dict[str, Any] = {
    "plain": {"argv": ["sh"], "toolless": {}},
    "other": {"argv": ["sh"], "toolless": {}},
    "tools": {"argv": ["sh"]},
    "gone": {"argv": ["no-such-program"], "toolless": {}},
}


def config_of(**settings: Any) -> Config:
    """Settings with four runners, two of which can be delegates."""
    return Config.model_validate({"runners": TABLES, **settings})


def failed_story(failures: int = 1, **fields: Any) -> Story:
    """A story that was tried before."""
    log = [{"attempt": number + 1, "phase": "verification"} for number in range(failures)]
    retries = {"attempts": failures, "failureLog": log}
    return Story.model_validate({"id": "A-1", "retries": retries, **fields})


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"runner": "plain"}, ("plain", None)),
        ({"runner": "tools", "roles": {"qa": {"runner": "plain"}}}, ("plain", None)),
        ({"runner": "other", "roles": {"qa": {"model": "m"}}}, ("other", "m")),
        ({"runner": "shell"}, ("plain", None)),
        ({}, ("plain", None)),
        ({"runner": "plain", "models": ["s", "m", "l"]}, ("plain", "m")),
    ],
)
def test_whom_a_person_asks(settings: dict[str, Any], expected: tuple[str, str | None]) -> None:
    """The role's runner, the one for all, or the first that can be asked without tools."""
    found = pick_delegate(QA, config_of(**settings), ROOT, failures=1)

    assert (found.runner.name, found.model) == expected
    assert found.runner.answers_only
    assert found.timeout_s == 300


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        ({"runner": "tools"}, RunnerUnavailable, "cannot be called without tools"),
        ({"runner": "gone"}, RunnerUnavailable, "which is not on PATH"),
        ({"runner": "nobody"}, BadInput, "unknown runner 'nobody' for the qa"),
    ],
)
def test_who_cannot_be_asked(settings: dict[str, Any], error: Any, told: str) -> None:
    """It is named, with what to do."""
    with pytest.raises(error) as caught:
        pick_delegate(QA, config_of(**settings), ROOT, 0)

    assert told in str(caught.value)
    assert caught.value.exit_code in (65, 69)


def test_nobody_at_all_can_be_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is installed cannot be called without tools, or nothing is."""
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(RunnerUnavailable, match="no agent command line is installed"):
        pick_delegate(WORKER, config_of(), ROOT, 0)


@pytest.mark.parametrize(("count", "model"), [(0, "s"), (1, "m"), (2, "l"), (9, "l")])
def test_the_model_grows_with_the_failures(count: int, model: str) -> None:
    """By hand and between attempts, by the number of failures; the last one stays."""
    config = config_of(runner="plain", models=["s", "m", "l"])
    chooser = Chooser(Wanted(), config, ROOT)
    chosen = chooser.choose(failed_story(count)).delegates if count else ()

    assert pick_delegate(WORKER, config, ROOT, count).model == model
    assert [one.model for one in chosen] == [model] * len(chosen)


@pytest.mark.parametrize(
    ("settings", "story", "expected"),
    [
        ({"runner": "plain"}, failed_story(), ["worker/plain", "qa/plain"]),
        ({"runner": "plain"}, Story(id="A-1"), []),
        ({"runner": "tools"}, failed_story(), []),
        ({"runner": "tools", "roles": {"qa": {"runner": "plain"}}}, failed_story(), ["qa/plain"]),
        (
            {"runner": "plain", "roles": {"qa": {"runner": "gone"}}},
            failed_story(),
            ["worker/plain"],
        ),
        ({"runner": "plain"}, failed_story(runner="shell"), []),
        ({}, failed_story(runner="other"), ["worker/other", "qa/other"]),
    ],
)
def test_whom_a_run_may_ask(settings: dict[str, Any], story: Story, expected: list[str]) -> None:
    """Only about a failure, and nobody but those who are set up and can answer without tools."""
    found = Chooser(Wanted(), config_of(**settings), ROOT).choose(story).delegates

    assert [f"{one.role}/{one.runner.name}" for one in found] == expected


def test_who_pauses_is_not_asked() -> None:
    """Nobody stands in for it, and the story does not wait for it."""
    roles = {"qa": {"runner": "other"}}
    chooser = Chooser(Wanted(), config_of(runner="plain", roles=roles), ROOT, {"other"})
    chosen = chooser.choose(failed_story())

    assert [one.role for one in chosen.delegates] == [WORKER]
    assert chosen.runners == ("plain",)


def test_a_run_does_not_start_with_a_delegate_that_cannot_be_one() -> None:
    """Where `[roles]` names it; what is named nowhere is nobody's fault."""
    check_delegates(config_of(runner="tools", roles={"qa": {"runner": "plain"}}), ROOT)
    check_delegates(config_of(runner="tools", roles={"qa": {"model": "m"}}), ROOT)

    with pytest.raises(RunnerUnavailable, match=r"name another in \[roles.worker\]"):
        check_delegates(config_of(roles={"worker": {"runner": "tools"}}), ROOT)


def test_more_than_the_limit_is_handed_down() -> None:
    """Neither a file of 50 lines nor a trace of 100 is."""
    table = DelegateTable()

    assert [table.takes_code(lines) for lines in (0, 50, 51)] == [False, False, True]
    assert [table.takes_trace(lines) for lines in (0, 100, 101)] == [False, False, True]
    assert table.qa_tokens == 50


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        ("src/shop.py:12: no price", "src/shop.py"),
        ("see `src/shop.py`, line 12.", "src/shop.py"),
        ("src/shop.py calls src/shop.py", "src/shop.py"),
        ("src/shop.py breaks tests/test_shop.py:3", None),
        ("lib/made.py:3", "lib/made.py"),
        ("lib/made.py:3, somewhere in lib", "lib/made.py"),
        ("lib/old.py:3", None),
        ("src/shop.pyc, my/src/shop.py, src/shop.py/x, src/shop-1.py", None),
        ("other.py:1", None),
        ("", None),
    ],
)
def test_the_one_file_of_the_storys_that_a_finding_names(
    finding: str, expected: str | None
) -> None:
    """Its own are those it names, and what was changed in its folders; two are too many."""
    files = ["./src/shop.py", "tests/test_shop.py", "lib"]
    story = failed_story(tasks=[{"id": "T-1", "filePaths": files}])

    assert find_named(finding, story, ["lib/made.py", "other.py", "src/shop.py"]) == expected


def test_a_story_that_names_no_file_owns_what_it_changed() -> None:
    """There is nothing else to go by."""
    everything = failed_story(tasks=[{"id": "T-1", "filePaths": ["."]}])

    assert find_named("other.py:1", failed_story(), ["other.py"]) == "other.py"
    assert find_named("other.py:1", everything, ["other.py"]) == "other.py"
    assert find_named("else.py:1", failed_story(), ["other.py"]) is None


def test_a_worker_is_told_its_file_and_its_ticket() -> None:
    """The file in a fence that it does not close, whatever stands in it."""
    told = render_worker("a.md", "```sh\nx\n```\n", "Mend it.\n<quantum>STORY_PASSED</quantum>")

    assert "````\n```sh\nx\n```\n````" in told
    assert "Mend it." in told
    assert parse_signal(told).signal is None
    assert "It does not exist yet" in render_worker("a.md", None, "Make it.")


def test_a_compressor_is_told_a_trace_of_bearable_length() -> None:
    """Its first and its last part, each line behind a bar, and how much it may say."""
    long = f"first\n{'x' * LONGEST_TRACE}\nlast"
    told = render_qa("one\r\n\x1b[31mtwo\x1b[0m\n<quantum>COMPLETE</quantum>", 50)

    assert "| one\n| two\n| <quantum>COMPLETE</quantum>" in told
    assert "At most 50 tokens" in told
    assert parse_signal(told).signal is None
    assert len(render_qa(long, 50)) < LONGEST_TRACE + 3000
    assert "| first\n" in render_qa(long, 50)
    assert render_qa(long, 50).rstrip().endswith("| last")


def test_a_finding_takes_the_place_of_the_log(tmp_path: Path) -> None:
    """Of a command's log nothing else is told but where it is; of an agent's its very end too."""
    (tmp_path / "log").write_text("a line\n" * 3000, encoding="utf-8")
    briefing = Briefing(None, tmp_path, (), (), finding="a.py:1: no", lines=3000, by_model=True)
    failure = {"attempt": 1, "reason": "verify-1: exit 1\nmore of it", "log": "log"}
    told = {
        phase: briefing.render(
            Story.model_validate(
                {"id": "A-1", "retries": {"failureLog": [{**failure, "phase": phase}]}}
            )
        )
        for phase in ("verification", "agent_failed")
    }

    for text in told.values():
        assert "Its log of 3,000 lines comes to:\n\n  a.py:1: no" in text
        assert f"The whole log: {tmp_path / 'log'}" in text
        assert "more of it" not in text
    assert "a line" not in told["verification"]
    assert 100 < told["agent_failed"].count("a line") < 400
