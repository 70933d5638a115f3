"""A reviewer's answer, read from whatever it printed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.agents.review import MalformedReview, Review, parse_place, parse_review, review_schema

GOOD = '{"verdict": "passed"}'
BAD = '{"verdict": "failed", "issues": [{"severity": "major", "text": "it leaks"}]}'


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        f"  {GOOD}  \n",
        f"I looked at it.\n\n```json\n{GOOD}\n```\nThat is all.",
        f"\x1b[32m{GOOD}\x1b[0m\r\n",
        f"{GOOD}\nand, as I said:\n{GOOD}\n",
        '{"verdict":\n"passed",\n"issues":\n[]\n}',
        f'{{"name": "a package"}}\n{GOOD}',
        '{"verdict": "passed", "criteria": null, "mood": "good"}',
    ],
)
def test_a_review_is_found(answer: str) -> None:
    """Bare, fenced, coloured, said twice, over several lines, beside other JSON."""
    assert parse_review(answer).verdict == "passed"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "no JSON object"),
        ("It is fine.", "no JSON object"),
        (f"so: {GOOD}", "no JSON object"),
        (f"> {GOOD}\n+{GOOD}\n| {GOOD}", "no JSON object"),
        (f"{GOOD}\n{BAD}", "2 different reviews"),
        ('{"verdict": "failed", "verdict": "passed"}', "no JSON object"),
        ('{"verdict": "passed"', "no JSON object"),
        ('{"verdict": "fine"}', "verdict"),
        ('{"verdict": true}', "verdict"),
        ('{"verdict": "passed", "criteria": [{"criterion": 1, "met": "yes"}]}', "met"),
        ('{"verdict": "passed", "criteria": [{"met": true}]}', "criterion"),
        ('{"verdict": "passed", "issues": [{"severity": "bad", "text": "x"}]}', "severity"),
        ('{"verdict": "passed", "issues": [{"severity": "minor"}]}', "text"),
        ("{" * 100_000, "no JSON object"),
        ('{"a":[' * 3_000 + "\n" + '{"a":[' * 3_000, "no JSON object"),
    ],
)
def test_what_is_no_review_says_why(answer: str, why: str) -> None:
    """Prose, quotes, contradictions, and objects of another form."""
    with pytest.raises(MalformedReview) as caught:
        parse_review(answer)

    assert why in str(caught.value)


def test_one_place_need_not_be_a_list() -> None:
    """Evidence of one place may be that place alone."""
    text = '{"verdict": "passed", "criteria": [{"criterion": 1, "met": true, "evidence": "a:1"}]}'

    assert parse_review(text).criteria[0].evidence == ["a:1"]


def test_only_the_end_of_a_long_output_is_looked_at() -> None:
    """What a tool printed before is as far away as its length."""
    noise = "{}\n" * 200_000

    assert parse_review(f"{noise}{GOOD}").verdict == "passed"
    with pytest.raises(MalformedReview):
        parse_review(f"{GOOD}\n{noise}")


def test_what_could_not_be_written_is_not_in_it() -> None:
    """JSON may hold halves of characters; a path and a sentence go to git and to files."""
    half = r"\ud800"
    issue = f'{{"severity": "minor", "text": "{half}", "evidence": ["{half}.py:1"]}}'

    found = parse_review(f'{{"verdict": "failed", "issues": [{issue}], "{half}": 1}}')

    assert found.model_dump_json().encode("utf-8")
    assert found.issues[0].evidence == ["?.py:1"]


@given(st.text() | st.text("{}[]\",:\n verdict'passed"))
def test_no_text_breaks_the_reader(text: str) -> None:
    """It reads a review or refuses the text."""
    try:
        found = parse_review(text)
    except MalformedReview:
        return

    assert isinstance(found, Review)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a.py:3", ("a.py", 3)),
        ("./lib/a b.py:3-12", ("lib/a b.py", 12)),
        ("`lib/a.py:7`", ("lib/a.py", 7)),
        ("a:b.py:3", ("a:b.py", 3)),
        ("a.py", None),
        ("a.py:0", None),
        ("a.py:x", None),
        ("/etc/passwd:1", None),
        ("../a.py:1", None),
        ("a\nb:1", None),
    ],
)
def test_a_place_is_a_path_within_the_tree_and_a_line(
    text: str, place: tuple[str, int] | None
) -> None:
    """Of a range the last line counts."""
    assert parse_place(text) == place


def test_the_schema_describes_what_is_read() -> None:
    """What the schema requires is what the reader requires."""
    schema = review_schema()

    assert schema["required"] == ["verdict"]
    assert set(schema["properties"]) == set(Review.model_fields)
    assert "title" not in json.dumps(schema["properties"])
