"""What was salvaged: listing it, looking at it, and getting it back as a branch.

Errors: BadInput for a salvage that is not there or a branch that cannot be made.
Source: git-log(1) (-g), git-for-each-ref(1).
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from qloop.repo.checkout import Repository
from qloop.repo.salvage import ATTEMPTS
from qloop.repo.starts import PATIENT
from qloop.system.errors import BadInput

_REF = re.compile(rf"{ATTEMPTS}/([^/]+)/([0-9]+)")
_LOGGED = re.compile(r"(.+)@\{([0-9]+)\}\0(.*)")
_SHA1 = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class SalvageRow:
    """A line of `salvage list`; *when* is RFC 3339."""

    story: str
    attempt: int
    ref: str
    commit: str
    when: str
    why: str


def list_salvage(repository: Repository) -> tuple[SalvageRow, ...]:
    """All that was salvaged, by story and attempt."""
    listed = repository.git.text("for-each-ref", "--format=%(refname) %(objectname)", ATTEMPTS)
    commits = dict(line.split(" ") for line in listed.splitlines())
    logged = _read_reflogs(repository, list(commits))
    rows = []
    for ref, commit in commits.items():
        match = _REF.fullmatch(ref)
        if match is not None:
            at_s, why = logged.get(ref) or _read_commit(repository, commit)
            rows.append(SalvageRow(match[1], int(match[2]), ref, commit, _rfc3339(at_s), why))
    return tuple(sorted(rows, key=lambda row: (row.story, row.attempt)))


def find_salvage(repository: Repository, story: str, attempt: int | None) -> SalvageRow:
    """The salvage of an attempt, or of the story's newest one. Raises BadInput."""
    rows = [
        row
        for row in list_salvage(repository)
        if row.story == story and attempt in (None, row.attempt)
    ]
    if not rows:
        which = story if attempt is None else f"attempt {attempt} of {story}"
        raise BadInput(f"nothing was salvaged for {which}", fix="see `qloop salvage list`")
    return rows[-1]


def show_salvage(repository: Repository, row: SalvageRow) -> str:
    """A salvaged commit for people: who, when, message, and the files it changed."""
    return repository.git.text("show", "--stat", "--format=medium", row.commit)


def restore_salvage(
    repository: Repository, story: str, attempt: int | None, branch: str | None
) -> tuple[str, str]:
    """Make a branch at a salvaged commit, by default of the newest attempt; no checkout moves.

    Returns the branch (default `qloop/<story>-<n>`) and the commit. Raises BadInput.
    """
    row = find_salvage(repository, story, attempt)
    name = branch or f"qloop/{story}-{row.attempt}"
    well_formed = repository.git.attempt("check-ref-format", f"refs/heads/{name}").code == 0
    if name.startswith("-") or not well_formed:
        raise BadInput(f"{name!r} is no branch name")
    made = repository.git.attempt(
        *(*PATIENT, "update-ref", "-m", f"qloop: attempt {row.attempt} of {story} restored"),
        *(f"refs/heads/{name}", row.commit, "0" * len(row.commit)),
    )
    if made.code != 0:
        there = repository.git.find(f"refs/heads/{name}") is not None
        raise BadInput(
            f"branch {name} is there already" if there else f"branch {name} cannot be made",
            where="" if there else made.complaint,
            fix="give it another name with --branch NAME",
        )
    return name, row.commit


def _read_reflogs(repository: Repository, refs: list[str]) -> dict[str, tuple[int, str]]:
    """When and why each ref was last written, as far as the reflogs still hold it."""
    if not refs:
        return {}
    text = repository.git.text(
        *("log", "--walk-reflogs", "--date=unix", "--format=%gD%x00%gs", "--stdin"),
        stdin="\n".join(refs).encode(),
    )
    found: dict[str, tuple[int, str]] = {}
    for line in text.splitlines():
        match = _LOGGED.fullmatch(line)
        if match is not None:
            found.setdefault(match[1], (int(match[2]), match[3]))
    return found


def _read_commit(repository: Repository, commit: str) -> tuple[int, str]:
    """A commit's time in seconds and its subject.

    GitPython obeys `GIT_*` variables; the command line takes them away before anything runs.
    """
    if _SHA1.fullmatch(commit) is None:  # GitPython knows no other names
        made_s, _, subject = repository.git.text("log", "-1", "--format=%ct %s", commit).partition(
            " "
        )
        return int(made_s), subject
    # Loading GitPython costs a tenth of a second, which no other command should pay.
    from git import Repo

    with Repo(repository.git_dir) as repo:
        repo.git.update_environment(GIT_NO_REPLACE_OBJECTS="1")
        found = repo.commit(commit)
        return found.committed_date, str(found.summary)


def _rfc3339(at_s: int) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat().replace("+00:00", "Z")
