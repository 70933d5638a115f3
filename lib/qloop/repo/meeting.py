"""Where an attempt's work meets the line.

Commits are full object names. Errors: LineLost, LandingRefused, GitFailed.
"""

from dataclasses import dataclass

from qloop.repo.ancestry import Commit
from qloop.repo.git import Git
from qloop.repo.history import own_commits, trees_since
from qloop.repo.landing_filter import LandingRefused
from qloop.repo.line import LineLost, line_ref
from qloop.repo.merging import tree_of


@dataclass(frozen=True, slots=True)
class Work:
    """An attempt's commits and where they meet the line."""

    start: str
    tip: str
    line: str
    met: str
    """The newest commit of the line since *start* that *tip* contains."""
    chain: dict[str, str]
    """The line's commits from its tip down to *start*, each with its tree."""
    own: tuple[Commit, ...]
    """What the attempt added, oldest first."""

    @property
    def before(self) -> str:
        """The tree that the attempt started from."""
        return self.chain[self.start]

    def tree_of_tip(self, git: Git) -> str:
        """The tree that the attempt left."""
        if self.own:
            return self.own[-1].tree
        return self.chain.get(self.tip) or tree_of(git, self.tip)


def find_work(git: Git, branch: str, start: str, tip: str, line: str) -> Work:
    """The work from *start* to *tip*, and where it meets the line, whose tip is *line*."""
    chain = trees_since(git, line, start)
    if not chain:
        raise LineLost(
            f"the line of {branch} no longer holds {start}, from which an attempt started",
            where=line_ref(branch),
            fix=f"see what happened with: git reflog show {line_ref(branch)}; then put it back "
            f"with: git update-ref {line_ref(branch)} COMMIT",
        )
    own = own_commits(git, tip, start, chain)
    met = _find_met(git, list(chain), own, tip)
    if met is None:
        raise LandingRefused((f"{tip}: does not descend from the attempt's start {start}",))
    return Work(start=start, tip=tip, line=line, met=met, chain=chain, own=own)


def _find_met(git: Git, chain: list[str], own: tuple[Commit, ...], tip: str) -> str | None:
    """The first commit of *chain* that *tip* contains, or None where not even the last is."""
    made = {commit.name for commit in own}
    reached = {parent for commit in own for parent in commit.parents} - made if own else {tip}
    place = {commit: number for number, commit in enumerate(chain)}
    if reached and reached <= place.keys() and made.isdisjoint(place):
        # All that is not the attempt's own comes in through these, each with the chain below it.
        return chain[min(place[commit] for commit in reached)]
    return _newest_in(git, chain, tip) if git.is_ancestor(chain[-1], tip) else None


def _newest_in(git: Git, chain: list[str], tip: str) -> str:
    """The first commit of *chain* that *tip* contains; the last one it does contain.

    Each is asked for by ancestry: `rev-list --not` goes by dates, which an agent's clock gives.
    """
    low, high = 0, len(chain) - 1
    while low < high:
        middle = (low + high) // 2
        if git.is_ancestor(chain[middle], tip):
            high = middle
        else:
            low = middle + 1
    return chain[low]
