"""Checks over the stories of one wave: what each of them could not know of the others.

They inform: what they find stands among the wave's findings. With `block`, a story that says
again, or otherwise, what another one of its waves has landed does not land; a new name that
nothing uses fails nobody, since its user may come later. A check that cannot be made is a
finding itself, and costs no story anything.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from qloop.plan.model import Plan
from qloop.repo.checkout import Repository
from qloop.repo.landed_changes import find_words, read_changes, read_texts, stands_on
from qloop.repo.line import line_tip
from qloop.run import check_constants, check_names, check_twins, check_unused
from qloop.run.check_scope import Noted, due_for_use, wave_mates
from qloop.run.check_tags import Definitions, define
from qloop.run.check_values import Finding, Work

MOST_TOLD = 50
"""So many findings of one check at a wave's end say it all."""
MOST_FILES_READ = 200
"""Of files that hold a common word, so many are looked at."""


_CUSTOM: Mapping[str, Callable[[Finding, Mapping[str, str]], bool]] = {
    check_names.CHECK: check_names.is_convention,
    check_constants.CHECK: check_constants.is_convention,
}


@dataclass(frozen=True, slots=True)
class WaveChecks:
    """The checks of one wave."""

    repository: Repository
    branch: str
    wave: str
    ignored: tuple[str, ...]
    """Paths of state files, which use nothing."""

    def objections(self, plan: Plan, story: str, candidate: str) -> list[Finding]:
        """Why the commit *candidate* of *story* should not land; empty where it may.

        It is compared with what landed before it from the waves that tried it.
        """
        mates = wave_mates(plan, story, self.wave)
        found = _guarded("checks", lambda: self._compared({**mates, story: candidate}, candidate))
        return _first([replace(one, failed=story) for one in found if story in one.stories])

    def findings(self, read_plan: Callable[[], Noted], landed: Mapping[str, str]) -> list[Finding]:
        """What the wave's end shows; *landed* has the commits of its stories, oldest first."""
        return _first(_guarded("checks", lambda: self._looked_back(read_plan(), landed)))

    def _looked_back(self, plan: Noted, landed: Mapping[str, str]) -> list[Finding]:
        if not landed:
            return []
        tip = line_tip(self.repository, self.branch)
        return [
            *_guarded("checks", lambda: self._compared(landed, tip)),
            *_guarded(check_unused.CHECK, lambda: self._unused(due_for_use(plan, landed), tip)),
        ]

    def _works(self, landed: Mapping[str, str], tip: str) -> list[Work]:
        return [
            Work(story, read_changes(self.repository, commit))
            for story, commit in landed.items()
            if commit == tip or stands_on(self.repository, commit, tip)
        ]

    def _compared(self, landed: Mapping[str, str], tip: str) -> list[Finding]:
        """What several stories did each on its own, as far as it still stands in *tip*."""
        works = self._works(landed, tip) if len(landed) > 1 else []
        if len(works) < 2:
            return []
        definitions = _definitions(works)
        found = [
            *_guarded(check_names.CHECK, lambda: check_names.check_names(works, definitions)),
            *_guarded(check_constants.CHECK, lambda: check_constants.check_constants(works)),
            *_guarded(check_twins.CHECK, lambda: check_twins.check_twins(works)),
        ]
        texts = read_texts(
            self.repository, tip, (place.path for one in found for place in one.places)
        )
        return self._unusual([one for one in found if one.stands_in(texts)], tip)

    def _unusual(self, found: Sequence[Finding], tip: str) -> list[Finding]:
        """The findings less those that the tree shows to be the custom."""
        words = {place.needle for one in found if one.check in _CUSTOM for place in one.places}
        holders = find_words(self.repository, tip, words)
        paths = [path for some in holders.values() for path in sorted(some)[:MOST_FILES_READ]]
        texts = read_texts(self.repository, tip, paths)
        return [one for one in found if not _CUSTOM.get(one.check, _never)(one, texts)]

    def _unused(self, landed: Mapping[str, str], tip: str) -> list[Finding]:
        works = self._works(landed, tip)
        news = check_unused.candidates(works, _definitions(works))
        found = find_words(self.repository, tip, (one.definition.name for one in news))
        holders = {name: paths.difference(self.ignored) for name, paths in found.items()}
        texts = read_texts(self.repository, tip, check_unused.worth_reading(holders))
        return check_unused.check_unused(news, holders, texts)


def _first(found: Sequence[Finding]) -> list[Finding]:
    """Findings, and of very many of one check the first ones and a count."""
    kept: list[Finding] = []
    for check in dict.fromkeys(one.check for one in found):
        some = [one for one in found if one.check == check]
        kept += some[:MOST_TOLD]
        if len(some) > MOST_TOLD:
            more = f"{len(some) - MOST_TOLD} more of this kind"
            stories = dict.fromkeys(story for one in some[MOST_TOLD:] for story in one.stories)
            kept.append(Finding(check, "", tuple(stories), (), more, some[0].failed))
    return kept


def _never(_: Finding, __: Mapping[str, str]) -> bool:
    return False


def _definitions(works: Iterable[Work]) -> Definitions:
    files = [file for work in works for file in work.files]
    now = [(file.path, file.text) for file in files]
    return define([*now, *((file.path, file.before) for file in files if file.before is not None)])


def _guarded(check: str, look: Callable[[], list[Finding]]) -> list[Finding]:
    """What a check finds; that it could not be made, where it breaks off."""
    try:
        return look()
    except Exception as exc:  # noqa: BLE001 -- whatever a check stumbles over, work that is good lands
        text = f"this check could not be made: {type(exc).__name__}: {exc}"
        return [Finding(check, "", (), (), text)]
