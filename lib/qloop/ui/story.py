"""All that is known of one story, as text or as JSON.

The JSON is the story as it stands in quantum.json, missing fields filled in, with what journal
and git know beside it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from qloop.agents.usage import Usage, render_usage
from qloop.plan.model import Plan, ReviewPart, Status, Story, Task
from qloop.state.journal import Event
from qloop.system.clock import render_duration
from qloop.ui import console
from qloop.ui.amounts import render_cost
from qloop.ui.attempts import AgentEnd, Attempt, GateRun, ReviewRun, attempts_of
from qloop.ui.delegates import delegate_words
from qloop.ui.findings import finding_lines, findings_about
from qloop.ui.history import events_of_plan, first_line
from qloop.ui.status import StatusView, StoryView
from qloop.ui.views import View, to_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour(View):
    """A story that this one needs, or that needs it."""

    id: str
    title: str | None
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryPage(View):
    """One story with everything about it."""

    story: Story
    standing: StoryView
    needs: tuple[Neighbour, ...]
    needed_by: tuple[Neighbour, ...]
    attempts: tuple[Attempt, ...]
    findings: tuple[dict[str, Any], ...]
    """What the checks at the ends of waves found about it."""

    def to_json(self) -> dict[str, Any]:
        """The story's own fields, then what is known beside them."""
        standing = to_json(self.standing)
        beside = ("wave", "reason", "waitsFor", "blockedBy", "unverified", "landed")
        return {
            **self.story.model_dump(mode="json", by_alias=True),
            **{name: standing[name] for name in beside},
            "dependencies": [one.to_json() for one in self.needs],
            "dependants": [one.to_json() for one in self.needed_by],
            "attempts": [one.to_json() for one in self.attempts],
            "findings": list(self.findings),
        }


def build_story(
    plan: Plan,
    story: Story,
    view: StatusView,
    events: Sequence[Event],
    salvaged: Mapping[int, tuple[str, str]],
    now: datetime,
) -> StoryPage:
    """The page of *story*; *salvaged* gives ref and commit by the attempt's number."""
    told = events_of_plan(plan, events, now)
    needed = set(story.depends_on)
    return StoryPage(
        story=story,
        standing=next(row for row in view.stories if row.id == story.id),
        needs=_neighbours(one for one in plan.stories if one.id in needed),
        needed_by=_neighbours(one for one in plan.stories if story.id in one.depends_on),
        attempts=attempts_of(story, told, salvaged),
        findings=tuple(findings_about(plan, story.id)),
    )


def show_story(page: StoryPage) -> None:
    """The page for people, on standard output."""
    console.result(console.printable("\n".join(_lines(page))))


def _lines(page: StoryPage) -> Iterator[str]:
    story = page.story
    yield story.label
    yield from _facts(page)
    for text in (story.description, story.notes):
        if text:
            yield from ("", *text.strip().splitlines())
    yield from _section("Acceptance criteria", _bullets(story.acceptance_criteria))
    yield from _section("Tasks", [line for task in story.tasks for line in _task(task)])
    yield from _section("Verify", _commands("", story.verify))
    yield from _section("Depends on", [_neighbour(one) for one in page.needs])
    yield from _section("Needed by", [_neighbour(one) for one in page.needed_by])
    reviews = {"spec": story.review.spec_compliance, "quality": story.review.code_quality}
    yield from _section(
        "Reviews", [line for name, part in reviews.items() for line in _review(name, part)]
    )
    yield from _section("Findings", list(finding_lines(page.findings)))
    yield from _section("Attempts", [line for one in page.attempts for line in _attempt(one)])
    yield from _section("Look further", _ways(page))


def _facts(page: StoryPage) -> Iterator[str]:
    story, standing = page.story, page.standing
    unverified = " (unverified: no command judged all of it)" if standing.unverified else ""
    yield f"  status    {story.status}{unverified}"
    yield f"  attempts  {standing.attempts} of {standing.max_attempts} charged"
    if story.status is Status.IN_PROGRESS and story.started_at:
        yield f"  since     {story.started_at}"
    if standing.blocked_by:
        yield f"  blocked   {standing.blocked_by}"
    elif standing.waits_for:
        yield f"  waits     for {', '.join(standing.waits_for)}"
    if standing.reason:
        yield from _indented("  reason    ", standing.reason)
    if standing.landed:
        yield f"  landed    {standing.landed}"
    yield f"  priority  {story.priority}"
    wishes = {"runner": story.runner, "model": story.model, "timeout": story.timeout}
    yield from (f"  {name:<8}  {value}" for name, value in wishes.items() if value is not None)


def _task(task: Task) -> Iterator[str]:
    head = ": ".join(part for part in (task.id, task.title) if part) or "task"
    yield f"  {head} [{task.status}]"
    if task.description:
        yield from _indented("    ", task.description)
    yield from (f"    file: {path}" for path in task.file_paths)
    yield from (f"  {line}" for line in _commands("run: ", task.run))
    yield from (f"  {line}" for line in _commands("verify: ", task.commands))


