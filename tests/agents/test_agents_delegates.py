"""What delegates are told and answer: tokens, traces in few words, a worker's change of a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.agents.compression import compress, extract
from qloop.agents.error_trace import find_place, plain_lines, telling_line
from qloop.agents.tokens import count_tokens, cut_tokens, last_tokens
from qloop.agents.unified_diff import BadDiff, apply_diff, parse_diff
from qloop.agents.worker_answer import UnusableWork, change_text, fence_around

TRACE = 'Traceback\n  File "src/shop.py", line 12, in total\nValueError: no price\n'
OLD = "one\ntwo\nthree\n"
HEAD = "--- a/a.txt\n+++ b/a.txt\n"
DIFF = f"{HEAD}@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
GIT = "diff --git a/a.txt b/a.txt\n"
NEW = DIFF.replace("a/a.txt", "/dev/null")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@pytest.mark.parametrize(
    ("text", "number"),
    [("", 0), (" \n\t", 0), ("a.b", 3), ("foo_bar 12", 2), ("≠ ü", 2), ("a--b", 4)],
)
def test_tokens_are_words_and_single_signs(text: str, number: int) -> None:
    """Blanks count for nothing."""
    assert count_tokens(text) == number


@given(TEXTS, st.integers(0, 60))
def test_a_text_is_cut_where_a_token_ends(text: str, most: int) -> None:
    """What is short enough stays as it is; else it has just so many tokens, none of them cut."""
    cut, end = cut_tokens(text, most), last_tokens(text, most)
    rest = text[len(cut) :]

    assert text.startswith(cut)
    assert count_tokens(cut) == min(most, count_tokens(text))
    assert count_tokens(cut) + count_tokens(rest) == count_tokens(text)
    assert not most or count_tokens(end) == min(most, count_tokens(text))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("\n", 1),
        ("a", 1),
        ("a\n", 1),
        ("a\r\nb\r\n", 2),
        ("\x1b[31ma\x1b[0m\n\x1b[2K", 1),
        ("10%\r20%\rdone\r\nb", 2),
        ("x\n" * 100, 100),
        ("x\n" * 100 + "x", 101),
    ],
)
def test_lines_are_counted_as_a_terminal_shows_them(text: str, number: int) -> None:
    """An end of line at the end begins no other; codes and what is written over do not count."""
    assert len(plain_lines(text)) == number


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (TRACE, "src/shop.py:12"),
        ("\x1b[31mtests/test_a.py\x1b[0m:7: AssertionError", "tests/test_a.py:7"),
        ("    at total (/app/src/shop.js:10:5)", "/app/src/shop.js:10"),
        ("src/a.ts(10,5): error TS2322", "src/a.ts:10"),
        (" --> src/main.rs:5:9", "src/main.rs:5"),
        ("Died at lib/a.pl line 3.", "lib/a.pl:3"),
        ("Makefile:12: recipe for target 'all' failed", "Makefile:12"),
        ("b.py:2 then a.py:1", "b.py:2"),
        ("12:30:45 http://localhost:8080 http://a.com:443/x db.internal:5432 1.2:3", None),
        ("+" * 5000, None),
        ("", None),
    ],
)
def test_the_first_place_of_a_trace(text: str, place: str | None) -> None:
    """Whatever the language, as file:line; neither times nor hosts."""
    assert find_place(text) == place


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TRACE, "ValueError: no price"),
        ("=== FAILURES ===\nE  assert 1 == 2\n=== 1 failed ===", "E  assert 1 == 2"),
        ("thread 'main' panicked at src/a.rs:1", "thread 'main' panicked at src/a.rs:1"),
        ("nothing\nto see\n---\n", "to see"),
        ("", ""),
    ],
)
def test_the_line_that_tells_most(text: str, line: str) -> None:
    """An error's own line, else one that fails, else the last that says anything."""
    assert telling_line(text) == line


