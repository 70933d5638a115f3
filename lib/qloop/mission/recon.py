"""RECON: what the repository is, by code first; an agent, where one is set, adds what code cannot.

Errors: those of reading the repository.
"""

from qloop.mission.phase_desk import PhaseDesk, Result
from qloop.mission.scout import survey
from qloop.state.codebase import Facts, parse_facts, render_facts
from qloop.state.phase_events import PhaseEvent
from qloop.state.phases import Warmth
from qloop.ui.recon_pages import render_architecture, render_recon_report, size_words

FACTS = "recon/facts.json"
REPORT = "recon/RECON_REPORT.md"
ARCHITECTURE = "recon/ARCHITECTURE.md"
MOST_PATTERNS = 12


def coordinate(desk: PhaseDesk) -> PhaseEvent:
    """Read the repository at the commit that is checked out, and write down what it is."""
    commit = desk.repository.git.find("HEAD^{commit}")
    desk.step("scout", {"commit": commit}, lambda: _scout(desk, commit))
    facts = read_facts(desk)
    return desk.complete(_summary(facts), (REPORT, ARCHITECTURE), warmth=_warmth(facts))


def read_facts(desk: PhaseDesk) -> Facts:
    """The facts that the scout wrote. Raises BadInput where somebody broke their file."""
    return parse_facts((desk.folder / FACTS).read_text("utf-8"), str(desk.folder / FACTS))


def _scout(desk: PhaseDesk, commit: str | None) -> Result:
    desk.tell("scout reads the repository")
    facts = survey(desk.repository, commit)
    desk.write(FACTS, render_facts(facts))
    desk.write(REPORT, render_recon_report(facts))
    desk.write(ARCHITECTURE, render_architecture(facts))
    return {"fingerprint": facts.fingerprint}


def _summary(facts: Facts) -> str:
    languages = [one.name for one in facts.languages if one.is_source][:3]
    named = f"; {', '.join(languages)}" if languages else ""
    test = facts.find_command("test")
    tested = f"; tests: {test.command}" if test is not None else "; no test command is certain"
    return f"{size_words(facts)}{named}{tested}"


def _warmth(facts: Facts) -> Warmth:
    """Conventions and commands, for every prompt that comes after."""
    found = [f"{one.topic}: {one.text} ({one.source.path})" for one in facts.conventions]
    commands = [
        f"{one.purpose} by `{one.command}` ({one.source.path})"
        for one in facts.commands
        if facts.find_command(one.purpose) is one
    ]
    return Warmth(patterns=tuple([*commands, *found][:MOST_PATTERNS]))
