"""Keeping qloop's files out of commits: lines in `.git/info/exclude`, never in `.gitignore`."""

from pathlib import Path

from qloop.repo.checkout import Repository
from qloop.system.files import read_optional, write_atomic


def ensure_excluded(repository: Repository, quantum: Path) -> bool:
    """Add `.qloop/` and the state file to info/exclude; True where something was added."""
    wanted = ["/.qloop/"]
    if quantum.is_relative_to(repository.root):
        wanted.append(f"/{quantum.relative_to(repository.root)}")
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
