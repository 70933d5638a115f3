"""What an agent that stays may run."""

from pathlib import Path

from qloop.plan.model import Plan, parse_plan
from qloop.run.sitting_rights import LONGEST_BYTES, may_run

PROGRAMS = Path("/there")
TOOLS = (
    "qloop orchestrator next",
    "qloop orchestrator done",
    "/there/qloop orchestrator next",
    "/there/qloop orchestrator done",
)


def plan(**checks: str) -> Plan:
    """A plan of stories, each with one command that verifies it; A has passed."""
    stories = [
        {
            "id": name,
            "title": name,
            "verify": [check],
            **({"status": "passed"} if name == "A" else {}),
        }
        for name, check in checks.items()
    ]
    document = {"branchName": "ql/feature", "stories": stories, "qualityCommands": ["make lint"]}
    return parse_plan(document)


def test_it_may_hand_in_and_judge_each_story_to_come() -> None:
    """Each command once, those of the story at hand first, none of a story that has passed."""
    of_all = plan(A="make a", B="make b", C="make c", D="make b")

    allowed = may_run(of_all, PROGRAMS, ("make b", "make lint"))

    assert allowed == (*TOOLS, "make b", "make lint", "make c")


def test_a_long_plan_leaves_room_on_the_command_line() -> None:
    """Later stories' commands stop where there is no room; those of the story at hand stay."""
    long = {f"S{number}": f"{'x' * 1000} {number}" for number in range(200)}

    allowed = may_run(plan(**long), PROGRAMS, ("make b",))

    assert allowed[:5] == (*TOOLS, "make b")
    assert LONGEST_BYTES - 2000 < sum(map(len, allowed)) <= LONGEST_BYTES
    assert allowed[5] == long["S0"]
