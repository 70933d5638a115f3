"""A plan that needs no planner: of a document with stories, or one story for the whole directive.

Errors: Faults for stories that cannot be a plan.
"""

import re
from pathlib import Path

from qloop.mission.action_plan import has_actions, plan_of_actions
from qloop.plan.model import Json
from qloop.plan.prd import compile_prd
from qloop.plan.prd_front import split_front_matter
from qloop.plan.validate import check_plan
from qloop.run.planning import path_in_plan, read_text
from qloop.state.mission import Mission
from qloop.state.store import store_for
from qloop.system.clock import utc_now
from qloop.system.errors import QloopError
from qloop.system.files import read_optional, write_atomic

ONLY_STORY = "US-001"


def plan_of_directive(folder: Path, root: Path, directive: str) -> Json:
    """The plan of an intent's actions, else of its document, made of the directive if missing."""
    spec = folder / "spec.md"
    data = read_optional(spec)
    text = spec_of(directive) if data is None else read_text(spec)
    if data is None:
        write_atomic(spec, text.encode())
    if has_actions(folder):
        made = plan_of_actions(folder, root, is_greenfield=False)
    else:
        made = compile_prd(text, path=path_in_plan(spec, root), now=utc_now())
    if "branchName" not in text.partition("\n---")[0]:
        made["branchName"] = f"ql/{folder.name}"
    return made


def ensure_direct_plan(folder: Path, root: Path, mission: Mission) -> None:
    """The plan of a mission that needs no planning, where there is none yet."""
    quantum = folder / "quantum.json"
    if not quantum.exists():
        made = plan_of_directive(folder, root, mission.directive)
        check_plan(made, str(folder / "spec.md"))
        store_for(quantum, root).replace(made)


def spec_of(directive: str) -> str:
    """A document with one story, which is the directive."""
    title = title_of(directive)
    body = directive.strip()
    return f"# {title}\n\n{body}\n\n## {ONLY_STORY}: {title}\n\n{body}\n"


def title_of(directive: str) -> str:
    """The first sentence of the directive's first line, at most 72 characters of it."""
    rest = split_front_matter(directive.strip())[1] or directive
    lines = rest.strip().splitlines() or [""]
    line = re.split(r"(?<=[.!?])\s", lines[0].strip("# ").strip(), maxsplit=1)[0].rstrip(".")
    return line if len(line) <= 72 else f"{line[:71].rstrip()}…"


def has_stories(text: str) -> bool:
    """Whether a document has stories that can be compiled."""
    try:
        compile_prd(text, path="", now=utc_now())
    except QloopError:
        return False
    return True
