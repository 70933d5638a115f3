"""What passes between an orchestrator and its agent: a story, the word on it, the verdict.

The agent asks (`next`) and hands in (`done`), as often as it likes; the answer is what holds at
that moment, so that a question that broke off is simply asked again. Nothing it says is believed.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from qloop.agents.signals import Said
from qloop.system.mailbox import Letter

STORY, WAIT, VERDICT, OVER, REFUSED = "story", "wait", "verdict", "over", "refused"
"""The states that an answer can tell."""

SIGNALS = {"passed": "STORY_PASSED", "failed": "STORY_FAILED", "blocked": "BLOCKED"}
LONGEST_WAIT_S = 3600.0


@dataclass(slots=True)
class Handing:
    """Where the one story lies that is at work: with the agent, or with the orchestrator."""

    _turn: threading.Condition = field(default_factory=threading.Condition)
    _story: str | None = None
    _text: str = ""
    _said: Said | None = None
    _verdicts: dict[str, Letter] = field(default_factory=dict)
    """The last verdict on each story."""
    _last: str = ""
    _over: bool = False

    def give(self, story: str, text: str) -> None:
        """Lay a story there for the agent, with all it is to be told of it."""
        with self._turn:
            self._story, self._text, self._said = story, text, None
            self._verdicts.pop(story, None)
            self._turn.notify_all()

    def await_word(self, timeout_s: float, is_enough: Callable[[], bool]) -> Said | None:
        """Wait until the agent hands its story in; None where *is_enough* came true before.

        *is_enough* is asked after `wake`, and when *timeout_s* is over.
        """
        with self._turn:
            self._turn.wait_for(lambda: self._said is not None or is_enough(), timeout_s)
            return self._said

    def wake(self) -> None:
        """Let who waits look again."""
        with self._turn:
            self._turn.notify_all()

    def judge(self, landed: bool, text: str) -> None:
        """Tell what became of the story that was handed in."""
        with self._turn:
            if self._story is not None:
                self._verdicts[self._story] = {"state": VERDICT, "landed": landed, "text": text}
                self._last, self._story = text, None
            self._turn.notify_all()

    def close(self) -> None:
        """There is no other story."""
        with self._turn:
            self._over, self._story = True, None
            self._turn.notify_all()

    def answer(self, question: Letter) -> Letter:
        """What the agent is told now, or once there is something to tell."""
        wait_s = _seconds(question.get("wait_s"))
        with self._turn:
            if question.get("verb") != "done":
                return self._once(self._next, wait_s)
            story = str(question.get("story") or self._story or "")
            refused = self._take_in(story, question)
            return refused or self._once(lambda: self._verdicts.get(story), wait_s)

    def _once(self, find: Callable[[], Letter | None], wait_s: float) -> Letter:
        self._turn.wait_for(lambda: self._over or find() is not None, wait_s)
        found = find()
        if found is not None:
            return found
        return {"state": OVER} if self._over else {"state": WAIT}

    def _next(self) -> Letter | None:
        if self._story is None or self._said is not None:
            return None
        return {"state": STORY, "story": self._story, "text": self._text, "verdict": self._last}

    def _take_in(self, story: str, question: Letter) -> Letter | None:
        signal = SIGNALS.get(str(question.get("signal") or "passed"))
        if signal is None or (story != self._story and story not in self._verdicts):
            what = f"{story} is not at work" if story else "no story is at work"
            return {"state": REFUSED, "text": f"{what}: ask for the next one"}
        if story == self._story and self._said is None:
            why = str(question.get("why") or "")
            self._said = Said(signal, None, why)
            self._turn.notify_all()
        return None


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return LONGEST_WAIT_S
    return min(max(float(value), 0.0), LONGEST_WAIT_S)
