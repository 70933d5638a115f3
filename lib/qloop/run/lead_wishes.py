"""What an agent that leads a wave may ask for: that a story starts, a verdict, the wave's end.

Errors: BadInput for what cannot be.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from qloop.run.orders import Dispatch, Settled, WaveOrder
from qloop.run.review_word import Word, set_review
from qloop.state.journal import Journal
from qloop.state.store import Store
from qloop.system.errors import BadInput


@dataclass(slots=True)
class Wishes:
    """The wishes for one wave, and what was begun of it."""

    order: WaveOrder
    store: Store
    journal: Journal
    begin: Callable[[Dispatch], None]
    """Sets a story's attempt going."""
    settled: list[Settled]
    """The stories that have settled; it grows."""
    _begun: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, wish: dict[str, Any]) -> dict[str, Any]:
        """Grant a wish and return what came of it. Raises BadInput."""
        match wish:
            case {"do": "where"}:
                place = self.order.terms.place
                return {"root": place.root, "git_dir": place.git_dir}
            case {"do": "attempt", "story": str(story)}:
                return {"begun": self._begin(self._dispatch(story))}
            case {"do": "review", "story": str(story), "verdicts": dict(words), "evidence": text}:
                self._dispatch(story)
                word = Word(story, words, str(text), by_agent=True)
                return set_review(self.store, self.journal, word)
            case {"do": "complete", "wave": str(wave)}:
                return self._complete(wave)
            case _:
                raise BadInput("a wave's agent cannot ask for that", fix="see `qloop --help`")

    def begin_rest(self) -> list[str]:
        """Begin every story that was not begun yet; returns them."""
        return [one.story for one in self.order.dispatches if self._begin(one)]

    def _begin(self, dispatch: Dispatch) -> bool:
        """Whether it began now, and not before."""
        with self._lock:
            if dispatch.story in self._begun:
                return False
            self._begun.add(dispatch.story)
        self.begin(dispatch)
        return True

    def _dispatch(self, story: str) -> Dispatch:
        for one in self.order.dispatches:
            if one.story == story:
                return one
        names = ", ".join(one.story for one in self.order.dispatches)
        raise BadInput(f"{story} is no story of {self.order.wave}", fix=f"its stories are {names}")

    def _complete(self, wave: str) -> dict[str, Any]:
        if wave != self.order.wave:
            raise BadInput(f"this is {self.order.wave}, not {wave}")
        landed = {one.story: one.landed for one in self.settled}
        left = [one.story for one in self.order.dispatches if one.story not in landed]
        if left:
            raise BadInput(
                f"{wave} is not over: {', '.join(left)} not settled",
                fix=f"qloop attempt {left[0]} --start, then --wait 60s",
            )
        signal = "WAVE_PASSED" if all(landed.values()) else "WAVE_FAILED"
        return {"wave": wave, "signal": signal, "stories": landed}
