"""Which changes a git command's words are able to make: tables of commands and refs."""

import shlex

import pytest

from qloop.repo.abilities import removes_ref, removes_worktree, writes_ref
from qloop.repo.trace import TracedCommand

HERE = frozenset({"refs/heads/main"})


def command(line: str, code: int | None = 0, pushed: str = "") -> TracedCommand:
    """A traced command as if it had been typed."""
    name, *args = shlex.split(line)
    return TracedCommand(
        "sid", ("git", name, *args), name, tuple(args), code, pushed=tuple(shlex.split(pushed))
    )


@pytest.mark.parametrize(
    ("line", "ref"),
    [
        ("branch -d x", "refs/heads/x"),
        ("branch -qD x y", "refs/heads/y"),
        ("branch --delete x", "refs/heads/x"),
        ("branch -dr o/x", "refs/remotes/o/x"),
        ("branch -m x y", "refs/heads/x"),
        ("branch --move y", "refs/heads/main"),
        ("tag --delete x", "refs/tags/x"),
        ("update-ref -d refs/notes/x", "refs/notes/x"),
        ("update-ref -d HEAD", "refs/heads/main"),
        ("update-ref --stdin", "refs/heads/x"),
        ("symbolic-ref -d refs/heads/x", "refs/heads/x"),
        ("fetch --prune", "refs/remotes/o/x"),
        ("fetch -P o", "refs/tags/x"),
        ("pull -p", "refs/remotes/o/x"),
        ("remote update -p", "refs/remotes/o/x"),
        ("remote prune o", "refs/remotes/o/x"),
        ("remote rm o", "refs/remotes/o/x"),
        ("remote rename o p", "refs/remotes/o/x"),
        ("replace -d x", "refs/replace/x"),
    ],
)
def test_commands_that_delete(line: str, ref: str) -> None:
    """Each is able to delete what its words lead to, unless it failed; never something else."""
    assert removes_ref(command(line), ref, HERE)
    assert removes_ref(command(line, code=None), ref, HERE)
    assert not removes_ref(command(line), "refs/other/x", HERE) or "--stdin" in line
    assert not removes_ref(command(f"{line.split()[0]}", code=1), ref, HERE)


@pytest.mark.parametrize(
    ("line", "ref"),
    [
        ("branch x", "refs/heads/x"),
        ("branch -f x HEAD~1", "refs/heads/x"),
        ("branch -c x y", "refs/heads/y"),
        ("tag x", "refs/tags/x"),
        ("tag -f x HEAD", "refs/tags/x"),
        ("update-ref refs/heads/x HEAD", "refs/heads/x"),
        ("update-ref HEAD x", "refs/heads/main"),
        ("update-ref --stdin", "refs/heads/x"),
        ("checkout -b x", "refs/heads/x"),
        ("checkout --track o/x", "refs/heads/x"),
        ("switch -C x y", "refs/heads/x"),
        ("worktree add -b x ../y", "refs/heads/x"),
        ("worktree add ../y", "refs/heads/y"),
        ("stash branch x", "refs/heads/x"),
        ("reset --hard HEAD~1", "refs/heads/main"),
        ("merge --ff-only x", "refs/heads/main"),
        ("rebase x", "refs/heads/main"),
        ("pull", "refs/heads/main"),
        ("pull", "refs/remotes/o/x"),
        ("fetch o", "refs/remotes/o/x"),
        ("fetch o +refs/heads/x:refs/heads/z", "refs/heads/z"),
        ("fetch o y:x", "refs/heads/x"),
        ("push o x", "refs/remotes/o/x"),
        ("remote update", "refs/remotes/o/x"),
        ("remote add -f o /x", "refs/remotes/o/x"),
        ("remote set-head o -a", "refs/remotes/o/HEAD"),
        ("notes add -m x", "refs/notes/commits"),
        ("replace a b", "refs/replace/a"),
        ("symbolic-ref refs/heads/x refs/heads/y", "refs/heads/x"),
    ],
)
def test_commands_that_write(line: str, ref: str) -> None:
    """Each is able to make or move what its words lead to, and nothing else."""
    assert writes_ref(command(line), ref, HERE)
    assert not writes_ref(command(line), "refs/other/x", HERE) or "--stdin" in line
    assert not writes_ref(command(line.split()[0], code=1), ref, HERE)


