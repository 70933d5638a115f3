"""What a plan takes from the facts where its document says nothing of it. Pure.

A command counts as named where the document's front matter has its key, an empty one too.
"""

from collections.abc import Collection

from qloop.plan.model import Json
from qloop.state.codebase import Command, Facts, Purpose

JUDGING: tuple[Purpose, ...] = ("lint", "types")
"""What judges the code of every story; only what the repository declares itself is taken."""
LOCAL_SETUPS = (
    *("npm ci", "npm install", "pnpm install", "yarn", "bun install", "composer install"),
    *("uv sync", "cargo fetch", "go mod download", "dotnet restore"),
)
"""How set-ups begin that put what they install into the worktree, or into a cache."""


def fill_plan(made: Json, named: Collection[str], facts: Facts) -> tuple[Json, tuple[str, ...]]:
    """The plan with test, set-up and quality commands, and a sentence on each that was filled in.

    *named* are the keys that the document gives. Set-up is filled only where tests are.
    """
    filled: Json = {}
    told: list[str] = []
    test = facts.find_command("test")
    if test is not None and "testCommand" not in {*named, *_given(made)}:
        filled["testCommand"] = test.command
        told.append(_words("testCommand", test))
        setup = facts.find_command("setup")
        if setup is not None and "setupCommands" not in {*named, *_given(made)}:
            if _stays_in_worktree(setup.command):
                filled["setupCommands"] = [setup.command]
                told.append(_words("setupCommands", setup))
            else:
                told.append(_left_out(setup))
    judging = [one for one in map(facts.find_command, JUDGING) if one is not None]
    declared = [one for one in judging if one.basis == "declared"]
    if declared and "qualityCommands" not in {*named, *_given(made)}:
        filled["qualityCommands"] = [one.command for one in declared]
        told += [_words("qualityCommands", one) for one in declared]
    return {**made, **filled}, tuple(told)


def _stays_in_worktree(command: str) -> bool:
    """Whether a set-up changes nothing that outlives its worktree but caches.

    Others install into what the person uses, and point it at a folder that is soon gone.
    """
    words = command.split()
    plain = not set(command) & set(";&|<>`$") and not {"-g", "--global"} & set(words)
    return plain and any(words[: len(known)] == known for known in map(str.split, LOCAL_SETUPS))


def _left_out(setup: Command) -> str:
    return (
        f"no setupCommands: `{setup.command}` ({setup.source.text}) may install beyond the "
        "worktree; name one yourself where a fresh worktree needs it"
    )


def _given(made: Json) -> set[str]:
    return {name for name, value in made.items() if value}


def _words(name: str, command: Command) -> str:
    return f"{name} from {command.source.text}: {command.command}"
