"""A git that stays answers like a git for each question, and goes when it is told to."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qloop.repo.git import Git
from qloop.repo.history import own_commits, trees_since
from qloop.repo.line import chain_since
from qloop.repo.lookup import close_all
from qloop.system.process import own_children
from repository import Repo


def both(repo: Repo) -> tuple[Git, Git]:
    """Git that asks one that stays, and git that starts a process for each question."""
    git_dir = repo.path / ".git"
    return Git(git_dir, asked=git_dir), Git(git_dir)


@st.composite
def histories(draw: st.DrawFn) -> list[list[int]]:
    """For each commit after the first the numbers of its parents."""
    count = draw(st.integers(1, 7))
    return [
        draw(st.lists(st.integers(0, number), min_size=1, max_size=3, unique=True))
        for number in range(count)
    ]


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(history=histories())
def test_history_is_told_alike(repo: Repo, history: list[list[int]]) -> None:
    """Ancestry, chains and own commits, between all commits of any history."""
    staying, starting = both(repo)
    names = [repo.git("rev-parse", "HEAD")]
    for number, parents in enumerate(history):
        tree = repo.git("write-tree")
        links = [word for parent in parents for word in ("-p", names[parent])]
        names.append(repo.git("commit-tree", tree, *links, "-m", f"commit {number}\n\nbody"))

    for newer in names[-3:]:
        for older in names:
            contained = starting.is_ancestor(older, newer)
            assert staying.is_ancestor(older, newer) == contained
            assert chain_since(staying, newer, older) == chain_since(starting, newer, older)
            chain = trees_since(starting, newer, older)
            assert trees_since(staying, newer, older) == chain
            if chain:
                for tip in names:
                    own = own_commits(starting, tip, older, chain)
                    assert set(own_commits(staying, tip, older, chain)) == set(own)


MESSAGES = ("one", "  two\nlines  \n\nbody", "\n\nlate", "", "ünï \u2014 text", "a\tb  ")
NAMES = ("A B", "Ünï Ö", "x, y", "", "<", 'quo"ted', "dot.")


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("name", NAMES)
def test_commits_are_read_alike(repo: Repo, message: str, name: str) -> None:
    """Author, committer, subject and tree, as git itself tells them."""
    staying, starting = both(repo)
    start = repo.git("rev-parse", "HEAD")
    person = f"{name} <a@b.c> 1700000000 +0530".encode()
    content = b"tree %s\nparent %s\nauthor %s\ncommitter %s\n\n%s" % (
        repo.git("rev-parse", "HEAD^{tree}").encode(),
        start.encode(),
        person,
        person,
        message.encode(),
    )
    made = starting.text(
        "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=content
    )
    chain = {start: ""}

    assert own_commits(staying, made, start, chain) == own_commits(starting, made, start, chain)


def test_refs_are_read_anew_each_time(repo: Repo) -> None:
    """Loose, packed, deleted and symbolic, and objects that came meanwhile."""
    staying, starting = both(repo)
    asked = ("HEAD^{commit}", "refs/heads/new^{commit}", "HEAD:README.md", "HEAD^{tree}", "nothing")
    seen = set()
    for step in (
        ("branch", "new"),
        ("pack-refs", "--all"),
        ("commit", "--quiet", "--allow-empty", "-m", "more"),
        ("branch", "--force", "new", "HEAD"),
        ("gc", "--quiet"),
        ("branch", "-D", "new"),
        ("switch", "--quiet", "--orphan", "empty"),
    ):
        repo.git(*step)
        found = staying.find_all(*asked)
        assert found == starting.find_all(*asked)
        seen.add(found)
    assert len(seen) >= 4


@pytest.mark.parametrize("revision", ["two\nlines", "", "x" * 5000, "HEAD blob 12", "a b", "@{-1}"])
def test_odd_revisions(repo: Repo, revision: str) -> None:
    """What cannot be asked in a line is asked in another way."""
    staying, starting = both(repo)
    assert staying.find(revision) == starting.find(revision)
    assert staying.find("HEAD") is not None


def test_one_that_was_killed_is_started_again(repo: Repo) -> None:
    """Between two questions, or by one that it dies of."""
    staying, _ = both(repo)
    before = own_children()
    head = staying.find("HEAD")
    (pid,) = own_children() - before
    os.kill(pid, signal.SIGKILL)

    assert staying.find("HEAD") == head
    assert staying.find("HEAD^{tree}") is not None
    close_all()
    assert own_children() == before


def test_a_broken_object_hides_no_other(repo: Repo) -> None:
    """The git that stays may die of it; what is asked beside it is found."""
    staying, _ = both(repo)
    head = repo.git("rev-parse", "HEAD")
    repo.commit("next", {"a.txt": "b\n"})
    broken = repo.git("rev-parse", "HEAD")
    file: Path = repo.path / ".git/objects" / broken[:2] / broken[2:]
    file.chmod(0o644)
    file.write_bytes(b"broken")

    assert staying.find_all(f"{broken}^{{commit}}", f"{head}^{{commit}}") == (None, head)
    assert staying.read_object(broken) is None
    assert staying.find(f"{head}^{{commit}}") == head
