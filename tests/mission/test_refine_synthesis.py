"""Findings in order, each once, and stories of them."""

from hypothesis import given
from hypothesis import strategies as st

from qloop.mission.improvement_prd import render_prd
from qloop.mission.synthesis import merge_findings, plan_improvements
from qloop.plan.model import parse_plan
from qloop.plan.prd import compile_prd
from qloop.plan.validate import check_plan
from qloop.state.refinement import (
    Finding,
    FlowResult,
    Flows,
    Personas,
    PersonaWord,
    Place,
    Refinement,
    Severity,
    Visual,
)
from qloop.ui.refinement_pages import render_plan, render_short

PLAN = parse_plan({"branchName": "ql/x", "testCommand": "true", "stories": [{"id": "REF-001"}]})
NOW = "2026-01-02T03:04:05.000Z"


def finding(text: str, place: str, **more: object) -> Finding:
    """A minor one of a page unless told otherwise."""
    known = {"severity": "minor", "source": "visual", "rule": "title", **more}
    return Finding.model_validate({"text": text, "places": (Place(what=place),), **known})


def test_each_thing_is_told_once_and_what_is_critical_first() -> None:
    """The same fault on two pages is one finding with both; flows go before pages."""
    page = finding("gone", "a.html", severity="critical", rule="link")
    merged = merge_findings(
        [
            finding("no title", "a.html"),
            page,
            finding("no title", "b.html"),
            page,
            finding("red", "buy", severity="critical", source="flow", rule="flow"),
        ]
    )

    assert [one.text for one in merged] == ["red", "gone", "no title"]
    assert [place.what for place in merged[2].places] == ["a.html", "b.html"]
    assert [place.what for place in merged[1].places] == ["a.html"]


def test_stories_can_be_compiled(tmp_path: object) -> None:
    """Each critical finding is a story, minor ones of a rule are one; checks verify them."""
    found = [
        finding("red", "buy", severity="critical", source="flow", rule="flow", check=("a", "b```")),
        finding("gone", "a.html", severity="critical", rule="link", evidence="status 404"),
        finding("an image: x", "a.html", rule="alt"),
        finding("an image: y", "b.html", rule="alt"),
    ]
    improvements = plan_improvements(found, {"REF-001"})
    document = compile_prd(render_prd(improvements, PLAN, ["a.html", "b.html"]), path="p", now=NOW)
    stories = check_plan(document, "p").stories

    assert [story.id for story in stories] == ["REF-002", "REF-003", "REF-004"]
    assert [story.priority for story in stories] == [1, 1, 100]
    assert list(stories[0].verify) == ["a", "b```"]
    assert stories[0].tasks == []
    assert stories[2].tasks[0].file_paths == ["a.html", "b.html"]
    assert document["branchName"] == "ql/x"
    assert document["testCommand"] == "true"


MARKS = st.sampled_from(
    ["```sh run\nrm -rf /\n```", "**Files:** x", "## US-9: y", "# z", "- [ ] T-1: a", "~~~ verify"]
)
ANY = st.lists(st.text(max_size=20) | MARKS, max_size=5).map("\n".join)


@given(ANY, ANY)
def test_nothing_that_is_quoted_becomes_part_of_the_plan(text: str, evidence: str) -> None:
    """Text of a page or an agent is no command, no label and no story."""
    found = finding(text, "a.html", rule="persona", source="persona", evidence=evidence)
    document = compile_prd(render_prd(plan_improvements([found]), PLAN, []), path="p", now=NOW)
    (story,) = document["stories"]

    assert story["id"] == "REF-001"
    assert (story["verify"], story["tasks"], story["dependsOn"]) == ([], [], [])
    assert len(story["acceptanceCriteria"]) == 1


def test_the_summary_counts_what_there_is() -> None:
    """Pages, flows and personas in a line; the page for people names all of it."""
    found = finding("no title", "a.html")
    green = FlowResult(name="buy", green=True, line="exit 0", log="01-buy/step-1.log")
    refinement = Refinement(
        commit="c0ffee",
        visual=Visual.model_validate({"source": "files", "pages": [{"name": "a.html"}]}),
        flows=Flows(results=(green, green.model_copy(update={"green": False}))),
        personas=Personas(
            said=(
                PersonaWord(name="ann", recommends=True, why="good"),
                PersonaWord(name="bob", recommends=False, why="bad"),
                PersonaWord(name="eve", why="no agent"),
            )
        ),
        findings=(found, finding("gone", "a.html", severity=Severity.CRITICAL)),
    )

    assert refinement.summary == (
        "visual: 0 critical, 0 minor; flows: 1 of 2; personas: 1 of 2 would recommend (1 not asked)"
    )
    assert refinement.critical == 1
    page = render_plan(refinement)
    assert "**eve** was not asked: no agent" in page
    assert "`e2e/01-buy/step-1.log`" in page
    assert render_short(refinement).splitlines()[0] == "minor     a.html  no title"
