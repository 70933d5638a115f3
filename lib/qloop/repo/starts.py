"""Refs that hold an attempt's start commit in the person's repository while the attempt lives.

Errors: GitFailed when the ref cannot be written. Source: git-update-ref(1).
"""

from qloop.repo.checkout import Repository

START_REFS = "refs/qloop/start/"
PATIENT = ("-c", "core.filesRefLockTimeout=20000", "-c", "core.packedRefsTimeout=20000")
"""Settings for writing refs where other processes write theirs: wait up to 20 s for a lock."""


def hold_start(repository: Repository, commit: str, *attempt_ids: str) -> None:
    """Keep *commit* from being collected for each attempt, until `release_start`.

    It takes the place of the one that was held before, which it must descend from.
    """
    lines = "".join(f"update {start_ref(attempt_id)} {commit}\n" for attempt_id in attempt_ids)
    repository.git.run(*PATIENT, "update-ref", "--stdin", stdin=lines.encode())


def release_start(repository: Repository, *attempt_ids: str) -> bool:
    """Let go of the start commits of attempts; it is no fault if one is not held.

    False where git did not let it be done: a killed git's `packed-refs.lock`, which may be the
    person's, stops every deletion. What is still held costs nothing, and the next run asks again.
    """
    lines = "".join(f"delete {start_ref(attempt_id)}\n" for attempt_id in attempt_ids)
    return repository.git.attempt("update-ref", "--stdin", stdin=lines.encode()).code == 0


def held_starts(repository: Repository) -> list[str]:
    """The ids of the attempts whose start commits are held."""
    listed = repository.git.text("for-each-ref", "--format=%(refname)", START_REFS)
    return [ref.removeprefix(START_REFS) for ref in listed.splitlines()]


def start_ref(attempt_id: str) -> str:
    """The ref that holds an attempt's start commit."""
    return f"{START_REFS}{attempt_id}"
