"""The gate's one table: for each role what it may read, write, run and start. Pure values."""

from dataclasses import dataclass
from enum import StrEnum


class Zone(StrEnum):
    """A part of the file system, as seen from one agent."""

    ANYWHERE = "anywhere"
    TREE = "its worktree"
    ROOT = "the person's checkout"
    PRIVATE = ".qloop/"
    ROLE_FILES = "the role files"
    INTENT = "its intent's folder"
    RECON = "recon/ of its intent"
    PLANS = "spec.md, plan.md, checklist.md, plans/ and actions/ of its intent"
    REFINEMENT = "refinement/ of its intent"
    SCRATCH = "its temporary folder"


class Shell(StrEnum):
    """What a role's shell may run."""

    NONE = "nothing"
    READ = "one command that only reads"
    CHECKS = "one command that only reads, and the declared checks"
    TOOLKIT = "commands that only read, and qloop's toolkit"
    FREE = "everything that does no harm outside its worktree"


class Kind(StrEnum):
    """What a tool does."""

    READ = "read"
    SEARCH = "search"
    WRITE = "write"
    SHELL = "shell"
    SPAWN = "spawn"
    WEB = "web"
    PLAIN = "plain"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Row:
    """What one role may do."""

    reads: tuple[Zone, ...] = ()
    searches: tuple[Zone, ...] = ()
    writes: tuple[Zone, ...] = ()
    shell: Shell = Shell.NONE
    spawns: tuple[str, ...] = ()
    """The agents that it may start; their names may end in `-coordinator`, and be numbered."""
    web: bool = False
    plain: bool = True
    """Tools that touch nothing but the agent's own notes."""
    unknown: bool = False
    """Tools that qloop does not know."""


_LOOKS = (Zone.TREE, Zone.ROOT, Zone.INTENT, Zone.SCRATCH)

TABLE: dict[str, Row] = {
    "mission": Row(
        reads=(Zone.PRIVATE, Zone.ROLE_FILES),
        searches=(Zone.PRIVATE,),
        spawns=("phase", "recon", "planning", "execution", "refinement"),
    ),
    "recon": Row(
        reads=_LOOKS,
        searches=_LOOKS,
        writes=(Zone.RECON,),
        shell=Shell.READ,
        spawns=("scout", "scout-helper"),
        web=True,
    ),
    "planning": Row(
        reads=_LOOKS,
        searches=_LOOKS,
        writes=(Zone.PLANS,),
        shell=Shell.READ,
        spawns=("upscaler", "planner"),
        web=True,
    ),
    "refinement": Row(
        reads=_LOOKS,
        searches=_LOOKS,
        writes=(Zone.REFINEMENT,),
        shell=Shell.CHECKS,
        spawns=("visual-inspector", "e2e-exerciser", "persona-simulator", "refinement-synth"),
        web=True,
    ),
    "coordinator": Row(reads=_LOOKS, searches=_LOOKS, shell=Shell.TOOLKIT),
    "implementer": Row(
        reads=(Zone.ANYWHERE,),
        searches=(Zone.ANYWHERE,),
        writes=(Zone.TREE, Zone.SCRATCH),
        shell=Shell.FREE,
        web=True,
        unknown=True,
    ),
    "reviewer": Row(reads=_LOOKS, searches=_LOOKS, shell=Shell.CHECKS),
    "worker": Row(plain=False),
    "qa": Row(plain=False),
}

ALIASES = {
    "executor": "implementer",
    "merge-resolver": "implementer",
    "orchestrator": "implementer",
    "spec-reviewer": "reviewer",
    "quality-reviewer": "reviewer",
    "recognizer": "reviewer",
    "debugger": "reviewer",
    "brainstorming": "planning",
    "spec-specialist": "planning",
    "scout": "recon",
    "scout-helper": "recon",
    "upscaler": "planning",
    "planner": "planning",
    "visual-inspector": "refinement",
    "e2e-exerciser": "refinement",
    "persona-simulator": "refinement",
    "refinement-synth": "refinement",
}
"""Under which row the other roles stand."""

TOOLS: dict[str, Kind] = {
    "Read": Kind.READ,
    "NotebookRead": Kind.READ,
    "LS": Kind.SEARCH,
    "Glob": Kind.SEARCH,
    "Grep": Kind.SEARCH,
    "Write": Kind.WRITE,
    "Edit": Kind.WRITE,
    "MultiEdit": Kind.WRITE,
    "NotebookEdit": Kind.WRITE,
    "Bash": Kind.SHELL,
    "Monitor": Kind.SHELL,
    "Task": Kind.SPAWN,
    "Agent": Kind.SPAWN,
    "WebFetch": Kind.WEB,
    "WebSearch": Kind.WEB,
    **dict.fromkeys(
        (
            *("TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList"),
            *("TaskOutput", "TaskStop", "BashOutput", "KillShell", "KillBash"),
            *("EnterPlanMode", "ExitPlanMode", "AskUserQuestion", "Skill", "ToolSearch"),
            *("StructuredOutput",),
        ),
        Kind.PLAIN,
    ),
}
FOREIGN = "mcp__"
"""How the tools of other programs begin."""


def role_of(name: str) -> str | None:
    """The row under which a role stands; None for a role that is not known."""
    row = ALIASES.get(name, name)
    return row if row in TABLE else None


def kind_of(tool: str) -> Kind:
    """What a tool does."""
    return TOOLS.get(tool, Kind.UNKNOWN)
