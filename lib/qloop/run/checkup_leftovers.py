"""What earlier runs left: a run that is gone, its worktrees, references and lock files."""

from collections.abc import Iterator

from qloop.repo.checkout import Repository
from qloop.repo.workspace import find_leftovers
from qloop.run.finding import Finding, enumerate_names
from qloop.run.holder import private_folder, read_holder
from qloop.state.facts import is_planning

STARTS = "refs/qloop/start"


def check_leftovers(repository: Repository) -> Iterator[Finding]:
    """Nothing is a leftover while a run is on: then it is that run's."""
    holder = read_holder(private_folder(repository))
    if holder is not None and holder.alive:
        yield Finding("run", "ok", f"{holder.label} is on")
        return
    left: list[Finding] = []
    if holder is not None and holder.ended_at is None:
        text = f"{holder.label} is gone without an end"
        is_run = not is_planning(holder.run_id)
        fix = "`qloop run` takes it up where it was" if is_run else "`qloop run` clears up after it"
        left.append(Finding("run", "warn", text, fix))
    left += [*_worktrees(repository), *_starts(repository), *_locks(repository)]
    yield from left or [Finding("leftovers", "ok", "no run is on, and none left anything")]


def _worktrees(repository: Repository) -> Iterator[Finding]:
    trees = [str(one.tree) for one in find_leftovers(repository)]
    if trees:
        text = f"worktrees that no run uses: {enumerate_names(trees)}"
        fix = "`qloop worktree clean` keeps their work and removes them"
        yield Finding("worktrees left", "warn", text, fix)


def _starts(repository: Repository) -> Iterator[Finding]:
    refs = repository.git.text("for-each-ref", "--format=%(refname)", STARTS).splitlines()
    if refs:
        text = f"references of attempts that are over: {enumerate_names(refs)}"
        fix = f"git for-each-ref --format='delete %(refname)' {STARTS} | git update-ref --stdin"
        yield Finding("references left", "warn", text, fix)


def _locks(repository: Repository) -> Iterator[Finding]:
    folder = repository.git_dir / "refs" / "qloop"
    locks = sorted(str(path.relative_to(repository.git_dir)) for path in folder.rglob("*.lock"))
    if locks:
        text = f"lock files of git commands that are gone: {enumerate_names(locks)}"
        yield Finding("locks left", "warn", text, "`qloop run` removes them")