def test_a_short_answer_stays_and_a_long_one_is_cut() -> None:
    """At most so many tokens, none of them cut, and the first place of the trace among them."""
    short = compress("no price, src/shop.py:12\n", TRACE, 50)
    other = compress("no price", TRACE, 50)
    long = compress("word " * 5000, TRACE, 50)
    late = compress("word " * 50 + "src/shop.py:12", TRACE, 50)
    longer = compress("see src/shop.py:123", TRACE, 50)

    assert (short.text, short.source, short.truncated) == (
        "no price, src/shop.py:12",
        "model",
        False,
    )
    assert other.text == "src/shop.py:12: no price"
    assert (long.tokens, long.truncated) == (50, True)
    assert long.text.startswith("src/shop.py:12: word word")
    assert late.text.startswith("src/shop.py:12: word")
    assert longer.text == "src/shop.py:12: see src/shop.py:123"


@pytest.mark.parametrize("answer", ["", "  \n", "\x1b[0m", "x" * 3000])
def test_an_empty_answer_becomes_an_extract(answer: str) -> None:
    """The same each time, and what can be had without a model; an endless word is nothing."""
    found = compress(answer, TRACE, 50)

    assert found == extract(TRACE, 50)
    assert (found.text, found.source) == ("src/shop.py:12: ValueError: no price", "extract")


def test_few_tokens_may_be_long_all_the_same() -> None:
    """What is told never has more than some characters, and no token is cut."""
    words = f"{'a' * 900} {'b' * 900} {'c' * 900}"

    assert cut_tokens(words, 50) == words[:1801]
    assert extract(f"x.py:1: {'e' * 5000}", 50).text == "x.py:1:"
    assert compress(words, TRACE, 50).truncated


@given(TEXTS, TEXTS, st.integers(10, 60))
def test_never_more_tokens_than_allowed(answer: str, trace: str, most: int) -> None:
    """Whatever trace and answer hold, and the place is kept as far as it fits."""
    found = compress(answer, trace, most)
    place = find_place(trace)

    assert found.tokens == count_tokens(found.text) <= most
    assert place is None or count_tokens(place) > most or place in found.text


@pytest.mark.parametrize(
    ("answer", "after"),
    [
        ("```\n1\n2\n```", "1\n2\n"),
        ("```python\n1\n```\n", "1\n"),
        ("Here it is:\n\n```\n1\n```\nThat is all.", "1\n"),
        ("~~~\n```\n1\n```\n~~~", "```\n1\n```\n"),
        ("````\n```sh\n1\n```\n````", "```sh\n1\n```\n"),
        ("```\r\n1\r\n```\r\n", "1\n"),
        (DIFF, "one\n2\nthree\n"),
        (f"diff --git a/a.txt b/a.txt\nindex 1..2 100644\n{DIFF}", "one\n2\nthree\n"),
        (f"```diff\n{DIFF}```", "one\n2\nthree\n"),
        (f"```\n{DIFF}```", "one\n2\nthree\n"),
        (DIFF.replace("a/a.txt", "a.txt").replace("b/a.txt", "a.txt"), "one\n2\nthree\n"),
        (DIFF.replace("-1,3 +1,3", "-7,9 +7"), "one\n2\nthree\n"),
        (f"{HEAD}@@ -3,0 +4 @@\n+four\n", "one\ntwo\nthree\nfour\n"),
        (f"{HEAD}@@ -1 +0,0 @@\n-one\n@@ -3 +2 @@\n-three\n+3\n", "two\n3\n"),
    ],
)
def test_an_answer_in_one_of_the_forms_is_the_change(answer: str, after: str) -> None:
    """One fenced block is the new content; a diff of the target is applied to it."""
    assert change_text(answer, "a.txt", OLD) == after


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("", "neither a fenced block nor a diff"),
        ("one\n2\nthree", "neither a fenced block nor a diff"),
        (f"Here it is:\n{DIFF}", "neither a fenced block nor a diff"),
        (f"{DIFF}Done.", "begins with neither blank nor + nor -: 'Done.'"),
        ("```\n1", "does not end"),
        ("```\n1\n```\n```\n2\n```", "more than one fenced block"),
        ("```\nA ```b```\n```sh\n1\n```\n```", "more than one fenced block"),
        ("```\n\n```", "is empty"),
        (f"```\n{OLD}```", "changes nothing"),
        (DIFF.replace("a.txt", "b.txt"), "is of 'a/b.txt'"),
        (DIFF.replace("b/a.txt", "b/../a.txt"), "is of 'b/../a.txt'"),
        (DIFF.replace("b/a.txt", "/etc/a.txt"), "is of '/etc/a.txt'"),
        (DIFF.replace("b/a.txt", "/dev/null"), "is of '/dev/null'"),
        (f"```diff\n{DIFF.replace('a.txt', 'b.txt')}```", "is of 'a/b.txt'"),
        (f"{DIFF}{DIFF.replace('a.txt', 'b.txt')}", "more than one file"),
        (DIFF.replace("-two", "-too"), "fits nowhere"),
        (f"{HEAD}@@ -9,0 +9 @@\n+four\n", "after line 9, which is not there"),
        (HEAD, "no lines ---, +++ and @@"),
        (f"{HEAD}two\n", "first hunk does not follow"),
        (f"rename from a\n{DIFF}", "neither a fenced block nor a diff"),
        ("```\nb\0\n```", "byte 0"),
        (DIFF.replace("+2", "+\0"), "byte 0"),
        (f"{GIT}new file mode 100644\n{DIFF}", "says something else"),
        (f"{GIT}new file mode 120000\n{NEW}", "says something else"),
    ],
)
def test_an_answer_of_another_form_is_none(answer: str, told: str) -> None:
    """It says what is wrong with it."""
    with pytest.raises(UnusableWork, match=r".") as caught:
        change_text(answer, "a.txt", OLD)

    assert told in str(caught.value)


