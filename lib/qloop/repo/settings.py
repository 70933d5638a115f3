"""What of the person's git configuration an attempt repository carries over.

It is resolved once, at the start of a run, from the system's, the person's and the repository's
own configuration, and travels to coordinators as JSON.
Errors: GitFailed where git cannot read the configuration. Source: git-config(1), gitignore(5).
"""

import codecs
import os
import re
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from qloop.repo.checkout import Repository
from qloop.repo.git import QLOOP_EMAIL, QLOOP_NAME, GitFailed, persons_git
from qloop.system import files

_SECTIONS = ("filter.", "lfs.", "user.")
_KEYS = frozenset(
    {
        "core.autocrlf",
        "core.bigfilethreshold",
        "core.eol",
        "core.filemode",
        "core.ignorecase",
        "core.precomposeunicode",
        "core.safecrlf",
        "core.symlinks",
        "extensions.objectformat",
    }
)
_IDENTITY = ("user.email", "user.name")
_PROMISOR = re.compile(r"remote\.(.+)\.promisor")
_ELSEWHERE = re.compile(r"[A-Za-z0-9+.-]+://|[^/]+:")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


class PersonSettings(BaseModel):
    """The identity, configuration and excludes that hold in the person's checkout."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    email: str
    config: tuple[tuple[str, str], ...]
    """Keys and the values that win, without the identity."""
    excludes: str
    """Patterns of ignored files that no tracked `.gitignore` holds."""
    fetch_url: str | None
    """Where submodules, large files or left out objects come from, if there are any."""

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON values."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The settings back from `to_dict`. Raises pydantic's ValidationError."""
        return cls.model_validate(data)


def read_settings(repository: Repository) -> PersonSettings:
    """Read what git would obey in the person's main checkout. Raises GitFailed."""
    values = _read_config(repository)
    promisor = _find_promisor(values)
    return PersonSettings(
        name=values.get("author.name") or values.get("user.name") or QLOOP_NAME,
        email=values.get("author.email") or values.get("user.email") or QLOOP_EMAIL,
        config=(*_carried(values), *_partial_clone(values, promisor)),
        excludes=_read_excludes(repository),
        fetch_url=_fetch_url(repository, promisor),
    )


def _read_config(repository: Repository) -> dict[str, str]:
    """The value of each key that wins: what is carried over is read as a single value."""
    done = persons_git(repository.root, "config", "--list", "--includes", "-z")
    if done.code != 0:
        raise GitFailed(done)
    entries = [entry for entry in done.out.decode("utf-8", "replace").split("\0") if entry]
    # A key without a value is a true boolean.
    parts = [entry.partition("\n") for entry in entries]
    return {key: value if line_end else "true" for key, line_end, value in parts}


def _carried(values: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (key, value)
        for key, value in values.items()
        if key not in _IDENTITY and (key in _KEYS or key.startswith(_SECTIONS))
    ]


def _find_promisor(values: dict[str, str]) -> str | None:
    matches = ((_PROMISOR.fullmatch(key), value) for key, value in values.items())
    return next((match[1] for match, value in matches if match and value == "true"), None)


def _partial_clone(values: dict[str, str], promisor: str | None) -> list[tuple[str, str]]:
    """The settings by which git may fetch an object that a partial clone left out."""
    if promisor is None:
        return []
    found = [("extensions.partialclone", "origin"), ("remote.origin.promisor", "true")]
    kept = values.get(f"remote.{promisor}.partialclonefilter")
    return found if kept is None else [*found, ("remote.origin.partialclonefilter", kept)]


def _read_excludes(repository: Repository) -> str:
    """The person's own patterns, then the repository's: the later ones win, as in git."""
    sources = (_excludes_file(repository), repository.git_dir / "info" / "exclude")
    texts = (files.read_optional(path) or b"" for path in sources if path.is_file())
    joined = b"\n".join(text.removeprefix(codecs.BOM_UTF8).rstrip(b"\n") for text in texts)
    # In a pattern `?` stands for any byte, so for one that JSON cannot carry too.
    return _NOT_UTF8.sub("?", joined.decode("utf-8", "surrogateescape"))


def _excludes_file(repository: Repository) -> Path:
    done = persons_git(repository.root, "config", "--type=path", "core.excludesFile")
    if done.code == 0:
        return repository.root / done.text
    folder = os.environ.get("XDG_CONFIG_HOME")
    return (Path(folder) if folder else Path.home() / ".config") / "git" / "ignore"


def _fetch_url(repository: Repository, promisor: str | None) -> str | None:
    needed = (
        promisor is not None
        or (repository.root / ".gitmodules").is_file()
        or (repository.git_dir / "lfs").is_dir()
    )
    if not needed:
        return None
    done = persons_git(repository.root, "remote", "get-url", promisor or "origin")
    if done.code != 0:
        return None
    url = done.text
    return url if _ELSEWHERE.match(url) else str((repository.root / url).resolve())