def _review(name: str, part: ReviewPart) -> Iterator[str]:
    attempt = f", attempt {part.attempt}" if part.attempt is not None else ""
    at = f", {part.reviewed_at}" if part.reviewed_at else ""
    yield f"  {name}: {part.status}{attempt}{at}"
    if part.evidence is not None:
        yield from _indented("    ", str(part.evidence))
    yield from (line for issue in part.issues for line in _indented("    - ", str(issue)))


def _attempt(one: Attempt) -> Iterator[str]:
    number = "?" if one.number is None else one.number
    where = ", ".join(part for part in (one.wave, one.runner, one.run) if part)
    yield f"  attempt {number}{f' ({where})' if where else ''}: {attempt_words(one)}"
    if one.started_at:
        took = f", took {render_duration(one.seconds)}" if one.seconds is not None else ""
        cost = render_cost(one.cost_usd, one.estimated_usd)
        yield f"    started {one.started_at}{took}{f', cost {cost}' if cost else ''}"
    yield from (f"    {delegate_words(call)}" for call in one.delegates)
    if one.agent is not None:
        yield f"    agent {agent_words(one)}"
        used = _used(one.agent)
        yield from (f"    it used {used}",) if used else ()
    yield from (f"    {_gate(gate)}" for gate in one.gates)
    yield from (f"    {_review_run(review)}" for review in one.reviews)
    if one.reason:
        yield from _indented("    reason: ", one.reason)
    if one.log:
        yield f"    log: {one.log}"
    if one.landed:
        yield f"    landed as {one.landed}"
    if one.salvage_ref:
        yield f"    kept in {one.salvage_ref} ({(one.salvage_commit or '')[:10]})"


def attempt_words(one: Attempt) -> str:
    """How an attempt ended."""
    if one.status is None:
        return "not settled"
    if one.phase is None:
        return one.status
    charge = {True: ", charged", False: ", not charged", None: ""}[one.charged]
    return f"failed ({one.phase}{charge})"


def agent_words(one: Attempt) -> str:
    """How an attempt's agent ended."""
    assert one.agent is not None  # asked only where it ended
    took = render_duration(one.agent.seconds)
    if one.agent.timed_out:
        return f"was out of time after {took}"
    if one.agent.stuck:
        return f"was stuck, and ended after {took}"
    return f"ended with {one.agent.code} after {took}, {one.agent.signal or 'no signal'}"


def _used(end: AgentEnd) -> str:
    """What an agent told of its call: model, size, and how to find its session again."""
    usage = Usage(end.input_tokens, end.cached_tokens, end.output_tokens)
    session = f"session {end.session}" if end.session else None
    return ", ".join(filter(None, [end.model, render_usage(usage, end.turns), session]))


def _gate(gate: GateRun) -> str:
    """A gate on one line; its whole command stands in the story."""
    lines = gate.command.strip().splitlines() or [""]
    command = lines[0] if len(lines) == 1 else f"{lines[0]} …"
    code = "" if gate.green else f"exit {gate.code}, "
    how = "green" if gate.green else "red"
    return f"{gate.name} {how} ({code}{render_duration(gate.seconds)}): {command}"


def _review_run(one: ReviewRun) -> str:
    """A reviewer's call on one line; what it found stands in the review or the reason."""
    who = ", ".join(filter(None, [one.runner, one.model]))
    how = "passed" if one.passed else f"not passed: {first_line(one.reason)}"
    return f"{one.role} ({who}) {how}{f', log {one.log}' if one.log else ''}"


def _ways(page: StoryPage) -> list[str]:
    """The commands that show more of what there is."""
    name = page.story.id
    ways: list[str] = []
    numbered = [one for one in page.attempts if one.number is not None]
    if page.story.status is Status.IN_PROGRESS and numbered:
        ways.append(f"  qloop logs {name} --follow")
        ways += [f"  cd {one.worktree}" for one in numbered[-1:] if one.worktree]
    ways += [f"  qloop logs {name} --attempt {one.number}" for one in numbered]
    kept = [one for one in numbered if one.salvage_ref and not one.landed]
    ways += [f"  qloop salvage show {name} --attempt {one.number}" for one in kept]
    if page.standing.landed:
        ways.append(f"  git show {page.standing.landed[:10]}")
    return ways


def _neighbours(stories: Iterable[Story]) -> tuple[Neighbour, ...]:
    return tuple(Neighbour(id=one.id, title=one.title, status=one.status) for one in stories)


def _neighbour(one: Neighbour) -> str:
    return f"  {one.id}: {one.status}{f', {one.title}' if one.title else ''}"


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, *lines] if lines else []


def _bullets(texts: Iterable[str]) -> list[str]:
    return [line for text in texts for line in _indented("  - ", text)]


def _commands(label: str, commands: Iterable[str]) -> list[str]:
    return [line for command in commands for line in _indented(f"  {label}", command)]


def _indented(head: str, text: str) -> list[str]:
    """A text behind *head*, its further lines below its first."""
    lines = text.strip().splitlines() or [""]
    return [head + lines[0], *(" " * len(head) + line for line in lines[1:])]
