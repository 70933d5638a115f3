"""A person's word on one story, between runs: reset, block, unblock.

Errors: RepositoryBusy during a run, BadInput for an unknown story or one in the wrong state.
"""

import difflib
from pathlib import Path
from typing import Literal

from qloop.plan.model import Json
from qloop.plan.validate import check_plan
from qloop.repo.checkout import Repository
from qloop.run import holder
from qloop.run.inside import check_outside
from qloop.state.ownership import DRIVER
from qloop.state.store import Store, store_for
from qloop.system.errors import BadInput, InputMissing

Word = Literal["reset", "block", "unblock"]


def change_story(repository: Repository, quantum: Path, story_id: str, word: Word) -> str:
    """Carry the word out and return what became of the story, for people."""
    check_outside(repository, f"story {word}")
    lock = holder.try_lock(repository)
    if lock is None:
        raise holder.busy(holder.private_folder(repository))
    try:
        store = store_for(quantum, repository.root)
        _check_fits(store, story_id, word)
        store.adopt()
        with store.transaction(DRIVER) as draft:
            story = _find(draft, story_id, quantum)
            had_passed = story.get("status") == "passed"
            _change(story, word, quantum)
            branch = draft["branchName"]
        told = f"{story_id} is {'blocked' if word == 'block' else 'pending'}"
        stays = f"; what it landed stays on {branch}, `git revert` there takes it back"
        return told + stays if had_passed else told
    finally:
        holder.release(lock)


def _check_fits(store: Store, story_id: str, word: Word) -> None:
    """Raise where the word cannot be carried out, before anything is written."""
    try:
        document = store.read()
    except InputMissing:
        raise
    except BadInput:
        return  # the store restores what does not parse, or says why it cannot
    check_plan(document, str(store.path))
    _change(_find(document, story_id, store.path), word, store.path)


def _change(story: Json, word: Word, quantum: Path) -> None:
    if word == "block":
        if story.get("status") == "passed":
            raise BadInput(f"{story['id']} has passed, it runs no more", where=str(quantum))
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
