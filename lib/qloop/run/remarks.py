"""What is no fault, but better known before the night than after it."""

from pathlib import Path

from qloop.repo.checkout import Repository, has_submodules, head_commit
from qloop.repo.line import line_tip
from qloop.repo.uncommitted import count_elsewhere, find_uncommitted
from qloop.run.config import CONFIG_NAME
from qloop.run.orders import Place
from qloop.system.counting import counted

NAMES_SHOWN = 5


def find_remarks(repository: Repository, place: Place) -> list[str]:
    """What a person may not expect of the commit that the first attempts start from."""
    tip = line_tip(repository, place.branch)
    remarks = []
    if has_submodules(repository, tip):
        remarks.append(
            "this repository has submodules, whose folders are empty in worktrees: "
            "add `git submodule update --init --recursive` to setupCommands to fill them"
        )
    if tip == head_commit(repository):
        remarks += _uncommitted(repository, place)
    else:
        remarks += _elsewhere(repository, place.branch, tip)
    return remarks


def _uncommitted(repository: Repository, place: Place) -> list[str]:
    own = {repository.root / CONFIG_NAME, Path(place.quantum), Path(place.private)}
    names = find_uncommitted(repository, own | ({Path(place.prd)} if place.prd else set()))
    if not names:
        return []
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    shown = ", ".join(names[:NAMES_SHOWN])
    return [f"not committed, so no agent sees it: {shown}{more}"]


def _elsewhere(repository: Repository, branch: str, tip: str) -> list[str]:
    name, count = count_elsewhere(repository, branch, tip)
    if not count:
        return []
    commits = counted(count, "commit")
    return [
        f"{name} has {commits} that {branch} lacks, so no agent sees them; "
        f"to bring them in: git switch {branch} && git merge {name}"
    ]
