"""RECON: what the repository is, by code first; an agent, where one is set, adds what code cannot.

Errors: those of reading the repository.
"""

from qloop.mission.known_code import FACTS as FACTS
from qloop.mission.phase_desk import PhaseDesk, Result
from qloop.mission.phase_metrics import phase_metrics
from qloop.mission.scout import survey
from qloop.mission.scouting import ask_scout, render_survey, survey_of, survey_warmth
from qloop.state.codebase import Facts, Purpose, parse_facts, render_facts
from qloop.state.phase_events import PhaseEvent
from qloop.state.phases import Warmth
from qloop.ui.recon_pages import (
    recon_lines,
    recon_summary,
    render_architecture,
    render_recon_report,
)

REPORT = "recon/RECON_REPORT.md"
ARCHITECTURE = "recon/ARCHITECTURE.md"
OUTPUTS = (REPORT, ARCHITECTURE, FACTS)
MOST_PATTERNS = 16
MOST_GOTCHAS = 8
_PURPOSES: tuple[Purpose, ...] = ("test", "build", "lint", "types", "format")


def coordinate(desk: PhaseDesk) -> PhaseEvent:
    """Read the repository at the commit that is checked out, and write down what it is."""
    commit = desk.repository.git.find("HEAD^{commit}")
    if not all((desk.folder / one).exists() for one in OUTPUTS):
        desk.forget_steps()
    desk.step("scout", {"commit": commit}, lambda: _scout(desk, commit))
    facts = read_facts(desk)
    added = desk.step("survey", {"commit": commit}, lambda: _ask(desk, commit, facts))
    said = survey_of(added)
    desk.write(REPORT, render_recon_report(facts) + render_survey(said, added["note"]))
    return desk.complete(
        recon_summary(facts),
        OUTPUTS,
        metrics=phase_metrics(desk),
        warmth=warmth_of(facts).merged(survey_warmth(said)),
    )


def read_facts(desk: PhaseDesk) -> Facts:
    """The facts that the scout wrote. Raises BadInput where somebody broke their file."""
    return parse_facts((desk.folder / FACTS).read_text("utf-8"), str(desk.folder / FACTS))


def warmth_of(facts: Facts) -> Warmth:
    """What every prompt that comes after is told: commands, rules, conventions, pitfalls. Pure."""
    rules = [f"read {one.source.path} first" for one in facts.documents if one.kind == "agents"]
    commands = [
        f"{purpose} by `{one.command}` ({one.source.text})"
        for purpose in _PURPOSES
        if (one := facts.find_command(purpose)) is not None
    ]
    found = [f"{one.topic}: {one.text} ({one.source.text})" for one in facts.conventions]
    gotchas = [f"{one.source.path} cannot be read: {one.reason}" for one in facts.unread]
    if not facts.is_greenfield and not any(one.purpose == "test" for one in facts.commands):
        gotchas.append("no test command was found")
    patterns = [*rules[:3], *commands, *found][:MOST_PATTERNS]
    return Warmth(patterns=tuple(patterns), gotchas=tuple(gotchas[:MOST_GOTCHAS]))


def _scout(desk: PhaseDesk, commit: str | None) -> Result:
    desk.tell("scout reads the repository")
    facts = survey(desk.repository, commit)
    desk.write(FACTS, render_facts(facts))
    desk.write(REPORT, render_recon_report(facts))
    desk.write(ARCHITECTURE, render_architecture(facts))
    return {"fingerprint": facts.fingerprint}


def _ask(desk: PhaseDesk, commit: str | None, facts: Facts) -> Result:
    if commit is None:
        return {"survey": None, "note": "there is no commit that a scout could read"}
    return ask_scout(desk, commit, "\n".join(recon_lines(facts)))
