"""A person's word on one story, between runs: reset, block, unblock.

Errors: RepositoryBusy during a run, BadInput for an unknown story or one in the wrong state.
"""

import difflib
from pathlib import Path
from typing import Literal

from qloop.plan.model import Json
from qloop.repo.checkout import Repository
from qloop.run import holder
from qloop.run.inside import check_outside
from qloop.state.ownership import DRIVER
from qloop.state.store import store_for
from qloop.system.errors import BadInput

Word = Literal["reset", "block", "unblock"]


def change_story(repository: Repository, quantum: Path, story_id: str, word: Word) -> str:
    """Carry the word out and return what became of the story, for people."""
    check_outside(repository, f"story {word}")
    lock = holder.try_lock(repository)
    if lock is None:
        raise holder.busy(holder.private_folder(repository))
    try:
        store = store_for(quantum, repository.root)
        store.adopt()
        with store.transaction(DRIVER) as draft:
            story = _find(draft, story_id, quantum)
            _change(story, word, quantum)
        return f"{story_id} is {'blocked' if word == 'block' else 'pending'}"
    finally:
        holder.release(lock)


def _change(story: Json, word: Word, quantum: Path) -> None:
    if word == "block":
        story["status"] = "blocked"
        return
    if word == "unblock" and story.get("status") not in ("blocked", "stale"):
        raise BadInput(
            f"{story['id']} is {story.get('status', 'pending')}, not blocked",
            where=str(quantum),
            fix=f"qloop story reset {story['id']}",
        )
    story["status"] = "pending"
    story["startedAt"] = None
    if word == "reset":
        story["retries"] = {**(story.get("retries") or {}), "attempts": 0}


def _find(draft: Json, story_id: str, quantum: Path) -> Json:
    for story in draft["stories"]:
        if story.get("id") == story_id:
            found: Json = story
            return found
    ids = [str(story.get("id")) for story in draft["stories"]]
    near = difflib.get_close_matches(story_id, ids, n=1)
    fix = f"did you mean {near[0]}?" if near else f"the stories are {', '.join(ids)}"
    raise BadInput(f"there is no story {story_id!r}", where=str(quantum), fix=fix)
