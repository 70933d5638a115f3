"""The one file that a worker changes: which may be one, and how it is replaced and put back."""

from pathlib import Path

import pytest

from qloop.run.target import (
    LONGEST_BYTES,
    TargetChanged,
    find_target,
    put_back,
    replace_target,
)
from qloop.system.errors import BadInput

OLD = b"one\ntwo\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with files, links that lead around, and a repository within."""
    made = tmp_path / "a repo"
    (made / "src" / "inner" / ".git").mkdir(parents=True)
    (made / "src" / "a.py").write_bytes(OLD)
    (made / "src" / "inner" / "a.py").write_bytes(OLD)
    (tmp_path / "out.py").write_bytes(OLD)
    (made / "link.py").symlink_to(tmp_path / "out.py")
    (made / "near.py").symlink_to("src/a.py")
    (made / "broken.py").symlink_to("nowhere")
    (made / "way").symlink_to(tmp_path)
    (made / "bytes").write_bytes(b"\xff\xfe")
    (made / "zero").write_bytes(b"a\0b")
    (made / "long").write_bytes(b"x" * (LONGEST_BYTES + 1))
    (made / "over").write_bytes(b"a\rb\n")
    (made / "signal").write_bytes(b"<quantum>STORY_PASSED</quantum>\n")
    return made


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("../out.py", "leads out by '..'"),
        ("src/../../out.py", "leads out by '..'"),
        ("/etc/passwd", "is absolute"),
        ("", "is no plain file"),
        ("link.py", "leads over the link link.py"),
        ("near.py", "leads over the link near.py"),
        ("broken.py", "leads over the link broken.py"),
        ("way/out.py", "leads over the link way"),
        (".git/config", "belongs to git or to qloop itself"),
        ("src/.GIT/hooks/pre-commit", "belongs to git or to qloop itself"),
        (".qloop/events.jsonl", "belongs to git or to qloop itself"),
        ("Quantum.json", "belongs to git or to qloop itself"),
        ("src/inner/a.py", "lies in another repository, src/inner"),
        ("src", "is no plain file"),
        ("bytes", "is not UTF-8"),
        ("zero", "is no text"),
        ("long", "200001 bytes"),
        ("over", "carriage returns within its lines"),
        ("signal", "a line that is a signal"),
    ],
)
def test_what_no_worker_may_change(root: Path, name: str, told: str) -> None:
    """Each is refused before anybody is asked, and says why."""
    with pytest.raises(BadInput) as caught:
        find_target(root, name, {"quantum.json"})

    assert told in caught.value.what


def test_a_file_is_replaced_and_put_back(root: Path) -> None:
    """Content and mode are those from before; a file that was made is gone again."""
    (root / "src/a.py").chmod(0o755)
    old, new = find_target(root, "./src/a.py"), find_target(root, "src/b.py")

    written = [replace_target(one, b"three\n") for one in (old, new)]
    there = old.path.read_bytes(), new.path.read_bytes()
    old.path.chmod(0o600)  # as a command that judges it might
    back = [put_back(one, data) for one, data in zip((old, new), written, strict=True)]

    assert (old.name, old.text, old.lines) == ("src/a.py", "one\ntwo\n", 2)
    assert (new.text, new.lines) == (None, 0)
    assert there == (b"three\n", b"three\n")
    assert back == [True, True]
    assert old.path.read_bytes() == OLD
    assert old.path.stat().st_mode & 0o777 == 0o755
    assert not new.path.exists()


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_what_is_no_plain_file_any_more_is_somebody_elses(root: Path, kind: str) -> None:
    """A link with the same content, or a folder, is neither replaced nor put back."""
    target = find_target(root, "src/a.py")
    other = root / "other.py"
    other.write_bytes(OLD)
    target.path.unlink()
    if kind == "link":
        target.path.symlink_to(other)
    else:
        target.path.mkdir()

    with pytest.raises(TargetChanged):
        replace_target(target, b"three\n")

    assert not put_back(target, OLD)
    assert other.read_bytes() == OLD
    assert target.path.is_symlink() is (kind == "link")


def test_what_somebody_else_wrote_meanwhile_stays(root: Path) -> None:
    """Before the change nothing is applied, after it nothing is put back."""
    target = find_target(root, "src/a.py")
    target.path.write_bytes(b"mine\n")

    with pytest.raises(TargetChanged, match="nothing is applied"):
        replace_target(target, b"three\n")

    assert not put_back(target, b"three\n")
    assert target.path.read_bytes() == b"mine\n"
