"""`qloop prompt`: what an agent would be told, of each role."""

from world import World

CRITERIA = ["It says one"]


def test_the_implementers_prompt_is_what_a_run_hands_over(world: World) -> None:
    """Byte for byte, the last failure included."""
    world.plan({"id": "A-1", "acceptanceCriteria": CRITERIA, "verify": ["false"]})
    world.agent(A_1=[[["write", "a.txt", "a\n"]]])
    world.run("--max-retries", "1")
    shown = world.qloop("prompt", "A-1")

    world.run("--max-retries", "2")

    kept = world.path / ".qloop" / "logs" / "A-1" / "2" / "prompt.md"
    assert shown.code == 0, shown.err
    assert shown.out.strip() == kept.read_text("utf-8").strip()
    assert "The last attempt failed" in shown.out


def test_the_orchestrators_prompt_is_what_its_agent_hears(world: World) -> None:
    """It holds the story, and how to hand it in."""
    world.plan({"id": "A-1", "acceptanceCriteria": CRITERIA})
    world.agent(A_1=[[["write", "a.txt", "a\n"]]])
    shown = world.qloop("prompt", "A-1", "--role", "orchestrator")

    ran = world.run("--legacy-orchestrator")

    kept = world.path / ".qloop" / "logs" / "A-1" / "1" / "prompt.md"
    assert ran.code == 0, ran.err
    assert shown.out.strip() == kept.read_text("utf-8").strip()
    assert "qloop orchestrator done A-1" in shown.out
    assert "- It says one" in shown.out


def test_a_reviewers_prompt_is_about_the_newest_attempt(world: World) -> None:
    """Its patch, its criteria, and what the commands said of it."""
    world.plan({"id": "A-1", "acceptanceCriteria": CRITERIA, "verify": ["test -s a.txt"]})
    world.agent(A_1=[[["write", "a.txt", "one\n"]]])
    early = world.qloop("prompt", "A-1", "--role", "spec-reviewer")
    world.run()

    spec = world.qloop("prompt", "A-1", "--role", "spec-reviewer")
    quality = world.qloop("prompt", "A-1", "--role", "quality-reviewer")

    assert early.code == 65
    assert "nothing was salvaged for A-1" in early.err
    assert spec.code == 0, spec.err
    assert "1. It says one" in spec.out
    assert "| +one" in spec.out
    assert "> verify-1 `test -s a.txt`: exit 0" in spec.out
    assert "| +one" in quality.out


def test_a_coordinators_prompt_is_about_the_next_wave(world: World) -> None:
    """It names the wave and the story."""
    world.plan({"id": "A-1", "title": "One thing"}, execution={"currentWave": 2})

    shown = world.qloop("prompt", "A-1", "--role", "coordinator")

    assert shown.code == 0, shown.err
    assert "lead wave-3" in shown.out
    assert "- A-1: One thing" in shown.out


def test_a_planners_prompt_is_about_a_document(world: World) -> None:
    """It is named in place of the story; no plan is needed."""
    (world.path / "prd.md").write_text("Prices in cents.\n", encoding="utf-8")

    shown = world.qloop("prompt", "prd.md", "--role", "planner")
    missing = world.qloop("prompt", "other.md", "--role", "planner")

    assert shown.code == 0, shown.err
    assert "make a plan of prd.md" in shown.out
    assert "| Prices in cents." in shown.out
    assert '"$id": "urn:qloop:schema:plan"' in shown.out
    assert missing.code == 66


def test_what_there_is_no_prompt_for(world: World) -> None:
    """An unknown story is 65 with the nearest one, an unknown role 64."""
    world.plan({"id": "A-1"})

    story = world.qloop("prompt", "a-1")
    role = world.qloop("prompt", "A-1", "--role", "king")

    assert story.code == 65
    assert "did you mean A-1" in story.err
    assert role.code == 64
    assert "king" in role.err


def test_delegates_are_told_of_files(world: World) -> None:
    """A compressor of a trace, a worker of its target."""
    (world.path / "trace.log").write_text("a.py:1: AssertionError\n", encoding="utf-8")
    trace = world.qloop("prompt", "trace.log", "--role", "qa")
    target = world.qloop("prompt", "README.md", "--role", "worker")

    assert (trace.code, target.code) == (0, 0)
    assert "| a.py:1: AssertionError" in trace.out
    assert "At most 50 tokens" in trace.out
    assert "```\nstart\n```" in target.out
