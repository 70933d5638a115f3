"""How far attempts have come, told from the journal and the names of their logs."""

from collections.abc import Callable

import pytest

from plan.plans import plan, story
from qloop.plan.model import Plan
from qloop.state.journal import EventKind
from qloop.ui.stages import Stage, find_gate, find_works, log_of
from qloop.ui.turns import landing_queue
from ui.journals import Tale

GATE = EventKind.GATE_ENDED


def reviewer(tale: Tale, role: str = "spec-reviewer") -> Tale:
    """A reviewer that starts, ends, and finds it good."""
    tale.tell(EventKind.AGENT_STARTED, "A", 1, role=role, runner="codex")
    tale.tell(EventKind.AGENT_ENDED, "A", 1, role=role, signal=None, code=0)
    return tale.tell(EventKind.REVIEW_ENDED, "A", 1, role=role, passed=True)


def merging(tale: Tale, solved: bool | None = None) -> Tale:
    """A merge-resolver that starts, and ends where it is said what it came to."""
    role = "merge-resolver"
    tale.tell(EventKind.AGENT_STARTED, "A", 1, role=role, runner="codex")
    if solved is None:
        return tale
    tale.tell(EventKind.AGENT_ENDED, "A", 1, role=role, signal="STORY_PASSED", code=0)
    return tale.tell(EventKind.MERGE_ENDED, "A", 1, role=role, solved=solved)


def value() -> Plan:
    """A plan whose stories are judged by three commands, and tested before they land."""
    tasks = [{"id": "T-1", "commands": ["make one"]}]
    return plan(
        story("A", tasks=tasks, verify=["# why\nmake two\nmake more"]),
        story("B"),
        testCommand="make test",
        qualityCommands=["lint"],
        setupCommands=["npm ci"],
    )


@pytest.mark.parametrize(
    ("tell", "stage"),
    [
        (lambda tale: tale.start("A"), Stage.SET_UP),
        (lambda tale: tale.start("A").agent("A"), Stage.AGENT),
        (lambda tale: tale.start("A").agent("A").agent_ends("A"), Stage.JUDGED),
        (lambda tale: tale.start("A").agent_ends("A", code=1), Stage.ENDING),
        (lambda tale: tale.start("A").agent_ends("A", signal=None), Stage.ENDING),
        (lambda tale: tale.start("A").agent_ends("A", timed_out=True), Stage.ENDING),
        (lambda tale: tale.start("A").agent_ends("A", stuck=True), Stage.ENDING),
        (
            lambda tale: tale.start("A").agent_ends("A").tell(EventKind.GUARD_BREACHED, "A", 1),
            Stage.ENDING,
        ),
        (
            lambda tale: tale.start("A").agent_ends("A").tell(GATE, "A", 1, green=True, gate="v"),
            Stage.JUDGED,
        ),
        (lambda tale: tale.start("A").tell(GATE, "A", 1, green=False, gate="v"), Stage.ENDING),
        (lambda tale: reviewer(tale.start("A").agent_ends("A")), Stage.REVIEWED),
        (lambda tale: tale.queue("A"), Stage.QUEUED),
        (lambda tale: merging(tale.queue("A")), Stage.MERGED),
        (lambda tale: merging(tale.queue("A"), solved=True), Stage.QUEUED),
        (lambda tale: merging(tale.queue("A"), solved=False), Stage.ENDING),
        (lambda tale: tale.start("A").reviewed("A", "failed"), Stage.ENDING),
        (lambda tale: tale.queue("A").tell(GATE, "A", 1, green=True, gate="test"), Stage.TESTED),
        (lambda tale: tale.queue("A").tell(EventKind.STORY_LANDED, "A", 1), Stage.LANDED),
        (lambda tale: tale.start("A").agent("A", attempt=7), Stage.SET_UP),
    ],
)
def test_the_stage_follows_from_what_ended(tell: Callable[[Tale], Tale], stage: Stage) -> None:
    """What began is concluded from what ended before it; other attempts' events do not count."""
    works = find_works(tell(Tale()).events)

    assert {name: work.stage for name, work in works.items()} == {"A": stage}


def test_a_new_attempt_starts_over() -> None:
    """The second attempt at a story stands for it, with its own number, wave and time."""
    tale = Tale().start("A").agent_ends("A").settle("A", "failed").start("A", 2, "wave-2")
    work = find_works(tale.events)["A"]

    assert (work.number, work.wave, work.stage) == (2, "wave-2", Stage.SET_UP)
    assert work.started == tale.events[-1].ts


