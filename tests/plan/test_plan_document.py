"""Reading and writing the text of quantum.json."""

import gc
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.plans import unhurried
from qloop.plan.document import load_document, parse_document, render_document
from qloop.system.errors import BadInput, Faults, InputMissing

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


def faults_of(text: str) -> tuple[str, ...]:
    """The faults that a text is refused for."""
    with pytest.raises(Faults) as caught:
        parse_document(text.encode(), "quantum.json")
    return caught.value.faults


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a": "\xff"}', ["not UTF-8", "byte 7", "0xff"]),
        (b'\xef\xbb\xbf{"a": "\xc3("}', ["byte 10", "0xc3"]),
        (b'{\n  "a": 1,\n  "b" 2\n}', ["not JSON", "line 3, column 7", "':' delimiter"]),
        (b'{"a": 1} trailing', ["not JSON", "line 1, column 10"]),
        (b'{"a": "one\ntwo"}', ["not JSON", "line 1, column 11"]),
        (b"", ["not JSON", "empty", "line 1, column 1"]),
        (b" \n", ["not JSON", "empty"]),
        (b"[1]", ["one JSON object", "an array"]),
        (b'"text"', ["one JSON object", "'text'"]),
        (b"null", ["one JSON object", "null"]),
        (b"NaN", ["one JSON object", "NaN"]),
        (b'{"a": ' + b"9" * 5000 + b"}", ["thousands of digits"]),
        (b'{"a": ' + b"[" * 150 + b"]" * 150 + b"}", ["nested deeper than 100"]),
        (b'{"a":' * 90_000 + b"1" + b"}" * 90_000, ["nested deeper than 100"]),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(data: bytes, words: list[str]) -> None:
    """Bytes that hold no JSON object are refused, saying what is wrong and where."""
    with pytest.raises(BadInput) as caught:
        parse_document(data, "some/quantum.json")

    assert "some/quantum.json" in caught.value.where
    assert [word for word in words if word not in str(caught.value)] == []


def test_every_doubled_key_is_told_with_its_path() -> None:
    """All duplicate keys are found at once, also in an object that a duplicate hides."""
    text = """{"branchName": "x", "stories": [{"id": "A"}, {"id": "B"},
        {"id": "C", "title": "x", "title": "y", "title": "z"}],
        "contracts": {"a b": {"k": 1, "k": {"z": 1}}}, "contracts": {"\\u006b": 1, "k": NaN}}"""

    assert faults_of(text) == (
        "contracts: duplicate key, here with an object",
        "stories[2].title: duplicate key, here with 'y'",
        "stories[2].title: duplicate key, here with 'z'",
        'contracts["a b"].k: duplicate key, here with an object',
        "contracts.k: duplicate key, here with NaN",
        "contracts.k: no JSON number: NaN",
    )


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
def test_numbers_that_json_does_not_have_are_refused(number: str) -> None:
    """What is no finite number is refused with its path, so that it is never written as null."""
    text = f'{{"branchName": "x", "stories": [], "a": [0, {number}]}}'

    assert faults_of(text) == (f"a[1]: no JSON number: {number}",)


def test_other_faults_of_the_plan_are_told_along() -> None:
    """A text that is refused anyway is refused for all its faults at once; the last key counts."""
    text = """{"branchName": "a..b", "stories": [{"id": "A", "dependsOn": ["A"], "timeout": NaN}],
        "project": [], "project": 1}"""

    assert faults_of(text) == (
        "project: duplicate key, here with 1",
        "stories[0].timeout: no JSON number: NaN",
        "project: must be a string, not 1",
        "stories[0].timeout: must be at least 0, not NaN",
        "branchName: unsafe branch name 'a..b': it holds '..'",
        "stories[0].dependsOn[0]: story 'A' depends on itself",
    )


def test_a_byte_order_mark_is_accepted() -> None:
    """A file saved by an editor that marks UTF-8 is read like any other."""
    assert parse_document(b'\xef\xbb\xbf{"a": 1}', "q") == {"a": 1}


def test_rendering_is_indented_and_keeps_order_and_letters() -> None:
    """Two blanks per level, keys as they came, non-ASCII as it is, a line end at the end."""
    rendered = render_document({"b": [1, {}], "a": {"ü": "→"}})

    text = '{\n  "b": [\n    1,\n    {}\n  ],\n  "a": {\n    "ü": "→"\n  }\n}\n'
    assert rendered == text.encode()


@pytest.mark.parametrize("odd", [2**64, -(10**30), "\ud800", "x\udfff→"])
def test_what_the_fast_writer_refuses_is_written_all_the_same(odd: Any) -> None:
    """Large integers and halves of surrogate pairs come back as they were, in the same layout."""
    rendered = render_document({"b": odd, "ü": [{}]})

    assert parse_document(rendered, "q") == {"b": odd, "ü": [{}]}
    assert rendered.decode().endswith(',\n  "ü": [\n    {}\n  ]\n}\n')


@unhurried
@given(st.dictionaries(st.text(), JSON))
def test_a_round_trip_keeps_values_and_order(value: dict[str, Any]) -> None:
    """Whatever JSON can say survives being written and read, keys in their order."""
    again = parse_document(render_document(value), "q")

    assert json.dumps(again) == json.dumps(value)


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_left_as_it_was(was_on: bool) -> None:
    """Reading pauses garbage collection only for itself, also when it fails."""
    if not was_on:
        gc.disable()
    try:
        parse_document(b"{}", "q")
        with pytest.raises(BadInput):
            parse_document(b"{", "q")

        assert gc.isenabled() is was_on
    finally:
        gc.enable()


def test_a_file_is_loaded(tmp_path: Path) -> None:
    """A document is read from its file."""
    path = tmp_path / "quantum.json"
    path.write_bytes(b'{"a": 1}')

    assert load_document(path) == {"a": 1}


def test_a_file_that_is_not_there_is_missing_input(tmp_path: Path) -> None:
    """No file, or a path through something that is no folder, is exit code 66."""
    (tmp_path / "file").write_bytes(b"{}")
    for path in (tmp_path / "none.json", tmp_path / "file" / "none.json"):
        with pytest.raises(InputMissing) as caught:
            load_document(path)

        assert caught.value.where == str(path)


def test_a_folder_or_a_broken_link_is_bad_input(tmp_path: Path) -> None:
    """What is there but cannot be read as a file is exit code 65, and says why."""
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    for path, word in ((tmp_path, "folder"), (loop, "cannot be read")):
        with pytest.raises(BadInput, match=word) as caught:
            load_document(path)

        assert caught.value.where == str(path)
