"""The door: what every end of a command looks like from outside."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from qloop import __version__
from qloop.cli.commands import COMMANDS, HIDDEN, SHOWN, Entry
from qloop.cli.main import main

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that end as a test wants, beside the real ones."""
    for name in ("run", "sample", "family"):
        monkeypatch.setitem(COMMANDS, name, Entry(name, "cli_samples", ""))


def start(*args: str, stdout: int = subprocess.PIPE, **env: str) -> subprocess.Popen[bytes]:
    """Start qloop as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "qloop", *args],
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **env},
    )


@pytest.mark.parametrize(("way", "code"), [("0", 0), ("1", 1), ("3", 3), ("exit", 5)])
def test_a_commands_value_is_the_exit_code(way: str, code: int) -> None:
    """What a command returns, or exits with, is the process's exit code."""
    assert main(["sample", way]) == code


@pytest.mark.parametrize(
    ("way", "code", "message"),
    [
        ("bad", 65, "error: no such field, quantum.json: $.x, remove it\n"),
        ("busy", 75, "error: another run holds this repository\n"),
        ("faults", 65, "error: 2 faults, quantum.json\n  $.a: one\n  $.b: two\n"),
        ("escape", 1 + 64, "error: title [2Jwiped\n  second\n"),
        ("interrupt", 130, ""),
        ("abort", 130, ""),
        ("pipe", 141, ""),
        ("full", 65, "error: no space left on device, /some/file, free some space"),
        ("denied", 65, "error: permission denied, /some/file, give yourself permission"),
    ],
)
def test_expected_failures(capsys: Captured, way: str, code: int, message: str) -> None:
    """A failure is a message of what, where and what to do, with its class's exit code."""
    ended = main(["sample", way])
    told = capsys.readouterr()

    assert ended == code
    assert told.out == ""
    assert told.err.startswith(message)
    assert told.err.count("\n") == message.rstrip("\n").count("\n") + bool(message)


@pytest.mark.parametrize("way", ["bug", "strange"])
def test_a_bug_is_saved_as_a_report(capsys: Captured, way: str) -> None:
    """An unexpected error is one line that names a report with versions and the traceback."""
    code = main(["sample", way])
    told = capsys.readouterr().err
    (report,) = (Path(os.environ["XDG_STATE_HOME"]) / "qloop" / "crashes").iterdir()
    text = report.read_text("utf-8")

    assert code == 70
    assert told.startswith("error: a bug of qloop (")
    assert str(report) in told
    assert told.count("\n") == 1
    assert f"qloop {__version__}" in text
    assert "Traceback" in text


