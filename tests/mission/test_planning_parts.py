"""What PLANNING and RECON's scout decide without an agent: pure pieces."""

from pathlib import Path
from typing import Any

import pytest

from qloop.agents.answers import MalformedAnswer, parse_answer
from qloop.agents.role_answers import (
    ROLE_ANSWERS,
    SpecificationAnswer,
    SurveyAnswer,
    role_answer_schema,
)
from qloop.agents.roles import load_role, role_names
from qloop.mission.asking import find_cited
from qloop.mission.context_text import mission_text
from qloop.mission.phase_order import MissionContext, PriorPhase
from qloop.mission.plan_filling import fill_plan
from qloop.mission.scouting import keep_shown, survey_warmth
from qloop.mission.specification import check_kept, render_specification, sentences_of
from qloop.plan.model import parse_plan
from qloop.plan.schema import render_schema
from qloop.repo.checkout import find_repository, head_commit
from qloop.state.codebase import Command, Facts, Purpose, Size, Source
from qloop.state.phases import Autonomy, PhaseName, Warmth
from qloop.system.assets import read_asset
from qloop.ui.plan_pages import render_block_page, render_dag_page
from repository import Repo

NOTHING = Size(files=0, bytes=0, source_files=0, source_bytes=0, set_apart=0)
POINT = {"text": "Cents", "sentences": [1]}


def facts(*commands: tuple[Purpose, str, Any]) -> Facts:
    """A repository of which these commands are known: purpose, words, basis."""
    source = Source(path="Makefile", line=1)
    known = tuple(
        Command(purpose=purpose, command=words, basis=basis, source=source)
        for purpose, words, basis in commands
    )
    return Facts(commit=None, fingerprint="", size=NOTHING, commands=known)


def said(**fields: Any) -> SpecificationAnswer:
    """What an upscaler said."""
    whole = {"title": "T", "problem": "P", "goals": [POINT], "acceptanceCriteria": [POINT]}
    return SpecificationAnswer.model_validate({**whole, **fields})


@pytest.mark.parametrize("name", ROLE_ANSWERS)
def test_the_schemas_of_answers_are_published(name: str) -> None:
    """Each is what its model says, and belongs to a role."""
    assert read_asset("schemas", f"{name}.schema.json") == render_schema(role_answer_schema(name))
    assert name in {load_role(role).output for role in role_names()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three", ("One.", "Two!", "Three")),
        ("Use v1.2 of x.py, e.g. the new one.", ("Use v1.2 of x.py, e.g. the new one.",)),
        ("# Shop\n\nIn\ncents.\n- one\n- two\n", ("# Shop", "In cents.", "- one", "- two")),
        ("\n\n--\n", ()),
    ],
)
def test_a_directive_has_sentences(text: str, expected: tuple[str, ...]) -> None:
    """Lines of a paragraph are one text; what has no word is none."""
    assert sentences_of(text) == expected


def test_a_long_directive_is_counted_by_paragraphs() -> None:
    """So that its specification stays one that a person reads."""
    text = "\n\n".join("One. Two. Three." for _ in range(40))

    assert sentences_of(text) == ("One. Two. Three.",) * 40


def test_a_specification_that_loses_a_sentence_is_refused() -> None:
    """Those that are lost are named, and numbers that there are not."""
    answer = said(nonGoals=[{"text": "No tax", "sentences": [3]}])
    with pytest.raises(MalformedAnswer) as lost:
        check_kept(answer, ("In cents.", "Of sums."))

    assert check_kept(said(), ("In cents.",)) == said()
    assert lost.value.faults == (
        "sentence 2 stands in no point's sentences: Of sums.",
        "there is no sentence 3",
    )


def test_a_document_keeps_the_directive_word_for_word() -> None:
    """No heading of the directive becomes one of the document, nor a story."""
    directive = "Do it.\n\n## US-001: Mine\n"

    alone = render_specification(directive, None, facts(("test", "make test", "declared")))
    added = render_specification(directive, said(), facts())

    assert "> ## US-001: Mine" in alone
    assert "- test: `make test` (Makefile:1)" in alone
    assert [line for line in added.splitlines() if line.startswith("## ")] == [
        "## Directive",
        "## Problem",
        "## Goals",
        "## Non-Goals",
        "## Approach",
        "## Acceptance criteria",
        "## What the repository is",
    ]


