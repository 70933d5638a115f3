"""What became of a refinement: pages, flows, words of personas, and what is to be improved.

Values that go through JSON; nothing here acts. Units: seconds.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

Source = Literal["visual", "flow", "persona"]
JUDGED = "judgement"
"""The rule of findings that an agent made and no program has shown."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Severity(StrEnum):
    """How much a finding weighs."""

    CRITICAL = "critical"
    MINOR = "minor"


class Place(_Part):
    """Where something was found."""

    what: str
    """A page's route or file, a flow, a persona."""
    line: int | None = None

    def __str__(self) -> str:
        return self.what if self.line is None else f"{self.what}:{self.line}"


class Finding(_Part):
    """One thing to improve."""

    severity: Severity
    source: Source
    rule: str
    """In one word, such as `title`."""
    text: str
    places: tuple[Place, ...]
    evidence: str = ""
    """What shows it, such as the end of a log."""
    check: tuple[str, ...] = ()
    """Commands that are red as long as it stands."""


class PageSeen(_Part):
    """A page that was looked at."""

    name: str
    """Its route, or its file in the repository."""
    status: int | None = None
    """What the server said; None where it did not answer."""
    title: str = ""
    text: str = ""
    """What it says, from its beginning."""
    pictures: tuple[str, ...] = ()
    """File names in the folder of screenshots."""


class Visual(_Part):
    """What the visual inspector saw."""

    source: Literal["served", "files", "none"]
    pages: tuple[PageSeen, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """What was not looked at, and why."""

    @property
    def words(self) -> str:
        """In a few words."""
        return count_words(self.findings) if self.pages or self.findings else "no pages"


class FlowResult(_Part):
    """One flow that was tried, or could not be."""

    name: str
    green: bool
    line: str
    """How its last command ended, or why none ran."""
    log: str | None = None
    """Its path, of the command that *line* is about."""
    seconds: float = 0.0


class Flows(_Part):
    """What the end-to-end exerciser came to."""

    results: tuple[FlowResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """In a few words."""
        green = sum(one.green for one in self.results)
        return f"{green} of {len(self.results)}" if self.results else "none"


class PersonaWord(_Part):
    """What one persona said, or why nobody was asked in its place."""

    name: str
    recommends: bool | None = None
    why: str
    findings: tuple[Finding, ...] = ()


class Personas(_Part):
    """What all personas said."""

    said: tuple[PersonaWord, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What they found."""
        return tuple(finding for one in self.said for finding in one.findings)

    @property
    def words(self) -> str:
        """In a few words."""
        if not self.said:
            return "none declared"
        asked = [one.recommends for one in self.said if one.recommends is not None]
        if not asked:
            return f"0 of {len(self.said)} asked"
        missing = len(self.said) - len(asked)
        also = f" ({missing} not asked)" if missing else ""
        return f"{sum(asked)} of {len(asked)} would recommend{also}"


class Remarks(_Part):
    """What an agent found beside what code has found."""

    findings: tuple[Finding, ...] = ()
    note: str
    """Who was asked, or why nobody answered."""


class Advice(_Part):
    """What an agent would do about findings that have one cause."""

    title: str
    text: str
    findings: tuple[int, ...]
    """Their numbers, from 1."""


class Counsel(_Part):
    """All that it would do."""

    advice: tuple[Advice, ...] = ()
    note: str


class Refinement(_Part):
    """All of it."""

    commit: str
    """What was looked at."""
    visual: Visual
    flows: Flows
    personas: Personas = Personas()
    findings: tuple[Finding, ...] = ()
    """Of all, in order, each once."""
    advice: tuple[Advice, ...] = ()
    """What an agent would do about them, if one was asked."""
    notes: tuple[str, ...] = ()

    @property
    def critical(self) -> int:
        """How many findings are critical."""
        return sum(one.severity is Severity.CRITICAL for one in self.findings)

    @property
    def summary(self) -> str:
        """In one line."""
        parts = (self.visual.words, self.flows.words, self.personas.words)
        return "visual: {}; flows: {}; personas: {}".format(*parts)


def count_words(findings: Iterable[Finding]) -> str:
    """How many of each severity."""
    every = [one.severity for one in findings]
    return ", ".join(f"{every.count(one)} {one}" for one in Severity)
