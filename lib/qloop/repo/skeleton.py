"""The files of an attempt repository, written without git, so that no template can add to them.

Source: gitrepository-layout(5), git-config(1), gitignore(5).
"""

import os
import re
from pathlib import Path

from qloop.repo.checkout import Repository
from qloop.repo.cone import CONFIG, render_cone
from qloop.repo.settings import PersonSettings
from qloop.system import files

FOLDERS = ("hooks", "info", "objects", "objects/info", "objects/pack", "refs", "worktrees")
FORGEABLE = (
    "commondir",
    "config.worktree",
    "info/attributes",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/commit-graph",
    "objects/info/commit-graphs",
    "objects/info/http-alternates",
    "shallow",
)
"""What an agent could add to bend git's reading, seen from the git directory."""

_NEVER_PUSH = "qloop-no-push://origin"


def repository_files(
    repository: Repository, settings: PersonSettings, git_dir: Path, cone: tuple[str, ...] = ()
) -> dict[str, bytes]:
    """The content of each file, by its path in the git directory.

    With a *cone*, a checkout has only these folders.
    """
    found = {
        "HEAD": b"ref: refs/heads/main\n",
        "config": render_config([*config_entries(settings, git_dir), *(CONFIG if cone else ())]),
        "info/exclude": settings.excludes.encode("utf-8", "surrogateescape") + b"\n",
        "objects/info/alternates": alternate_line(repository.objects),
    }
    shallow = files.read_optional(repository.git_dir / "shallow")
    if cone:
        found["info/sparse-checkout"] = render_cone(cone)
    return found if shallow is None else {**found, "shallow": shallow}


def config_entries(settings: PersonSettings, git_dir: Path) -> list[tuple[str, str]]:
    """Keys and values of an attempt repository's configuration, each once."""
    extended = any(key.startswith("extensions.") for key, _ in settings.config)
    entries = [
        ("core.repositoryformatversion", "1" if extended else "0"),
        ("core.bare", "true"),
        *settings.config,
        ("user.name", settings.name),
        ("user.email", settings.email),
        ("core.hookspath", str(git_dir / "hooks")),
        ("core.logallrefupdates", "true"),
        ("commit.gpgsign", "false"),
        ("tag.gpgsign", "false"),
        ("gc.auto", "0"),
        ("maintenance.auto", "false"),
    ]
    if settings.fetch_url is None:
        return entries
    remote = [("remote.origin.url", settings.fetch_url), ("remote.origin.pushurl", _NEVER_PUSH)]
    return [*entries, *remote]


def render_config(entries: list[tuple[str, str]]) -> bytes:
    """Entries as git's configuration file, each under a header of its own."""
    return "".join(_render_entry(key, value) for key, value in entries).encode()


def alternate_line(objects: Path) -> bytes:
    """The line of `objects/info/alternates` that names a folder."""
    raw = os.fsencode(objects)
    if b"\n" in raw:
        return b'"' + _escape_bytes(raw) + b'"\n'
    return raw + b"\n"


def exclude_pattern(path: str) -> bytes:
    """A line of an exclude file that matches exactly *path*, seen from the tree's root.

    A folder is written with a final `/`. A line end in a name, which no pattern can hold, is
    matched as any one character.
    """
    escaped = re.sub(r"([\\*?\[\] ])", r"\\\1", path)
    return os.fsencode("/" + re.sub(r"[\r\n]", "?", escaped) + "\n")


def _render_entry(key: str, value: str) -> str:
    section, _, rest = key.partition(".")
    subsection, _, name = rest.rpartition(".")
    header = f'[{section} "{_escape(subsection)}"]' if subsection else f"[{section}]"
    quoted = _escape(value).replace("\n", "\\n").replace("\t", "\\t").replace("\b", "\\b")
    return f'{header}\n\t{name} = "{quoted}"\n'


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _escape_bytes(raw: bytes) -> bytes:
    return raw.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
