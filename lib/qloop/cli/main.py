"""The one door out: starts a command, and turns whatever it raises into a message and a code.

Nothing but this module catches errors to end the process; everything else just raises. qloop
obeys no `GIT_*` variable: inside a hook they would silently point it at another repository.
"""

import errno
import os
import sys
from collections.abc import Sequence

import click
from click.exceptions import Exit, NoArgsIsHelpError

from qloop.cli.commands import cli, route
from qloop.system.child_signal import reset_child_signal
from qloop.system.errors import BadInput, QloopError, UsageWrong
from qloop.ui import console

INTERRUPTED = 130
OUTPUT_CLOSED = 128 + 13  # what a shell reports of a program that SIGPIPE ended
COMPLETE_VARIABLE = "_QLOOP_COMPLETE"

MACHINE_FIXES = {
    errno.EACCES: "give yourself permission to it",
    errno.EPERM: "give yourself permission to it",
    errno.EROFS: "choose a place that can be written to",
    errno.ENOSPC: "free some space and start again",
    errno.EDQUOT: "free some of your quota and start again",
    errno.EMFILE: "raise the limit of open files (ulimit -n) and start again",
    errno.ENFILE: "close other programs and start again",
    errno.ENAMETOOLONG: "use a shorter path",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (default: the process's own) and return its exit code."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # what is installed beside is not ours
    reset_child_signal()
    console.prepare()
    code = _answer(list(sys.argv[1:] if argv is None else argv))
    _end_lookups()
    console.close_output()
    return code


def _end_lookups() -> None:
    """Let no git that answers questions outlive the command, where one was ever asked."""
    loaded = sys.modules.get("qloop.repo.lookup")
    if loaded is not None:
        loaded.close_all()


def _answer(words: list[str]) -> int:
    try:
        return _dispatch(words)
    except QloopError as exc:
        return console.fail(exc)
    except click.ClickException as exc:
        return console.fail(usage_error(exc, words))
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        return OUTPUT_CLOSED
    except OSError as exc:
        refused = machine_error(exc)
        return console.crash(exc) if refused is None else console.fail(refused)
    except Exception as exc:  # noqa: BLE001 -- the one place: a bug becomes a saved report
        return console.crash(exc)


def _dispatch(words: list[str]) -> int:
    # Not click's own `main`: it ends the process itself when the reader of a pipe is gone.
    instruction = os.environ.get(COMPLETE_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, "qloop", COMPLETE_VARIABLE, instruction)
    try:
        with cli.make_context("qloop", words) as context:
            return int(cli.invoke(context) or 0)
    except Exit as exc:
        return exc.exit_code


def usage_error(error: click.ClickException, words: Sequence[str]) -> UsageWrong:
    """What click found wrong with a command line, as an error of qloop's own."""
    context = getattr(error, "ctx", None)  # click does not always know
    where = f"qloop {route(words)[0]}" if context is None else context.command_path
    help_hint = f"see: {where} --help"
    if isinstance(error, NoArgsIsHelpError):
        return UsageWrong("a subcommand is missing", where=where, fix=_choices(error.ctx))
    nearest = getattr(error, "possibilities", None)
    if not nearest:
        return UsageWrong(_clause(error.format_message()), where=where, fix=help_hint)
    choice = " or ".join(nearest[:3])
    return UsageWrong(
        _clause(error.message), where=where, fix=f"did you mean {choice}? {help_hint}"
    )


def _choices(context: click.Context) -> str:
    command = context.command
    names = command.list_commands(context) if isinstance(command, click.Group) else []
    return f"one of {', '.join(names)}; see: {context.command_path} --help"


def machine_error(error: OSError) -> BadInput | None:
    """What the machine refused, or None for an error that can only be a bug."""
    fix = MACHINE_FIXES.get(error.errno or 0)
    if fix is None:
        return None
    places = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return BadInput(_clause(error.strerror or str(error)), where=" and ".join(places), fix=fix)


def _clause(sentence: str) -> str:
    text = sentence.strip().rstrip(".")
    return text[:1].lower() + text[1:]
