"""A report of a run that really was."""

from pathlib import Path

from world import World


def test_report_after_a_run(world: World) -> None:
    """The journal tells each attempt's slot, and the report what every story changed."""
    world.plan({"id": "A"}, {"id": "B"}, {"id": "C", "dependsOn": ["A"]})
    world.writes_own_file("A", "B", "C")
    ran = world.run("--max-parallel", "2")
    made = world.qloop("report")
    page = Path(made.out.strip()).read_text(encoding="utf-8")
    slots = {one["story"]: one["data"]["slot"] for one in world.events("attempt.started")}

    assert ran.signal == "<quantum>COMPLETE</quantum>"
    assert made.code == 0, made.err
    assert {slots["A"], slots["B"]} == {0, 1}
    assert all(f"<code>{name}.txt</code>" in page for name in "ABC")
    assert page.count("1 file, +1 -0") >= 3
    assert "unverified, no command judged all of it: every story" in page