@pytest.mark.parametrize(
    ("line", "ref"),
    [
        ("branch", "refs/heads/main"),
        ("branch --list x", "refs/heads/x"),
        ("branch -r x", "refs/heads/x"),
        ("branch --contains x", "refs/heads/x"),
        ("branch -u o/x x", "refs/heads/x"),
        ("branch -d x", "refs/tags/x"),
        ("branch -m x y", "refs/heads/main"),
        ("tag", "refs/tags/x"),
        ("tag -n3 x", "refs/tags/x"),
        ("tag -v x", "refs/tags/x"),
        ("tag --points-at x", "refs/tags/x"),
        ("reset", "refs/heads/main"),
        ("reset --hard HEAD", "refs/heads/main"),
        ("fetch", "refs/tags/x"),
        ("fetch o x", "refs/heads/x"),
        ("remote show o", "refs/remotes/o/x"),
        ("remote prune o", "refs/remotes/p/x"),
        ("symbolic-ref refs/heads/x", "refs/heads/x"),
        ("worktree list", "refs/heads/list"),
        ("update-ref --stdin", "refs/qloop/line/x"),
        ("log x", "refs/heads/x"),
        ("show-ref x", "refs/heads/x"),
        ("rev-parse x", "refs/heads/x"),
        ("stash list", "refs/heads/x"),
    ],
)
def test_commands_that_do_neither(line: str, ref: str) -> None:
    """Reading a ref, or doing something to another, is no ability."""
    assert not removes_ref(command(line), ref, HERE)
    assert not writes_ref(command(line), ref, HERE)


@pytest.mark.parametrize(
    ("pushed", "ref", "removes", "writes"),
    [
        ("/x :y", "refs/heads/y", True, True),
        ("/x --delete y", "refs/tags/y", True, True),
        ("/x +a:refs/heads/y", "refs/heads/y", False, True),
        ("/x a", "refs/heads/a", False, True),
        ("/x a", "refs/heads/b", False, False),
        ("/x", "refs/heads/a", False, True),
        ("/x", "refs/tags/a", False, False),
        ("--mirror /x", "refs/tags/a", True, True),
        ("--mirror /x", "refs/qloop/line/a", False, False),
        ("/x refs/heads/*:refs/heads/*", "refs/heads/a", True, True),
    ],
)
def test_push_into_the_repository(pushed: str, ref: str, removes: bool, writes: bool) -> None:
    """The receiving side is able to do what the push asked for."""
    received = command("receive-pack /x", pushed=pushed)

    assert removes_ref(received, ref, HERE) is removes
    assert writes_ref(received, ref, HERE) is writes


def test_failed_command_with_several_names_may_have_done_some() -> None:
    """Git deletes what it can of several names before it fails."""
    assert removes_ref(command("tag -d x y", code=1), "refs/tags/x", HERE)
    assert not removes_ref(command("tag -d x", code=1), "refs/tags/x", HERE)


@pytest.mark.parametrize(
    ("line", "able"),
    [
        ("worktree remove '../a b'", True),
        ("worktree remove --force /x/a-b1/", True),
        ("worktree remove ../c", False),
        ("worktree prune", True),
        ("worktree add ../a-b", False),
        ("log a-b", False),
    ],
)
def test_removing_worktrees(line: str, able: bool) -> None:
    """Git's name of a worktree is its folder's, made safe and numbered."""
    assert removes_worktree(command(line), "a-b") is able
