"""Where an agent is at home, and which part of that a path lies in.

Paths are resolved before anything is decided: `..` and links are followed, also those of parents
that are not there yet. What decides compares resolved paths only.
Errors: ValueError for a path that no file can have.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from qloop.agents.gate.table import Zone

STATE_FILES = ("quantum.json", "qloop.toml")
GATE_FILES = (".claude/settings.json", ".claude/settings.local.json")
"""What an agent's own gate is set up by."""

DEVICES = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd")
_PLANS = ("spec.md", "plan.md", "checklist.md", "plans", "actions")
_WILD = "*?["


@dataclass(frozen=True, slots=True)
class Places:
    """The folders that matter to one agent, resolved."""

    tree: str
    """The worktree that it works in."""
    root: str
    """The person's main checkout."""
    intent: str | None = None
    """The folder of its intent; None: that of any."""
    scratch: tuple[str, ...] = ()
    role_files: tuple[str, ...] = ()
    folds_case: bool = False
    """Whether its file system takes `A` and `a` for the same."""

    def holds(self, zone: Zone, path: str) -> bool:
        """Whether a resolved path lies in a zone."""
        match zone:
            case Zone.ANYWHERE:
                return True
            case Zone.TREE:
                return self._is_in(path, self.tree)
            case Zone.ROOT:
                return self._is_in(path, self.root)
            case Zone.PRIVATE:
                return self._is_in(path, f"{self.root}/.qloop")
            case Zone.ROLE_FILES:
                return any(self._is_in(path, one) for one in self.role_files)
            case Zone.SCRATCH:
                return any(self._is_in(path, one) for one in self.scratch)
            case _:
                return self._is_intents(zone, path)

    def _is_intents(self, zone: Zone, path: str) -> bool:
        inner = self._in_intent(path)
        if inner is None:
            return False
        match zone:
            case Zone.RECON | Zone.REFINEMENT:
                name = "recon" if zone is Zone.RECON else "refinement"
                return inner == name or inner.startswith(f"{name}/")
            case Zone.PLANS:
                return inner.partition("/")[0] in _PLANS
            case _:
                return True

    def _in_intent(self, path: str) -> str | None:
        if self.intent is not None:
            return self.within(path, self.intent)
        inner = self.within(path, f"{self.root}/.qloop/intents")
        return inner.partition("/")[2] if inner else None

    def protected(self, path: str) -> str:
        """Why not even the owner of the worktree writes there; empty where nothing is against it.

        The name of a rule.
        """
        inner = self.within(path, self.tree)
        if inner is None:
            return ""
        parts = inner.split("/")
        if parts[0] == ".qloop" or inner in STATE_FILES or ".git" in parts:
            return "protected"
        return "gate-settings" if inner in GATE_FILES else ""

    def is_above(self, path: str) -> bool:
        """Whether the worktree lies in a folder, or is it."""
        return self._is_in(self.tree, path)

    def _is_in(self, path: str, folder: str) -> bool:
        return self.within(path, folder) is not None

    def within(self, path: str, folder: str) -> str | None:
        """A path as seen from a folder that holds it, empty for the folder; None elsewhere."""
        if self.folds_case:
            path, folder = path.casefold(), folder.casefold()
        if path == folder or folder == "/":
            return path[1:] if folder == "/" else ""
        return path[len(folder) + 1 :] if path.startswith(f"{folder}/") else None


def resolve_path(text: str, cwd: str) -> str:
    """The place that a path means in a folder, `~` of the person included. Raises ValueError."""
    return os.path.realpath(Path(cwd, _at_home(text)))


def resolve_pattern(pattern: str, cwd: str) -> str | None:
    """The folder below which all matches of a pattern lie; None where that is not certain."""
    parts = pattern.split("/")
    wild = next((n for n, part in enumerate(parts) if any(sign in part for sign in _WILD)), None)
    if wild is None:
        return resolve_path(pattern, cwd)
    if ".." in parts[wild:]:
        return None
    start = "/".join(parts[:wild])
    return resolve_path(start or ("/" if wild else "."), cwd)


def folds_case(folder: str) -> bool:
    """Whether the file system of a folder takes upper and lower case for the same."""
    here = Path(folder)
    other = here.with_name(here.name.swapcase()) if here.name else here
    try:
        return other != here and other.samefile(here)
    except OSError:
        return False


def find_root(cwd: str) -> str:
    """The nearest folder that holds `.qloop` or `.git`; *cwd* itself where none does."""
    here = Path(os.path.realpath(cwd))
    for folder in (here, *here.parents):
        if any(os.path.lexists(folder / name) for name in (".qloop", ".git")):
            return str(folder)
    return str(here)


def _at_home(text: str) -> Path:
    path = Path(text)
    try:
        return path.expanduser() if text.startswith("~") else path
    except RuntimeError:
        return path  # nobody's home: the name itself


def make_places(
    tree: str,
    root: str,
    intent: str | None = None,
    scratch: Iterable[str] = (),
    role_files: Iterable[str] = (),
) -> Places:
    """The places of an agent, resolved."""
    real = os.path.realpath(root)
    own = (f"{real}/.claude/agents", str(_at_home("~/.claude/agents")), *role_files)
    where = os.path.realpath(tree)
    return Places(
        tree=where,
        root=real,
        intent=os.path.realpath(intent) if intent else None,
        scratch=tuple(os.path.realpath(one) for one in scratch if one),
        role_files=tuple(os.path.realpath(one) for one in own),
        folds_case=folds_case(where),
    )
