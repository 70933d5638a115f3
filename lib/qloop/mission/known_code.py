"""The code that a mission is about: its facts now, and which mission before saw the same.

Errors: those of surveying. What other intents left and cannot be read is passed over.
"""

from pathlib import Path

from qloop.mission.scout import survey
from qloop.plan.document import load_document
from qloop.repo.repository import Repository
from qloop.state.codebase import Facts, parse_facts
from qloop.state.intents import list_intents
from qloop.system.errors import QloopError
from qloop.system.files import read_optional

FACTS = "recon/facts.json"
MOST_LOOKED_AT = 30
"""Intents whose facts are compared, the newest ones."""


def read_code(repository: Repository, ref: str | None = None) -> Facts:
    """The facts of the code at *ref*, where there is none at what is checked out."""
    git = repository.git
    commit = None if ref is None else git.find(f"{ref}^{{commit}}")
    return survey(repository, commit or git.find("HEAD^{commit}"))


def facts_for(folder: Path, repository: Repository) -> Facts:
    """The facts that the RECON of an intent wrote; where it was skipped, those of now."""
    found = _facts_in(folder)
    return found if found is not None else read_code(repository)


def find_known(folder: Path, fingerprint: str) -> str | None:
    """The name of the newest other intent beside *folder* whose RECON saw the same code."""
    others = [one for one in list_intents(folder.parent) if one.name != folder.name]
    for other in reversed(others[-MOST_LOOKED_AT:]):
        facts = _facts_in(other.folder)
        if facts is not None and facts.is_known_by(fingerprint):
            return other.name
    return None


def branch_of(folder: Path) -> str:
    """The feature branch of an intent's plan; as the plan would name it where there is none."""
    try:
        return str(load_document(folder / "quantum.json")["branchName"])
    except (QloopError, KeyError):
        return f"ql/{folder.name}"


def _facts_in(folder: Path) -> Facts | None:
    data = read_optional(folder / FACTS)
    if data is None:
        return None
    try:
        return parse_facts(data.decode("utf-8", "replace"), str(folder / FACTS))
    except QloopError:
        return None
