"""The words and variables that a manifest comes to for one call."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from qloop.agents.environment import passed_through
from qloop.agents.manifest import (
    PLACEHOLDERS,
    RESUME_PLACE,
    RIGHTS_PLACE,
    SESSION,
    Manifest,
    Rights,
)

RULES = "{rules}"
JSON_RULES = "{json_rules}"
COMMAND = "{command}"
_UNSPEAKABLE = re.compile(r"[(),\"'`\\\n]")
"""What the rules of agent command lines cannot hold, or take for their own signs."""

FILES = "{files}"
"""In a word of its rights or a variable's value: the folder of the manifest's files."""


def command(
    manifest: Manifest, values: Mapping[str, str], files: Path, checks: Iterable[str] = ()
) -> tuple[str, ...]:
    """The manifest's argv with each element that is exactly a placeholder replaced.

    *values* maps placeholders such as `{model}`; one whose value is empty is left out together
    with the flag before it, and without a `{session}` so are the words that go on with one.
    *files* is the folder of the manifest's files. *checks* are the commands that the agent may run
    besides the manifest's own.
    """
    words: list[str] = []
    for part in manifest.argv:
        if part == RIGHTS_PLACE:
            words += _rights_words(manifest.rights, tuple(checks), files)
        elif part == RESUME_PLACE:
            session = values.get(SESSION)
            words += [session if word == SESSION else word for word in manifest.resume if session]
        elif part not in PLACEHOLDERS:
            words.append(part)
        elif values.get(part):
            words.append(values[part])
        elif words and words[-1].startswith("-"):
            words.pop()
    return tuple(words)


def variables(manifest: Manifest, files: Path, checks: Iterable[str] = ()) -> dict[str, str]:
    """The environment variables of an agent: those passed through, and those that are set.

    *files* is the folder that holds the manifest's files.
    """
    rights = manifest.rights
    rules = _json_rules(rights, tuple(checks))
    own = {name: text.replace(JSON_RULES, rules) for name, text in rights.set_env.items()}
    placed = {
        name: text.replace(FILES, str(files))
        for name, text in {**manifest.default_env, **manifest.set_env, **own}.items()
    }
    passed = passed_through(manifest.env)
    return {**placed, **{name: passed[name] for name in passed if _is_free(manifest, name)}}


def _is_free(manifest: Manifest, name: str) -> bool:
    """Whether the manifest leaves a variable's value to the person."""
    return name not in manifest.set_env and name not in manifest.rights.set_env


def _rights_words(rights: Rights, checks: tuple[str, ...], files: Path) -> list[str]:
    words: list[str] = []
    for part in rights.args:
        if part == RULES:
            for allowed in (*rights.commands, *checks):
                if not _UNSPEAKABLE.search(allowed):
                    words += [word.replace(COMMAND, allowed) for word in rights.rule]
        else:
            placed = part.replace(FILES, str(files))
            words.append(placed.replace(JSON_RULES, _json_rules(rights, checks)))
    return words


def _json_rules(rights: Rights, checks: tuple[str, ...]) -> str:
    escaped = (json.dumps(allowed)[1:-1] for allowed in (*rights.commands, *checks))
    return ", ".join(rights.json_rule.replace(COMMAND, text) for text in escaped)
