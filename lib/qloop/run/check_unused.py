"""A new public name of a Python module that nothing uses. Pure.

A use is the name in code, an import, a text value or a file of another kind, tests included;
comments, documentation and the definition itself are none. Left out is what may be reached in
another way: decorated functions, classes with a framework's base, hooks by name, scripts that
tools load, the top of a package.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from qloop.run.check_names import NewName, new_names
from qloop.run.check_source import is_prose, is_python, python_definitions, uses
from qloop.run.check_tags import Definitions
from qloop.run.check_values import Finding, Place, Work

CHECK = "unused"
SURELY_USED = 20
"""A name that more files hold needs no closer look."""

MOST_NAMES = 300
"""So many new names at once are a library that was taken in."""

_HOOK = re.compile(
    r"main|handler|lambda_handler|app|application|create_app|make_app|setup|teardown|register"
    r"|upgrade|downgrade|includeme|load_tests|run|configure|plugin|(?:pytest|task|test|on)_.*"
)
_LOADED = {
    "__init__", "__main__", "conf", "conftest", "dodo", "fabfile", "manage", "noxfile", "settings",
    "setup", "tasks", "hubconf", "sitecustomize", "wsgi", "asgi", "urls", "admin",
}  # fmt: skip
_LOADED_FOLDERS = {"migrations", "versions", "examples", "docs", "scripts", "plugins"}


def candidates(works: Sequence[Work], definitions: Definitions) -> list[NewName]:
    """The new names of these stories that ought to be used by something, each once."""
    found: dict[tuple[str, str], NewName] = {}
    for work in works:
        for new in new_names(work, definitions):
            if is_python(new.place.path) and _needs_user(new):
                found.setdefault((new.place.path, new.definition.name), new)
    return list(found.values())[:MOST_NAMES]


def worth_reading(holders: Mapping[str, set[str]]) -> set[str]:
    """Of the files that hold a name, by name, those that must be read to know who uses it."""
    return {
        path
        for paths in holders.values()
        if len(paths) <= SURELY_USED
        for path in paths
        if not is_prose(path)
    }


def check_unused(
    news: Sequence[NewName], holders: Mapping[str, set[str]], texts: Mapping[str, str]
) -> list[Finding]:
    """The names that nothing in the tree uses; *texts* are its files that were worth reading.

    A file that holds a name and could not be read counts as a user.
    """
    found: list[Finding] = []
    for new in news:
        name, path = new.definition.name, new.place.path
        paths = {one for one in holders.get(name, set()) if not is_prose(one)}
        if len(paths) > SURELY_USED or any(
            other not in texts or uses(other, texts[other], name) for other in paths
        ):
            continue
        defined = python_definitions(texts[path]) if path in paths else ()
        line = next((one.line for one in defined if one.name == name), None)
        if line is not None:
            found.append(_finding(name, Place(new.place.story, path, line, name)))
    return found


def _finding(name: str, place: Place) -> Finding:
    text = (
        f"{name} by {place.story} ({place.label}) is new and public, but nothing uses it: "
        "use it, make it private, or leave it out"
    )
    return Finding(CHECK, name, (place.story,), (place,), text)


def _needs_user(new: NewName) -> bool:
    name = new.definition.name
    reached = new.definition.hooked or name.startswith("_") or _HOOK.fullmatch(name) is not None
    return not reached and not _is_loaded(new.place.path)


def _is_loaded(path: str) -> bool:
    pure = PurePosixPath(path)
    return pure.stem in _LOADED or not _LOADED_FOLDERS.isdisjoint(pure.parts[:-1])