def test_a_bug_is_told_where_no_state_folder_can_be(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A report that cannot lie in the state folder lies in the folder of temporary files."""
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "a file"))
    code = main(["sample", "bug"])

    assert code == 70
    assert "report saved in" in capsys.readouterr().err


@pytest.mark.parametrize("way", ["bad", "bug"])
def test_debug_shows_the_traceback(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """QLOOP_DEBUG=1 shows where an error came from, and changes nothing else."""
    code = main(["sample", way])
    quiet = capsys.readouterr().err
    monkeypatch.setenv("QLOOP_DEBUG", "1")
    debug_code = main(["sample", way])
    told = capsys.readouterr().err

    assert debug_code == code
    assert "Traceback" not in quiet
    assert "Traceback" in told
    assert "error: " in told


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--max-paralel", "3"], ("no such option", "qloop run", "--max-parallel")),
        (["--max-parallel", "0"], ("invalid value for '--max-parallel'", "0 is not in the range")),
        (["--max-parallel"], ("'--max-parallel' requires an argument", "see: qloop run --help")),
        (["a.md", "b.md"], ("unexpected extra argument (b.md)", "qloop run")),
        (["sample"], ("missing argument 'WAY'", "see: qloop sample --help")),
        (["family"], ("subcommand is missing", "qloop family", "child")),
        (["family", "chidl"], ("no such command 'chidl'", "did you mean child?")),
        (["--version", "--strange"], ("no such option", "see: qloop --help")),
    ],
)
def test_wrong_usage_is_64(capsys: Captured, args: list[str], words: tuple[str, ...]) -> None:
    """What a command line lacks or has too much is one error line that helps, and 64."""
    code = main(args)
    told = capsys.readouterr()

    assert code == 64
    assert told.out == ""
    assert told.err.startswith("error: ")
    assert told.err.count("\n") == 1
    assert [word for word in words if word not in told.err] == []


@pytest.mark.parametrize(
    ("args", "arrived"),
    [
        (["prd.md"], "None None prd.md"),
        (["--max-parallel", "3", "prd.md"], "3 None prd.md"),
        (["prd.md", "--max-parallel", "3"], "3 None prd.md"),
        (["run", "prd.md"], "None None prd.md"),
        (["--max-parallel", "3", "status"], "3 None status"),
        (["--", "--odd.md"], "None None --odd.md"),
    ],
)
def test_a_first_word_that_is_no_command_belongs_to_run(
    capsys: Captured, args: list[str], arrived: str
) -> None:
    """`qloop [OPTIONS] [PRD]` is `qloop run [OPTIONS] [PRD]`."""
    code = main(args)

    assert code == 0
    assert capsys.readouterr().out == arrived + "\n"


def test_bare_qloop_is_the_overview(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """No word at all shows where things stand."""
    monkeypatch.setitem(COMMANDS, "overview", Entry("run", "cli_samples", ""))
    code = main([])

    assert code == 0
    assert capsys.readouterr().out == "None None None\n"


def test_git_variables_are_not_obeyed(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command sees none of the caller's GIT_ variables."""
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/elsewhere/index")
    main(["sample", "environment"])

    assert capsys.readouterr().out == "\n"


def test_exit_statuses_stay_readable() -> None:
    """A caller that ignores SIGCHLD does not make qloop lose its children's exit statuses."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    main(["sample", "0"])
    after = signal.getsignal(signal.SIGCHLD)
    signal.signal(signal.SIGCHLD, before)

    assert after is signal.SIG_DFL


def test_a_reader_that_leaves_is_no_error() -> None:
    """Output that nobody reads any more ends the command quietly, not with 1 for blocked."""
    read, write = os.pipe()
    os.close(read)
    with start("--help", stdout=write) as child:
        os.close(write)
        _, err = child.communicate()

    assert err == b""
    assert child.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told() -> None:
    """Output that cannot be written is an error, told once."""
    with Path("/dev/full").open("wb") as full, start("--version", stdout=full.fileno()) as child:
        _, err = child.communicate()

    assert child.returncode == 65
    assert err.startswith(b"error: no space left on device")
    assert err.count(b"\n") == 1


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_shows_every_command_by_purpose(capsys: Captured, option: str) -> None:
    """Three commands come first; then all are named by what they are for, but hidden ones."""
    code = main([option])
    told = capsys.readouterr().out
    sections = ["Start here:", "All commands:", "Run ", "Missions ", "Plan ", "Look ", "Toolkit "]

    assert code == 0
    assert [told.index(title) for title in sections] == sorted(map(told.index, sections))
    assert "`qloop run --help`" in told
    named = told[told.index("All commands:") :]
    assert all(entry.name in named for entry in SHOWN)
    assert not any(entry.name in named for entry in HIDDEN)


def test_the_help_command_says_what_each_does(capsys: Captured) -> None:
    """A line for every command; all about one where that is named."""
    assert main(["help"]) == 0
    told = capsys.readouterr().out
    assert all(f"  {entry.name} " in told and entry.help in told for entry in SHOWN)
    assert main(["help", "sample"]) == 0
    assert "End in the way" in capsys.readouterr().out
    assert main(["help", "no-such"]) == 64


def test_help_of_a_command(capsys: Captured) -> None:
    """-h works on every command."""
    code = main(["sample", "-h"])

    assert code == 0
    assert "End in the way" in capsys.readouterr().out


def test_help_and_version_import_nothing_heavy() -> None:
    """What only the door needs starts without the engine's libraries."""
    code = (
        "import sys; from qloop.cli.main import main; main(['--help']); main(['--version']);"
        "print(sorted({'git', 'pydantic', 'rich', 'jsonschema'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True)

    assert done.stdout.splitlines()[-1] == b"[]"


def test_words_that_the_terminal_cannot_show_come_escaped() -> None:
    """A narrow encoding of the terminal is no bug of qloop."""
    with start("--strange-é", PYTHONIOENCODING="ascii") as child:
        _, err = child.communicate()

    assert child.returncode in (64, 70)
    assert b"UnicodeEncodeError" not in err


def completions(incomplete: str, *before: str) -> list[str]:
    """What bash is offered."""
    words = " ".join(["qloop", *before, incomplete])
    with start(
        _QLOOP_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(1 + len(before))
    ) as child:
        out, err = child.communicate()
    assert err == b""
    return out.decode().splitlines()


def test_completion_of_a_first_word() -> None:
    """A first word may be a command or a requirements document."""
    assert completions("st") == ["plain,stop", "plain,story", "plain,status", "file,st"]


def test_completion_of_a_first_option() -> None:
    """A first option may be one of `run`."""
    offered = completions("--")

    assert "plain,--max-parallel" in offered
    assert "plain,--version" in offered
    assert offered.count("plain,--help") == 1
