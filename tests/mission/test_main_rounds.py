"""`qloop main`: every registered project is worked on, and what comes of it flows back."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loaded import Loaded
from qloop.mission.hub import Shelf, bring, give_back
from qloop.mission.project_loop import work_round
from qloop.state.intent import Intent
from qloop.state.intent_index import parse_index
from qloop.state.intents import create_intent, find_intent, list_intents, read_index
from qloop.system.errors import BadInput
from world import World, wait_until

TEXT = "Tea site\n\n### US-001: Page\n\n```sh run\necho tea > tea.txt\n```\n"
OUTCOME = """\
---
disposition: delivered
---
## Follow-ups

- [ ] Milk as well
- Sugar
"""


def shelves(tmp_path: Path) -> tuple[Shelf, Path]:
    """A project's intents, and the hub."""
    return Shelf(tmp_path / "tea" / ".qloop" / "intents", "tea", tmp_path / "tea/.qloop"), (
        tmp_path / "hub" / "intents"
    )


def test_the_hub_gives_once_and_gets_back(tmp_path: Path) -> None:
    """Only what is tagged for the project; follow-ups are for later, and come once."""
    shelf, hub = shelves(tmp_path)
    create_intent(hub, "Tea", author="ada", tags=("project-tea",))
    create_intent(hub, "Coffee", author="ada", tags=("project-coffee",))
    shelf.private.mkdir(parents=True)
    first = bring(shelf, hub, "ada")
    again = bring(shelf, hub, "ada")

    def deliver(one: Intent) -> int:
        (one.folder / "outcome.md").write_text(OUTCOME)
        (one.folder / "savepoint.md").write_text("2026-01-01T00:00:00Z  Done  delivered\n")
        index = shelf.root / "INDEX.md"
        index.write_text(f"## Completed\n\n- [1 — Tea]({one.name}/{one.name}.md)\n")
        return 0

    result = work_round(shelf, hub, "ada", deliver, print)
    once_more = give_back(shelf, hub, print)

    assert ([one.title for one in first], again) == (["Tea"], [])
    assert result.delivered == ["1--tea"]
    assert result.contributed == ["3--milk-as-well", "4--sugar"]
    assert once_more == []
    assert "## Completed\n\n- [1" in read_index(hub)
    assert bring(shelf, hub, "ada") == []
    assert [one.title for one in list_intents(shelf.root)] == ["Tea"]


def test_what_cannot_be_done_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    """By its exit code; an interrupt ends the round."""
    shelf, hub = shelves(tmp_path)
    for word in ("One", "Two", "Three", "Four", "Five"):
        create_intent(shelf.root, word, author="ada")
    codes = iter([3, 130])
    said: list[str] = []

    def deliver(one: Intent) -> int:
        if one.id == 2:
            raise BadInput("broken", where="there")
        if one.id == 3:
            raise PermissionError("not yours")
        return next(codes)

    result = work_round(shelf, hub, "ada", deliver, said.append)

    assert (result.waiting, result.failed) == (["1--one"], ["2--two", "3--three"])
    assert said == ["2--two: broken, there", "3--three: not yours"]
    assert result.is_interrupted


def ended(root: Path, *intents: Intent) -> None:
    """Let intents be over by their index."""
    lines = "".join(f"- [{one.id} — {one.title}]({one.name})\n" for one in intents)
    (root / "INDEX.md").write_text(f"## Completed\n\n{lines}", encoding="utf-8")


def test_what_the_hub_cannot_end_keeps_no_other(tmp_path: Path) -> None:
    """It is told, with the box that is open; the next one ends."""
    shelf, hub = shelves(tmp_path)
    tea, milk = (create_intent(hub, one, author="a", tags=("project-tea",)) for one in "TM")
    (tea.folder / "checklist.md").write_text("- [ ] taste it\n")
    ended(shelf.root, *bring(shelf, hub, "a"))
    said: list[str] = []
    give_back(shelf, hub, said.append)
    index = parse_index(read_index(hub))

    assert [index.ending_of(one.id) for one in (tea, milk)] == [None, "delivered"]
    assert "not over in the hub" in said[0]
    assert "[ ] taste it" in said[0]


def test_a_broken_document_is_not_brought_twice(tmp_path: Path) -> None:
    """Its line of sources is read by itself."""
    shelf, hub = shelves(tmp_path)
    create_intent(hub, "Tea", author="a", tags=("project-tea",))
    made = bring(shelf, hub, "a")[0]
    text = made.document.read_text("utf-8").replace("id: 1", "id: [")
    made.document.write_text(text, encoding="utf-8")

    assert bring(shelf, hub, "a") == []
    ended(shelf.root, made)
    give_back(shelf, hub, print)
    assert parse_index(read_index(hub)).ending_of(1) == "delivered"


