"""Which phases a mission needs, by wishes and measured facts."""

import pytest

from qloop.mission.choosing import Measured, Wishes, decide_phase, decide_phases
from qloop.run.config_refinement import Flow, Refinement
from qloop.state.phases import PhaseName
from scout_trees import scout

RECON, PLANNING, EXECUTION, REFINEMENT = PhaseName
CODE = {"main.py": ""}
PAGES = {"index.html": "<p>"}
FLOW = Flow(name="order", commands=("true",))

TABLE = {
    "a program": (CODE, {}, {}, {RECON, PLANNING, EXECUTION}),
    "a program with pages": (PAGES, {}, {}, {RECON, PLANNING, EXECUTION, REFINEMENT}),
    "a green field": ({}, {}, {}, {PLANNING, EXECUTION}),
    "known code": (CODE, {}, {"known_from": "1--tea"}, {PLANNING, EXECUTION}),
    "trivial": (PAGES, {}, {"is_trivial": True}, {EXECUTION, REFINEMENT}),
    "quick": (PAGES, {"is_quick": True}, {}, {EXECUTION}),
    "not wanted": (PAGES, {"skips": (RECON, EXECUTION)}, {}, {PLANNING, EXECUTION, REFINEMENT}),
    "disabled": (PAGES, {"refinement": Refinement(auto=False)}, {}, {RECON, PLANNING, EXECUTION}),
    "declared flows": (
        CODE,
        {"refinement": Refinement(flows=(FLOW,))},
        {},
        {RECON, PLANNING, EXECUTION, REFINEMENT},
    ),
    "served": (
        CODE,
        {"refinement": Refinement(serve="make serve")},
        {},
        {RECON, PLANNING, EXECUTION, REFINEMENT},
    ),
    "programs of one's own": (
        {},
        {"own_coordinators": (RECON, REFINEMENT)},
        {},
        {RECON, PLANNING, EXECUTION, REFINEMENT},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "wishes", "measured", "expected"), TABLE.values(), ids=TABLE)
def test_which_phases_run(
    files: dict[str, str],
    wishes: dict[str, object],
    measured: dict[str, object],
    expected: set[PhaseName],
) -> None:
    """Each phase is decided for itself, with a reason; EXECUTION always runs."""
    given = Measured(scout(files), **measured)  # type: ignore[arg-type]
    choices = decide_phases(given, Wishes(**wishes))  # type: ignore[arg-type]

    assert [one.phase for one in choices] == list(PhaseName)
    assert {one.phase for one in choices if one.runs} == expected
    assert all(one.reason for one in choices)


@pytest.mark.parametrize(
    ("phase", "files", "measured", "reason"),
    [
        (RECON, {}, {}, "greenfield: no source file is tracked"),
        (
            RECON,
            CODE,
            {"known_from": "1--tea"},
            "known codebase: the fingerprint is that of 1--tea",
        ),
        (PLANNING, CODE, {"is_trivial": True}, "trivial"),
        (EXECUTION, {}, {"is_trivial": True}, "never skipped"),
        (REFINEMENT, CODE, {}, "no UI"),
        (REFINEMENT, PAGES, {}, "there is a UI: HTML (index.html)"),
    ],
)
def test_the_reasons(
    phase: PhaseName, files: dict[str, str], measured: dict[str, object], reason: str
) -> None:
    """A reason names what was measured."""
    given = Measured(scout(files), **measured)  # type: ignore[arg-type]

    assert decide_phase(phase, Wishes(), given).reason == reason
