"""The repository, as far as it decides what a run can do and what its commits look like."""

from collections.abc import Iterator
from pathlib import Path

from qloop.plan.model import Plan
from qloop.repo.checkout import Repository, head_commit
from qloop.repo.git import QLOOP_EMAIL, QLOOP_NAME, persons_git
from qloop.repo.settings import read_settings
from qloop.run.finding import Finding, from_error
from qloop.system.errors import QloopError

JUDGING_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "pre-merge-commit")
HOOKS_FIX = "name what they check in qualityCommands: qloop runs that itself"


def check_repository(
    repository: Repository, state_file: Path, plan: Plan | None
) -> Iterator[Finding]:
    """History, identity, signing, hooks, submodules, and what git thinks of qloop's files."""
    yield from _check_history(repository)
    yield _check_identity(repository)
    yield from _check_signing(repository)
    yield from _check_hooks(repository)
    yield from _check_submodules(repository, plan)
    yield from _check_state_files(repository, state_file)


def _check_history(repository: Repository) -> Iterator[Finding]:
    try:
        commit = head_commit(repository)
    except QloopError as exc:
        yield from_error("history", exc)
        return
    shallow = (repository.git_dir / "shallow").is_file()
    depth = ", a shallow clone: older history is not here, and not needed" if shallow else ""
    yield Finding("history", "ok", f"stands at {commit[:10]}{depth}")


def _check_identity(repository: Repository) -> Finding:
    try:
        settings = read_settings(repository)
    except QloopError as exc:
        return from_error("identity", exc)
    name = f"{settings.name} <{settings.email}>"
    if settings.name != QLOOP_NAME and settings.email != QLOOP_EMAIL:
        return Finding("identity", "ok", f"commits are authored as {name}")
    return Finding(
        "identity",
        "warn",
        f"git knows no name or no address of yours, so commits are authored as {name}",
        "git config user.name NAME && git config user.email ADDRESS",
    )


def _check_signing(repository: Repository) -> Iterator[Finding]:
    if _setting(repository, "--bool", "commit.gpgSign") == "true":
        yield Finding(
            "signing",
            "warn",
            "commits are to be signed here (commit.gpgSign), those that qloop lands are not",
            "sign the merge of the feature branch: git merge --no-ff -S BRANCH",
        )


def _check_hooks(repository: Repository) -> Iterator[Finding]:
    folder = _setting(repository, "--type=path", "core.hooksPath")
    if folder is not None:
        tracked = _git_lines(repository, "ls-files", "--", folder)
        aside = (
            "" if tracked or Path(folder).is_absolute() else ", a folder that git does not track"
        )
        text = f"core.hooksPath is {folder}{aside}: hooks do not run in the worktrees of agents"
        yield Finding("hooks", "warn", text, HOOKS_FIX)
        return
    hooks = [name for name in JUDGING_HOOKS if (repository.git_dir / "hooks" / name).exists()]
    if hooks:
        text = f"{', '.join(hooks)}: hooks do not run in the worktrees of agents"
        yield Finding("hooks", "warn", text, HOOKS_FIX)


def _check_submodules(repository: Repository, plan: Plan | None) -> Iterator[Finding]:
    if not (repository.root / ".gitmodules").is_file():
        return
    commands = plan.setup_commands if plan is not None else []
    if any("submodule" in command for command in commands):
        yield Finding("submodules", "ok", "setupCommands fill their folders in each worktree")
        return
    yield Finding(
        "submodules",
        "warn",
        "submodules are empty folders in the worktrees of agents",
        'add "git submodule update --init --recursive" to setupCommands',
    )


def _check_state_files(repository: Repository, state_file: Path) -> Iterator[Finding]:
    """Whether git keeps its hands off the state file and `.qloop/`."""
    paths = [".qloop/"]
    if state_file.is_relative_to(repository.root):
        paths.append(str(state_file.relative_to(repository.root)))
    tracked = _git_lines(repository, "ls-files", "--", *paths)
    if tracked:
        yield Finding(
            "state files",
            "warn",
            f"tracked by git, though they are no part of the work: {', '.join(tracked[:3])}",
            f"git rm -r --cached {' '.join(paths)} && qloop init",
        )
        return
    there = [path for path in paths if (repository.root / path).exists()]
    ignored = _git_lines(repository, "check-ignore", "--", *there) if there else []
    open_ones = [path for path in there if path not in ignored]
    if open_ones:
        text = f"not kept out of commits: {', '.join(open_ones)}"
        yield Finding("state files", "warn", text, "qloop init")
    elif there:
        yield Finding("state files", "ok", f"kept out of commits: {', '.join(there)}")


def _setting(repository: Repository, kind: str, name: str) -> str | None:
    done = persons_git(repository.root, "config", kind, name)
    return done.text if done.code == 0 and done.text else None


def _git_lines(repository: Repository, *args: str) -> list[str]:
    """What git lists; nothing where it has nothing to say, or fails."""
    return persons_git(repository.root, "-c", "core.quotePath=false", *args).text.splitlines()