CUT_OFF = """
import os, signal, sys
from pathlib import Path
from qloop.mission.hub import Shelf, give_back

def hook(event, words):
    if event == "os.rename" and str(words[1]).endswith("milk-as-well"):
        seen.append(event)
    elif seen and event != "os.kill":
        os.kill(os.getpid(), signal.SIGKILL)

seen = []
root, hub = Path(sys.argv[1]), Path(sys.argv[2])
sys.addaudithook(hook)
give_back(Shelf(root, "tea", root.parent), hub, print)
"""


def test_a_follow_up_is_never_wanted_by_itself(tmp_path: Path) -> None:
    """Killed as soon as it is there, it is for later; the rest comes with the next round."""
    shelf, hub = shelves(tmp_path)
    one = create_intent(shelf.root, "Tea", author="a")
    (one.folder / "outcome.md").write_text(OUTCOME)
    ended(shelf.root, one)
    words = [sys.executable, "-c", CUT_OFF, str(shelf.root), str(hub)]
    lib = Path(__file__).parents[2] / "lib"
    killed = subprocess.run(words, env={"PYTHONPATH": str(lib)}, check=False)

    assert killed.returncode == -signal.SIGKILL
    assert [made.title for made in list_intents(hub)] == ["Milk as well"]
    assert bring(shelf, hub, "a") == []
    assert [made.title for made in give_back(shelf, hub, print)] == ["Sugar"]


def register(world: World, gone: Path) -> None:
    """Two projects, of which one is gone."""
    (world.path / "qloop.toml").write_text('runner = "shell"\n')
    assert world.qloop("main", "--once").code == 66
    shutil.copytree(world.path, gone)
    for path in (world.path, gone):
        assert world.qloop("project", "add", str(path)).code == 0
    shutil.rmtree(gone)


def wish_for_tea(world: World, hub: Path) -> Path:
    """An intent of the hub for the project; its story shows a flag, and waits for `FLAG.on`."""
    wish = world.path.parent / "wish.md"
    flag = world.flags / "begun"
    waits = f"echo > '{flag}'; test -e '{flag}.on' || sleep 60; echo tea"
    wish.write_text(TEXT.replace("echo tea", waits))
    words = ("intent", "new", "--from", str(wish), "--project")
    assert world.qloop(*words, "a-repot").code == 66
    assert world.qloop(*words, "a-repo").code == 0
    assert find_intent(hub, "1").title == "Tea site"
    return flag


def test_a_round_over_all_projects(
    tmp_path: Path, loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stopped one goes on; a project whose folder is gone is named, and is not fatal."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    world = World(tmp_path, loaded)
    register(world, tmp_path / "gone" / "b")
    hub = tmp_path / "config" / "qloop" / "intents"
    flag = wish_for_tea(world, hub)
    process = world.start("main", "--once")
    wait_until(flag.exists)
    busy = world.qloop("main", "--once")
    for signum in (signal.SIGINT, signal.SIGTERM):  # the second one waits for no agent
        os.kill(process.pid, signum)
    out, err = process.communicate()

    assert busy.code == 75
    assert process.returncode == 130, (out, err)
    assert "nothing to do" not in out
    Path(f"{flag}.on").touch()
    ran = world.qloop("main", "--once")
    assert ran.code == 1, ran.err
    assert "b: its folder is not there" in ran.out
    assert "a-repo: delivered: 1--tea-site" in ran.out
    assert world.files("ql/1--tea-site")["tea.txt"] == "tea"
    assert "## Completed\n\n- [1" in read_index(hub)


def test_rounds_are_counted_and_wait_for_each_other(
    tmp_path: Path, loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many rounds, or on and on with a pause between them, which a signal ends."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    world = World(tmp_path, loaded)
    assert world.qloop("project", "add", str(world.path)).code == 0

    ran = world.qloop("main", "--max-rounds", "2", "--every", "0")
    waiting = world.start("main", "--every", "3600")
    assert waiting.stdout is not None
    first = waiting.stdout.readline()
    waiting.send_signal(signal.SIGTERM)
    out, err = waiting.communicate()

    assert (ran.code, ran.err.count("round ")) == (0, 2), ran.err
    assert first == "a-repo: nothing to do\n"
    assert (waiting.returncode, out) == (130, "")
    assert err.count("round ") == 1
