"""Completion reports: what an agent accounts for at its end, and the account where it does not.

A report is `Key: value` lines between two banners; a value may go on in further lines. It is a
claim: whether the work is there, the files decide. Functions of a text and of the folder.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from qloop.mission.standing import Standing, read_standing
from qloop.mission.team import ALIASES, find_member
from qloop.state.lifecycle import Stage

OPENING = "=== completion report ==="
CLOSING = "=== end of report ==="
SYNTHESISED = "synthesized"
DELIVERED, BLOCKED = "delivered", "blocked"
NONE = "none"

ENVELOPE = (
    "Role",
    "Intent",
    "Stage",
    "Status",
    "Artifacts",
    "Verification",
    "Checklist",
    "Deviations",
    "Blockers",
    "Insights",
)
_MAY_BE_EMPTY = {"insights"}
_OTHER_NAMES = {
    "intent id": "intent",
    "artifacts written": "artifacts",
    "checklist deltas": "checklist",
    "blockers/hand-off notes": "blockers",
    "blockers / hand-off notes": "blockers",
    "hand-off notes": "blockers",
}
_KEY = re.compile(r"[\s>*+#-]*[*_`]*([A-Za-z][A-Za-z /_-]{1,40}?)[*_`]*\s*:[*_`]*(?:\s+(.*)|)")
_BANNER = re.compile(r"[\s>*#`-]*=+\s*(completion report|end of report)\b.*=*\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Report:
    """An agent's report, as far as it could be read."""

    values: dict[str, str] = field(default_factory=dict)
    """By key, in small letters; envelope and role's own."""
    faults: tuple[str, ...] = ()
    """Why it cannot be used; empty where it can."""

    @property
    def is_usable(self) -> bool:
        """Whether it accounts for the work at all."""
        return not self.faults

    @property
    def is_delivered(self) -> bool:
        """Whether it claims that the work is done."""
        return self.is_usable and self.values["status"] == DELIVERED


@dataclass(frozen=True, slots=True)
class Account:
    """What is known of an agent's work when it has ended."""

    text: str
    """A report: the agent's own, or one made from the files."""
    is_authored: bool
    lacking: str | None
    """Why the work is not done; None where it is."""
    is_blocked: bool = False
    """Whether that is the agent's own word."""

    @property
    def is_finished(self) -> bool:
        """Whether its role's deliverable may be handed on."""
        return self.lacking is None


def report_contract(role: str | None) -> str:
    """What an agent is told of the report that it has to end with."""
    member = None if role is None else find_member(role)
    keys = (*ENVELOPE, *(member.payload if member is not None else ()))
    said = {"Role": role or "your role", "Status": "delivered, or blocked"}
    said |= {"Intent": "its id, as above", "Stage": "as above"}
    said |= {"Verification": "the command and its result, or n/a", "Insights": "0 to n, one a line"}
    lines = [f"{key}: {said.get(key, '...')}" for key in keys]
    return "\n".join(
        (
            "End with this report as your final message, every key once, `none` where nothing is:",
            OPENING,
            *lines,
            CLOSING,
        )
    )


def parse_report(text: str, role: str, intent_id: str) -> Report:
    """The last report in an agent's final message, with keys in any order and case.

    One that lacks a key, or is of another role or intent, has faults.
    """
    member = find_member(role)
    known = {key.casefold() for key in (*ENVELOPE, *(member.payload if member else ()))}
    values, twice = _read_values(_last_block(text), known)
    missing = [
        key
        for key in ENVELOPE
        if key.casefold() not in values
        or not (values[key.casefold()] or key.casefold() in _MAY_BE_EMPTY)
    ]
    if missing:
        return Report(values, (f"it lacks {', '.join(missing)}",))
    faults = tuple(f"it says {_title(key)} twice" for key in twice)
    faults += tuple(_wrong(values, role, intent_id))
    if not faults:
        values["status"] = _word(values["status"])
    return Report(values, faults)


