"""How the members of an intent's team are asked: each by a call of its own, or one for all.

A reviewer is always asked by a fresh call. Errors: those of asking a member.
"""

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TypeVar

from qloop.agents.manifest import AUTO
from qloop.agents.prompt import quoted
from qloop.mission.asking import Asks, Judged
from qloop.mission.hand_off import Member
from qloop.mission.member_call import ask_member, is_without
from qloop.mission.phase_desk import PhaseDesk
from qloop.mission.team import MEMBERS
from qloop.mission.team_shape import Chosen, Shape, choose_shape
from qloop.run.readers import Voice, find_voice
from qloop.run.reading_call import Walk, ask
from qloop.run.reading_desk import ReadingPlace
from qloop.run.talk import Question
from qloop.state.insights import add_insight
from qloop.state.lifecycle import Stage, read_lifecycle
from qloop.state.sections import section_text
from qloop.system.errors import QloopError

Made = TypeVar("Made")
WALKERS = ("brainstorming", "spec-specialist", "planner")
"""Who works up to the plan, in their order."""


@dataclass(frozen=True, slots=True)
class TeamCalls:
    """The team of an intent up to its plan, as it is asked."""

    desk: PhaseDesk
    chosen: Chosen
    voices: dict[str, Voice | None]
    walk: Walk

    def member(self, role: str) -> Member:
        """One of them."""
        voice = self.voices[self.chosen.lead or role]
        is_walking = self.chosen.shape is Shape.ONE
        return Member(
            self.desk.folder,
            role,
            self._voice(role),
            self.desk.tell,
            has_helpers=voice is not None and voice.has_helpers,
            beside=(lambda: self._turn(role)) if is_walking else str,
        )

    def _voice(self, role: str) -> Asks:
        desk, shape = self.desk, self.chosen.shape

        def ask_one(place: ReadingPlace, question: Question[Made], /) -> Judged[Made]:
            if is_without(desk, role):
                return Judged(None, f"a person goes on without an agent as {role}")
            if shape is Shape.NONE:
                return Judged(None, f"no agent is asked as {role}")
            if shape is Shape.ONE:
                put = lambda readers: self.walk.ask(place, question, readers, desk.tell)  # noqa: E731
                return ask_member(desk, role, put, self.chosen.lead)
            return _ask_fresh(desk, role, place, question)

        return ask_one

    def _turn(self, role: str) -> str:
        """What one who walks is told of its turn; what it made itself in the same session, or is
        told in its task, is not told again."""
        number = WALKERS.index(role) + 1
        told = f"You walk this intent's cycle alone; this is turn {number} of {len(WALKERS)}.\n"
        if self.walk.thread.session is not None:
            return f"{told}You go on in the session of your last turn: keep to what you decided.\n"
        text = section_text(read_lifecycle(self.desk.folder).document or "", "Context")
        if role != WALKERS[-1] or not text:
            return told
        return f"{told}What you decided in the first turn:\n\n{quoted(text)}\n"


def team_calls(desk: PhaseDesk, undo: ExitStack) -> TeamCalls:
    """The team, its shape told and written down once; what it needs ends with *undo*."""
    voices = {role: _find_voice(desk, role) for role in WALKERS}
    chosen = choose_shape(desk.order.team or desk.config.team, voices)
    desk.step("team", {**asdict(chosen)}, lambda: _tell(desk, chosen))
    return TeamCalls(desk, chosen, voices, Walk(desk.cancel, undo))


def fresh_member(desk: PhaseDesk, role: str) -> Member:
    """One who is asked by a call of its own, whatever the team's shape."""

    def ask_one(place: ReadingPlace, question: Question[Made], /) -> Judged[Made]:
        return _ask_fresh(desk, role, place, question)

    voice = _find_voice(desk, role)
    helpers = voice is not None and voice.has_helpers
    return Member(desk.folder, role, ask_one, desk.tell, has_helpers=helpers)


def _ask_fresh(
    desk: PhaseDesk, role: str, place: ReadingPlace, question: Question[Made]
) -> Judged[Made]:
    return ask_member(
        desk, role, lambda readers: ask(place, question, readers, desk.tell, desk.cancel)
    )


def _find_voice(desk: PhaseDesk, role: str) -> Voice | None:
    """Who would be asked; one that cannot work here is found out when it is asked."""
    try:
        return find_voice(role, desk.config, desk.repository.root)
    except QloopError:
        return Voice(AUTO, None, has_helpers=False)


def _tell(desk: PhaseDesk, chosen: Chosen) -> dict[str, str]:
    desk.tell(chosen.told)
    if chosen.is_autonomous and chosen.told not in (read_lifecycle(desk.folder).document or ""):
        add_insight(desk.folder, chosen.told, stage=Stage.WHY, author="qloop", is_autonomous=True)
    return {"shape": chosen.shape}


def note_without(desk: PhaseDesk) -> None:
    """Write down that a person goes on without an agent for one of the team."""
    for role in WALKERS:
        told = f"a person goes on without an agent as {role}: code does its part"
        if is_without(desk, role) and told not in (read_lifecycle(desk.folder).document or ""):
            desk.tell(told)
            add_insight(desk.folder, told, stage=MEMBERS[role].stage, author="qloop")
