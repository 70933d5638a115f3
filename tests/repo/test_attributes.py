"""Which lines of `.gitattributes` merges obey, and how a folder's lines are put for the root."""

import subprocess
from pathlib import Path

import pytest

from qloop.repo.attributes import kept_lines
from qloop.repo.line import line_ref
from qloop.repo.merging import MergeConflict
from repo.landing_world import BRANCH, TEN_LINES, World


@pytest.mark.parametrize(
    ("folder", "line", "kept"),
    [
        ("", "*.md merge=union", "*.md merge=union"),
        ("", "  *.md\tmerge=union diff=word eol=lf", "*.md merge=union"),
        ("", "*.png binary", "*.png binary"),
        ("", "* text=auto", "* text=auto"),
        ("", "*.bin -text -merge", "*.bin -text -merge"),
        ("", "*.po merge=evil", "*.po !merge"),
        ("", "*.c filter=lfs diff=cpp", None),
        ("", "*.t text=maybe", None),
        ("", "# merge=union", None),
        ("", "!*.md merge=union", None),
        ("", "", None),
        ("", '"a b.md" merge=union', '"a b.md" merge=union'),
        ("docs", "*.md merge=union", "/docs/**/*.md merge=union"),
        ("docs", "/CHANGES merge=union", "/docs/CHANGES merge=union"),
        ("docs", "old/*.md merge=union", "/docs/old/*.md merge=union"),
        ("a b", "CHANGES merge=union", '"/a b/**/CHANGES" merge=union'),
        ("a*", "CHANGES merge=union", "/a\\*/**/CHANGES merge=union"),
        ("n\nl", "CHANGES merge=union", '"/n\\012l/**/CHANGES" merge=union'),
    ],
)
def test_line_is_kept_left_out_or_moved_to_the_root(
    folder: str, line: str, kept: str | None
) -> None:
    """Only union, binary and text remain, and patterns keep their meaning."""
    assert kept_lines(folder, line, {"binary"}) == ([] if kept is None else [kept])


def test_macros_of_the_root_are_kept_with_what_counts_of_them() -> None:
    """A macro stands for its attributes; one of a folder below is none, as for git."""
    macros = {"binary"}
    root = kept_lines("", "[attr]lock merge=union diff=none\n*.lock lock\n[attr]-bad x", macros)
    below = kept_lines("sub", "[attr]other merge=union\n*.a other\n*.b -lock", macros)

    assert root == ["[attr]lock merge=union", "*.lock lock"]
    assert below == ["/sub/**/*.b -lock"]


def test_byte_order_mark_and_line_ends_of_windows_do_not_matter() -> None:
    """Git skips both."""
    text = "\N{BYTE ORDER MARK}*.md merge=union\r\n*.png binary\r\n"

    assert kept_lines("", text, {"binary"}) == ["*.md merge=union", "*.png binary"]


def _both_append(world: World, path: str) -> None:
    """Two agents from one start each add another last line to *path*."""
    first, second = world.agent("US-1"), world.agent("US-2")
    before = (first.path / path).read_text("utf-8") if (first.path / path).exists() else ""
    first.commit("one", {path: f"{before}one\n"})
    second.commit("two", {path: f"{before}two\n"})
    world.land(first)
    world.land(second)


@pytest.mark.parametrize(
    ("attributes", "line", "path"),
    [
        (".gitattributes", "CHANGES merge=union", "CHANGES"),
        (".gitattributes", "CHANGES merge=union", "deep/down/CHANGES"),
        (".gitattributes", "[attr]log merge=union\nCHANGES log", "CHANGES"),
        ("deep/.gitattributes", "CHANGES merge=union", "deep/down/CHANGES"),
        ("deep/.gitattributes", "/down/CHANGES merge=union", "deep/down/CHANGES"),
        ("d [x]*/.gitattributes", '"CH ÄNGES" merge=union', "d [x]*/CH ÄNGES"),
        ("ü\n/.gitattributes", '"C \\303\\204" merge=union', "ü\n/C Ä"),
    ],
)
def test_committed_union_keeps_both_sides(
    tmp_path: Path, attributes: str, line: str, path: str
) -> None:
    """What two stories append to a union file is there from both, wherever the rule stands."""
    world = World(tmp_path, {path: "first\n", attributes: f"{line}\n"})

    _both_append(world, path)

    assert set(world.show(world.line, path).split("\n")) == {"first", "one", "two"}


@pytest.mark.parametrize(
    ("attributes", "line"),
    [
        ("other/.gitattributes", "CHANGES merge=union"),
        ("deep/.gitattributes", "/CHANGES merge=union"),
        ("deep/down/.gitattributes", "CHANGES merge=other"),
    ],
)
def test_rules_for_other_places_do_not_reach(tmp_path: Path, attributes: str, line: str) -> None:
    """A rule of another folder, or one that a deeper file overrules, merges nothing by union."""
    files = {"deep/down/CHANGES": "first\n", attributes: f"{line}\n"}
    if "other" in line:
        files[".gitattributes"] = "CHANGES merge=union\n"
    world = World(tmp_path, files)

    with pytest.raises(MergeConflict) as caught:
        _both_append(world, "deep/down/CHANGES")
    assert caught.value.files == ("deep/down/CHANGES",)


