"""`init` and `demo`: from nothing to a first run."""

import tempfile
from pathlib import Path

from qloop.cli.context import resolve_quantum
from qloop.repo.checkout import Repository, find_repository
from qloop.repo.exclude import ensure_excluded
from qloop.repo.fresh import make_repository
from qloop.run.config import load_config
from qloop.run.holder import private_folder
from qloop.run.role_files import Installed, Place, find_place, install_hook, install_roles
from qloop.system.assets import read_asset
from qloop.system.errors import BadInput
from qloop.ui import console

DEMO_PRD = "demo.md"


def initialise(quantum: Path | None, agents: tuple[str, ...], *, force: bool) -> int:
    """Prepare the repository here; says what was done and what comes next.

    *agents* name the command lines that get role files of their own. Raises BadInput where such
    a file is there, differs, and *force* does not allow to replace it.
    """
    repository = find_repository(Path.cwd())
    state_file = resolve_quantum(repository.root, quantum)
    places = [find_place(name, load_config(repository.root)) for name in agents]
    added = ensure_excluded(repository, state_file)
    private_folder(repository).mkdir(exist_ok=True)
    where = repository.git_dir / "info" / "exclude"
    if added:
        console.say(f".qloop/ and {state_file.name} are kept out of commits ({where})")
    else:
        console.say("this repository is prepared already")
    _install(repository.root, places, force=force)
    if not state_file.exists():
        console.say("next: write a requirements document, then `qloop --coordinator prd.md`;")
        console.say("`qloop demo` shows a whole run, and its prd.md shows the form")
    else:
        console.say("next: `qloop waves` shows what would run, `qloop run` runs it")
    return 0


def _install(root: Path, places: list[Place], *, force: bool) -> None:
    kept: list[str] = []
    for place in places:
        for name, done in install_roles(root, place.roles, force=force):
            console.say(f"{name}: {done}")
            kept += [name] if done is Installed.KEPT else []
    for name in [place.hook_file for place in places if place.hook_file is not None]:
        done = install_hook(root / name)
        console.say(f"{name}: {done}")
        if done is not Installed.SAME:
            console.say(f"commit {name}: agents work in worktrees of what is committed")
    if kept:
        raise BadInput(
            "role files that differ were left as they are",
            where=", ".join(kept),
            fix="--force replaces them",
        )


def prepare_demo(folder: Path | None) -> tuple[Repository, Path]:
    """A scratch repository with a requirements document. Raises BadInput for a folder in use."""
    place = folder or Path(tempfile.mkdtemp(prefix="qloop-demo-"))
    if place.exists() and any(place.iterdir()):
        raise BadInput(
            "this folder is not empty", where=str(place), fix="name one that is not there yet"
        )
    prd = place / "prd.md"
    make_repository(place, {prd.name: read_asset("examples", DEMO_PRD)}, "The project as it stands")
    return find_repository(place), prd
