"""The report: what became of each story in a run."""

from typing import Any

from qloop.plan.model import Json, Plan, Status, parse_plan
from qloop.state.journal import Event, EventKind
from qloop.state.report import StoryReport, build_report
from state.documents import document, story


def plan(*stories: Json) -> Plan:
    """A plan with these stories."""
    return parse_plan(document(*stories))


def told(*facts: tuple[float, EventKind, Json]) -> list[Event]:
    """Events of one run, each at its second."""
    events = []
    for seq, (second, kind, fields) in enumerate(facts, 1):
        known: dict[str, Any] = {"data": {}, **fields}
        stamp = f"2026-01-02T03:{int(second) // 60:02}:{second % 60:06.3f}Z"
        events.append(Event(seq=seq, ts=stamp, run="r-1", event=kind, **known))
    return events


def started(wave: str, attempt: int, name: str = "US-1") -> Json:
    """The fields of an attempt's start."""
    return {"wave": wave, "story": name, "attempt": attempt}


def settled(attempt: int, name: str = "US-1", **data: Any) -> Json:
    """The fields of a story that is settled."""
    return {"story": name, "attempt": attempt, "data": data}


STARTED, SETTLED = EventKind.ATTEMPT_STARTED, EventKind.STORY_SETTLED


def first(value: Plan, events: list[Event]) -> StoryReport:
    """The report of the first story."""
    return build_report(value, events).stories[0]


def test_a_plan_without_events() -> None:
    """Before any run the report says how the stories stand."""
    report = build_report(plan(story("A"), story("B", status="passed"), story("C")), [])

    assert report.run is None
    assert report.seconds == 0.0
    assert report.totals == {Status.PENDING: 2, Status.PASSED: 1}
    assert [one.id for one in report.stories] == ["A", "B", "C"]
    assert report.stories[0] == StoryReport(id="A", title="Story A", status=Status.PENDING)


def test_attempts_waves_and_time() -> None:
    """Dispatches, their waves and the time of attempts are of this run, charges of all runs."""
    events = told(
        (0, EventKind.RUN_STARTED, {}),
        (1, STARTED, started("wave-3", 4)),
        (2, STARTED, started("wave-3", 1, "US-2")),
        (11.5, SETTLED, settled(4, status="failed", reason="red")),
        (20, STARTED, started("wave-4", 5)),
        (25, SETTLED, settled(5, status="passed", commit="abc")),
        (30, EventKind.RUN_ENDED, {}),
    )
    value = plan(story("US-1", status="passed", retries={"attempts": 2}), story("US-2"))

    report = build_report(value, events)

    one, two = report.stories
    assert (one.attempts, one.charged, one.waves) == (2, 2, ("wave-3", "wave-4"))
    assert one.seconds == 15.5
    assert one.landed == "abc"
    assert two.seconds == 28.0
    assert (report.run, report.seconds) == ("r-1", 30.0)


def test_two_attempts_of_one_wave_name_it_once() -> None:
    """A wave that was handed out again is one wave."""
    events = told((0, STARTED, started("wave-1", 1)), (1, STARTED, started("wave-1", 2)))

    assert first(plan(story("US-1")), events).waves == ("wave-1",)


def test_reasons() -> None:
    """Why a story has not passed: what blocks it, else its last failure, else nothing."""
    old = {"failureLog": [{"reason": "older"}, {"reason": "old"}]}
    events = told((0, SETTLED, settled(1, reason="first")), (1, SETTLED, settled(2, reason="last")))
    failed = story("US-1", status="failed", retries=old)

    assert first(plan(failed), events).reason == "last"
    assert first(plan(failed), []).reason == "old"
    assert first(plan(story("US-1")), []).reason is None
    assert first(plan({**failed, "status": "passed"}), events).reason is None


def test_what_no_command_judged_is_told() -> None:
    """A passed story one of whose reviews rests on no command is unverified."""

    def reviewed(spec: Any, quality: Any, status: str = "passed") -> bool:
        review = {"specCompliance": {"evidence": spec}, "codeQuality": {"evidence": quality}}
        return first(plan(story("US-1", status=status, review=review)), []).unverified

    assert reviewed("unverified: no command judges this", "pytest: 0")
    assert reviewed("pytest: 0", "unverified: no command")
    assert not reviewed("pytest: 0", "was unverified: no")
    assert not reviewed(None, {"text": "unverified:"})
    assert not reviewed("unverified: x", "unverified: x", status="pending")


def test_the_landed_commit() -> None:
    """The commit is known from the landing, before the story is settled."""
    landed = (0.0, EventKind.STORY_LANDED, {"story": "US-1", "data": {"commit": "abc"}})

    assert first(plan(story("US-1")), told(landed)).landed == "abc"


def test_a_clock_that_is_set_back() -> None:
    """Time is never negative."""
    events = told((50, STARTED, started("wave-1", 1)), (10, SETTLED, settled(1)))

    report = build_report(plan(story("US-1")), events)

    assert (report.seconds, report.stories[0].seconds) == (0.0, 0.0)
