"""Bringing an attempt's objects into the person's repository, each of them checked.

All that the attempt's commits reach and the start does not goes into one pack, which git cannot
write where anything of it is missing. On the other side git computes every object's name anew, and
lets none in that is broken or points to something that is not there. No ref moves.
Errors: CarryFailed. Source: git-pack-objects(1), git-unpack-objects(1), git-index-pack(1) (both
with --strict), gitformat-pack(5), git-lfs(1).
"""

import hashlib
import re
import shutil
import tempfile
from pathlib import Path

from qloop.repo.checkout import Repository
from qloop.repo.git import Git, persons_git
from qloop.repo.merging import merge_repository
from qloop.repo.removal import is_real_file
from qloop.repo.worksite import Workspace
from qloop.system import files
from qloop.system.errors import InternalFailure
from qloop.system.process import Completed

_OPTIONS = (
    "--quiet",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
    "--no-tags",
    "--no-write-fetch-head",
)
_AT_ONCE = 1000
_FEW = 100
"""So many objects are not worth a pack."""
_HEAD_BYTES = 12
"""Of a pack: its mark, its version and the number of its objects, four bytes each."""
_LARGE_FILE = re.compile(r"[0-9a-f]{64}")


class CarryFailed(InternalFailure):
    """An attempt's objects are broken or incomplete, so none of them was taken."""


def carry(ws: Workspace, repository: Repository, tip: str) -> None:
    """Make *tip* and what it reaches part of the person's repository. Raises CarryFailed.

    The attempt repository must have been restored before. What is sound of large files is taken
    even where others are not.
    """
    if tip != ws.start:
        carry_commits(ws, repository, tip)
        carry_large_files(ws, repository)


def carry_commits(ws: Workspace, repository: Repository, tip: str) -> None:
    """The same without what git-lfs stored. Raises CarryFailed."""
    _fetch_left_out(repository, ws.start)
    with tempfile.TemporaryDirectory(dir=ws.git_dir) as folder:
        packed = Git(ws.git_dir).attempt(
            *("pack-objects", "--quiet", "--revs", f"{folder}/pack"),
            stdin=f"{tip}\n^{ws.start}\n".encode(),
        )
        if packed.code != 0:
            raise CarryFailed("the attempt's commits could not be read", where=_cause(packed))
        pack = Path(folder) / f"pack-{packed.text}.pack"
        taken = _take_in(repository, ws.start, pack)
    if taken.code != 0 or repository.git.find(f"{tip}^{{commit}}") is None:
        raise CarryFailed("the attempt's commits could not be taken over", where=_cause(taken))


def _take_in(repository: Repository, start: str, pack: Path) -> Completed:
    """Put a pack's objects among the person's, as files of their own where they are few."""
    with pack.open("rb") as file:
        count = int.from_bytes(file.read(_HEAD_BYTES)[-4:])
    way = ("unpack-objects", "-q") if count <= _FEW else ("index-pack", "--stdin", "--fix-thin")
    with merge_repository(repository, start) as git:
        return git.attempt(*way, "--strict", stdin=pack)


def carry_large_files(ws: Workspace, repository: Repository) -> None:
    """Copy what git-lfs stored for the attempt: a commit has only the names of such files.

    Raises CarryFailed, after all that are what their names say were copied.
    """
    source, target = (folder / "lfs" / "objects" for folder in (ws.git_dir, repository.git_dir))
    forged = []
    for path in source.glob("??/??/*"):
        place = target / path.relative_to(source)
        if not _LARGE_FILE.fullmatch(path.name) or not is_real_file(path) or place.exists():
            continue
        if not _copy_checked(path, place):
            forged.append(path.name)
    if forged:
        raise CarryFailed("a large file is not what its name says", where=", ".join(forged))


def _fetch_left_out(repository: Repository, start: str) -> None:
    """Complete the start's tree in a partial clone: checks cannot follow links to what is away."""
    if not _may_be_partial(repository):
        return
    found = repository.git.attempt("config", "--get-regexp", r"^remote\..*\.promisor$", "^true$")
    if found.code != 0:
        return
    remote = found.text.split(".", 1)[1].partition(".promisor")[0]
    listing = ("rev-list", "--objects", "--no-walk", "--missing=print", start)
    lines = repository.git.text(*listing).splitlines()
    missing = [line[1:] for line in lines if line.startswith("?")]
    for at in range(0, len(missing), _AT_ONCE):
        names = missing[at : at + _AT_ONCE]
        options = ("-c", "fetch.negotiationAlgorithm=noop", "fetch", *_OPTIONS)
        done = persons_git(repository.root, *options, "--filter=blob:none", remote, *names)
        if done.code != 0:
            raise CarryFailed("what a partial clone left out is not to be had", where=_cause(done))


def _may_be_partial(repository: Repository) -> bool:
    """Whether the repository's configuration could name a promisor, told without asking git."""
    text = (files.read_optional(repository.git_dir / "config") or b"").lower()
    elsewhere = b"include" in text or (repository.git_dir / "config.worktree").exists()
    return elsewhere or b"promisor" in text


def _cause(done: Completed) -> str:
    lines = done.complaint.splitlines()
    return "; ".join(line for line in lines if not line.startswith("hint:"))


def _copy_checked(path: Path, place: Path) -> bool:
    """Copy a file whose content is what its name says; return whether it is."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as out:
        copy = Path(out.name)
        with path.open("rb") as data:
            shutil.copyfileobj(data, out)
    try:
        with copy.open("rb") as data:
            sound = hashlib.file_digest(data, "sha256").hexdigest() == path.name
        if sound:
            copy.chmod(0o644)
            copy.replace(place)
        return sound
    finally:
        copy.unlink(missing_ok=True)
