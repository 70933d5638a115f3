"""What every agent that works on an intent is told first: where the intent stands, and the rules.

A function of the intent's folder: no clock, no network, no chance, and the same bytes wherever
the folder lies.
"""

from pathlib import Path

from qloop.mission.completion import report_contract
from qloop.mission.standing import read_standing

OPENING = "=== qloop preamble ==="
CLOSING = "=== end of preamble ==="
HONOURING = (
    "You work on this intent, in this stage, and on nothing else. Write only the lifecycle files\n"
    "that your role hands over, in their form; invent no intents, no stages and no results. What\n"
    "is not written down in the intent's folder, or shown by a command that you ran, is not known."
)


HELPERS = (
    "You may hand parts of your task to sub-agents of your own. Begin what you tell each of them\n"
    "with this preamble, word for word, then say which part is theirs; they change nothing that\n"
    "you may not change, and what they find is yours to look at and to answer for."
)


def render_preamble(
    folder: Path,
    role: str | None = None,
    step: str | None = None,
    *,
    is_reporting: bool = True,
    has_helpers: bool = False,
) -> str:
    """The preamble for a role, or a step, of the intent in *folder*; ends with a line end.

    *is_reporting*: its agent ends with a report; *has_helpers*: it has sub-agents of its own.
    """
    standing = read_standing(folder)
    milestone = f" - {standing.milestone}" if standing.milestone else ""
    cycle = " / ".join(word for word in (role, step) if word) or standing.stage.value
    told = [HONOURING]
    told += [HELPERS] if has_helpers else []
    told += [report_contract(role)] if is_reporting else []
    lines = (
        OPENING,
        f"Intent folder: {folder.name}",
        f"Active intent: {standing.id} - {standing.line}",
        f"Current stage: {standing.stage}{milestone}",
        f"Cycle step / role: {cycle}",
        "",
        "\n\n".join(told),
        CLOSING,
    )
    return "\n".join(lines) + "\n"