@pytest.mark.parametrize(
    "end",
    [
        lambda tale: tale.settle("A", "passed"),
        lambda tale: tale.tell(EventKind.WAVE_ENDED, wave="wave-1", signal="BLOCKED"),
        lambda tale: tale.tell(EventKind.RUN_ENDED, signal="INTERRUPTED"),
    ],
)
def test_nothing_is_at_work_behind_its_end(end: Callable[[Tale], Tale]) -> None:
    """A settled story, a wave that ended and a run that ended leave nothing at work."""
    assert find_works(end(Tale().start("A")).events) == {}


def test_the_end_of_another_wave_leaves_it_at_work() -> None:
    """Waves overlap."""
    tale = Tale().start("A").start("B", wave="wave-2").tell(EventKind.WAVE_ENDED, wave="wave-2")

    assert set(find_works(tale.events)) == {"A"}


@pytest.mark.parametrize(
    ("stage", "logs", "label"),
    [
        (Stage.SET_UP, set(), None),
        (Stage.SET_UP, {"setup-1.log"}, "setup: npm ci"),
        (Stage.AGENT, {"setup-1.log", "output.log"}, None),
        (Stage.JUDGED, {"output.log"}, None),
        (Stage.JUDGED, {"verify-1.log"}, "verify 1/2: make one"),
        (Stage.JUDGED, {"verify-1.log", "verify-2.log"}, "verify 2/2: make two …"),
        (Stage.JUDGED, {"verify-2.log", "quality-1.log"}, "quality: lint"),
        (Stage.QUEUED, {"quality-1.log"}, None),
        (Stage.QUEUED, {"quality-1.log", "test.log"}, "test: make test"),
    ],
)
def test_a_gate_in_progress_is_known_by_its_log(
    stage: Stage, logs: set[str], label: str | None
) -> None:
    """The last command that has a log is the one that runs."""
    found = find_gate(value(), value().stories[0], stage, logs)

    assert (found.label if found else None) == label


@pytest.mark.parametrize(
    ("logs", "name"),
    [
        ({"output.log", "verify-1.log"}, "verify-1.log"),
        ({"output.log"}, "output.log"),
        ({"output.log", "output.readable.log"}, "output.readable.log"),
        (set(), None),
    ],
)
def test_the_log_that_grows(logs: set[str], name: str | None) -> None:
    """What a gate prints tells more than what the agent said last."""
    tale = Tale().start("A").agent("A").agent_ends("A")

    assert log_of(value(), find_works(tale.events)["A"], logs) == name


def test_the_landing_queue_is_in_the_order_of_arrival() -> None:
    """Who was judged first waits at its head, but one that is tested already is before it."""
    tale = Tale().start("A").start("B").start("C").agent("C")
    tale.agent_ends("B").reviewed("B").agent_ends("A").reviewed("A")
    queue = [work.story for work in landing_queue(find_works(tale.events).values())]
    tale.tell(GATE, "A", 1, green=True, gate="test")
    later = [work.story for work in landing_queue(find_works(tale.events).values())]

    assert (queue, later) == (["B", "A"], ["A", "B"])


def test_the_log_of_a_review_is_the_newest_reviewers() -> None:
    """Its second try comes after its first, quality after spec."""
    tale = reviewer(Tale().start("A").agent_ends("A"))
    work = find_works(tale.events)["A"]
    first, again = "spec-reviewer.log", "spec-reviewer-2.log"

    assert work.agent == "spec-reviewer"
    assert log_of(value(), work, {"output.log", first}) == first
    assert log_of(value(), work, {"output.log", first, again}) == again
    assert log_of(value(), work, {first, again, "quality-reviewer.log"}) == "quality-reviewer.log"


def test_the_log_of_a_merge_is_the_newest_resolvers() -> None:
    """A conflict that comes back is merged again, in a log of its own."""
    work = find_works(merging(Tale().queue("A")).events)["A"]
    first, again = "merge-resolver.log", "merge-resolver-2.log"

    assert work.agent == "merge-resolver"
    assert log_of(value(), work, {"output.log", first}) == first
    assert log_of(value(), work, {"output.log", first, again, "test.log"}) == again
    assert log_of(value(), work, {"output.log"}) is None
