"""What the refinement synthesiser does by code: order, each thing once, stories of it. Pure."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from qloop.state.refinement import Advice, Finding, Place, Severity

SOURCES = ("flow", "visual", "persona")
"""In the order in which findings of the same severity are told."""
PREFIX = "REF"
FIRST, LATER = 1, 100
"""The priorities of stories for what is critical and for what is not."""

_TITLES = {
    "title": "Give every page a title",
    "lang": "Let every page say its language",
    "viewport": "Let phones show every page at their width",
    "alt": "Give every image an alternative text",
    "id": "Use every id once",
    "anchor": "Let links lead to places that are there",
}


@dataclass(frozen=True, slots=True)
class Improvement:
    """A story to be: findings that one change mends."""

    id: str
    title: str
    severity: Severity
    findings: tuple[Finding, ...]
    advice: str = ""
    """What an agent would do."""

    @property
    def priority(self) -> int:
        """As plans have it: lower first."""
        return FIRST if self.severity is Severity.CRITICAL else LATER

    @property
    def places(self) -> tuple[str, ...]:
        """Where it is seen, each once."""
        found = (place.what for one in self.findings for place in one.places)
        return tuple(dict.fromkeys(found))

    @property
    def check(self) -> tuple[str, ...]:
        """Commands that are red until it is done."""
        return tuple(dict.fromkeys(one for found in self.findings for one in found.check))


def merge_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once with all its places, critical ones first."""
    merged: dict[tuple[str, ...], Finding] = {}
    for one in findings:
        key = (one.severity, one.source, one.rule, one.text)
        known = merged.get(key)
        merged[key] = one if known is None else _joined(known, one)
    return tuple(sorted(merged.values(), key=_rank))


def plan_improvements(
    findings: Sequence[Finding], taken: Collection[str] = (), advice: Sequence[Advice] = ()
) -> tuple[Improvement, ...]:
    """Stories for findings, by ids that are not *taken*, critical ones first.

    One for each piece of *advice*; of what nobody advised on, one for each critical finding, and
    one for the minor ones of each rule.
    """
    advised = {number for one in advice for number in one.findings}
    rest = [one for number, one in enumerate(findings, start=1) if number not in advised]
    groups = [(one.title, one.text, tuple(findings[n - 1] for n in one.findings)) for one in advice]
    groups += [(_title(group), "", tuple(group)) for group in _grouped(rest)]
    made = [Improvement("", title, _severity(group), group, text) for title, text, group in groups]
    made.sort(key=lambda one: one.severity is not Severity.CRITICAL)
    return tuple(replace(one, id=name) for one, name in zip(made, _free_ids(taken), strict=False))


def _grouped(findings: Iterable[Finding]) -> Iterable[list[Finding]]:
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for one in findings:
        is_single = one.severity is Severity.CRITICAL or one.rule not in _TITLES
        key = (one.rule, one.text) if is_single else (one.rule,)
        groups.setdefault((one.severity, one.source, *key), []).append(one)
    return groups.values()


def _severity(group: Sequence[Finding]) -> Severity:
    is_critical = any(one.severity is Severity.CRITICAL for one in group)
    return Severity.CRITICAL if is_critical else Severity.MINOR


def _free_ids(taken: Collection[str]) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        name = f"{PREFIX}-{number:03d}"
        if name not in taken:
            yield name


def _title(group: list[Finding]) -> str:
    first = group[0]
    if first.severity is Severity.MINOR and first.rule in _TITLES:
        return _TITLES[first.rule]
    text = " ".join(first.text.split())
    return f"Mend: {text if len(text) <= 90 else f'{text[:89].rstrip()}…'}"


def _joined(known: Finding, other: Finding) -> Finding:
    places: dict[Place, None] = dict.fromkeys((*known.places, *other.places))
    return known.model_copy(
        update={"places": tuple(places), "evidence": known.evidence or other.evidence}
    )


def _rank(one: Finding) -> tuple[bool, int]:
    return one.severity is not Severity.CRITICAL, SOURCES.index(one.source)
