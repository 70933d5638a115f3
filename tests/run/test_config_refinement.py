"""The `[refinement]` table of qloop.toml."""

from pathlib import Path

import pytest

from qloop.run.config import load_config
from qloop.system.errors import QloopError

WHOLE = """
[refinement]
auto = false
serve = "python3 -m http.server $QLOOP_PORT"
ready_within = "5s"
routes = ["/", "/about?x=1"]
screenshots = false
personas = [{name = "a newcomer", about = "has never seen it"}]

[[refinement.flows]]
name = "buy tea"
commands = ["true", "false"]
"""


def load(folder: Path, text: str) -> object:
    """The table as it is read from a qloop.toml."""
    (folder / "qloop.toml").write_text(text, encoding="utf-8")
    return load_config(folder).refinement.model_dump()


def test_what_can_be_said(tmp_path: Path) -> None:
    """Every key is taken; without the table refinement is on, and looks at the root."""
    assert load(tmp_path, WHOLE) == {
        "auto": False,
        "serve": "python3 -m http.server $QLOOP_PORT",
        "ready_within": 5.0,
        "routes": ("/", "/about?x=1"),
        "screenshots": False,
        "personas": ({"name": "a newcomer", "about": "has never seen it"},),
        "flows": ({"name": "buy tea", "commands": ("true", "false")},),
    }
    bare = load(tmp_path, "")
    assert bare == {
        "auto": True, "serve": None, "ready_within": 60.0, "routes": ("/",),
        "screenshots": True, "flows": (), "personas": (),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[refinement]\nrouts = ['/']", "refinement.routs: unknown key, did you mean 'routes'?"),
        (
            "[[refinement.flows]]\nname = 'x'\ncomands = ['true']",
            "refinement.flows.0.comands: unknown key, did you mean 'commands'?",
        ),
        ("[refinement]\nroutes = ['about']", "'about' is no route"),
        ("[refinement]\nroutes = []", "refinement.routes"),
        ("[refinement]\nready_within = '0s'", "no time at all"),
        ("[refinement]\nauto = 'no'", "refinement.auto"),
        ("[[refinement.flows]]\nname = '../x'\ncommands = ['true']", "refinement.flows.0.name"),
        ("[[refinement.flows]]\nname = 'x'\ncommands = []", "refinement.flows.0.commands"),
        (
            "[refinement]\npersonas = [{name = 'A', about = 'x'}, {name = 'a', about = 'y'}]",
            "two of the personas have the name 'a'",
        ),
    ],
)
def test_what_cannot_be_said_is_named(tmp_path: Path, text: str, fault: str) -> None:
    """A key or value that is wrong is named with its place, an unknown key with the nearest."""
    with pytest.raises(QloopError) as refused:
        load(tmp_path, text)

    assert refused.value.exit_code == 65
    assert fault in "\n".join(getattr(refused.value, "faults", ()))
