"""`qloop report`: one file that tells what became of a plan."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from look_world import BRANCH, RUN, World, failed, story
from qloop.cli.main import main
from qloop.state.journal import EventKind
from repository import Repo

Captured = pytest.CaptureFixture[str]
EVIL = "</pre></details><script>alert(1)</script>\x1b[31m\u202e | `x` ``` **b** & é"


@pytest.fixture
def world(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> World:
    """A repository to stand in, with a run in which one story landed at its second attempt."""
    monkeypatch.chdir(repo.path)
    made = World(repo)
    repo.write({"src/a.py": "1\n2\n3\n"})
    repo.git("add", "src")
    landed = made.land("US-1: one")
    bare = {"status": "passed", "evidence": "unverified: no command judges this", "attempt": 2}
    judged = {"status": "passed", "evidence": f"verify-1 `make`: exit 0\n{EVIL}", "attempt": 2}
    made.plan(
        story(
            "A",
            "passed",
            description="Lines that were\nbroken.\n\n- an item",
            acceptanceCriteria=[f"It holds {EVIL}"],
            notes="Mind the gap.",
            review={"specCompliance": judged, "codeQuality": bare},
            retries=failed(1, "verify-1 red"),
        ),
        story("B", "failed", "A", title=EVIL, retries={"attempts": 3, "maxAttempts": 3}),
        story("C", "pending", "B"),
        project=f"Shop {EVIL}",
        execution={"completedWaves": [{"id": "wave-1", "findings": ["a finding at the end"]}]},
    )
    made.tell(EventKind.RUN_STARTED, branch=BRANCH, notes=["a remark at the start"])
    where: Any = {"story": "A", "attempt": 1, "wave": "wave-1"}
    made.tell(EventKind.ATTEMPT_STARTED, **where, runner="claude", slot=2)
    made.tell(EventKind.AGENT_ENDED, **where, code=0, signal="STORY_PASSED", seconds=4.0)
    gate: Any = {"gate": "verify-1", "command": f"make {EVIL}", "log": "v.log"}
    made.tell(EventKind.GATE_ENDED, **where, **gate, code=1, green=False, seconds=0.5)
    why: Any = {"phase": "verification", "reason": f"verify-1 red\n{EVIL}", "charged": True}
    made.tell(EventKind.STORY_SETTLED, **where, status="failed", **why)
    made.log("A", 1, {"output.log": b"\x1b[1mI am sure\x1b[0m that it works\n"})
    made.attempt("A", 2, status="passed", commit=landed)
    made.tell(EventKind.GUARD_BREACHED, story="B", attempt=1, reason=f"HEAD moved {EVIL}")
    made.attempt("B", 1, wave="wave-2", status="failed", phase="guard", reason="the guard")
    made.tell(EventKind.PERSON_CHANGED, branch=BRANCH, taken_in="c0ffee")
    made.tell(EventKind.STATE_REPAIRED, story="A", attempt=2, restored=["lost.txt"])
    made.tell(EventKind.RUN_ENDED, signal="BLOCKED", exit_code=1, reasons=["B has no attempt left"])
    repo.git("update-ref", "refs/qloop/attempts/A/1", "HEAD")
    return made


def written(capsys: Captured, *words: str) -> Path:
    """The file that a report was written to."""
    assert main(["report", *words]) == 0
    return Path(capsys.readouterr().out.rstrip("\n"))


def page(capsys: Captured, *words: str) -> ET.Element:
    """The page, read by a parser of XML."""
    text = written(capsys, *words).read_text(encoding="utf-8")
    return ET.fromstring(text.removeprefix("<!DOCTYPE html>\n").encode("utf-8"))


def words_of(root: ET.Element) -> str:
    """All text of an element."""
    return "".join(root.itertext())


def part(root: ET.Element, name: str) -> ET.Element:
    """The element of an id."""
    found = root.find(f".//*[@id='{name}']")
    assert found is not None, name
    return found


def test_where_it_is_written(world: World, capsys: Captured) -> None:
    """By default it lies in `.qloop`, named after the newest run, and git does not see it."""
    before = world.repo.git("status", "--porcelain")

    path = written(capsys)

    assert path == world.private / "reports" / f"{RUN}.html"
    assert world.repo.git("status", "--porcelain", "--untracked-files=all", "reports") == ""
    assert ".qloop" not in world.repo.git("status", "--porcelain")
    assert "?? quantum.json" in before


@pytest.mark.parametrize(("form", "ending"), [("html", "html"), ("markdown", "md")])
def test_forms(world: World, capsys: Captured, form: str, ending: str) -> None:
    """The form decides the file's ending."""
    assert written(capsys, "--format", form).name == f"{RUN}.{ending}"


