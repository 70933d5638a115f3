"""What people and scripts see, on a terminal and elsewhere."""

import json
import os
import pty
import sys
from pathlib import Path

import pytest

from qloop.system import process
from qloop.ui import console

Captured = pytest.CaptureFixture[str]
ROWS = [("US-001", "Zähler 数", 1), ("US-20", None, 12)]


def test_table_is_aligned_text_outside_a_terminal(capsys: Captured) -> None:
    """Columns stand under their names, wide characters counted, nothing at the line ends."""
    console.table(("story", "title", "attempts"), ROWS)

    assert capsys.readouterr().out.splitlines() == [
        "story   title      attempts",
        "US-001  Zähler 数  1",
        "US-20              12",
    ]


def test_table_keeps_a_row_on_a_line(capsys: Captured) -> None:
    """Line ends and control characters in a cell do not break the table."""
    console.table(("a", "b"), [("one\ntwo", "\x1b[31mred")])

    assert capsys.readouterr().out.splitlines() == ["a        b", "one two  [31mred"]


def test_say_goes_to_standard_error_without_controls(capsys: Captured) -> None:
    """A title that came from an agent cannot move the cursor."""
    console.say("story \x1b[2J\x07done\x9b")
    told = capsys.readouterr()

    assert told.out == ""
    assert told.err == "story [2Jdone\n"


def test_result_is_kept_as_it_is(capsys: Captured) -> None:
    """What was asked for arrives unchanged."""
    console.result("\x1b[1mraw\x1b[0m")

    assert capsys.readouterr().out == "\x1b[1mraw\x1b[0m\n"


def test_json_can_be_read_back(capsys: Captured) -> None:
    """A value arrives as JSON, readable for people where the encoding allows."""
    console.print_json([{"title": "Zähler", "n": None}])
    told = capsys.readouterr().out

    assert json.loads(told) == [{"title": "Zähler", "n": None}]
    assert "Zähler" in told


def test_json_in_a_narrow_encoding_is_still_json() -> None:
    """Characters beyond the stream's encoding are escaped as JSON does it."""
    code = "from qloop.ui import console; console.print_json('Zähler \\U0001f600')"
    done = process.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert json.loads(done.out.decode("ascii")) == "Zähler \U0001f600"


def on_terminal(code: str, **env: str) -> str:
    """What a program writes that has a terminal for its output."""
    ours, theirs = pty.openpty()
    plain = {name: os.environ[name] for name in os.environ.keys() - {"CI", "NO_COLOR"}}
    path = os.pathsep.join(sys.path)
    words = f"import os, sys; sys.stdout = sys.stderr = open({theirs}, 'w'); {code}"
    try:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-c", words],
            {**plain, "TERM": "xterm", "COLUMNS": "40", "PYTHONPATH": path, **env},
            file_actions=[(os.POSIX_SPAWN_DUP2, theirs, theirs)],
        )
        assert process.wait_status(pid) == 0
        return os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)


TABLE = "from qloop.ui import console; console.table(('a', 'b'), [('one', '[red]two')])"


def test_table_is_drawn_on_a_terminal() -> None:
    """On a terminal a table has lines, and text that looks like markup stays text."""
    drawn = on_terminal(TABLE)

    assert "─" in drawn
    assert "[red]two" in drawn


def test_a_long_error_is_laid_out_in_lines_at_a_terminal() -> None:
    """What, where and what to do stand below each other where one line has no room for them."""
    code = (
        "from qloop.ui import console; from qloop.system.errors import BadInput;"
        "console.fail(BadInput('there is no story X', where='/a/long/folder', fix='look: status'))"
    )
    rows = on_terminal(code).splitlines()

    assert rows[0].endswith("there is no story X,")
    assert rows[1:] == ["  /a/long/folder,", "  look: status"]


@pytest.mark.parametrize("name", ["NO_COLOR", "CI", "TERM"])
def test_terminals_that_want_plain_text_get_it(name: str) -> None:
    """NO_COLOR, CI and a dumb terminal make everything plain."""
    drawn = on_terminal(TABLE, **{name: "dumb"})

    assert "─" not in drawn
    assert "\x1b" not in drawn


def test_errors_are_red_on_a_terminal() -> None:
    """On a terminal the word that matters stands out."""
    code = (
        "from qloop.ui import console; from qloop.system.errors import BadInput;"
        "console.fail(BadInput('wrong'))"
    )

    assert on_terminal(code).startswith("\x1b[1;31merror:\x1b[0m wrong")
    assert on_terminal(code, NO_COLOR="1").startswith("error: wrong")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_work_goes_on_when_nobody_hears() -> None:
    """A standard error that cannot be written to does not end the program."""
    code = "from qloop.ui import console; console.say('lost'); console.result('kept')"
    script = f"{code}; console.close_output()"
    done = process.run(
        ["bash", "-c", 'exec "$0" -c "$1" 2>/dev/full', sys.executable, script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert done.code == 0
    assert done.text == "kept"


@pytest.mark.parametrize("closing", [">&-", "2>&-"])
def test_closed_streams_are_no_error(closing: str) -> None:
    """A program started with a closed stream works without it."""
    code = (
        "from qloop.ui import console; console.prepare(); console.say('a'); console.result('b');"
        "console.close_output()"
    )
    done = process.run(
        ["bash", "-c", f'exec "$0" -c "$1" {closing}', sys.executable, code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert done.code == 0
    assert (done.text, done.complaint) == (("", "a") if closing == ">&-" else ("b", ""))
