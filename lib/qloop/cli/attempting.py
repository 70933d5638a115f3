"""What `attempt`, `review set` and `wave complete` do once their words are parsed."""

import math
from pathlib import Path
from typing import Any

from qloop.cli.context import resolve_quantum
from qloop.cli.looking import find_story
from qloop.cli.planning import read_plan
from qloop.repo.checkout import Repository, find_repository
from qloop.run import single
from qloop.run.inside import check_outside
from qloop.run.lead_door import ask, find_door
from qloop.state.attempts import AttemptResult
from qloop.state.store import store_for
from qloop.system.errors import BadInput
from qloop.ui import console

LANDED, NOT_LANDED, AT_WORK = 0, 1, 3


def attempt_here(story: str, quantum: Path | None, wait_s: float | None, *, start: bool) -> int:
    """One attempt: made here, started apart, or waited for; its result as JSON."""
    door = find_door()
    if door is not None:
        return _attempt_led(door, story, wait_s, start=start)
    repository = find_repository(Path.cwd())
    if start or wait_s is None:
        check_outside(repository, "attempt")
        state_file = resolve_quantum(repository.root, quantum)
        find_story(read_plan(state_file), story, state_file)
        if not start:
            return _tell(single.attempt_story(repository, state_file, story))
        begun = single.start_apart(repository, state_file, story)
        if begun.result is None:
            console.say(begun.complaint.rstrip())
            return begun.code
        if wait_s is None:
            return _tell(begun.result, at_work=LANDED)
    return _wait(repository, story, wait_s or 0.0)


def _attempt_led(door: Path, story: str, wait_s: float | None, *, start: bool) -> int:
    """The same for the agent that leads a wave: the wave's coordinator makes the attempt."""
    place = ask(door, do="where")
    repository = Repository(root=Path(place["root"]), git_dir=Path(place["git_dir"]))
    if start or wait_s is None:
        ask(door, do="attempt", story=story)
    if start and wait_s is None:
        found = single.look_at(repository, story)
        return LANDED if found is None else _tell(found, at_work=LANDED)
    return _wait(repository, story, math.inf if wait_s is None else wait_s)


def review_here(story: str, verdicts: dict[str, Any], evidence: str, quantum: Path | None) -> int:
    """A word on a story's reviews; the reviews as JSON."""
    from qloop.run.review_word import Word, set_review

    door = find_door()
    if door is not None:
        wish = {"do": "review", "story": story, "verdicts": verdicts, "evidence": evidence}
        console.print_json(ask(door, **wish))
        return 0
    repository = find_repository(Path.cwd())
    check_outside(repository, "review set")
    state_file = resolve_quantum(repository.root, quantum)
    find_story(read_plan(state_file), story, state_file)
    store, word = store_for(state_file, repository.root), Word(story, verdicts, evidence)
    console.print_json(set_review(store, single.journal_of(repository), word))
    return 0


def complete_here(wave: str, quantum: Path | None) -> int:
    """A wave's end, written down; what it came to as JSON."""
    from qloop.run.wave_signal import EXIT_CODES
    from qloop.run.wave_word import complete_wave

    door = find_door()
    if door is not None:
        told = ask(door, do="complete", wave=wave)
        console.print_json(told)
        return EXIT_CODES[told["signal"]]
    repository = find_repository(Path.cwd())
    check_outside(repository, "wave complete")
    state_file = resolve_quantum(repository.root, quantum)
    store = store_for(state_file, repository.root)
    end = complete_wave(repository, store, single.journal_of(repository).events(), wave)
    console.print_json(end.to_json())
    return EXIT_CODES.get(end.signal, NOT_LANDED)


def _wait(repository: Repository, story: str, wait_s: float) -> int:
    found = single.await_attempt(repository, story, wait_s)
    if found is None:
        raise BadInput(
            f"no attempt at {story!r} was ever made",
            where=str(repository.root),
            fix=f"qloop attempt {story} --start",
        )
    return _tell(found)


def _tell(result: AttemptResult, at_work: int = AT_WORK) -> int:
    console.print_json(result.to_json())
    if result.state == "running":
        return at_work
    return LANDED if result.landed is not None else NOT_LANDED
