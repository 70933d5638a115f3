"""The gate: role, tool and path come to a decision and the rule's name."""

from dataclasses import replace
from pathlib import Path

import pytest

from agents.gate_site import Site, make_site
from qloop.agents.gate.act import UnclearCall
from qloop.agents.gate.table import ALIASES, TABLE, TOOLS, role_of
from qloop.agents.roles import role_names


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """The site."""
    return make_site(tmp_path)


def test_every_role_file_stands_in_the_table() -> None:
    """No agent that qloop starts is unknown to the gate."""
    assert [name for name in role_names() if role_of(name) is None] == []
    assert set(ALIASES.values()) <= TABLE.keys()


@pytest.mark.parametrize("role", ["worker", "qa"])
@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_worker_and_qa_have_no_tools(site: Site, role: str, tool: str) -> None:
    """Whatever it is."""
    made = site.ask(role, tool, file_path="a.txt", command="ls", subagent_type="planner")

    assert (made.allow, made.rule) == (False, "no-tools")


READS = [
    ("mission", ".qloop/STATE.md", True),
    ("mission", ".qloop/intents/../intents/1--csv/state.json", True),
    ("mission", "src/a.py", False),
    ("mission", ".qloop/../src/a.py", False),
    ("mission", ".qloop/out/a.py", False),
    ("mission", ".claude/agents/planner.md", True),
    ("recon", "src/a.py", True),
    ("recon", "/etc/passwd", False),
    ("planning", ".qloop/intents/1--csv/recon/facts.json", True),
    ("reviewer", "../a tree/src/a.py", True),
    ("coordinator", "../elsewhere", False),
    ("implementer", "/etc/hosts", True),
]


@pytest.mark.parametrize(("role", "path", "allowed"), READS)
def test_reads(site: Site, role: str, path: str, allowed: bool) -> None:
    """Relative and absolute paths, and those through `..` and links, come to the same."""
    relative = site.ask(role, "Read", cwd=site.root, file_path=path)
    absolute = site.ask(role, "Read", file_path=str(site.root / path))

    assert relative.allow is allowed
    assert relative.rule == ("read" if allowed else "read-outside")
    assert relative == absolute


@pytest.mark.parametrize(
    ("tool", "args", "allowed"),
    [
        ("Glob", {"pattern": ".qloop/**/*.md"}, True),
        ("Glob", {"pattern": "**/*.md"}, False),
        ("Glob", {"pattern": "*.md", "path": ".qloop"}, True),
        ("Glob", {"pattern": "../src/*", "path": ".qloop"}, False),
        ("Grep", {"pattern": "status", "path": ".qloop/intents"}, True),
        ("Grep", {"pattern": ".qloop"}, False),
        ("Glob", {"pattern": "*", "path": ".claude/agents"}, False),
    ],
)
def test_the_mission_searches_its_state_only(
    site: Site, tool: str, args: dict[str, str], allowed: bool
) -> None:
    """Where all matches of a pattern lie counts, not how it is written."""
    assert site.ask("mission", tool, cwd=site.root, **args).allow is allowed


def test_a_pattern_that_climbs_is_not_understood(site: Site) -> None:
    """After a sign that matches names, `..` could lead anywhere."""
    with pytest.raises(UnclearCall):
        site.ask("mission", "Glob", cwd=site.root, pattern=".qloop/*/../../src/*")


OWN = ".qloop/intents/1--csv"
WRITES = [
    ("mission", f"{OWN}/state.json", "!no-write"),
    ("reviewer", "a.txt", "!no-write"),
    ("coordinator", "a.txt", "!no-write"),
    ("recon", f"{OWN}/recon/facts.json", "write"),
    ("recon", f"{OWN}/recon/../state.json", "!write-outside"),
    ("recon", f"{OWN}/reconnaissance", "!write-outside"),
    ("recon", ".qloop/intents/2--pdf/recon/facts.json", "!write-outside"),
    ("recon", "src/a.py", "!write-outside"),
    ("scout", f"{OWN}/recon/new/deep.md", "write"),
    ("planning", f"{OWN}/spec.md", "write"),
    ("planning", f"{OWN}/plans/blocks/A-1.md", "write"),
    ("planning", f"{OWN}/quantum.json", "!write-outside"),
    ("planning", f"{OWN}/state.json", "!write-outside"),
    ("refinement", f"{OWN}/refinement/e2e/run.md", "write"),
    ("refinement", f"{OWN}/plan.md", "!write-outside"),
]


