"""What an intent leaves to be done when it ends: a line each, for `## Follow-ups` of its outcome.

Stories that did not land, what the judge of the whole found, what REFINEMENT would improve,
questions that nobody answered, and what members of the team said that keeps them. A function of
the intent's folder: what of it is missing, or cannot be read, gives nothing. Errors: OSError.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from qloop.mission.action_plan import WAITS
from qloop.mission.completion import NONE, parse_report
from qloop.mission.phase_desk import STEPS, Result, read_steps
from qloop.plan.document import load_document
from qloop.plan.model import Plan, Status, Story
from qloop.plan.prd import compile_prd
from qloop.plan.validate import check_plan
from qloop.state.intent import encodable, one_line, parse_folder_name
from qloop.state.lifecycle import read_lifecycle, read_real
from qloop.state.mission_store import read_mission
from qloop.state.phases import PhaseName
from qloop.state.sections import section_text
from qloop.system.errors import QloopError
from qloop.system.files import read_optional
from qloop.ui.history import first_line

QUESTIONS = "Open questions"
IMPROVEMENTS = "refinement/refinement-prd.md"
JUDGES = ("reviewer", "recognizer")
REPORTS = "reports"
LONGEST = 400
_QUIET = {NONE, "n/a", "-", "nothing", "no"}
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?(.*\w.*)")
_REPORT = re.compile(r"\d{3}-([a-z-]+)\.md")


def find_follow_ups(folder: Path) -> tuple[str, ...]:
    """The lines, each once, without their hyphens."""
    told = [
        *_stories(folder),
        *_found_by_judge(folder),
        *_improvements(folder),
        *_questions(folder),
        *_needs(folder),
    ]
    return tuple(dict.fromkeys(line for line in map(_short, told) if line))


def find_plan(folder: Path) -> Plan | None:
    """The plan of an intent's mission, where there is one that can be read."""
    quantum = folder / "quantum.json"
    try:
        return check_plan(load_document(quantum), str(quantum))
    except QloopError:
        return None


def find_verdicts(folder: Path) -> dict[str, Result]:
    """What was said of all that landed, by the role that judged it."""
    try:
        number = read_mission(folder).phase(PhaseName.EXECUTION).rounds
    except QloopError:
        return {}
    steps = read_steps(read_optional(folder / STEPS / f"{PhaseName.EXECUTION}.json") or b"", number)
    return {name: steps[name]["result"] for name in JUDGES if name in steps}


def _stories(folder: Path) -> Iterator[str]:
    plan = find_plan(folder)
    for one in () if plan is None else plan.stories:
        if one.status is not Status.PASSED:
            yield f"{one.title or one.id} ({one.id}, {why_left(one)})"


def why_left(story: Story) -> str:
    """Why a story was not delivered, in a few words."""
    notes = (story.notes or "").strip()
    if story.status is Status.BLOCKED:
        if notes.startswith(WAITS):
            return "which destroys something and nobody allowed"
        return f"blocked: {first_line(notes)}" if notes else "blocked"
    if story.status is Status.FAILED:
        log = story.retries.failure_log
        reason = first_line(log[-1].reason) if log else ""
        return f"failed: {reason}" if reason else "failed"
    return "never begun"


def _found_by_judge(folder: Path) -> Iterator[str]:
    for verdict in find_verdicts(folder).values():
        issues = verdict.get("issues")
        yield from map(str, issues if isinstance(issues, list) else ())


def _improvements(folder: Path) -> Iterator[str]:
    text = read_real(folder / IMPROVEMENTS)
    try:
        stories = [] if text is None else compile_prd(text, path=IMPROVEMENTS, now="")["stories"]
    except QloopError:
        return
    yield from (str(one.get("title")) for one in stories)


def _questions(folder: Path) -> Iterator[str]:
    files = read_lifecycle(folder)
    yield from _items(section_text(files.spec or "", QUESTIONS) or "")
    context = section_text(files.document or "", "Context") or ""
    below = re.split(r"(?m)^#{3,6}\s+", context)
    for part in below:
        title, _, body = part.partition("\n")
        if title.strip().casefold() == QUESTIONS.casefold():
            yield from _items(body)


def _needs(folder: Path) -> Iterator[str]:
    """What the newest report of each of the team names as in its way."""
    names = parse_folder_name(folder.name)
    place = folder / REPORTS
    if names is None or not place.is_dir():
        return
    newest = {}
    for path in sorted(place.iterdir()):
        found = _REPORT.fullmatch(path.name)
        if found is not None:
            newest[found[1]] = path
    for role, path in newest.items():
        text = (read_optional(path) or b"").decode("utf-8", "replace")
        report = parse_report(text, role, str(names[0]))
        said = report.values.get("blockers", "") if report.is_usable else ""
        if said.strip(" .*_`").casefold() not in _QUIET:
            yield said


def _items(body: str) -> Iterable[str]:
    found = (_ITEM.fullmatch(line) for line in body.splitlines())
    return [one[1] for one in found if one is not None and one[1].strip(". ").casefold() != NONE]


def _short(text: str) -> str:
    line = one_line(encodable(text))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"
