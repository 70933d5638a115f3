"""What `doctor` does once its words are parsed."""

from dataclasses import asdict
from pathlib import Path

from qloop.run.checkup import check_up
from qloop.run.finding import Finding
from qloop.ui import console

SOMETHING_BAD = 1


def check_here(quantum: Path | None, *, as_json: bool) -> int:
    """Look at everything that a run here depends on; 1 where something is bad, else 0."""
    findings = check_up(Path.cwd(), quantum)
    bad = any(one.state == "bad" for one in findings)
    if as_json:
        console.print_json({"ok": not bad, "findings": [asdict(one) for one in findings]})
    else:
        for one in findings:
            console.result(console.printable(render_finding(one)))
    return SOMETHING_BAD if bad else 0


def render_finding(one: Finding) -> str:
    """A finding for people: a line, further ones below it, and the fix last."""
    head = f"{one.state:<4}  {one.check:<15}  "
    lines = one.text.splitlines() or [""]
    if one.fix:
        lines.append(f"-> {one.fix}")
    return head + ("\n" + " " * len(head)).join(lines)
