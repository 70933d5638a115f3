"""What commands share: the types and options that they all spell the same way.

Errors: click.BadParameter for an option's value, which the door turns into exit code 64;
InputMissing for a document, a folder or a repository that is not there.
"""

import math
from pathlib import Path

import click

from qloop.cli.commands import SHOWN
from qloop.repo.repository import Repository
from qloop.system.clock import parse_duration_s
from qloop.system.errors import BadInput, InputMissing

STATE_FILE = "quantum.json"


class InOrder(click.Group):
    """A group whose help shows its commands in the order in which they were made."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Their names."""
        return list(self.commands)


class Duration(click.ParamType):  # type: ignore[type-arg]  # generic in newer clicks only
    """A length of time such as `90s`, `15m` or `2h`, in seconds; 0 leaves no time at all."""

    name = "dur"

    def __init__(self, *, above_zero: bool = False) -> None:
        self.above_zero = above_zero

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds. Raises click.BadParameter."""
        try:
            seconds = parse_duration_s(str(value))
        except BadInput as exc:
            self.fail(str(exc), param, ctx)
        if self.above_zero and not seconds:
            self.fail(f"{value!r} is no time at all", param, ctx)
        return seconds


class Dollars(click.ParamType):  # type: ignore[type-arg]  # generic in newer clicks only
    """An amount of money above nothing; what is no number, or has no end, is none."""

    name = "usd"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """United States dollars. Raises click.BadParameter."""
        try:
            amount = float(str(value))
        except ValueError:
            amount = math.nan
        if not (math.isfinite(amount) and amount > 0):
            self.fail(f"{str(value)!r} is no amount, write dollars such as 2.50", param, ctx)
        return amount


quantum_option = click.option(
    "--quantum",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=f"The state file.  [default: {STATE_FILE} in the main checkout's root]",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print the data as JSON.")


def checked_place(prd: Path | None) -> Repository:
    """The repository here. Raises InputMissing for a document that is not there, first of all."""
    if prd is not None and not prd.exists():
        import difflib

        near = difflib.get_close_matches(str(prd), [entry.name for entry in SHOWN], n=1)
        raise InputMissing(
            "there is no such requirements document",
            where=str(prd),
            fix=f"did you mean `qloop {near[0]}`?" if near else "check the path",
        )
    from qloop.repo.checkout import find_repository

    return find_repository(Path.cwd())


def repository_here() -> Repository:
    """The repository of the current folder, for who looks; without git where its files tell.

    Raises InputMissing where there is none, BadInput for a bare one.
    """
    from qloop.repo.plain import find_plain

    plain = find_plain(Path.cwd())
    if plain is not None:
        return plain
    from qloop.repo.checkout import find_repository

    return find_repository(Path.cwd())


def default_state_file(option: Path | None) -> Path:
    """The state file as given, else the main checkout's or, where that has none, the active
    mission's, else the one in this folder.
    """
    if option is not None:
        return option
    try:
        root = repository_here().root
        return _active_plan(root) or resolve_quantum(root, None)
    except InputMissing:
        here = Path(STATE_FILE)
        if here.exists():
            return here
        raise


def _active_plan(root: Path) -> Path | None:
    """The active mission's plan where the main checkout has none of its own."""
    if (root / STATE_FILE).exists():
        return None
    from qloop.state.active import find_active

    folder = find_active(root / ".qloop")
    plan = None if folder is None else folder / STATE_FILE
    return plan if plan is not None and plan.exists() else None


def resolve_quantum(root: Path, option: Path | None) -> Path:
    """The state file's real path: as given, seen from the current folder, or the default in *root*.

    Links are followed, so that replacing the file replaces what the link points at. Raises
    InputMissing where its folder is not there.
    """
    path = (root / STATE_FILE if option is None else option).resolve()
    if not path.parent.is_dir():
        raise InputMissing("there is no such folder", where=str(path.parent), fix="make it first")
    return path
