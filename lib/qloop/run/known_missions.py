"""The missions of a repository, as far as their states can be read."""

from collections.abc import Iterator

from qloop.repo.repository import Repository
from qloop.run.config import load_config
from qloop.state.intents import intents_folder, list_intents
from qloop.state.mission import Mission
from qloop.state.mission_store import read_mission
from qloop.system.errors import QloopError


def known_missions(repository: Repository) -> Iterator[Mission]:
    """Every mission that was begun here; one whose state cannot be read is left out."""
    root = intents_folder(repository.root, load_config(repository.root).intents_root)
    for intent in list_intents(root):
        try:
            yield read_mission(intent.folder)
        except QloopError:
            continue
