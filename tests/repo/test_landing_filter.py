"""What never lands, told by name and all at once, and what does."""

from pathlib import Path

import pytest

from qloop.repo.landing_filter import LandingRefused
from repo.landing_world import Agent, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository whose line has begun."""
    return World(tmp_path, {"README.md": "start\n", "src/main.c": "int main;\n"})


def _link(agent: Agent, path: str, target: str) -> None:
    place = agent.path / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def test_state_files_stay_as_the_line_has_them(tmp_path: Path) -> None:
    """Changed, added and deleted state files of an agent do not land; its work does."""
    world = World(tmp_path, {"plan/quantum.json": "{}\n", "qloop.toml": "timeout = '1m'\n"})
    agent = world.agent()
    (agent.path / "qloop.toml").unlink()
    agent.commit(
        "all of it",
        {"plan/quantum.json": '{"a": 1}\n', ".qloop/run.json": "x\n", "work.txt": "w\n"},
    )

    candidate = world.propose(agent, state_paths=("plan/quantum.json",))

    assert world.files(candidate.commit) == ["plan/quantum.json", "qloop.toml", "work.txt"]
    assert world.show(candidate.commit, "plan/quantum.json") == "{}"
    assert candidate.changed


def test_work_on_state_files_alone_is_no_change(world: World) -> None:
    """An agent that only wrote state files has done nothing."""
    agent = world.agent()
    agent.commit("state", {"quantum.json": "{}\n", ".qloop/x": "x\n", "qloop.toml": "\n"})

    candidate = world.propose(agent)

    assert not candidate.changed
    assert world.files(candidate.commit) == world.files(world.start)


def test_state_file_whose_folder_became_a_file_comes_back(tmp_path: Path) -> None:
    """A file in the place of the state file's folder gives way."""
    world = World(tmp_path, {"plan/quantum.json": "{}\n", "a": "a\n"})
    agent = world.agent()
    agent.git("rm", "--quiet", "-r", "plan")
    agent.commit("in its place", {"plan": "a file\n"})

    candidate = world.propose(agent, state_paths=("plan/quantum.json",))

    assert world.files(candidate.commit) == ["a", "plan/quantum.json"]


def test_state_file_that_became_a_folder_comes_back(tmp_path: Path) -> None:
    """A folder in the place of a state file gives way."""
    world = World(tmp_path, {"quantum.json": "{}\n", "a": "a\n"})
    agent = world.agent()
    agent.git("rm", "--quiet", "quantum.json")
    agent.commit("in its place", {"quantum.json/b": "b\n"})

    assert world.files(world.propose(agent).commit) == ["a", "quantum.json"]


def test_state_files_are_no_conflict(tmp_path: Path) -> None:
    """The person's change of a state file stands, whatever an agent wrote into it."""
    world = World(tmp_path, {"quantum.json": "1\n", "a": "a\n"})
    agent = world.agent()
    agent.commit("mine", {"quantum.json": "agent\n", "b": "b\n"})
    world.person.git("switch", "--quiet", "ql/x")
    changed = world.person.commit("person", {"quantum.json": "person\n"})
    world.person.git("update-ref", "refs/qloop/line/ql/x", changed)

    assert world.show(world.propose(agent).commit, "quantum.json") == "person"


@pytest.mark.parametrize("path", [".env", "sub/.env.local", "sub/.ENV", ".envrc"])
def test_untracked_environment_files_are_refused(world: World, path: str) -> None:
    """Secrets that the line does not track never land."""
    agent = world.agent()
    agent.commit("secrets", {path: "KEY=1\n"})

    with pytest.raises(LandingRefused) as caught:
        world.propose(agent)
    assert caught.value.reasons == (f"{path}: an environment file that the line does not track",)


def test_environment_file_that_the_line_tracks_may_change(tmp_path: Path) -> None:
    """What the project itself keeps in git is the project's business, also its removal."""
    world = World(tmp_path, {".env.example": "KEY=\n", ".env.old": "\n", "a": "a\n"})
    agent = world.agent()
    (agent.path / ".env.old").unlink()
    agent.commit("example", {".env.example": "KEY=\nOTHER=\n", ".envs/.local": "folder\n"})

    assert world.files(world.propose(agent).commit) == [".env.example", ".envs/.local", "a"]


def test_what_copy_files_brought_is_refused(world: World) -> None:
    """A copied file or anything in a copied folder, unless the line tracks it."""
    agent = world.agent()
    agent.commit("all of it", {"secret.txt": "s\n", "certs/deep/key": "k\n", "certs-2": "c\n"})
    (agent.path / "README.md").write_text("changed\n", encoding="utf-8")
    agent.commit("tracked")

    with pytest.raises(LandingRefused) as caught:
        world.propose(agent, copy_files=("secret.txt", "certs/", "README.md"))
    assert caught.value.reasons == (
        "certs/deep/key: brought in by copyFiles, not tracked by the line",
        "secret.txt: brought in by copyFiles, not tracked by the line",
    )


@pytest.mark.parametrize(
    ("path", "target", "out"),
    [
        ("absolute", "/etc/passwd", True),
        ("up", "..", True),
        ("sub/deep/up", "../../../elsewhere", True),
        ("tricky", "missing/../../elsewhere", True),
        ("sub/fine", "../README.md", False),
        ("dangling", "nowhere/at/all", False),
        ("root", ".", False),
        ("loop", "loop", False),
        ("long", "x/" * 2500, True),
    ],
)
def test_links_leading_out_are_refused(world: World, path: str, target: str, out: bool) -> None:
    """A link may point at anything in the repository, be it missing, and at nothing beyond."""
    agent = world.agent()
    if path == "long":
        name = agent.git_object(target.encode())
        agent.git("update-index", "--add", "--cacheinfo", f"120000,{name},{path}")
        agent.git("commit", "--quiet", "-m", "link")
    else:
        _link(agent, path, target)
        agent.commit("link")

    if out:
        with pytest.raises(LandingRefused, match=f"{path}: a link that leads out"):
            world.propose(agent)
    else:
        assert path in world.files(world.propose(agent).commit)


