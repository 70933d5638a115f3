"""What `prompt` does once its words are parsed: the text that an agent would get, of any role."""

import sys
from dataclasses import replace
from pathlib import Path

from qloop.agents.compression import extract
from qloop.agents.error_trace import plain_lines
from qloop.agents.roles import IMPLEMENTER, ORCHESTRATOR
from qloop.cli.context import checked_place, default_state_file
from qloop.cli.looking import find_story
from qloop.cli.phase_prompts import MISSION_ROLES, mission_prompt
from qloop.cli.planning import read_plan
from qloop.plan.model import Plan, Story
from qloop.plan.prose import read_prose
from qloop.repo.checkout import Repository, find_repository
from qloop.repo.kept import find_salvage
from qloop.repo.landing import propose
from qloop.repo.landing_filter import Rules
from qloop.repo.line import line_tip
from qloop.repo.merge_tree import list_landed
from qloop.repo.merging import MergeConflict
from qloop.repo.names import workspace_base
from qloop.repo.patch import read_patch
from qloop.run.briefing import Briefing, checks_of, last_failure
from qloop.run.config import load_config
from qloop.run.delegates import QA, WORKER
from qloop.run.delegation import render_qa, render_worker
from qloop.run.handing_down import read_trace
from qloop.run.holder import private_folder
from qloop.run.lead_brief import render_lead
from qloop.run.leaders import COORDINATOR
from qloop.run.planner_brief import PLANNER, render_planner
from qloop.run.planning import path_in_plan, read_text
from qloop.run.prepare import find_prd
from qloop.run.resolvers import RESOLVER
from qloop.run.resolving import render_merge
from qloop.run.review_brief import PATCH_BYTES, Case, render_brief
from qloop.state.journal import Event, EventKind, Journal
from qloop.system.errors import BadInput
from qloop.ui import console


def show_prompt(story_id: str, role: str, quantum: Path | None) -> int:
    """The prompt of a role for a story, as a run would make it now.

    A planner has a document instead, a compressor a trace, a worker its target; scout and
    upscaler have an intent.

    Raises BadInput for a story that is not in the plan, or of what nobody made yet.
    """
    if role in MISSION_ROLES:
        console.result(console.printable(mission_prompt(story_id, role).rstrip("\n")))
        return 0
    about_file = {PLANNER: _planner_text, QA: _qa_text, WORKER: _worker_text}.get(role)
    if about_file is not None:
        console.result(console.printable(about_file(Path(story_id)).rstrip("\n")))
        return 0
    state_file = default_state_file(quantum)
    plan = read_plan(state_file)
    story = find_story(plan, story_id, state_file)
    repository = find_repository(Path.cwd())
    prd = find_prd(plan, repository.root, None, state_file).path
    briefing = Briefing.of_plan(plan, str(prd) if prd is not None else None, repository.root)
    if role in (IMPLEMENTER, ORCHESTRATOR):
        text = _with_extract(briefing, story, repository, role).render(story, role)
    elif role == COORDINATOR:
        wave = f"wave-{(plan.execution.current_wave or 0) + 1}"
        text = render_lead(wave, [story.id], plan, briefing.prd)
    elif role == RESOLVER:
        conflict = _conflict(repository, plan, story)
        landed = list_landed(repository.git, conflict.merge)
        text = render_merge(story, conflict, landed, checks_of(briefing.quality, story))
    else:
        text = render_brief(role, _case(repository, plan, story, briefing))
    console.result(console.printable(text.rstrip("\n")))
    return 0


def _with_extract(briefing: Briefing, story: Story, repository: Repository, role: str) -> Briefing:
    """The briefing with what a long log comes to, as an extract: nobody is asked here."""
    config = load_config(repository.root)
    base = workspace_base(config.worktree_root, repository)
    trace = read_trace(last_failure(story), repository.root, str(base))
    lines = len(plain_lines(trace))
    if role == ORCHESTRATOR or not config.delegate.takes_trace(lines):
        return briefing
    found = extract(trace, config.delegate.qa_tokens)
    return replace(briefing, finding=found.text, lines=lines)


def _planner_text(prd: Path) -> str:
    """What the planner of a first plan would be told."""
    root = checked_place(prd).root
    prose = read_prose(read_text(prd), path_in_plan(prd, root))
    return render_planner(prose, None)


def _qa_text(trace: Path) -> str:
    """What a compressor would be told of a trace in a file."""
    config = load_config(find_repository(Path.cwd()).root)
    return render_qa(read_text(trace), config.delegate.qa_tokens)


def _worker_text(target: Path) -> str:
    """What a worker would be told of its target, but for the ticket."""
    return render_worker(str(target), read_text(target), "<ticket>")


def _case(repository: Repository, plan: Plan, story: Story, briefing: Briefing) -> Case:
    """What a reviewer of the story's newest attempt is told of it."""
    kept = find_salvage(repository, story.id, None)
    events = Journal(private_folder(repository) / "events.jsonl").events()
    own = [one for one in events if (one.story, one.attempt) == (story.id, kept.attempt)]
    start = _start(own) or line_tip(repository, plan.branch_name)
    return Case(
        story=story,
        patch=read_patch(repository, plan.branch_name, start, kept.commit, PATCH_BYTES),
        tip=kept.commit,
        evidence="\n".join(_gate(one) for one in own if one.event is EventKind.GATE_ENDED),
        prd=briefing.prd,
        patterns=briefing.patterns,
    )


def _conflict(repository: Repository, plan: Plan, story: Story) -> MergeConflict:
    """What keeps the story's newest attempt from being merged with the line as it is now."""
    kept = find_salvage(repository, story.id, None)
    events = Journal(private_folder(repository) / "events.jsonl").events()
    own = [one for one in events if (one.story, one.attempt) == (story.id, kept.attempt)]
    named = (one.data for one in own if one.event is EventKind.ATTEMPT_STARTED)
    config = load_config(repository.root)
    try:
        propose(
            repository,
            plan.branch_name,
            _start(own) or line_tip(repository, plan.branch_name),
            kept.commit,
            story=story.id,
            title=story.title or "",
            attempt=kept.attempt,
            attempt_id=str(next(named, {}).get("attempt_id", "")),
            rules=Rules((), (), sys.maxsize, tuple(one.path for one in config.regenerate)),
        )
    except MergeConflict as conflict:
        return conflict
    fix = "a merge-resolver is asked only where an attempt and the line changed the same places"
    raise BadInput(f"{kept.ref} can be merged without conflict", where=story.id, fix=fix)


def _start(events: list[Event]) -> str | None:
    """The commit that an attempt started from, as the journal tells."""
    for event in events:
        start = event.data.get("start")
        if event.event is EventKind.AGENT_STARTED and isinstance(start, str):
            return start
    return None


def _gate(event: Event) -> str:
    data = event.data
    return f"{data.get('gate')} `{data.get('command')}`: exit {data.get('code')}"
