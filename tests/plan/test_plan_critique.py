"""The review of a plan: what a person should look at, as functions of the plan."""

from typing import Any

import pytest

from qloop.agents.roles import load_role
from qloop.plan import critique
from qloop.plan.critique import Remark, review_plan
from qloop.plan.model import Plan, parse_plan
from qloop.ui.critique import critique_json, critique_lines


def story(name: str, *needs: str, files: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    """A story that nothing is to be remarked of, but for what *fields* say."""
    return {
        "id": name,
        "acceptanceCriteria": ["It works"],
        "verify": ["true"],
        "dependsOn": list(needs),
        "tasks": [{"id": "T-1", "filePaths": list(files)}] if files else [],
        **fields,
    }


def plan(*stories: dict[str, Any], **top: Any) -> Plan:
    """A plan of these stories."""
    return parse_plan({"branchName": "b", "stories": list(stories), **top})


def found(*stories: dict[str, Any], **top: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Check and stories of each remark."""
    return [(one.check, one.stories) for one in review_plan(plan(*stories, **top))]


def test_a_sound_plan_has_nothing_to_remark() -> None:
    """Stories with criteria and commands, that share files along an edge or not at all."""
    stories = (story("A", files=("a",)), story("B", "A", files=("a", "b")), story("C", "B"))

    assert found(*stories) == []
    assert found() == []


def test_stories_without_criteria_or_commands_are_named() -> None:
    """A task's own commands count as well; the plan's own are mentioned, and do not."""
    blank = story("A", acceptanceCriteria=[" "])
    bare = story("B", verify=[])
    tasks = story("C", verify=[], tasks=[{"id": "T-1", "commands": ["true"]}])

    remarks = review_plan(plan(blank, bare, tasks, testCommand="true"))

    assert [(one.check, one.stories) for one in remarks] == [
        ("criteria", ("A",)),
        ("unverified", ("B",)),
    ]
    assert remarks[1].text.endswith("only the plan's own commands do")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"acceptanceCriteria": ["x"] * 8}, "8 acceptance criteria (more than 7)"),
        ({"tasks": [{"id": f"T-{n}"} for n in range(8)]}, "8 tasks (more than 7)"),
        ({"files": tuple(f"f{n}" for n in range(11))}, "11 files (more than 10)"),
        ({"files": ("./",)}, "the whole repository"),
    ],
)
def test_a_story_is_oversized_by_rule(fields: dict[str, Any], told: str) -> None:
    """Up to each limit it is not; one path written in two ways is one."""
    (remark,) = review_plan(plan(story("A", **fields)))

    assert remark.check == "size"
    assert told in remark.text
    assert found(story("A", acceptanceCriteria=["x"] * 7, files=("a", "./a", "a/"))) == []


def test_the_planner_is_told_the_same_limits() -> None:
    """Its role file names them."""
    body = " ".join(load_role("planner").body.split())
    limits = (critique.MOST_CRITERIA, critique.MOST_TASKS, critique.MOST_FILES)

    assert "at most {} acceptance criteria, {} tasks and {} files".format(*limits) in body


def test_an_edge_that_follows_from_others_is_needless() -> None:
    """Over any number of stories, in any order of the file."""
    stories = (story("D", "A", "C"), story("A"), story("C", "B"), story("B", "A"))

    (remark,) = review_plan(plan(*stories))

    assert (remark.check, remark.stories) == ("needless-edge", ("D", "A"))
    assert "D waits for A already, by way of C" in remark.text


def test_stories_that_share_a_file_without_an_edge_are_named_together() -> None:
    """A folder covers what is in it; what an edge or an entry of fileConflicts orders is left."""
    one, two = story("A", files=("src/a.py",)), story("B", files=("src", "x"))
    three, after = story("C", files=("x",)), story("D", "A", files=("src/a.py",))
    entry = {"file": "x", "stories": ["B", "C"]}

    assert found(one, two) == [("missing-edge", ("A", "B"))]
    assert found(two, three) == [("missing-edge", ("B", "C"))]
    assert found(one, after) == []
    assert found(two, three, fileConflicts=[entry]) == [("file-conflict", ("B", "C"))]


def test_many_stories_of_one_file_are_one_remark() -> None:
    """With all files that the same stories share."""
    stories = [story(f"S-{n}", files=("a", "b")) for n in range(50)]

    (remark,) = review_plan(plan(*stories))

    assert len(remark.stories) == 50
    assert remark.files == ("a", "b")


def test_file_conflicts_tell_what_they_hold_back() -> None:
    """Those that edges order already hold nothing back; a name that is no story is told."""
    entries = [{"file": "x", "stories": ["A", "B"]}, {"stories": ["B", "C", "Z"]}]
    stories = (story("A"), story("B", "A"), story("C"))

    remarks = review_plan(plan(*stories, fileConflicts=entries))

    assert [one.stories for one in remarks] == [(), ("B", "C")]
    assert "fileConflicts[1] is said to be shared by Z, which is no story" in remarks[0].text


def test_a_large_plan_is_looked_through_whole() -> None:
    """A chain of thousands has no edge that is needless, and one over all of it has."""
    chain = [story("S-0"), *(story(f"S-{n}", f"S-{n - 1}") for n in range(1, 3000))]

    assert found(*chain, story("Z", "S-0", "S-2999")) == [("needless-edge", ("Z", "S-0"))]


def test_a_review_is_readable_and_data() -> None:
    """Grouped by check, each under what it is about; the same as JSON."""
    remarks = (
        Remark("criteria", ("A",), "nothing says"),
        Remark("missing-edge", ("A", "B"), "all touch x", ("x",)),
        Remark("file-conflict", (), "x is said"),
    )
    looked = plan(story("A"), story("B", "A"))

    assert list(critique_lines(looked, remarks, 2)) == [
        "plan review: 2 stories, 1 edge, 2 waves to come; 3 remarks",
        "criteria: no acceptance criteria",
        "  A: nothing says",
        "missing-edge: files that are shared without an order",
        "  A, B: all touch x",
        "file-conflict: kept from running side by side",
        "  x is said",
    ]
    assert critique_json(remarks)["remarks"][1] == {
        "check": "missing-edge",
        "stories": ["A", "B"],
        "text": "all touch x",
        "files": ["x"],
    }