def test_binary_files_are_not_merged_by_lines(tmp_path: Path) -> None:
    """What would merge as text is a conflict where the line says binary."""
    world = World(tmp_path, {"data": TEN_LINES, ".gitattributes": "data binary\n"})
    first, second = world.agent("US-1"), world.agent("US-2")
    first.commit("one", {"data": TEN_LINES.replace("line 0", "ONE")})
    second.commit("two", {"data": TEN_LINES.replace("line 9", "TWO")})
    world.land(first)

    with pytest.raises(MergeConflict):
        world.land(second)


@pytest.mark.parametrize("text", [True, False])
def test_text_makes_line_ends_alike_before_merging(tmp_path: Path, text: bool) -> None:
    """A side with line ends of Windows merges where the line says text, and else conflicts."""
    world = World(tmp_path, {"f": TEN_LINES, "g": "g\n"})
    first, second = world.agent("US-1"), world.agent("US-2")
    first.commit("one", {"f": TEN_LINES.replace("line 0", "ONE")})
    (second.path / "f").write_bytes(
        TEN_LINES.replace("line 9", "TWO").replace("\n", "\r\n").encode()
    )
    second.commit("two")
    world.land(first)
    if text:
        world.land_files("US-3", {".gitattributes": "f text\n"})
        expected = TEN_LINES.replace("line 0", "ONE").replace("line 9", "TWO").rstrip("\n")

        assert world.show(world.land(second).commit, "f") == expected
    else:
        with pytest.raises(MergeConflict):
            world.land(second)


def test_attributes_that_only_the_agent_has_do_not_count(tmp_path: Path) -> None:
    """An agent cannot have its conflict merged away by a rule of its own."""
    world = World(tmp_path, {"CHANGES": "first\n"})
    first, second = world.agent("US-1"), world.agent("US-2")
    first.commit("one", {"CHANGES": "first\none\n"})
    second.commit("two", {"CHANGES": "first\ntwo\n", ".gitattributes": "* merge=union text\n"})
    world.land(first)

    with pytest.raises(MergeConflict):
        world.land(second)


def test_attributes_file_that_is_a_link_does_not_count(tmp_path: Path) -> None:
    """Git does not follow it either, and its target is no text to read rules from."""
    world = World(tmp_path, {"CHANGES": "first\n"})
    (world.person.path / ".gitattributes").symlink_to("* merge=union")
    linked = world.person.commit("link")
    world.person.git("update-ref", line_ref(BRANCH), linked)

    with pytest.raises(MergeConflict):
        _both_append(world, "CHANGES")


def test_merge_driver_of_the_persons_configuration_never_runs(tmp_path: Path) -> None:
    """Neither a driver that attributes name, nor one that takes the place of git's own, runs."""
    world = World(
        tmp_path,
        {"CHANGES": "first\n", "x.evil": TEN_LINES, ".gitattributes": "*.evil merge=evil\n"},
    )
    proof = tmp_path / "ran"
    for driver in ("evil", "text", "union", "binary"):
        world.person.git("config", f"merge.{driver}.driver", f"touch '{proof}'; true")
    world.person.git("config", "merge.default", "evil")
    first, second = world.agent("US-1"), world.agent("US-2")
    first.commit("one", {"x.evil": TEN_LINES.replace("line 0", "ONE")})
    second.commit("two", {"x.evil": TEN_LINES.replace("line 9", "TWO")})
    (world.repository.git_dir / "info").mkdir(exist_ok=True)
    (world.repository.git_dir / "info" / "attributes").write_text("* merge=evil\n")
    world.land(first)
    landed = world.land(second)

    assert not proof.exists()
    assert world.show(landed.commit, "x.evil").split("\n")[0] == "ONE"
    assert world.show(landed.commit, "x.evil").split("\n")[9] == "TWO"


def test_git_itself_reads_what_is_kept_in_the_same_way(tmp_path: Path) -> None:
    """For many paths, git gives the re-rooted file's verdict that it gives for the nested one."""
    world = World(
        tmp_path,
        {
            ".gitattributes": "*.u merge=union\n*.b binary\n",
            "a/.gitattributes": "*.u !merge\n/only merge=union\nb/*.z merge=union\n",
            "a/b/.gitattributes": "x* merge=union\n",
            **dict.fromkeys(("q.u", "a/q.u", "a/only", "a/b/only", "a/b/1.z", "a/1.z"), "."),
            **dict.fromkeys(("a/b/x1", "a/b/c/x2", "x3", "p.b", "a/p.b"), "."),
        },
    )
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(bare)], check=True)
    listed = [name for name in world.files(BRANCH) if not name.endswith(".gitattributes")]
    macros = {"binary"}
    lines: list[str] = []
    for folder in ("", "a", "a/b"):
        text = (world.person.path / folder / ".gitattributes").read_text("utf-8")
        lines += kept_lines(folder, text, macros)
    (bare / "info").mkdir(exist_ok=True)
    (bare / "info" / "attributes").write_text("\n".join(lines) + "\n", encoding="utf-8")

    ours = subprocess.run(
        ["git", "--git-dir", str(bare), "check-attr", "merge", "text", "--", *listed],
        check=True,
        capture_output=True,
        cwd=bare,
    ).stdout.decode()
    assert ours == world.person.git("check-attr", "merge", "text", "--", *listed) + "\n"
