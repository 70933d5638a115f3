"""A person's own settings hold for all their projects, below those of each."""

from pathlib import Path

import pytest

from qloop.run.checkup_plan import load_settings
from qloop.run.config import layered, load_config, own_config
from qloop.system.errors import BadInput, Faults


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout's root, with a space in its path."""
    made = tmp_path / "a repo"
    made.mkdir()
    return made


def write(own: str, root: Path, of_project: str = "") -> None:
    """Write both files."""
    own_config().parent.mkdir(parents=True, exist_ok=True)
    own_config().write_text(own)
    (root / "qloop.toml").write_text(of_project)


def test_own_settings_lie_below_a_projects(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of tables each entry by itself; a model and a row of models are one question."""
    write(
        'runner = "claude"\nmodels = ["s", "l"]\nmax_parallel = 2\ntimeout = "1h"\n'
        '[limits]\nbudget_usd = 5.0\nlog_bytes = 20000\n[runners.a]\nargv = ["a"]\n',
        root,
        'model = "m"\nmax_parallel = 3\n[limits]\nbudget_usd = 1.5\n[runners.b]\nargv = ["b"]\n',
    )
    monkeypatch.setenv("QLOOP_TIMEOUT", "5m")
    found = load_config(root)

    assert (found.runner, found.model, found.models) == ("claude", "m", ())
    assert (found.max_parallel, found.timeout) == (3, 300.0)
    assert (found.limits.budget_usd, found.limits.log_bytes) == (1.5, 20000)
    assert list(found.runners) == ["a", "b"]
    assert [one.text for one in load_settings(root)[1]] == [
        f"{root / 'qloop.toml'}, then {own_config()}"
    ]


def test_without_a_projects_file_own_settings_hold(root: Path) -> None:
    """And without any the defaults."""
    assert load_config(root).max_parallel is None
    write("max_parallel = 2\n", root)
    (root / "qloop.toml").unlink()

    assert load_config(root).max_parallel == 2


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ("max_paralel = 2\n", "did you mean 'max_parallel'"),
        ("max_parallel = \n", "not TOML"),
        ("[roles.nobody]\nmodel = 'm'\n", "no such role"),
        ("[runners.shell]\nargv = ['x']\n", "qloop's own"),
    ],
)
def test_a_fault_is_told_of_the_file_that_has_it(root: Path, own: str, told: str) -> None:
    """Not of the project's, which is fine."""
    write(own, root, "max_parallel = 2\n")
    with pytest.raises(BadInput) as raised:
        load_config(root)

    faults = raised.value.faults if isinstance(raised.value, Faults) else ()
    assert told in " ".join((str(raised.value), *faults))
    assert raised.value.where == str(own_config())


def test_layers_do_not_change_each_other() -> None:
    """What is given stays as it is."""
    below = {"a": {"x": 1}, "models": ["m"], "b": 1}
    above = {"a": {"y": 2}, "model": "n", "b": {"z": 1}}

    assert layered(below, above) == {"a": {"x": 1, "y": 2}, "model": "n", "b": {"z": 1}}
    assert below == {"a": {"x": 1}, "models": ["m"], "b": 1}
