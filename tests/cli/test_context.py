"""Options that commands share."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from qloop.cli.context import (
    Duration,
    checked_place,
    json_option,
    quantum_option,
    resolve_quantum,
)
from qloop.system.errors import InputMissing


@click.command()
@click.option("--timeout", type=Duration(), default="15m")
@quantum_option
@json_option
def show(timeout: float, quantum: Path | None, as_json: bool) -> None:
    """Tell the values."""
    click.echo(f"{timeout:g} {quantum} {as_json}")


@pytest.mark.parametrize(
    ("args", "values"),
    [
        ([], "900 None False"),
        (["--timeout", "90s"], "90 None False"),
        (["--timeout", "1h30m"], "5400 None False"),
        (["--timeout", "2.5"], "2.5 None False"),
        (["--quantum", "a/b.json"], "900 a/b.json False"),
        (["--json"], "900 None True"),
    ],
)
def test_values(args: list[str], values: str) -> None:
    """Durations arrive in seconds, the state file as a path, JSON as a flag."""
    assert CliRunner().invoke(show, args).output == values + "\n"


@pytest.mark.parametrize("text", ["soon", "", "-1s", "5 minutes"])
def test_no_duration(text: str) -> None:
    """What is no length of time is refused by name."""
    done = CliRunner().invoke(show, ["--timeout", text])

    assert done.exit_code == click.UsageError.exit_code
    assert "--timeout" in done.output


def test_state_file_of_the_root(tmp_path: Path) -> None:
    """Without an option the state file lies in the main checkout's root."""
    assert resolve_quantum(tmp_path, None) == tmp_path.resolve() / "quantum.json"


def test_state_file_seen_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An option is a path as the person sees it, not as the root does."""
    here = tmp_path / "sub"
    here.mkdir()
    monkeypatch.chdir(here)

    assert resolve_quantum(tmp_path, Path("q.json")) == here.resolve() / "q.json"


def test_state_file_behind_a_link(tmp_path: Path) -> None:
    """A link leads to the file that it stands for."""
    (tmp_path / "quantum.json").symlink_to("real.json")

    assert resolve_quantum(tmp_path, None) == tmp_path.resolve() / "real.json"


@pytest.mark.parametrize(("word", "told"), [("statsu", "`qloop status`"), ("x.md", "check")])
def test_a_document_that_is_not_there(word: str, told: str) -> None:
    """A word that was meant for a command gets that named, any other the path."""
    with pytest.raises(InputMissing, match=told):
        checked_place(Path(word))