def test_commands_come_from_facts_where_nobody_names_any() -> None:
    """What judges must be declared; set-up comes with tests only; a named key is left alone."""
    known = facts(
        ("test", "make test", "inferred"),
        ("setup", "npm ci", "inferred"),
        ("lint", "ruff check", "inferred"),
        ("types", "mypy", "declared"),
    )

    made, told = fill_plan({"stories": []}, (), known)
    named, silent = fill_plan({"qualityCommands": ["x"]}, ("testCommand",), known)

    assert made == {
        "stories": [],
        "testCommand": "make test",
        "setupCommands": ["npm ci"],
        "qualityCommands": ["mypy"],
    }
    assert told[0] == "testCommand from Makefile:1: make test"
    assert (named, silent) == ({"qualityCommands": ["x"]}, ())


@pytest.mark.parametrize(
    ("command", "is_taken"),
    [
        ("npm ci", True),
        ("pnpm install --frozen-lockfile", True),
        ("uv sync", True),
        ("pip install -e .", False),
        ("pip install -r requirements.txt", False),
        ("poetry install", False),
        ("bundle install", False),
        ("make setup", False),
        ("npm install -g yarn", False),
        ("npm ci && pip install -e .", False),
        ("npm cinder", False),
    ],
)
def test_a_set_up_that_reaches_beyond_the_worktree_is_left_to_the_person(
    command: str, is_taken: bool
) -> None:
    """It would turn what a person has installed to a folder that is soon gone; that is said."""
    made, told = fill_plan({}, (), facts(("test", "t", "declared"), ("setup", command, "declared")))

    assert made.get("setupCommands") == ([command] if is_taken else None)
    assert f"`{command}`" in told[1] or is_taken


def test_a_plan_has_pages() -> None:
    """Names that Markdown or Mermaid would read are shown as they are."""
    first = {"id": "A-1", "title": "a|b", "acceptanceCriteria": ["<b>"], "verify": ["a | b"]}
    task = {"id": "T-1", "title": "t", "filePaths": ["a.py"], "commands": ["true"]}
    plan = parse_plan(
        {
            "branchName": "ql/x",
            "testCommand": "make test",
            "stories": [first, {"id": "B-1", "dependsOn": ["A-1"], "tasks": [task]}],
        }
    )

    page, block = render_dag_page(plan), render_block_page(plan, plan.stories[0])

    assert "2 stories, 1 edge, widest wave 1." in page
    assert "| [A-1](blocks/A-1.md) | a\\|b | - | 1 | - |" in page
    assert "| [B-1](blocks/B-1.md) |  | A-1 | 2 | `a.py` |" in page
    assert "s1 --> s2" in page
    assert "- Needed by: B-1" in block
    assert "- `a \\| b`" in block


def test_a_claim_counts_by_a_place_that_exists(tmp_path: Path) -> None:
    """Lines beyond the end, other files and ways out of the tree show nothing."""
    repo = Repo(tmp_path / "a repo")
    repo.commit("start", {"a.py": "1\n2\n"})
    repository = find_repository(repo.path)
    commit = head_commit(repository)
    places = ("a.py:2", "`a.py:1-2`", "a.py:3", "b.py:1", "../a.py:1", "a.py")
    good = {"text": "Good", "evidence": ["a.py:3", "a.py:2"]}
    bad = {"text": "Bad", "evidence": ["b.py:1"]}
    survey = SurveyAnswer.model_validate({"patterns": [good, bad], "gotchas": [good]})

    kept = keep_shown(repository, commit, survey)

    assert find_cited(repository, commit, places) == {"a.py:2", "`a.py:1-2`"}
    assert survey_warmth(kept) == Warmth(patterns=("Good (a.py:2)",), gotchas=("Good (a.py:2)",))
    with pytest.raises(MalformedAnswer, match=r"b\.py:1"):
        keep_shown(repository, commit, SurveyAnswer.model_validate({"patterns": [bad]}))


def test_an_answer_of_another_form_is_refused() -> None:
    """What is unknown, missing or empty is named at its place."""
    with pytest.raises(MalformedAnswer) as caught:
        parse_answer(
            SurveyAnswer, '{"patterns": [{"text": "x", "evidence": []}], "y": 1}', "patterns"
        )

    told = "; ".join(caught.value.faults)
    assert "patterns[0].evidence" in told
    assert "y: this is not yours to say" in told


def test_what_the_mission_knows_reaches_a_prompt() -> None:
    """Each part that there is; a directive can begin no part of the prompt."""
    context = MissionContext(
        directive="Do it\n## Your answer",
        autonomy=Autonomy.GUIDED,
        constraints=("no network",),
        warmth=Warmth(gotchas=("slow tests",)),
        prior_phases=(PriorPhase(phase=PhaseName.RECON, summary="seen"),),
    )

    text = mission_text(context)

    assert "| ## Your answer" in text
    assert "Constraints:\n\n- no network" in text
    assert "Known gotchas:\n\n- slow tests" in text
    assert "- RECON: seen" in text
    assert "Known patterns" not in text
