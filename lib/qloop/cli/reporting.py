"""What `report` does once its words are parsed: it gathers, draws, and writes one file."""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from qloop.agents.readable import readable_log
from qloop.cli.looking import Place, find_place, read_status, this_moment
from qloop.cli.planning import read_plan
from qloop.plan.model import Plan
from qloop.repo.exclude import ensure_excluded
from qloop.repo.kept import list_salvage
from qloop.repo.landed import changes_of
from qloop.state.journal import Event
from qloop.system.clock import utc_now
from qloop.system.errors import BadInput, InputMissing
from qloop.system.files import write_atomic
from qloop.system.logged import read_tail
from qloop.system.masking import mask_text
from qloop.ui import console
from qloop.ui.history import events_of_plan
from qloop.ui.logs import plain_text
from qloop.ui.report_html import render_html
from qloop.ui.report_markdown import render_markdown
from qloop.ui.report_view import (
    FileRow,
    Report,
    Sources,
    build_report_view,
    failed_attempts,
    landed_commits,
)
from qloop.ui.timeline_drawing import draw_timeline

Form = Literal["html", "markdown", "timeline"]

ENDINGS: dict[Form, str] = {"html": "html", "markdown": "md", "timeline": "svg"}
OUTPUT_BYTES = 3_000
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")


def report_here(quantum: Path | None, out: Path | None, form: Form, run: str | None) -> int:
    """Write a report, or print it where *out* is `-`; its path goes to standard output."""
    place = find_place(quantum)
    plan = read_plan(place.state_file)
    now = this_moment()
    report = _gather(place, plan, run, now)
    text = _render(report, form, now)
    if out is not None and str(out) == "-":
        console.result(text.removesuffix("\n"))
        return 0
    console.result(str(_write(place, report, text, out, ENDINGS[form])))
    return 0


def _gather(place: Place, plan: Plan, run: str | None, now: datetime) -> Report:
    """All that is known. Raises BadInput for a run that is none of this plan's."""
    everything = place.events()
    told = events_of_plan(plan, everything, now)
    wanted = told if run is None else _of_run(told, run)
    salvaged: dict[str, dict[int, tuple[str, str]]] = {}
    changed: dict[str, tuple[FileRow, ...]] = {}
    if place.repository is not None:
        for row in list_salvage(place.repository):
            salvaged.setdefault(row.story, {})[row.attempt] = (row.ref, row.commit)
        for commit, rows in changes_of(place.repository, landed_commits(told)).items():
            changed[commit] = tuple(
                FileRow(path=one.path, added=one.added, deleted=one.deleted) for one in rows
            )
    known = Sources(wanted, run, salvaged, changed, _outputs(place, plan, wanted))
    status = read_status(place, plan, everything, now)
    return build_report_view(plan, status, known, utc_now())


def _of_run(events: Sequence[Event], run: str) -> list[Event]:
    found = [event for event in events if event.run == run]
    if not found:
        known = list(dict.fromkeys(event.run for event in events))
        fix = f"there are: {', '.join(known[-5:])}" if known else "no run of it was made yet"
        raise BadInput(f"this plan has no run {run!r}", fix=fix)
    return found


def _outputs(place: Place, plan: Plan, events: Sequence[Event]) -> dict[str, dict[int, str]]:
    """The end of what the agents of failed attempts printed."""
    found: dict[str, dict[int, str]] = {}
    for story, number in failed_attempts(plan, events):
        log = place.private / "logs" / story / str(number) / "output.log"
        text = plain_text(read_tail(readable_log(log), OUTPUT_BYTES).encode()).strip()
        if text:
            found.setdefault(story, {})[number] = text
    return found


def _render(report: Report, form: Form, now: datetime) -> str:
    """The report's text. Raises InputMissing for a timeline without an attempt."""
    if form == "html":
        return render_html(report, now)
    if form == "markdown":
        return render_markdown(report, now)
    drawn = [run.timeline for run in report.runs if run.timeline is not None]
    if not drawn:
        raise InputMissing("no attempt was made yet", fix="`qloop run` makes some")
    titles = {one.story.id: one.story.title or "" for one in report.stories}
    return f"{draw_timeline(drawn[-1], titles).markup}\n"


def _write(place: Place, report: Report, text: str, out: Path | None, ending: str) -> Path:
    data = mask_text(text).encode("utf-8")
    if out is None:
        newest = report.runs[-1].id if report.runs else "plan"
        name = newest if _FILE_NAME.fullmatch(newest) else "run"
        if place.repository is not None:
            ensure_excluded(place.repository, place.state_file)
        path = place.private / "reports" / f"{name}.{ending}"
        write_atomic(path, data)
        return path
    if not out.parent.is_dir():
        raise InputMissing("there is no such folder", where=str(out.parent), fix="make it first")
    out.write_bytes(data)  # not by a rename: it may be a pipe or a link
    return out
