"""Checks at a wave's end, as whole runs: what one story could not know of another one."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from world import World

HERE = "def total(prices):\n    return sum(prices)\n"
THERE = "import math\n\n\ndef total(items):\n    return math.fsum(items)\n"
USER = "from here import total\n\nprint(total([]))\n"
BLOCK = "[checks]\nblock = true"


def writes(path: str, text: str, *before: list[Any]) -> list[list[Any]]:
    """Steps of an agent that adds one file."""
    return [*before, ["write", path, text], ["commit", f"add {path}"]]


def findings(world: World, wave: int = 0) -> list[dict[str, Any]]:
    """What a wave's end showed."""
    found: list[dict[str, Any]] = world.document["execution"]["completedWaves"][wave]["findings"]
    return found


def wait_for_landing(world: World, story: str) -> list[Any]:
    """A step that ends once another story has landed."""
    journal = world.path / ".qloop" / "events.jsonl"
    look = f'grep -q \'"story.landed".*"{story}"\' "{journal}"'
    return ["sh", f"until {look}; do sleep 0.05; done"]


def two_that_say_the_same(world: World) -> None:
    """B-1 defines again what A-1 has landed meanwhile."""
    world.plan({"id": "A-1"}, {"id": "B-1"})
    world.agent(
        A_1=[writes("here.py", HERE)],
        B_1=[
            writes("there.py", THERE, wait_for_landing(world, "A-1")),
            [["echo-prompt"], ["say", "STORY_PASSED"], *writes("use.py", USER)],
        ],
    )


def test_a_name_that_two_stories_define_is_told(world: World) -> None:
    """Both land; the wave's entry, `show` and the summary tell who defined it where, and why."""
    two_that_say_the_same(world)

    ran = world.run()

    assert ran.code == 0, ran.err
    names = [one for one in findings(world) if one["check"] == "names"]
    assert len(names) == 1
    assert names[0]["stories"] == ["A-1", "B-1"]
    assert names[0]["places"] == [
        {"story": "A-1", "path": "here.py", "line": 1},
        {"story": "B-1", "path": "there.py", "line": 4},
    ]
    assert "total" in names[0]["text"]
    assert "A-1 (here.py:1) and B-1 (there.py:4)" in names[0]["text"]
    assert "qloop show A-1" in ran.err
    for story in ("A-1", "B-1"):
        assert f"wave-1 names: {names[0]['text']}" in world.qloop("show", story).out
        shown = json.loads(world.qloop("show", story, "--json").out)["findings"]
        assert {"wave": "wave-1", **names[0]} in shown
    page = Path(world.qloop("report").out.strip()).read_text("utf-8")
    assert names[0]["text"] in page


def test_blocking_fails_the_later_story_until_it_differs(world: World) -> None:
    """With `block` the later one does not land, its next prompt says why, then it lands."""
    world.configure(BLOCK)
    two_that_say_the_same(world)

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.failures("B-1") == ["verification"]
    assert "retries" not in world.story("A-1")
    reason = world.story("B-1")["retries"]["failureLog"][0]["reason"]
    assert "total is defined by A-1 (here.py:1) and B-1 (there.py:4)" in reason
    assert reason in (world.path / ".qloop/logs/B-1/2/prompt.md").read_text("utf-8")
    assert "there.py" not in world.files()
    assert "use.py" in world.files()
    blocked = [one for one in findings(world) if one["check"] == "names"]
    assert [one["failed"] for one in blocked] == ["B-1"]
    assert "B-1 did not land for it" in world.qloop("show", "A-1").out


def test_blocking_compares_a_retry_with_what_it_failed_for(world: World) -> None:
    """A story that comes again with the same is refused again, though its wave is another one."""
    world.configure(BLOCK)
    world.plan({"id": "A-1"}, {"id": "B-1", "retries": {"maxAttempts": 2}})
    world.agent(
        A_1=[writes("here.py", HERE)],
        B_1=[writes("there.py", THERE, wait_for_landing(world, "A-1"))],
    )

    ran = world.run()

    assert ran.code == 1, ran.err
    assert world.failures("B-1") == ["verification", "verification"]
    assert "there.py" not in world.files()


def test_blocking_lets_a_retry_in_once_the_other_is_gone(world: World) -> None:
    """What no longer stands on the line keeps nobody out."""
    world.configure(BLOCK)
    world.plan({"id": "A-1"}, {"id": "B-1"}, {"id": "C-1", "dependsOn": ["A-1"]})
    renamed = [["git", "mv", "here.py", "sums.py"], ["sh", "sed -i s/total/summed/ sums.py"]]
    world.agent(
        A_1=[writes("here.py", HERE)],
        B_1=[
            writes("there.py", THERE, wait_for_landing(world, "A-1")),
            writes("there.py", THERE, wait_for_landing(world, "C-1")),
        ],
        C_1=[[*renamed, ["commit", "rename"]]],
    )

    ran = world.run()

    assert ran.code == 0, ran.err
    assert world.failures("B-1") == ["verification"]
    assert {"there.py", "sums.py"} <= set(world.files())


