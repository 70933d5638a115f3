"""Names of branches and stories, compared with git itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.plans import unhurried
from qloop.plan.names import find_branch_danger, is_story_id
from qloop.system import process

ODD = st.sampled_from(["a", "ü", "/", ".", "..", ".lock", "@", "{", "-", "~", "^", ":", "?", "*",
                       "[", "\\", " ", "\t", "\x7f", "HEAD"])  # fmt: skip


@unhurried
@given(st.lists(ODD, min_size=1, max_size=4).map("".join))
def test_git_agrees_on_branch_names(name: str) -> None:
    """What is found safe is what `git check-ref-format --branch` takes."""
    done = process.run(["git", "check-ref-format", "--branch", name])
    expands = name.startswith(("@", "-")) or name == "HEAD"

    if find_branch_danger(name) is None:
        assert done.code == 0
    elif not expands:
        assert done.code != 0


@pytest.mark.parametrize(
    "name",
    ["", "-x", "@", "HEAD", "a..b", "a b", "a~", "a^", "a:b", "a?", "a*", "a[", "a\\b", "/a", "a/",
     "a//b", "a.", ".a", "a/.b", "a.lock", "a.lock/b", "a@{1}", "a\0", "a\ud800"],
)  # fmt: skip
def test_unsafe_branch_names_are_found(name: str) -> None:
    """Each rule of git-check-ref-format(1) is kept, and what git would read as an option."""
    assert find_branch_danger(name) is not None


@pytest.mark.parametrize("name", ["ql/x", "main", "a.b/c-d_e", "@a", "a@b", "größe", "a./b"])
def test_safe_branch_names_pass(name: str) -> None:
    """Names that git takes have no danger."""
    assert find_branch_danger(name) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("US-1", True), ("a", True), ("a" * 64, True), ("a" * 65, False), ("", False), ("-a", False),
     ("_a", False), ("a/b", False), ("a.b", False), ("a\n", False), ("ü", False)],
)  # fmt: skip
def test_story_ids_are_safe_words(text: str, expected: bool) -> None:
    """Letters, digits, `-` and `_`, the first a letter or digit, 64 at most."""
    assert is_story_id(text) is expected
