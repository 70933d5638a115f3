"""What an orchestrator's agent is told, whenever and however often it asks."""

import threading

import pytest

from qloop.run.handing_in import OVER, REFUSED, STORY, VERDICT, WAIT, Handing
from qloop.system.mailbox import Letter


@pytest.fixture
def handing() -> Handing:
    """One story is with the agent."""
    made = Handing()
    made.give("A-1", "do A")
    return made


def done(handing: Handing, story: str | None = "A-1", **more: object) -> Letter:
    """Hand a story in, and wait for nothing."""
    return handing.answer({"verb": "done", "story": story, "wait_s": 0, **more})


def next_one(handing: Handing, wait_s: float | None = 0) -> Letter:
    """Ask for the next story."""
    return handing.answer({"verb": "next", "wait_s": wait_s})


def test_a_story_is_told_as_often_as_it_is_asked_for(handing: Handing) -> None:
    """Until it is handed in; then there is nothing to tell before the verdict."""
    first, second = next_one(handing), next_one(handing)
    handed = done(handing)

    assert first == second == {"state": STORY, "story": "A-1", "text": "do A", "verdict": ""}
    assert handed == {"state": WAIT}
    assert next_one(handing) == {"state": WAIT}


@pytest.mark.parametrize(
    ("signal", "said"),
    [(None, "STORY_PASSED"), ("failed", "STORY_FAILED"), ("blocked", "BLOCKED")],
)
def test_the_word_is_what_was_said_first(handing: Handing, signal: str | None, said: str) -> None:
    """A second word on the same story changes nothing."""
    done(handing, signal=signal, why="so it is")
    done(handing, signal="passed")
    word = handing.await_word(60, lambda: False)

    assert word is not None
    assert (word.signal, word.why) == (said, "so it is")


def test_a_verdict_is_kept_for_who_asks_again(handing: Handing) -> None:
    """It stands until the story is given anew, and before the next one's text."""
    done(handing)
    handing.judge(False, "A-1 is red")
    again = done(handing)
    handing.give("A-1", "do A once more")

    assert again == {"state": VERDICT, "landed": False, "text": "A-1 is red"}
    assert next_one(handing)["verdict"] == "A-1 is red"
    assert done(handing) == {"state": WAIT}


def test_who_waits_hears_of_it(handing: Handing) -> None:
    """The answer comes with the verdict, and with the end."""
    heard: list[Letter] = []
    for question in ({"verb": "done", "story": "A-1"}, {"verb": "next"}):
        thread = threading.Thread(target=lambda asked=question: heard.append(handing.answer(asked)))
        thread.start()
        handing.await_word(60, lambda: False)
        handing.judge(True, "A-1 has landed")
        if question["verb"] == "next":
            handing.close()
        thread.join()

    assert heard == [{"state": VERDICT, "landed": True, "text": "A-1 has landed"}, {"state": OVER}]


@pytest.mark.parametrize(
    ("story", "signal"), [("B-1", "passed"), ("A-1", "perfect"), ("B-1", None)]
)
def test_what_is_not_at_work_is_refused(
    handing: Handing, story: str | None, signal: str | None
) -> None:
    """Another story, or a word that means nothing; the one at work stays with the agent."""
    assert done(handing, story, signal=signal)["state"] == REFUSED
    assert handing.await_word(0, lambda: False) is None


def test_nothing_handed_in_is_no_word(handing: Handing) -> None:
    """Who waits is woken to look for itself whether it goes on."""
    gone = threading.Event()

    def go() -> None:
        gone.set()
        handing.wake()

    waker = threading.Thread(target=go)
    waker.start()
    word = handing.await_word(60, gone.is_set)
    waker.join()

    assert word is None


def test_after_the_end_there_is_nothing_more(handing: Handing) -> None:
    """Neither a story nor one that could be handed in."""
    handing.close()

    assert next_one(handing, None) == {"state": OVER}
    assert done(handing)["state"] == REFUSED
