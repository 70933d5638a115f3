"""Keeping qloop's files out of commits: lines in `.git/info/exclude`, never in `.gitignore`."""

import os
import re
from pathlib import Path

from qloop.repo.checkout import Repository
from qloop.system.files import read_optional, write_atomic

_NO_DOCUMENTS = (".*", "*.lock", "*.lock.*", "*.json", "*.log", "logs/", "phases/")
"""What lies in an intent's folder beside its documents."""


def ensure_excluded(repository: Repository, quantum: Path) -> bool:
    """Add `.qloop/` and the state file to info/exclude; True where something was added."""
    wanted = ["/.qloop/"]
    if quantum.is_relative_to(repository.root):
        wanted.append(f"/{quantum.relative_to(repository.root)}")
    return _add(repository, wanted)


def exclude_intents(repository: Repository, intents: Path) -> bool:
    """Add what is no document in a folder of intents of a person's own; True where it was new.

    Their documents, which are Markdown, may be committed; state, locks and logs are this machine's.
    """
    inner = os.path.relpath(intents, repository.root)
    if not intents.is_relative_to(repository.root) or inner.split("/")[0] in (".", "..", ".qloop"):
        return False
    place = re.sub(r"([\\*?\[\]])", r"\\\1", inner)
    return _add(repository, [f"/{place}/.*", *(f"/{place}/*/{name}" for name in _NO_DOCUMENTS)])


def _add(repository: Repository, wanted: list[str]) -> bool:
    path = repository.git_dir / "info" / "exclude"
    text = (read_optional(path) or b"").decode("utf-8", "surrogateescape")
    present = set(text.splitlines())
    missing = [line for line in wanted if line not in present]
    if not missing:
        return False
    start = text if not text or text.endswith("\n") else f"{text}\n"
    data = (start + "".join(f"{line}\n" for line in missing)).encode("utf-8", "surrogateescape")
    write_atomic(path, data)
    return True