def test_a_new_name_that_nothing_uses_is_told_and_blocks_nobody(world: World) -> None:
    """An unused name informs, also with `block`: its user may come later."""
    world.configure(BLOCK)
    world.plan({"id": "A-1"})
    world.agent(A_1=[writes("here.py", HERE)])

    ran = world.run()

    assert ran.code == 0, ran.err
    assert [(one["check"], one["stories"]) for one in findings(world)] == [("unused", ["A-1"])]


def test_a_name_is_unused_only_once_its_users_have_landed(world: World) -> None:
    """While a dependant is to come nothing is said; then what is still unused is told, once."""
    world.plan({"id": "A-1"}, {"id": "B-1", "dependsOn": ["A-1"]})
    world.agent(
        A_1=[writes("here.py", HERE + "\n\ndef spare():\n    return 1\n")],
        B_1=[writes("use.py", USER)],
    )

    ran = world.run()

    assert ran.code == 0, ran.err
    assert findings(world, 0) == []
    assert [one["places"] for one in findings(world, 1)] == [
        [{"story": "A-1", "path": "here.py", "line": 5}]
    ]


def test_constants_and_twins_are_told(world: World) -> None:
    """One constant with two values, one word in two spellings, two new files that are the same."""
    twin = "\n".join(f"def step_{n}(value):\n    return value * {n}\n" for n in range(12))
    world.plan({"id": "A-1"}, {"id": "B-1"})
    world.agent(
        A_1=[
            [
                ["write", "a.py", 'MAX_TRIES = 3\nEVENT = {"kind": "order_paid"}\n'],
                ["write", "one/steps.txt", twin],
                ["commit", "a"],
            ]
        ],
        B_1=[
            [
                ["write", "b.py", 'MAX_TRIES = 5\nEVENT = {"kind": "order-paid"}\n'],
                ["write", "two/steps.txt", twin],
                ["commit", "b"],
            ]
        ],
    )

    ran = world.run()

    assert ran.code == 0, ran.err
    texts = {one["check"]: one["text"] for one in findings(world)}
    assert sorted(one["check"] for one in findings(world)) == ["constants", "constants", "twins"]
    assert "one/steps.txt:1" in texts["twins"]
    assert "two/steps.txt:1" in texts["twins"]


TAGS = """#!/bin/sh
"exec" "{python}" "$0"
import json, sys
for path in sys.stdin.read().split():
    print(json.dumps({{"_type": "tag", "path": path, "kind": "struct", **{fields}}}))
sys.exit({code})
"""
PRICE = {"name": "Price", "line": 1}


def test_very_many_findings_are_cut(world: World) -> None:
    """Of a library that two stories bring, the first names are told, and how many more are."""
    text = "".join(f"class Part{n}:\n    kind = {n}\n\n\n" for n in range(60))
    world.plan({"id": "A-1"}, {"id": "B-1"})
    world.agent(A_1=[writes("a.py", text)], B_1=[writes("b.py", text)])

    ran = world.run()

    names = [one["text"] for one in findings(world) if one["check"] == "names"]
    assert ran.code == 0, ran.err
    assert len(names) == 51
    assert names[-1] == "10 more of this kind"
    assert [one["check"] for one in findings(world)].count("twins") == 1


@pytest.mark.parametrize(
    ("code", "fields", "found"),
    [(0, PRICE, ["names"]), (1, PRICE, []), (None, {}, []), (0, {}, ["checks", "unused"])],
    ids=["universal", "another", "none", "broken"],
)
def test_other_languages_by_ctags_where_it_is_installed(
    world: World, code: int | None, fields: dict[str, Any], found: list[str]
) -> None:
    """A Go type of two stories is told by ctags; with another ctags, or none, nothing is.

    A check that breaks off is told as well, and costs no story anything.
    """
    folder = world.path.parent / "bin"
    folder.mkdir()
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(place).glob("*"):
            (folder / program.name).unlink(missing_ok=True)
            (folder / program.name).symlink_to(program)
    (folder / "ctags").unlink(missing_ok=True)
    if code is not None:
        text = TAGS.format(python=sys.executable, fields=fields, code=code)
        (folder / "ctags").write_text(text, encoding="utf-8")
        (folder / "ctags").chmod(0o755)
    world.plan({"id": "A-1"}, {"id": "B-1"})
    world.agent(
        A_1=[writes("a.go", "type Price struct{}\n")],
        B_1=[writes("b.go", "type Price struct{}\n")],
    )

    ran = world.run(PATH=str(folder))

    shown = world.qloop("show", "A-1").out
    assert ran.code == 0, ran.err
    assert [one["check"] for one in findings(world)] == found
    assert all(one["text"] in shown for one in findings(world))
