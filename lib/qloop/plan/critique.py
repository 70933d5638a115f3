"""What a person should look at in a plan before it runs; each finding informs and fails nothing.

Pure. It expects a plan that passed validation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from qloop.plan.model import Plan, Story
from qloop.plan.paths import folders_of, normalise

MOST_CRITERIA = 7
MOST_TASKS = 7
MOST_FILES = 10
"""A story with more of one of them is oversized."""

CHECKS = {
    "criteria": "no acceptance criteria",
    "size": "oversized",
    "unverified": "no command of its own judges it",
    "needless-edge": "what others wait for anyway",
    "missing-edge": "files that are shared without an order",
    "file-conflict": "kept from running side by side",
}
"""What each check is about, in the order in which findings are told."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One finding."""

    check: str
    """One of `CHECKS`."""
    stories: tuple[str, ...]
    text: str
    files: tuple[str, ...] = ()


def review_plan(plan: Plan) -> tuple[Remark, ...]:
    """All findings of a plan, by check, then in the order of its stories."""
    order = Order(plan.stories)
    return (
        *_without_criteria(plan.stories),
        *_oversized(plan.stories),
        *_unverified(plan),
        *_needless_edges(plan.stories, order),
        *_missing_edges(plan, order),
        *_file_conflicts(plan, order),
    )


class Order:
    """Which story waits for which, over any number of others; a set of stories is a number."""

    def __init__(self, stories: Sequence[Story]) -> None:
        self.ids = [story.id for story in stories]
        self.bits = {name: 1 << place for place, name in enumerate(self.ids)}
        edges = {one.id: [name for name in one.depends_on if name in self.bits] for one in stories}
        needed_by: dict[str, list[str]] = {name: [] for name in self.ids}
        for name, needed in edges.items():
            for one in needed:
                needed_by[one].append(name)
        self._before = _reach(edges, self.bits)
        self._after = _reach(needed_by, self.bits)

    def is_before(self, one: str, other: str) -> bool:
        """Whether *other* waits for *one*."""
        return bool(self._before[other] & self.bits[one])

    def open_among(self, name: str, others: int) -> int:
        """Those of *others* that neither wait for a story nor it for them."""
        return others & ~(self._before[name] | self._after[name] | self.bits[name])

    def set_of(self, names: Iterable[str]) -> int:
        """Stories as a set; a name that is none of them is left out."""
        found = 0
        for name in names:
            found |= self.bits.get(name, 0)
        return found

    def names_of(self, found: int) -> tuple[str, ...]:
        """A set's stories, in the order of the plan."""
        return tuple(name for name in self.ids if self.bits[name] & found)


def _reach(edges: Mapping[str, Sequence[str]], bits: Mapping[str, int]) -> dict[str, int]:
    """By node: all that can be reached from it; there are no circles."""
    found: dict[str, int] = {}
    for root in edges:
        way = [root]
        while way:
            missing = [name for name in edges[way[-1]] if name not in found]
            if missing:
                way += missing
                continue
            name = way.pop()
            reached = 0
            for one in edges[name]:
                reached |= found[one] | bits[one]
            found[name] = reached
    return found


def _without_criteria(stories: Iterable[Story]) -> Iterator[Remark]:
    for story in stories:
        if not any(text.strip() for text in story.acceptance_criteria):
            text = "nothing says what must hold for it to be done"
            yield Remark("criteria", (story.id,), text)


def _oversized(stories: Iterable[Story]) -> Iterator[Remark]:
    for story in stories:
        files = {normalise(path) for path in story.file_paths}
        counts = (
            (len(story.acceptance_criteria), MOST_CRITERIA, "acceptance criteria"),
            (len(story.tasks), MOST_TASKS, "tasks"),
            (len(files), MOST_FILES, "files"),
        )
        over = [
            f"{count} {name} (more than {most})" for count, most, name in counts if count > most
        ]
        if "" in files:
            over.append("the whole repository among its files")
        if over:
            yield Remark("size", (story.id,), f"it has {', '.join(over)}: make several of it")


def _unverified(plan: Plan) -> Iterator[Remark]:
    general = [*plan.quality_commands, *filter(None, [plan.test_command])]
    rest = "; only the plan's own commands do" if general else ""
    for story in plan.stories:
        if not (story.verify or any(task.commands for task in story.tasks)):
            text = f"neither verify nor a task's commands tell whether it does what it asks{rest}"
            yield Remark("unverified", (story.id,), text)


def _needless_edges(stories: Iterable[Story], order: Order) -> Iterator[Remark]:
    for story in stories:
        known = [name for name in dict.fromkeys(story.depends_on) if name in order.bits]
        for needed in known:
            over = next((one for one in known if order.is_before(needed, one)), None)
            if over is not None:
                text = f"{story.id} waits for {needed} already, by way of {over}"
                yield Remark("needless-edge", (story.id, needed), text)


def _missing_edges(plan: Plan, order: Order) -> Iterator[Remark]:
    """Stories that touch the same, none waiting for the other and no entry keeping them apart."""
    apart = _kept_apart(plan, order)
    files: dict[int, list[str]] = {}
    for name, own, outer in _holders(plan.stories, order):
        found = 0
        for one in order.names_of(own):
            others = order.open_among(one, (own | outer) & ~apart.get(one, 0))
            found |= others and others | order.bits[one]
        if found:
            files.setdefault(found, []).append(name)
    for found, names in files.items():
        text = f"all touch {', '.join(names)}, and of two of them nothing says which comes first"
        yield Remark("missing-edge", order.names_of(found), text, tuple(names))


def _kept_apart(plan: Plan, order: Order) -> dict[str, int]:
    """By story: those that an entry of fileConflicts keeps apart from it."""
    apart: dict[str, int] = {}
    for conflict in plan.file_conflicts:
        entry = order.set_of(conflict.stories)
        for name in conflict.stories:
            apart[name] = apart.get(name, 0) | entry
    return apart


def _holders(stories: Iterable[Story], order: Order) -> Iterator[tuple[str, int, int]]:
    """Each path with the stories that name it, and with those that name a folder it lies in."""
    own: dict[str, int] = {}
    for story in stories:
        for path in story.file_paths:
            name = normalise(path)
            own[name] = own.get(name, 0) | order.bits[story.id]
    for name, found in own.items():
        outer = 0
        for folder in folders_of(name):
            outer |= own.get(folder, 0)
        yield name or ".", found, outer


def _file_conflicts(plan: Plan, order: Order) -> Iterator[Remark]:
    """Entries of fileConflicts: what they hold back, and names in them that are no story."""
    for place, conflict in enumerate(plan.file_conflicts):
        name = conflict.file or f"fileConflicts[{place}]"
        files = (conflict.file,) if conflict.file else ()
        unknown = [one for one in conflict.stories if one not in order.bits]
        if unknown:
            text = f"{name} is said to be shared by {', '.join(unknown)}, which is no story"
            yield Remark("file-conflict", (), text, files)
        entry = order.set_of(conflict.stories)
        known = order.names_of(entry)
        held = tuple(one for one in known if order.open_among(one, entry))
        if held:
            text = f"never at work at the same time, for {name}; priority says which comes first"
            yield Remark("file-conflict", held, text, files)