def synthesise_report(folder: Path, role: str) -> str:
    """The report that the files of an intent's folder give by themselves; ends with a line end."""
    standing = read_standing(folder)
    boxes = standing.files.boxes
    ticked = len(boxes) - len(standing.files.open_boxes)
    checklist = f"{ticked}/{len(boxes)}" if standing.files.checklist is not None else "n/a"
    lines = (
        OPENING,
        f"Intent: {standing.id} - {standing.line}",
        f"Stage: {standing.stage}",
        f"Role: {role}",
        f"Status: {SYNTHESISED}",
        f"Artifacts present: {', '.join(standing.artifacts) or NONE}",
        f"Checklist: {checklist}",
        f"Outcome: {_outcome(standing)}",
        f"Insights (newest): {standing.insight or NONE}",
        CLOSING,
    )
    return "\n".join(lines) + "\n"


def account_for(folder: Path, role: str, authored: str | None) -> Account:
    """The report to hand on when an agent has returned, and whether its work may be.

    Its own where it is usable, else one from the files. Work that it reports as delivered and
    whose files are not there is not done; nor is work that only a report could tell.
    """
    standing = read_standing(folder)
    report = None if authored is None else parse_report(authored, role, standing.id)
    if report is None or not report.is_usable:
        return Account(synthesise_report(folder, role), False, _lacking(standing, role))
    text = f"{OPENING}\n" + "".join(f"{_title(k)}: {v}\n" for k, v in report.values.items())
    lacking = _lacking(standing, role, report)
    return Account(f"{text}{CLOSING}\n", True, lacking, is_blocked=not report.is_delivered)


def _lacking(standing: Standing, role: str, report: Report | None = None) -> str | None:
    if report is not None and not report.is_delivered:
        return f"the {role} says that it is blocked: {report.values['blockers']}"
    member = find_member(role)
    if standing.document is None:
        return "the folder has no intent's document"
    if member is None or (report is not None and report.values.get("verdict")):
        return None
    return member.lacks(standing.files)


def _outcome(standing: Standing) -> str:
    if standing.files.outcome is None:
        return NONE
    found = standing.files.disposition
    return "(unknown)" if found is None else found.value


def _last_block(text: str) -> list[str]:
    """The lines of the last report; of a text without banners all lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start, end = 0, len(lines)
    for at, line in enumerate(lines):
        banner = _BANNER.fullmatch(line)
        if banner is None:
            continue
        if banner[1].casefold().startswith("completion"):
            start, end = at + 1, len(lines)
        elif end == len(lines):
            end = at
    return lines[start:end]


def _read_values(lines: list[str], known: set[str]) -> tuple[dict[str, str], list[str]]:
    """The values by key, and the keys that stand there twice."""
    values: dict[str, str] = {}
    twice = []
    key = None
    for line in lines:
        found = _KEY.fullmatch(line)
        name = "" if found is None else _name(found[1])
        if found is not None and name in known:
            if name in values:
                twice.append(name)
            key = name
            values[key] = (found[2] or "").strip()
        elif key is not None and line.strip():
            values[key] = f"{values[key]}\n{line.strip()}".strip()
    return values, twice


def _name(key: str) -> str:
    words = " ".join(key.casefold().replace("_", " ").split())
    return _OTHER_NAMES.get(words, words)


def _wrong(values: dict[str, str], role: str, intent_id: str) -> list[str]:
    faults = []
    told = _word(values["role"])
    if ALIASES.get(told, told) != role:
        faults.append(f"it is of the role {values['role']!r}, not {role!r}")
    number = re.match(r"\D{0,3}(\d+)", values["intent"])
    if number is None or number[1] != intent_id:
        faults.append(f"it is of the intent {values['intent']!r}, not {intent_id}")
    if _word(values["stage"]) not in {stage.value.casefold() for stage in Stage}:
        faults.append(f"there is no stage {values['stage']!r}")
    if _word(values["status"]) not in (DELIVERED, BLOCKED):
        faults.append(f"its status is {values['status']!r}, not {DELIVERED} or {BLOCKED}")
    return faults


def _word(value: str) -> str:
    return value.strip(" \t*_`.'\"").casefold().replace("_", "-").replace(" ", "-")


def _title(key: str) -> str:
    return key[:1].upper() + key[1:]
