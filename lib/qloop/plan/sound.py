"""Whether a document is a plan beyond doubt, seen fast and without its models. Pure.

A field has one test, which a value of that field in the models would pass. Whatever a test has
doubts about is left to the full check, which says what is wrong, or that nothing is.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from qloop.plan.names import find_branch_danger, is_encodable
from qloop.plan.paths import find_danger
from qloop.plan.values import STORY_ID, Json, Status
from qloop.system.clock import parse_duration_s
from qloop.system.errors import BadInput

Test = Callable[[Any], bool]

_ID = re.compile(STORY_ID.removesuffix("$"))
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_DEEPEST_KEPT = 20
"""Levels of nesting in a field that is kept as it is, far from the deepest that may be."""


def is_sound(fields: Json, tests: Mapping[str, Test]) -> bool:
    """Whether each field passes its test; null is no value, and others only must not be deep."""
    for key, value in fields.items():
        test = tests.get(key)
        if test is not None:
            if value is not None and not test(value):
                return False
        elif not (_is_text(key) and _is_shallow(value)):
            return False
    return True


def is_id(value: Any) -> bool:
    """Whether it can be a story's id."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def is_path(value: Any) -> bool:
    """Whether it is a path that stays inside the repository."""
    if not isinstance(value, str):
        return False
    return _is_plain_path(value) or find_danger(value) is None


def _is_plain_path(text: str) -> bool:
    return ".." not in text and _PLAIN_PATH.fullmatch(text) is not None


def _list_of(test: Test) -> Test:
    return lambda value: isinstance(value, list) and all(map(test, value))


def _object_of(tests: Mapping[str, Test]) -> Test:
    return lambda value: isinstance(value, dict) and is_sound(value, tests)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and (value.isascii() or is_encodable(value))


def _is_texts(value: Any) -> bool:
    try:
        return isinstance(value, list) and _is_text("".join(value))
    except TypeError:
        return False


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return type(value) is int


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_positive(value: Any) -> bool:
    return type(value) is int and value > 0


def _is_branch(value: Any) -> bool:
    return isinstance(value, str) and find_branch_danger(value) is None


def _is_duration(value: Any) -> bool:
    if not isinstance(value, str):
        return type(value) in (int, float) and 0 <= value < 1e15
    try:
        return math.isfinite(parse_duration_s(value))
    except (BadInput, OverflowError, ValueError):
        return False


def _one_of(*words: str) -> Test:
    known = frozenset(words)
    return lambda value: isinstance(value, str) and value in known


def _is_shallow(value: Any, levels: int = _DEEPEST_KEPT) -> bool:
    if not isinstance(value, dict | list):
        return True
    children = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(child, levels - 1) for child in children)


def _is_shallow_list(value: Any) -> bool:
    return isinstance(value, list) and _is_shallow(value)


_TASK = {
    "id": _is_text,
    "title": _is_text,
    "description": _is_text,
    "filePaths": _list_of(is_path),
    "run": _is_texts,
    "commands": _is_texts,
    "testFirst": _is_flag,
    "status": _is_text,
}
_REVIEW_PART = {
    "status": _one_of("pending", "passed", "failed"),
    "issues": _is_shallow_list,
    "reviewedAt": _is_text,
    "attempt": _is_number,
}
_FAILURE = {
    "attempt": _is_number,
    "phase": _is_text,
    "reason": _is_text,
    "timestamp": _is_text,
    "log": _is_text,
}
_RETRIES = {
    "attempts": _is_count,
    "maxAttempts": _is_count,
    "failureLog": _list_of(_object_of(_FAILURE)),
}
STORY: Mapping[str, Test] = {
    "id": is_id,
    "title": _is_text,
    "description": _is_text,
    "acceptanceCriteria": _is_texts,
    "priority": _is_number,
    "status": _one_of(*Status),
    "dependsOn": _list_of(is_id),
    "tasks": _list_of(_object_of(_TASK)),
    "verify": _is_texts,
    "runner": _is_text,
    "model": _is_text,
    "timeout": _is_duration,
    "allowEmpty": _is_flag,
    "startedAt": _is_text,
    "review": _object_of(
        dict.fromkeys(("specCompliance", "codeQuality"), _object_of(_REVIEW_PART))
    ),
    "retries": _object_of(_RETRIES),
    "notes": _is_text,
}
_WAVE = {
    "stories": _is_texts,
    "signal": _is_text,
    "startedAt": _is_text,
    "completedAt": _is_text,
    "findings": _is_shallow_list,
}
_EXECUTION = {
    "mode": _is_text,
    "maxParallel": _is_positive,
    "currentWave": _is_count,
    "forceSequential": _is_flag,
    "activeWorktrees": _is_shallow_list,
    "completedWaves": _list_of(_object_of(_WAVE)),
}
PLAN: Mapping[str, Test] = {
    "project": _is_text,
    "branchName": _is_branch,
    "description": _is_text,
    "prdPath": _is_text,
    "prdHash": _is_text,
    "designPath": _is_text,
    "createdAt": _is_text,
    "updatedAt": _is_text,
    "testCommand": _is_text,
    "qualityCommands": _is_texts,
    "setupCommands": _is_texts,
    "copyFiles": _list_of(is_path),
    "progress": _is_shallow_list,
    "codebasePatterns": _is_shallow_list,
    "contracts": _object_of({}),
    "fileConflicts": _list_of(_object_of({"file": is_path, "stories": _is_texts})),
    "execution": _object_of(_EXECUTION),
}
"""All but the stories, which are looked at one by one."""
