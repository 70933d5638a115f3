"""What `status`, `show` and the overview do once their words are parsed; they take no lock."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from qloop.cli.context import STATE_FILE, default_state_file, repository_here
from qloop.plan.memory import collector_paused
from qloop.repo.plain import find_tips
from qloop.repo.repository import Repository
from qloop.run.holder import Holder, private_folder, read_holder
from qloop.state.active import find_active
from qloop.state.facts import Fact, is_planning, read_facts
from qloop.system.clock import parse_utc, utc_now
from qloop.system.errors import BadInput, InputMissing, QloopError
from qloop.ui import console
from qloop.ui.status import LineView, RunView, StatusView, build_status, show_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qloop.plan.likeness import AnyPlan, AnyStory
    from qloop.plan.model import Plan, Story
    from qloop.state.journal import Event
    from qloop.state.likeness import AnyEvent
    from qloop.ui.overview import Advice


class Place(NamedTuple):
    """Where a plan is looked at; without a repository it is known from its file alone."""

    state_file: Path
    repository: Repository | None

    @property
    def private(self) -> Path:
        """The `.qloop` folder."""
        if self.repository is None:
            return self.state_file.parent / ".qloop"
        return private_folder(self.repository)

    def facts(self) -> list[Fact]:
        """All that the journal holds, as light values."""
        return read_facts(self.private / "events.jsonl")

    def events(self) -> list[Event]:
        """All that the journal holds."""
        from qloop.state.journal import Journal

        return Journal(self.private / "events.jsonl").events()


def find_place(quantum: Path | None) -> Place:
    """The state file and the repository here. Raises InputMissing where there is neither."""
    state_file = default_state_file(quantum)
    try:
        return Place(state_file, repository_here())
    except InputMissing:
        return Place(state_file, None)


def show_status_here(quantum: Path | None, *, as_json: bool) -> int:
    """Where the plan stands; of a mission that has none yet, where that stands."""
    place = find_place(quantum)
    if quantum is None and not place.state_file.exists() and find_active(place.private) is not None:
        from qloop.cli.missions import show_mission

        return show_mission(None, as_json=as_json)
    with collector_paused():
        plan = read_outline(place.state_file)
        now = this_moment()
        view = read_status(place, plan, place.facts(), now)
        if not as_json:
            show_status(view, now)
    if as_json:
        from qloop.ui.views import to_json

        console.print_json(to_json(view))
    return 0


def show_story_here(story_id: str, quantum: Path | None, *, as_json: bool) -> int:
    """All about one story."""
    from qloop.cli.planning import read_plan
    from qloop.ui.story import build_story, show_story

    place = find_place(quantum)
    plan = read_plan(place.state_file)
    story = find_story(plan, story_id, place.state_file)
    now, events = this_moment(), place.events()
    view = read_status(place, plan, events, now)
    page = build_story(plan, story, view, events, _salvaged(place.repository, story_id), now)
    if as_json:
        console.print_json(page.to_json())
    else:
        show_story(page)
    return 0


def show_overview_here() -> int:
    """A few lines on where things stand, and what to do next; whatever is found is no error."""
    from qloop.repo.checkout import find_repository
    from qloop.ui.overview import no_plan, no_repository, no_use, show_advice, with_plan

    try:
        place = find_place(None)
        if place.repository is not None:
            find_repository(Path.cwd())  # whether git itself is there, and works
    except (QloopError, OSError) as exc:  # OSError where git itself is not there
        show_advice(no_repository(exc))
        return 0
    mission = _mission_advice(place)
    if mission is not None:
        show_advice(mission)
        return 0
    if not place.state_file.exists():
        show_advice(no_plan())
        return 0
    now = this_moment()
    try:
        plan = read_outline(place.state_file)
        view = read_status(place, plan, place.facts(), now)
    except QloopError as exc:
        show_advice(no_use(exc))
        return 0
    show_advice(with_plan(view, now, is_taken=_is_taken(place, view)))
    return 0


def _is_taken(place: Place, view: StatusView) -> bool:
    """Whether a person has taken over all that landed."""
    is_behind = view.line is not None and view.line.ahead > 0
    if place.repository is None or view.state != "complete" or is_behind:
        return False
    from qloop.repo.distance import is_taken

    return is_taken(place.repository, view.branch)


def _mission_advice(place: Place) -> Advice | None:
    """What comes next for the active mission; None where a plan of its own is to be seen."""
    if find_active(place.private) is None:
        return None
    from qloop.cli.mission_watching import find_unfinished, mission_lines, ways_on
    from qloop.state.mission_store import is_running
    from qloop.ui.overview import Advice

    found = find_unfinished(place.private)
    if found is None:
        return None
    folder, mission = found
    own_plan = place.private.with_name(STATE_FILE).exists()
    if own_plan and not is_running(mission) and mission.open_checkpoint is None:
        return None
    return Advice(mission_lines(folder), ways_on(mission))


def read_outline(path: Path) -> AnyPlan[AnyStory]:
    """The plan in a state file as far as looking needs it. Raises InputMissing, Faults."""
    from qloop.plan.document import load_unmeasured
    from qloop.plan.glance import find_outline

    outline = find_outline(load_unmeasured(path))
    if outline is not None:
        return outline
    from qloop.cli.planning import read_plan

    return read_plan(path)


def read_status(
    place: Place, plan: AnyPlan[AnyStory], events: Sequence[AnyEvent], now: datetime
) -> StatusView:
    """The plan's status, with the run and the line that git and run.json tell of."""
    holder = read_holder(place.private)
    run = None
    if holder is not None and holder.ended_at is None and not _is_dead_planning(holder):
        pid = holder.process.pid if holder.process is not None else None
        run = RunView(id=holder.run_id, pid=pid, since=holder.started_at, mode=holder.mode)
    line = None
    if place.repository is not None:
        line = _find_line(place.repository, plan.branch_name)
    alive = holder is not None and holder.alive
    return build_status(plan, events, line, run, now, alive=alive)


def _is_dead_planning(holder: Holder) -> bool:
    """Whether a plan was being made, and is no more: nothing takes that up."""
    return is_planning(holder.run_id) and not holder.alive


def _find_line(repository: Repository, branch: str) -> LineView | None:
    tips = find_tips(repository, branch)
    if tips is not None and tips.line in (None, tips.branch):
        return None if tips.line is None else LineView(commit=tips.line, ahead=0, behind=0)
    from qloop.repo.distance import find_distance

    found = find_distance(repository, branch)
    if found is None:
        return None
    return LineView(commit=found.tip, ahead=found.ahead, behind=found.behind)


def find_story(plan: Plan, story_id: str, state_file: Path) -> Story:
    """The story of that id. Raises BadInput that names the nearest one."""
    found = plan.story(story_id)
    if found is not None:
        return found
    import difflib

    ids = [story.id for story in plan.stories]
    folded = {name.lower(): name for name in ids}
    near = difflib.get_close_matches(story_id.lower(), folded, n=1)
    fix = f"did you mean {folded[near[0]]}?" if near else "`qloop status` lists the stories"
    raise BadInput(f"there is no story {story_id!r}", where=str(state_file), fix=fix)


def this_moment() -> datetime:
    """Now, in UTC."""
    return parse_utc(utc_now())


def _salvaged(repository: Repository | None, story_id: str) -> dict[int, tuple[str, str]]:
    """What was kept of each attempt: its ref and commit, by the attempt's number."""
    from qloop.repo.kept import list_salvage

    rows = () if repository is None else list_salvage(repository)
    return {row.attempt: (row.ref, row.commit) for row in rows if row.story == story_id}