@pytest.mark.parametrize(("role", "path", "rule"), WRITES)
@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit", "NotebookEdit"])
def test_a_phase_writes_its_own_output(
    site: Site, tool: str, role: str, path: str, rule: str
) -> None:
    """And nothing of another phase's, of another intent's, or of qloop's own state."""
    made = site.ask(role, tool, cwd=site.root, file_path=path)

    assert made.rule == rule.removeprefix("!")
    assert made.allow is not rule.startswith("!")
    assert made.reason


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("src/new/a.py", "write"),
        ("src/../a.py", "write"),
        (".github/workflows/ci.yml", "write"),
        (".qloop.txt", "write"),
        (".QLOOP/a", "write"),
        ("$TMP/a", "write"),
        ("../a.py", "!write-outside"),
        ("link/src/a.py", "!write-outside"),
        ("link/new/deep/a.py", "!write-outside"),
        ("~/a.py", "!write-outside"),
        (".qloop/events.jsonl", "!protected"),
        ("src/../.qloop/x", "!protected"),
        ("quantum.json", "!protected"),
        ("qloop.toml", "!protected"),
        (".git", "!protected"),
        ("vendor/lib/.git/hooks/pre-commit", "!protected"),
        (".claude/settings.json", "!gate-settings"),
        (".claude/agents/mine.md", "write"),
    ],
)
def test_the_implementer_writes_in_its_worktree(site: Site, path: str, rule: str) -> None:
    """All of it, but for what is qloop's and git's own."""
    made = site.ask("implementer", "Write", file_path=path.replace("$TMP", site.places.scratch[0]))

    assert (made.allow, made.rule) == (not rule.startswith("!"), rule.removeprefix("!"))


def test_case_is_as_the_file_system_has_it(site: Site) -> None:
    """Where it takes upper and lower case for the same, so does the gate."""
    folding = replace(site, places=replace(site.places, folds_case=True))

    assert folding.ask("implementer", "Write", file_path=".QLOOP/a").rule == "protected"
    assert folding.ask("implementer", "Write", file_path="Quantum.JSON").rule == "protected"
    assert site.ask("implementer", "Write", file_path="Quantum.JSON").allow


@pytest.mark.parametrize(
    ("role", "agent", "allowed"),
    [
        ("mission", "phase-coordinator", True),
        ("mission", "recon-coordinator", True),
        ("mission", "implementer", False),
        ("recon", "scout", True),
        ("recon", "scout-helper-2", True),
        ("recon", "planner", False),
        ("planning", "upscaler", True),
        ("refinement", "persona_simulator_3", True),
        ("implementer", "general-purpose", False),
        ("coordinator", "implementer", False),
    ],
)
def test_who_starts_whom(site: Site, role: str, agent: str, allowed: bool) -> None:
    """The mission starts phase coordinators only, and those their own roster."""
    assert site.ask(role, "Task", subagent_type=agent).allow is allowed


@pytest.mark.parametrize("role", sorted(TABLE.keys() - {"worker", "qa"}))
def test_an_unknown_tool_is_for_open_roles_only(site: Site, role: str) -> None:
    """It is denied by a rule of its own."""
    made = site.ask(role, "mcp__files__remove")

    assert made.rule == ("other-tool" if role == "implementer" else "unknown-tool")
    assert site.ask(role, "TodoWrite").allow


@pytest.mark.parametrize("tool", ["Read", "Bash", "Task", "Write"])
def test_a_call_that_says_nothing_is_unclear(site: Site, tool: str) -> None:
    """Also one with a path that no file can have."""
    with pytest.raises(UnclearCall, match=tool):
        site.ask("implementer", tool)
    with pytest.raises(UnclearCall, match="Read"):
        site.ask("implementer", "Read", file_path="a\0b")


@pytest.mark.parametrize("role", ["mission"])
def test_the_mission_runs_nothing(site: Site, role: str) -> None:
    """Not even what only reads."""
    assert site.run(role, "ls") == "!no-shell"
