"""Routing in whole runs: roles, and models that grow with each charged attempt."""

import json

import pytest

from world import World

PASSED = "<quantum>STORY_PASSED</quantum>"


def recorder(world: World, settings: str, then: str = "") -> None:
    """A runner `recorder` that notes its model per attempt, and does *then* before it passes."""
    script = (
        f"printf '%s' \"$1\" > '{world.flags}'/$QLOOP_STORY.$QLOOP_ATTEMPT; cat > /dev/null; "
        f"{then} echo x > $QLOOP_STORY.txt; echo '{PASSED}'"
    )
    words = json.dumps(["sh", "-c", script, "agent", "{model}"])
    world.configure(f"{settings}\n[runners.recorder]\nargv = {words}")


def model_of(world: World, story: str, attempt: int = 1) -> str:
    """The model that an attempt was given."""
    return (world.flags / f"{story}.{attempt}").read_text("utf-8")


def test_each_charged_attempt_takes_a_larger_model(world: World) -> None:
    """`models` is gone through by charged attempts; the last one stays; a story's own wins."""
    fails = 'test "$QLOOP_ATTEMPT" = 4 || exit 1;'
    recorder(world, 'models = ["small", "middle", "large"]', fails)
    retries = {"maxAttempts": 4}
    world.plan({"id": "A-1", "retries": retries}, {"id": "B-1", "model": "own", "retries": retries})

    ran = world.run("--runner", "recorder")

    tried = [model_of(world, "A-1", number) for number in (1, 2, 3, 4)]
    assert ran.code == 0, ran.err
    assert tried == ["small", "middle", "large", "large"]
    assert model_of(world, "B-1", 2) == "own"
    started = [one["data"] for one in world.events("attempt.started") if one["story"] == "A-1"]
    assert [one["model"] for one in started] == tried


def test_the_implementers_table_names_runner_and_model(world: World) -> None:
    """[roles.implementer] stands above the settings for all, a flag above it."""
    recorder(world, 'model = "all"\n[roles.implementer]\nrunner = "recorder"\nmodel = "mine"')
    world.plan({"id": "A-1"})

    ran = world.run()

    assert ran.code == 0, ran.err
    assert model_of(world, "A-1") == "mine"


def test_a_variable_stands_above_models_of_the_file(world: World) -> None:
    """QLOOP_MODEL is one model for all attempts."""
    recorder(world, 'models = ["small", "large"]')
    world.plan({"id": "A-1"})

    ran = world.run("--runner", "recorder", QLOOP_MODEL="outer")

    assert ran.code == 0, ran.err
    assert model_of(world, "A-1") == "outer"


def test_a_fallback_takes_over_from_a_runner_that_pauses(world: World) -> None:
    """At once, uncharged, with a model of its own; the first one is not asked again meanwhile."""
    note = f"printf '%s' \"$1\" > '{world.flags}'/$QLOOP_STORY.$QLOOP_ATTEMPT; cat > /dev/null"
    work = f"{note}; echo x > $QLOOP_STORY.txt; echo '{PASSED}'"
    spent = 'echo "Claude AI usage limit reached|$(($(date +%s) + 3600))"; exit 1'
    tables = "".join(
        f"[runners.{name}]\nargv = {json.dumps(['sh', '-c', does, 'agent', '{model}'])}\n"
        for name, does in (("spent", spent), ("other", work))
    )
    settings = f'runner = "spent"\nfallback = ["other"]\nmodel = "m"\n{tables}'
    (world.path / "qloop.toml").write_text(settings, encoding="utf-8")
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]})

    ran = world.run()

    started = [(one["story"], one["data"]["runner"]) for one in world.events("attempt.started")]
    assert ran.code == 0, ran.err
    assert started == [("A-1", "spent"), ("A-1", "other"), ("B-1", "other")]
    assert model_of(world, "A-1", 2) == ""
    assert world.story("A-1")["retries"].get("attempts", 0) == 0


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('fallback = "shell"', "'shell' is no agent command line"),
        ('fallback = ["nobody"]', "unknown runner 'nobody' for fallback"),
        ('model = "a"\nmodels = ["b"]', "model and models"),
        ('[roles.implementor]\nmodel = "a"', "did you mean 'implementer'"),
        ('[roles.implementer]\nmodl = "a"', "did you mean 'model'"),
    ],
)
def test_settings_that_cannot_be_meant_are_65(world: World, settings: str, told: str) -> None:
    """Two words on one thing, roles and keys that there are not, each named."""
    recorder(world, settings)
    world.plan({"id": "A-1"})

    ran = world.run()

    assert ran.code == 65
    assert told in ran.err
    assert "qloop.toml" in ran.err


def test_the_orchestrator_has_no_table_of_its_own(world: World) -> None:
    """It is called as the implementer; a table for it would say something that is not so."""
    text = '[roles.orchestrator]\nrunner = "shell"\n'
    (world.path / "qloop.toml").write_text(text, encoding="utf-8")
    world.plan({"id": "A-1"})

    ran = world.run("--legacy-orchestrator")

    assert ran.code == 65
    assert "[roles.implementer]" in ran.err