def test_link_leading_out_by_way_of_another_is_refused(world: World) -> None:
    """Two links, each harmless by its words, that together leave the repository."""
    agent = world.agent()
    _link(agent, "sub/deep/root", "../..")
    _link(agent, "sub/deep/x\ny", "root/../elsewhere")
    _link(agent, "z", "sub/deep")
    agent.commit("links")

    with pytest.raises(LandingRefused) as caught:
        world.propose(agent)
    assert caught.value.reasons == ('"sub/deep/x\\ny": a link that leads out of the repository',)


def test_link_that_the_line_already_has_is_not_judged(world: World) -> None:
    """Only entries that differ from the line's are judged."""
    (world.person.path / "old").symlink_to("/etc")
    world.person.git("switch", "--quiet", "ql/x")
    tip = world.person.commit("the person's own", {".env": "K\n", "big": "x" * 2000})
    world.person.git("update-ref", "refs/qloop/line/ql/x", tip)
    agent = world.agent()
    agent.commit("work", {"a.txt": "a\n"})

    candidate = world.propose(agent, copy_files=("old", ".env"), file_bytes=1000)
    assert {"old", ".env", "big", "a.txt"} <= set(world.files(candidate.commit))


def test_nested_repository_without_entry_is_refused(world: World, tmp_path: Path) -> None:
    """A gitlink that nobody else could resolve breaks every clone."""
    agent = world.agent()
    inner = Agent(agent.path / "vendor" / "lib", agent.attempt_id, "")
    inner.path.mkdir(parents=True)
    inner.git("init", "--quiet")
    inner.commit("inner", {"x": "x\n"})
    agent.git("-c", "advice.addEmbeddedRepo=false", "add", "vendor/lib")
    agent.git("commit", "--quiet", "-m", "embedded")

    with pytest.raises(LandingRefused, match=r"vendor/lib: a repository of its own"):
        world.propose(agent)


@pytest.mark.parametrize(
    ("modules", "lands"),
    [
        ('[submodule "lib"]\n\tpath = vendor/lib\n\turl = ../lib.git\n', True),
        ('[submodule "lib"]\n\tpath = vendor/other\n\turl = ../lib.git\n', False),
        ("[submodule\n", False),
    ],
)
def test_submodule_lands_with_its_entry(world: World, modules: str, lands: bool) -> None:
    """A gitlink with a matching path in .gitmodules is a submodule; it may also move on."""
    agent = world.agent()
    agent.write({".gitmodules": modules})
    agent.git("add", ".gitmodules")
    agent.git("update-index", "--add", "--cacheinfo", f"160000,{world.start},vendor/lib")
    agent.git("commit", "--quiet", "-m", "submodule")

    if lands:
        assert "vendor/lib" in world.files(world.land(agent).commit)
    else:
        with pytest.raises(LandingRefused, match="vendor/lib"):
            world.propose(agent)


def test_files_above_the_limit_are_refused(world: World) -> None:
    """60 MB are too many for the default limit of 50; the size is told."""
    agent = world.agent()
    with (agent.path / "big.bin").open("wb") as out:
        out.truncate(60_000_000)
    agent.git("add", "big.bin")
    agent.commit("big", {"exact": "x" * 1000})

    with pytest.raises(LandingRefused) as caught:
        world.propose(agent)
    assert caught.value.reasons == ("big.bin: 60000000 bytes, more than the limit of 50000000",)


def test_file_of_exactly_the_limit_lands(world: World) -> None:
    """The limit itself is allowed, one byte more is not."""
    agent = world.agent()
    agent.commit("big", {"exact": "x" * 1000})

    assert "exact" in world.files(world.propose(agent, file_bytes=1000).commit)
    with pytest.raises(LandingRefused, match="exact: 1000 bytes, more than the limit of 999"):
        world.propose(agent, file_bytes=999)


def test_all_reasons_are_told_at_once(world: World) -> None:
    """Nobody should have to come back once for each."""
    agent = world.agent()
    _link(agent, "out", "/etc")
    agent.commit("all", {".env": "K\n", "copied": "c\n", "large": "x" * 2000})

    with pytest.raises(LandingRefused) as caught:
        world.propose(agent, copy_files=("copied",), file_bytes=1000)
    assert [reason.partition(":")[0] for reason in caught.value.reasons] == [
        "out",
        ".env",
        "copied",
        "large",
    ]


def test_strange_names_are_kept_exactly(world: World) -> None:
    """Blanks, line ends, quotes, wild cards and letters of any alphabet are only names."""
    names = ["a b", "line\nend", 'quo"te', "täb\t", "*[x]?", ":(glob)y", "-dash", "日本/語.txt"]
    agent = world.agent()
    agent.commit("names", dict.fromkeys(names, "content\n"))
    _link(agent, "lïnk\n1", "line\nend")
    agent.commit("and a link", {"qloop.toml": "restored\n"})

    landed = world.land(agent)

    assert set(world.files(landed.commit)) - set(world.files(world.start)) == {*names, "lïnk\n1"}