def test_out(world: World, capsys: Captured, tmp_path: Path) -> None:
    """`--out` names another file, which is written through links, or standard output."""
    target = tmp_path / "target.html"
    link = tmp_path / "link.html"
    target.touch()
    link.symlink_to(target)

    assert written(capsys, "--out", str(link)) == link
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert main(["report", "--out", "-", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("# Shop")
    assert not (world.private / "reports").exists()


def test_out_in_a_folder_that_is_not_there(world: World, capsys: Captured) -> None:
    """A folder is not made up."""
    assert main(["report", "--out", "no/such/report.html"]) == 66
    assert "no such folder" in capsys.readouterr().err


def test_outcome(world: World, capsys: Captured) -> None:
    """The page tells how it ended, what is unverified, and each story in a row."""
    found = words_of(part(page(capsys), "outcome"))

    assert f"{BRANCH}: blocked, 1 passed, 1 pending, 1 failed" in found
    assert "ended BLOCKED: B has no attempt left" in found
    assert "unverified, no command judged all of it: A" in found
    assert "passed, unverified" in found
    assert "2, 1 charged" in found
    assert "pending, cannot run" in found
    assert "1 file, +3 -0" in found


def test_drawings(world: World, capsys: Captured) -> None:
    """Graph and timeline are drawn, the boxes of the graph lead to the stories."""
    root = page(capsys)
    svg = "{http://www.w3.org/2000/svg}"
    links = [one.get("href") for one in part(root, "graph").iter(f"{svg}a")]
    ids = {one.get("id") for one in root.iter()}

    assert links == ["#story-A", "#story-B", "#story-C"]
    assert all(one is not None and one.removeprefix("#") in ids for one in links)
    assert "unverified, 2 attempts" in words_of(part(root, "graph"))
    assert "slot 3" in words_of(part(root, "timeline"))


def test_a_story(world: World, capsys: Captured) -> None:
    """A story tells what changed, its evidence, every attempt and why it failed."""
    root = page(capsys)
    found = words_of(part(root, "story-A"))
    failing = words_of(part(root, "story-B"))

    assert "Lines that were broken.\n\n- an item" in found
    assert "Mind the gap." in found
    assert "src/a.py" in found
    assert "+3" in found
    assert "spec: passed, attempt 2" in found
    assert "quality: passed, unverified, attempt 2" in found
    assert "attempt 1: failed (verification, charged)" in found
    assert "red, exit 1" in found
    assert "I am sure that it works" in found
    assert "refs/qloop/attempts/A/1" in found
    assert "qloop salvage show A --attempt 1" in found
    assert "agent ended with 0 after 4.0s, STORY_PASSED" in found
    assert "Nothing of it has landed." in failing
    assert "the guard" in failing


def test_stories_that_need_a_person_are_open(world: World, capsys: Captured) -> None:
    """What failed is unfolded, the rest can be."""
    main_part = part(page(capsys), "stories")
    folds = [one for one in main_part.iter("details") if "story" in one.get("class", "")]

    assert [one.get("open") for one in folds] == [None, "", None]


def test_findings(world: World, capsys: Captured) -> None:
    """What happened beside the stories' own way: guard, person, repairs, remarks, wave ends."""
    found = words_of(part(page(capsys), "findings"))

    assert "the guard tripped: HEAD moved" in found
    assert f"commits made on {BRANCH} were taken in: c0ffee" in found
    assert "landed work that the agent had dropped was put back: lost.txt" in found
    assert "a remark at the start" in found
    assert "a finding at the end" in found


@pytest.mark.parametrize("form", ["html", "markdown"])
def test_nothing_breaks_out(world: World, capsys: Captured, form: str) -> None:
    """Text of agents and plans stays text: no script, no control characters, no address."""
    text = written(capsys, "--format", form).read_text(encoding="utf-8")

    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text) is None
    if form == "html":
        assert "<script" not in text
        assert 'content="default-src &#x27;none&#x27;; style-src' in text
        assert set(re.findall(r"https?://[^\s\"]+", text)) == {"http://www.w3.org/2000/svg"}
        assert set(re.findall(r"href=\"(.)", text)) == {"#"}
        return
    outside = re.sub(r"(?ms)^(`{3,})[a-z]*$.*?^\1$", "", text)
    assert "<script>" not in re.sub(r"`+ .*? `+", "", outside).replace("\\<", "")


def test_markdown_tells_the_same(world: World, capsys: Captured) -> None:
    """The Markdown has the same parts, its graph as Mermaid."""
    text = written(capsys, "--format", "markdown").read_text(encoding="utf-8")

    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Outcome", "## Graph", "## Timeline", "## Findings", "## Stories",
    ]  # fmt: skip
    assert "```mermaid\nflowchart LR" in text
    assert "| A | The A | passed, unverified | 2, 1 charged |" in text
    assert "| `src/a.py` | +3 | -0 |" in text
    assert re.search(r"\| 3 \| \+0\.\ds \| [\d.]+s \| A \| 1 \| failed: verification \|", text)
    assert "#### attempt 1: failed \\(verification, charged\\)" in text
    assert "I am sure that it works" in text
    assert "- **unverified, no command judged all of it: A**" in text
    assert "B waits" not in text


