"""The person's repository: where it is, what it can and cannot be used for, its configuration.

Errors: InputMissing where there is no repository, BadInput where it is of a kind that qloop
cannot work on. Source: git-rev-parse(1), gitrepository-layout(5).
"""

import re
from pathlib import Path

from qloop.repo.git import Git, GitFailed, persons_git
from qloop.repo.repository import Repository as Repository
from qloop.system import process
from qloop.system.errors import BadInput, InputMissing, InternalFailure, ProgramMissing

OLDEST_GIT = (2, 38)


def find_repository(cwd: Path) -> Repository:
    """The repository that *cwd* lies in. Raises InputMissing, or BadInput for a bare one."""
    done = persons_git(
        cwd,
        "rev-parse",
        "--path-format=absolute",
        "--git-common-dir",
        "--git-dir",
        "--is-bare-repository",
    )
    if done.code != 0:
        raise _not_found(cwd, done)
    lines = done.text.split("\n")
    if len(lines) != 3:
        raise BadInput(
            "this path holds a line end, by which git cannot name it",
            where=str(cwd),
            fix="rename the folder",
        )
    common, own, bare = lines
    git_dir = Path(common).resolve()
    if bare == "true" or _is_bare(git_dir):
        raise BadInput(
            "this repository is bare", where=str(git_dir), fix="run qloop in a clone of it"
        )
    return Repository(root=_main_root(cwd, git_dir, Path(own).resolve()), git_dir=git_dir)


def find_checkout(cwd: Path) -> Path:
    """The root of the checkout that *cwd* lies in, a linked one too. Raises InputMissing."""
    done = persons_git(cwd, "rev-parse", "--show-toplevel")
    if done.code != 0:
        raise _not_found(cwd, done)
    return Path(done.text).resolve()


def find_git(cwd: Path) -> Git:
    """Git on whatever repository *cwd* lies in, a bare one or a linked worktree too."""
    done = persons_git(cwd, "rev-parse", "--absolute-git-dir")
    if done.code != 0:
        raise _not_found(cwd, done)
    return Git(Path(done.text))


def git_version() -> tuple[int, ...]:
    """The version of the installed git. Raises InputMissing where there is none."""
    try:
        done = process.run(["git", "--version"])
    except OSError as exc:
        raise ProgramMissing("git is not installed", fix="install git 2.38 or newer") from exc
    match = re.search(r"(\d+(?:\.\d+)+)", done.text)
    if match is None:
        raise InternalFailure(f"git does not tell its version: {done.text!r}")
    return tuple(int(part) for part in match.group(1).split("."))


def check_git_version() -> None:
    """Raise BadInput where git is too old to merge without a checkout."""
    version = git_version()
    if version[:2] < OLDEST_GIT:
        raise BadInput(
            f"git {'.'.join(map(str, version))} is too old", fix="install git 2.38 or newer"
        )


def head_commit(repository: Repository) -> str:
    """The main checkout's commit. Raises BadInput where there is none yet."""
    commit = repository.git.find("HEAD^{commit}")
    if commit is None:
        raise BadInput(
            "this repository has no commit yet",
            where=str(repository.root),
            fix="make a first one, of what agents are to see: "
            "git add . && git commit --allow-empty -m start",
        )
    return commit


def has_submodules(repository: Repository, commit: str) -> bool:
    """Whether the tree of *commit* names submodules."""
    return repository.git.find(f"{commit}:.gitmodules") is not None


def _not_found(cwd: Path, done: process.Completed) -> Exception:
    if "not a git repository" in done.complaint:
        return InputMissing(
            "not a git repository",
            where=str(cwd),
            fix="change into one, or make one: "
            "git init && git add . && git commit --allow-empty -m start",
        )
    return BadInput("git refuses this folder", where=str(cwd), fix=done.complaint)


def _is_bare(git_dir: Path) -> bool:
    done = Git(git_dir).attempt("config", "--bool", "core.bare")
    if done.code not in (0, 1):
        raise GitFailed(done)
    return done.text == "true"


def _main_root(cwd: Path, git_dir: Path, own_dir: Path) -> Path:
    if own_dir == git_dir:
        return Path(persons_git(cwd, "rev-parse", "--show-toplevel").text).resolve()
    done = persons_git(git_dir.parent, "rev-parse", "--path-format=absolute", "--show-toplevel")
    if done.code == 0 and git_dir.name == ".git":
        return Path(done.text).resolve()
    configured = Git(git_dir).attempt("config", "core.worktree")
    return (git_dir / configured.text).resolve() if configured.code == 0 else git_dir.parent
