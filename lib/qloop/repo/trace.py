"""What an attempt's git processes were asked to do, read from their trace file.

Every process appends JSON lines while it runs; a killed one leaves a torn line or no exit code,
and an agent may write anything at all into the file. So nothing in it is relied on: a line that
cannot be read is left out. Source: git's api-trace2 (the event format).
"""

import json
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qloop.repo.checkout import Repository

_LONGEST_LINE_BYTES = 1_000_000
_LONGEST_SHOWN = 200
_EVENTS = (b'"start"', b'"def_repo"', b'"cmd_name"', b'"def_param"', b'"exit"')
_WITH_VALUE = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env")
_DASHED = "_run_dashed_"


@dataclass(frozen=True, slots=True)
class TracedCommand:
    """One git process."""

    sid: str
    """Its own and its git ancestors' session ids, joined by slashes."""
    argv: tuple[str, ...]
    name: str
    """The command's word, such as `commit`; empty where there is none."""
    args: tuple[str, ...]
    """What follows the command's word."""
    code: int | None
    """Its exit code; None for a process that was killed."""
    worktree: str | None = None
    git_dir: str | None = None
    """`GIT_DIR` as it was; relative to a working directory that a trace does not tell."""
    folder: str | None = None
    """Where it was started, as far as `PWD` and `-C` tell."""
    external: bool = False
    """The word is a program of its own, such as git-lfs."""
    children: int = 0
    """How many git processes it started."""
    pushed: tuple[str, ...] = ()
    """For the receiving side of a push: what the push was asked for."""

    @property
    def failed(self) -> bool:
        """Whether it ended with an error; a killed process may have done its work."""
        return self.code not in (0, None)

    @property
    def text(self) -> str:
        """The command as a person would type it, shortened."""
        whole = "git " + shlex.join((self.name, *self.args))
        return whole if len(whole) <= _LONGEST_SHOWN else whole[:_LONGEST_SHOWN] + "…"


@dataclass(slots=True)
class _Process:
    """A process while its lines are being collected."""

    argv: tuple[str, ...] = ()
    worktree: str | None = None
    name: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    code: int | None = None
    children: int = 0


def read_trace(file: Path) -> tuple[TracedCommand, ...]:
    """The git processes of a trace file, in the order of their start; none without a file."""
    processes: dict[str, _Process] = {}
    for event in _events(file):
        sid, kind = event.get("sid"), event.get("event")
        if not isinstance(sid, str) or not isinstance(kind, str):
            continue
        if kind == "start":
            parent = processes.get(sid.rpartition("/")[0])
            if parent is not None:
                parent.children += 1
        _note(processes.setdefault(sid, _Process()), kind, event)
    return tuple(_command(sid, processes) for sid, seen in processes.items() if seen.argv)


def commands_in(
    repository: Repository, worktrees: Iterable[Path], commands: Iterable[TracedCommand]
) -> tuple[TracedCommand, ...]:
    """Those of *commands* that worked on the person's repository, in their order.

    A process that does not tell its repository belongs to that of the process that started it;
    a program of its own, for which git looks for none, to that of the git commands it ran.
    """
    places = frozenset((repository.git_dir, *worktrees))
    inside: dict[str, bool] = {}
    known = tuple(commands)
    for command in known:
        parent = command.sid.rpartition("/")[0]
        own = _is_inside(command, repository, places)
        inside[command.sid] = own if own is not None else inside.get(parent, False)
    callers = {sid.rpartition("/")[0] for sid, within in inside.items() if within}
    return tuple(
        command
        for command in known
        if inside[command.sid] or (command.external and command.sid in callers)
    )


def named_file(command: TracedCommand, word: str) -> Path:
    """A path that stands in a command's words, resolved as far as its folder is known."""
    return (Path(command.folder or "/") / word).resolve()


def _events(file: Path) -> Iterator[dict[str, Any]]:
    for line in _lines(file):
        if not any(kind in line[:100] for kind in _EVENTS):
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


def _lines(file: Path) -> Iterator[bytes]:
    """Lines of at most the longest length; longer ones are passed over, never held."""
    if not file.is_file():
        return
    with file.open("rb") as data:
        torn = False
        while line := data.readline(_LONGEST_LINE_BYTES):
            ended = line.endswith(b"\n")
            if ended and not torn:
                yield line
            torn = not ended


def _note(process: _Process, kind: str, event: dict[str, Any]) -> None:
    match kind, event:
        case "start", {"argv": list(argv)}:
            process.argv = tuple(map(str, argv))
        case "def_repo", {"repo": 1, "worktree": str(worktree)}:
            process.worktree = worktree
        case "cmd_name", {"name": str(name)}:
            process.name = name
        case "def_param", {"param": str(param), "value": str(value)}:
            process.variables.setdefault(param, value)
        case "exit", {"code": int(code)}:
            process.code = code
        case _:
            pass


def _command(sid: str, processes: dict[str, _Process]) -> TracedCommand:
    seen = processes[sid]
    folder, words = _split(seen.argv, seen.variables.get("PWD"))
    name = words[0] if words else ""
    return TracedCommand(
        sid=sid,
        argv=seen.argv,
        name=name,
        args=tuple(words[1:]),
        code=seen.code,
        worktree=seen.worktree,
        git_dir=seen.variables.get("GIT_DIR"),
        folder=folder,
        external=seen.name == _DASHED,
        children=seen.children,
        pushed=_pushed(sid, processes) if name == "receive-pack" else (),
    )


def _split(argv: tuple[str, ...], folder: str | None) -> tuple[str | None, list[str]]:
    """The folder that `-C` leads to, and the words from the command's own on."""
    program = argv[0].rpartition("/")[2]
    if program.startswith("git-"):
        return folder, [program.removeprefix("git-"), *argv[1:]]
    words = list(argv[1:])
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in _WITH_VALUE and words:
            value = words.pop(0)
            if option == "-C":
                folder = str(Path(folder or "") / value)
    return folder, words


def _pushed(sid: str, processes: dict[str, _Process]) -> tuple[str, ...]:
    """The words of the nearest push among a process's ancestors."""
    while sid := sid.rpartition("/")[0]:
        parent = processes.get(sid)
        if parent is not None and parent.argv:
            words = _split(parent.argv, None)[1]
            if words[:1] == ["push"]:
                return tuple(words[1:])
    return ()


def _is_inside(
    command: TracedCommand, repository: Repository, places: frozenset[Path]
) -> bool | None:
    """Whether a command's own signs lead to the person's repository; None without signs."""
    if command.name in ("receive-pack", "upload-pack") and command.args:
        # These enter the repository that they are given, whatever they are started in.
        return named_file(command, command.args[-1]) in places
    if command.git_dir is not None:
        starts = (command.worktree, command.folder)
        candidates = {(Path(start or "/") / command.git_dir).resolve() for start in starts}
        return any(_common(path) == repository.git_dir for path in candidates)
    if command.worktree is not None:
        return Path(command.worktree).resolve() in places
    return None


def _common(git_dir: Path) -> Path:
    """The common git directory of one that may be a linked worktree's."""
    return git_dir.parent.parent if git_dir.parent.name == "worktrees" else git_dir
