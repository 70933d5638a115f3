"""What `preamble`, and `report` of an intent's folder, do once their words are parsed."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qloop.agents.roles import role_names
from qloop.mission.completion import account_for, synthesise_report
from qloop.mission.preamble import render_preamble
from qloop.mission.team import check_role
from qloop.repo.checkout import find_repository
from qloop.run.config import load_config
from qloop.state.intents import find_intent, intents_folder
from qloop.system.errors import InputMissing, UsageWrong
from qloop.ui import console

NOT_DONE = 1
_LARGEST_BYTES = 10_000_000


def print_preamble(place: Path, role: str | None, step: str | None, *, has_helpers: bool) -> int:
    """The preamble of an intent. Raises InputMissing, BadInput, UsageWrong."""
    folder = _folder_of(place)
    known = None if role is None else check_role(role, role_names())
    if step is not None and not step.isprintable():
        raise UsageWrong(f"{step!r} is no step", where="--step", fix="name it in one line")
    told = render_preamble(folder.resolve(), known, step, has_helpers=has_helpers)
    console.result(told.removesuffix("\n"))
    return 0


def report_of_role(
    place: Path | None, role: str | None, authored: Path | None, page: Mapping[str, Any]
) -> int:
    """A role's completion report; *page* are the options that only a plan's page has."""
    if place is None or role is None:
        fix = "qloop report INTENT --role ROLE"
        raise UsageWrong("a role's report needs an intent and a role", fix=fix)
    given = [f"--{'format' if name == 'form' else name}" for name, value in page.items() if value]
    if given:
        raise UsageWrong(f"{given[0]} belongs to the plan's page", fix="leave it out, or INTENT")
    folder = _folder_of(place)
    name = check_role(role, role_names())
    if authored is None:
        console.result(synthesise_report(folder.resolve(), name).removesuffix("\n"))
        return 0
    account = account_for(folder.resolve(), name, read_words(authored))
    console.result(console.printable(account.text.removesuffix("\n")))
    if not account.is_authored:
        console.say("the agent's own report cannot be used; this one is made from the files")
    if account.lacking is not None:
        console.say(f"not done: {account.lacking}")
    return 0 if account.is_finished else NOT_DONE


def _folder_of(place: Path) -> Path:
    """The folder that is named, by its path or as an intent of the repository here."""
    if place.is_dir():
        return place
    if len(place.parts) > 1 or place.is_file():
        raise InputMissing(
            "there is no such folder", where=str(place), fix="name an intent, or its folder"
        )
    root = find_repository(Path.cwd()).root
    return find_intent(intents_folder(root, load_config(root).intents_root), str(place)).folder


def read_words(path: Path) -> str:
    """What a file holds, or standard input for `-`. Raises InputMissing."""
    if str(path) == "-":
        return sys.stdin.buffer.read(_LARGEST_BYTES).decode("utf-8", "replace")
    if not path.is_file():
        raise InputMissing("there is no such file", where=str(path), fix="check the path")
    with path.open("rb") as file:
        return file.read(_LARGEST_BYTES).decode("utf-8", "replace")