def test_fences_cannot_be_closed(world: World, capsys: Captured) -> None:
    """A text with fences in it stands between longer ones."""
    text = written(capsys, "--format", "markdown").read_text(encoding="utf-8")

    assert "````text\nverify-1 red\n</pre>" in text


def test_timeline_alone(world: World, capsys: Captured) -> None:
    """The picture of the newest run's attempts, as a file of its own."""
    path = written(capsys, "--format", "timeline")
    root = ET.fromstring(path.read_bytes())

    assert path.name == f"{RUN}.svg"
    assert "the attempts of run" in words_of(root)
    assert re.findall(r"slot \d", words_of(root)) == ["slot 1", "slot 3"]


def test_one_run_only(world: World, capsys: Captured) -> None:
    """With `--run` attempts, timeline and findings are those of that run."""
    other = "r-20260103T030405Z-0000"
    world.tell(EventKind.RUN_STARTED, run=other, branch=BRANCH)
    where: Any = {"story": "B", "attempt": 2, "wave": "wave-3"}
    world.tell(EventKind.ATTEMPT_STARTED, run=other, **where, runner="codex")
    both = page(capsys)
    first = page(capsys, "--run", RUN)
    path = written(capsys, "--run", other)
    second = words_of(ET.fromstring(path.read_text(encoding="utf-8").partition("\n")[2]))

    assert words_of(part(both, "timeline")).count("from 20") == 2
    assert words_of(part(first, "timeline")).count("from 20") == 1
    assert "attempt 2: not settled" in words_of(part(both, "story-B"))
    assert "attempt 2: not settled" not in words_of(part(first, "story-B"))
    assert path.name == f"{other}.html"
    assert "codex" in second
    assert "claude" not in second
    assert "a finding at the end" not in second
    assert "has no end in the journal" in second


def test_an_unknown_run(world: World, capsys: Captured) -> None:
    """A run that is none of the plan's is named, with those that are."""
    assert main(["report", "--run", "r-1"]) == 65
    assert f"no run 'r-1', there are: {RUN}" in capsys.readouterr().err


def test_before_any_run(world: World, capsys: Captured) -> None:
    """A plan that was never run has a report too, but no timeline."""
    (world.private / "events.jsonl").unlink()
    path = written(capsys)

    assert path.name == "plan.html"
    assert "the journal knows of no run of this plan" in path.read_text(encoding="utf-8")
    assert "No attempt was made." in path.read_text(encoding="utf-8")
    assert main(["report", "--format", "timeline"]) == 66
    assert main(["report", "--run", RUN]) == 65
    assert "no run of it was made yet" in capsys.readouterr().err


def test_without_a_repository(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state file alone is enough; it lies beside it."""
    folder = tmp_path / "no repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    plan = {"branchName": "b", "stories": [{"id": "A", "title": "Only"}]}
    (folder / "quantum.json").write_text(json.dumps(plan), encoding="utf-8")

    path = written(capsys)

    assert path.resolve() == folder.resolve() / ".qloop" / "reports" / "plan.html"
    assert "Nothing was found." in path.read_text(encoding="utf-8")


def test_a_commit_that_git_no_longer_knows(world: World, capsys: Captured) -> None:
    """A landed commit that is gone is still named."""
    world.attempt("A", 3, status="passed", commit="d" * 40)

    assert "landed as dddddddddddd, which git no longer knows" in words_of(
        part(page(capsys), "story-A")
    )


def test_a_base_that_was_red(world: World, capsys: Captured) -> None:
    """A run that never began because the tests were red says so."""
    world.tell(EventKind.GATE_ENDED, gate="base", command="make test", green=False, code=2)

    assert "base was red: make test" in words_of(part(page(capsys), "findings"))


def test_a_run_with_a_strange_name(world: World, capsys: Captured) -> None:
    """A run's id that is no file name leads nowhere else."""
    world.tell(EventKind.RUN_STARTED, run="../../evil", branch=BRANCH)

    assert written(capsys) == world.private / "reports" / "run.html"
