"""Expected failures, each with the exit code that the contract gives it.

An error says what is wrong, where, and what to do about it; the command line prints the three
on standard error and exits with the class's code.
"""

from typing import Any, ClassVar


class QloopError(Exception):
    """An expected failure: a message for the user, never a traceback."""

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what = what
        self.where = where
        self.fix = fix
        super().__init__(", ".join(self.parts))

    @property
    def parts(self) -> tuple[str, ...]:
        """What is wrong, where, and what to do, as far as each is told."""
        return tuple(part for part in (self.what, self.where, self.fix) if part)

    def __reduce__(self) -> tuple[object, ...]:
        """How it goes from one process to another: whole, whatever its class asks for."""
        return _remake, (type(self), self.args, self.__dict__)


class PersonNeeded(QloopError):
    """Only a person can decide how to go on."""

    exit_code = 3


class UsageWrong(QloopError):
    """The command line asks for something that cannot be."""

    exit_code = 64


class BadInput(QloopError):
    """A file, a plan, a commit or a setting that cannot be used as it is."""

    exit_code = 65


class InputMissing(QloopError):
    """A file or a repository that is not there."""

    exit_code = 66


class RunnerUnavailable(QloopError):
    """No runner that could do the work is installed."""

    exit_code = 69


class InternalFailure(QloopError):
    """Something that should always work did not: git, a disk, a lock."""

    exit_code = 70


class ProgramMissing(QloopError):
    """A program that qloop itself needs is not installed."""

    exit_code = 69


class RepositoryBusy(QloopError):
    """Another run holds this repository."""

    exit_code = 75


class Faults(BadInput):
    """Several faults of one input, told all at once; each is a line of the message."""

    def __init__(
        self, what: str, faults: tuple[str, ...], *, where: str = "", fix: str = ""
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.faults = faults


def _remake(kind: type[QloopError], args: tuple[Any, ...], fields: dict[str, Any]) -> QloopError:
    made = kind.__new__(kind, *args)
    made.args = args
    made.__dict__.update(fields)
    return made
