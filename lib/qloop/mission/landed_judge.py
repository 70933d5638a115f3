"""The recognizer that is an agent: whether what landed does, taken together, what was asked.

Its word stands beside the evidence that was run again on the line, and decides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from qloop.agents.answers import MalformedAnswer
from qloop.agents.prompt import bullet_list
from qloop.agents.review import MalformedReview, parse_review
from qloop.mission.asking import Asks, Judged, judging, reading_place
from qloop.mission.context_text import mission_text
from qloop.mission.phase_desk import PhaseDesk, Result
from qloop.mission.specification import numbered
from qloop.plan.model import Plan, Status, Story
from qloop.repo.cited import count_lines
from qloop.repo.line import read_tips
from qloop.run.reading_call import role_question
from qloop.run.review_brief import criteria_of
from qloop.run.verdict import Verdict, cited_paths, weigh
from qloop.state.journal import Event, EventKind
from qloop.system.counting import counted
from qloop.ui.report_markdown import plain

RECOGNIZER = "recognizer"
PAGE = "execution/RECOGNITION.md"


@dataclass(frozen=True, slots=True)
class Judge:
    """Who is asked, and by what the result is judged."""

    role: str = RECOGNIZER
    criteria: tuple[str, ...] = ()
    """What is asked beside the criteria of the stories."""
    round: int = 0
    """A later one is asked anew about the same."""
    asks: Asks | None = None
    """How it is asked; None: nothing ends where it cannot answer."""


_RECOGNIZER = Judge()


def judge_landed(
    desk: PhaseDesk, plan: Plan, events: Sequence[Event], asked: Judge = _RECOGNIZER
) -> Result | None:
    """The recognizer's word on the plan's line: `passed` (None where nobody said), `lines`,
    `issues` and `note`; also a page in the intent's folder. None where nothing landed, and for a
    quick mission, which asks nobody but its implementer.

    *events* are those of the plan.
    """
    tips = read_tips(desk.repository, plan.branch_name)
    tip = None if tips is None else tips.line or tips.branch
    landed = [one for one in events if one.event is EventKind.STORY_LANDED]
    if desk.order.is_quick or tip is None or not landed:
        return None
    base = desk.repository.git.find(f"{landed[0].data.get('commit')}^")
    about = {"tip": tip, **({"round": asked.round} if asked.round else {})}
    found = desk.step(asked.role, about, lambda: _ask(desk, plan, (base or tip, tip), asked))
    desk.write(PAGE, render_recognition(found))
    return found


def render_recognition(found: Result) -> str:
    """The page with the recognizer's word, as JSON in a step's result."""
    words = {True: "passed", False: "found wanting", None: "not judged"}
    lines = [f"# What landed, judged as a whole: {words[found['passed']]}", ""]
    lines += [f"{plain(found['note'])}.", ""]
    for title, name in (("Wanting", "issues"), ("Criteria", "lines")):
        if found[name]:
            lines += [f"## {title}", "", *(f"- {plain(one)}" for one in found[name]), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def recognition_words(found: Result | None, who: str = RECOGNIZER) -> str:
    """What a phase's summary says of it; empty where nobody judged."""
    if found is None or found["passed"] is None:
        return ""
    if found["passed"]:
        return f"; the {who} finds that it does what was asked"
    return f"; the {who} finds {counted(len(found['issues']), 'thing')} wanting ({PAGE})"


def _ask(desk: PhaseDesk, plan: Plan, commits: tuple[str, str], who: Judge) -> Result:
    base, tip = commits
    stories = [story for story in plan.stories if story.status is Status.PASSED]
    asked = [f"{story.id}: {text}" for story in stories for text in criteria_of(story)]
    asked += who.criteria
    values = {
        "wave": "this mission",
        "tip": tip,
        "base": base,
        "mission": mission_text(desk.order.mission_context),
        "stories": bullet_list([_told(story) for story in stories], "None."),
        "criteria": numbered(asked),
        "evidence": bullet_list([f"`{one}`" for one in _commands(plan, stories)], "No command."),
    }
    task = "judges what landed as a whole"
    question = role_question(
        who.role, task, "verdict", values, lambda answer: _weighed(desk, tip, answer, asked)
    )
    asks = who.asks or judging(desk)
    judged: Judged[Verdict] = asks(reading_place(desk, tip), question)
    said = judged.answer
    if said is None:
        return {"passed": None, "lines": [], "issues": [], "note": judged.note}
    lines, issues = list(said.lines), list(said.issues)
    return {"passed": said.passed, "lines": lines, "issues": issues, "note": judged.note}


def _weighed(desk: PhaseDesk, tip: str, answer: str, asked: Sequence[str]) -> Verdict:
    try:
        found = parse_review(answer)
        return weigh(found, asked, count_lines(desk.repository, tip, cited_paths(found)))
    except MalformedReview as exc:
        raise MalformedAnswer(str(exc)) from exc


def _told(story: Story) -> str:
    text = " ".join((story.description or "").split())
    return f"{story.id}: {story.title or ''}" + (f". {text}" if text else "")


def _commands(plan: Plan, stories: Sequence[Story]) -> list[str]:
    own = [
        one
        for story in stories
        for one in (*(word for task in story.tasks for word in task.commands), *story.verify)
    ]
    whole = [plan.test_command] if plan.test_command else []
    return list(dict.fromkeys([*whole, *plan.quality_commands, *own]))