def test_a_hunk_that_fits_twice_needs_its_line() -> None:
    """Where it says the right one that is taken; else nobody can know."""
    text = "x\ny\nx\ny\n"
    diff = "--- a\n+++ a\n@@ -{} +1 @@\n-y\n+z\n"

    assert apply_diff(text, parse_diff(diff.format(4))) == "x\ny\nx\nz\n"
    with pytest.raises(BadDiff, match="more than one place"):
        apply_diff(text, parse_diff(diff.format(9)))


@pytest.mark.parametrize(
    ("before", "answer", "after"),
    [
        ("a\r\nb\r\n", "```\na\nc\n```", "a\r\nc\r\n"),
        ("one\r\ntwo\r\nthree\r\n", DIFF, "one\r\n2\r\nthree\r\n"),
        ("a", "```\nb\n```", "b"),
        ("\ufeffa\n", "```\nb\n```", "\ufeffb\n"),
        (None, "```\nb\n```", "b\n"),
        ("", "```\nb\n```", "b\n"),
        (None, "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+b\n", "b\n"),
        (
            None,
            "diff --git a/a.txt b/a.txt\nnew file mode 100644\nindex 0000000..6178079\n"
            "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+b\n",
            "b\n",
        ),
        ("a\nb", f"{HEAD}@@ -2 +2 @@\n-b\n+c\n\\ No newline at end of file\n", "a\nc"),
        (
            "a\nb",
            f"{HEAD}@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n",
            "a\nc\n",
        ),
    ],
)
def test_the_form_of_the_file_stays(before: str | None, answer: str, after: str) -> None:
    """Line ends, a mark at its start, and how it ends."""
    assert change_text(answer, "a.txt", before) == after


def test_a_target_that_is_a_diff_is_given_back_as_content() -> None:
    """A block is its new content then, whatever it looks like."""
    assert change_text(f"```diff\n{DIFF}```", "a.patch", "old\n") == DIFF


@given(TEXTS)
def test_no_text_closes_the_fence_around_it(text: str) -> None:
    """A worker sees where its file ends, and can give it back in the same fence."""
    text = text.replace("\r", "").replace("\0", "")
    fence = fence_around(text)
    answer = f"{fence}\n{text}.\n{fence}"

    assert change_text(answer, "a.diff", None) == f"{text}.\n"


@given(TEXTS, TEXTS)
def test_no_answer_raises_anything_else(answer: str, before: str) -> None:
    """Whatever comes, there is a changed text or a reason."""
    try:
        after = change_text(answer, "a.txt", before)
    except UnusableWork as exc:
        after = str(exc)

    assert after != before
