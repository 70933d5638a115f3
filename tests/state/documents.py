"""Documents of quantum.json for tests, and the program that several processes of a test run."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import qloop
from qloop.plan.model import Json
from qloop.state.changes import list_changes, render_path
from qloop.state.store import Store, store_for

PROGRAM = Path(__file__).with_name("writing_process.py")
LIB = Path(qloop.__file__).parents[1]


def story(story_id: str, **fields: Any) -> Json:
    """A story as quantum-loop writes them, with fields of its own."""
    return {"id": story_id, "title": f"Story {story_id}", "status": "pending", **fields}


def document(*stories: Json, **fields: Any) -> Json:
    """A document with these stories, or with US-1 to US-3."""
    listed = list(stories) or [story("US-1"), story("US-2"), story("US-3")]
    return {"branchName": "ql/x", "stories": listed, **fields}


def new_store(root: Path, value: Json) -> Store:
    """A store whose file holds *value* as its first generation."""
    root.mkdir(parents=True, exist_ok=True)
    store = store_for(root / "quantum.json", root)
    store.replace(value)
    return store


def changed_paths(before: Json, after: Json) -> list[str]:
    """The places in which two documents differ, for people."""
    return [render_path(change.path) for change in list_changes(before, after)]


def on_disk(store: Store) -> Json:
    """What the state file holds, read by other means."""
    value: Json = json.loads(store.path.read_bytes())
    return value


def save(store: Store, value: Json) -> None:
    """Save as most editors do: a new file takes the old one's name."""
    fresh = store.path.with_name("quantum.json.editor")
    fresh.write_text(json.dumps(value, indent=4))
    fresh.replace(store.path)


def save_in_place(store: Store, value: Json) -> None:
    """Save as some editors do: into the file that is there."""
    store.path.write_text(json.dumps(value, indent=4))


def start(action: str, path: Path, *words: str) -> subprocess.Popen[str]:
    """Start a process that writes to the file at *path*; it says what it did, line by line."""
    return subprocess.Popen(
        [sys.executable, "-P", str(PROGRAM), action, str(path), *words],
        env={**os.environ, "PYTHONPATH": str(LIB)},
        stdout=subprocess.PIPE,
        text=True,
    )


def story_of(value: Json, story_id: str) -> Json:
    """The story of that id in a document."""
    found: Json = next(item for item in value["stories"] if item["id"] == story_id)
    return found
