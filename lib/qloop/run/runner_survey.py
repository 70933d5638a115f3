"""Which agent command lines there are, which of them are installed, and in which version.

Errors: none of its own; a program that does not tell its version has none.
"""

import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from qloop.agents.environment import base_environment
from qloop.agents.manifest import Manifest
from qloop.agents.words import variables
from qloop.run.config import CONFIG_NAME, Config
from qloop.run.prepare import is_installed, runner_names
from qloop.system import process
from qloop.system.errors import InternalFailure

VERSION_LIMIT_S = 30.0
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-+]\w[\w.-]*\w)?")


@dataclass(frozen=True, slots=True)
class RunnerRow:
    """One agent command line."""

    name: str
    title: str
    installed: bool
    version: str | None
    source: str
    """`shipped`, or the file that its table stands in."""
    permissions: str
    """`least` or `full`, `needs full` where it does not start with less, or `as in argv`."""
    install: str


def list_runners(config: Config, root: Path) -> tuple[RunnerRow, ...]:
    """All of them, in the order in which `auto` looks."""
    found = [manifest for name in runner_names(config) if (manifest := config.manifest(name))]
    with ThreadPoolExecutor() as pool:
        versions = pool.map(lambda one: find_version(one, root), found)
        return tuple(
            _row(manifest, version, config, root)
            for manifest, version in zip(found, versions, strict=True)
        )


def find_version(manifest: Manifest, root: Path) -> str | None:
    """What the program says its version is; None where it is not there, or does not tell."""
    if not manifest.version or not is_installed(manifest, root):
        return None
    with tempfile.TemporaryDirectory(prefix="qloop-version-") as folder:
        env = {**base_environment(()), **variables(manifest, Path(folder)), "TMPDIR": folder}
        words = [program_of(manifest, root), *manifest.version]
        try:
            done = process.run(words, cwd=Path(folder), env=env, timeout_s=VERSION_LIMIT_S)
        except (OSError, InternalFailure):
            return None
    text = done.text if done.code == 0 else ""
    match = _VERSION.search(text)
    return match.group() if match else None


def program_of(manifest: Manifest, root: Path) -> str:
    """The program to start; one that is named by a path is one of the checkout."""
    name = manifest.argv[0]
    return str(root / name) if os.sep in name else name


def _row(manifest: Manifest, version: str | None, config: Config, root: Path) -> RunnerRow:
    return RunnerRow(
        name=manifest.name,
        title=manifest.title,
        installed=is_installed(manifest, root),
        version=version,
        source=CONFIG_NAME if manifest.name in config.runners else "shipped",
        permissions=_permissions(manifest),
        install=manifest.install,
    )


def _permissions(manifest: Manifest) -> str:
    if manifest.needs_full:
        return "needs full"
    if manifest.least is None and manifest.full is None:
        return "as in argv"
    return manifest.permissions
