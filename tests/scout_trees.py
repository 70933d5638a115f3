"""Trees of files that exist only as values, for who looks at what a scout makes of them."""

import hashlib
from collections.abc import Mapping

from qloop.mission.scout import choose_texts, facts_of
from qloop.repo.tracked import TrackedFile
from qloop.state.codebase import Facts

COMMIT = "c0ffee" + "0" * 34


def tracked(files: Mapping[str, str | bytes]) -> list[TrackedFile]:
    """A listing as git gives it; a path that begins with `+` is executable, with `@` a link."""
    found = []
    for marked, text in files.items():
        mode = {"+": "100755", "@": "120000"}.get(marked[0], "100644")
        data = _bytes(text)
        name = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        found.append(TrackedFile(marked.lstrip("+@"), mode, name, len(data)))
    return sorted(found, key=lambda file: file.path)


def scout(files: Mapping[str, str | bytes], subjects: tuple[str, ...] = ()) -> Facts:
    """What a tree of such files is, by the same steps as a commit's."""
    listing = tracked(files)
    contents = {path.lstrip("+@"): _bytes(text) for path, text in files.items()}
    chosen = {file.path: contents[file.path] for file in choose_texts(listing)}
    return facts_of(listing, chosen, subjects, COMMIT)


def commands(facts: Facts, purpose: str) -> list[str]:
    """The command lines for a purpose, those of folders with the folder before them."""
    return [
        one.command if one.folder == "." else f"{one.folder}: {one.command}"
        for one in facts.commands
        if one.purpose == purpose
    ]


def entries(facts: Facts) -> dict[str, str]:
    """Entry points by name, each with the place that it was read from."""
    return {one.name: one.source.text for one in facts.entry_points}


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()
