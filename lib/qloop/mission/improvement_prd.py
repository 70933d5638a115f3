"""Improvements as a requirements document that `qloop plan` compiles. Pure.

What was found may quote a page or an agent: nothing of it is read as a label, a heading or a
command.
"""

import json
from collections.abc import Sequence

from qloop.mission.synthesis import Improvement
from qloop.plan.model import Plan
from qloop.state.refinement import Finding
from qloop.ui.report_markdown import fenced, plain

MOST_EVIDENCE = 2_000
MOST_PLACES = 10


def render_prd(improvements: Sequence[Improvement], plan: Plan, files: Sequence[str]) -> str:
    """The document, for the branch of *plan* and by its commands.

    *files* are the places that are files of the repository.
    """
    lines = ["---", *_front(plan), "---", "", f"# Refinement of {plain(_name(plan))}", ""]
    lines += ["What was found when the result was looked at and tried.", ""]
    for one in improvements:
        lines += _story(one, set(files))
    return "\n".join(lines)


def _name(plan: Plan) -> str:
    return plan.project or plan.branch_name


def _front(plan: Plan) -> list[str]:
    """Front matter is YAML, of which JSON is a part."""
    given = {
        "branchName": plan.branch_name,
        "testCommand": plan.test_command,
        "qualityCommands": list(plan.quality_commands),
        "setupCommands": list(plan.setup_commands),
        "copyFiles": list(plan.copy_files),
    }
    return [f"{key}: {json.dumps(value)}" for key, value in given.items() if value]


def _story(one: Improvement, files: set[str]) -> list[str]:
    lines = [f"## {one.id}: {plain(one.title)}", ""]
    lines += [f"What an agent would do: {plain(one.advice)}", ""] if one.advice else []
    for finding in one.findings:
        lines += [f"{plain(finding.text)}. Seen at: {_places(finding)}", ""]
        if finding.evidence:
            lines += [*fenced(finding.evidence[-MOST_EVIDENCE:])[1:]]
    lines += [f"**Priority:** {one.priority}", ""]
    own = [place for place in one.places if place in files]
    if own and len(own) == len(one.places):
        lines += [f"**Files:** {', '.join(f'`{place}`' for place in own)}", ""]
    criteria = dict.fromkeys(f"- No longer so: {plain(finding.text)}" for finding in one.findings)
    lines += ["**Acceptance criteria**", "", *criteria, ""]
    for command in one.check:
        lines += fenced(command, "sh verify")[1:]
    return lines


def _places(finding: Finding) -> str:
    shown = ", ".join(plain(str(place)) for place in finding.places[:MOST_PLACES])
    more = len(finding.places) - MOST_PLACES
    return f"{shown} and {more} more" if more > 0 else shown
