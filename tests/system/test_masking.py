"""Secrets are known by their variables' names, and taken out of everything, however it is cut."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qloop.system.masking import (
    Mask,
    find_secrets,
    is_secret,
    mask_bytes,
    mask_file,
    mask_strings,
)

SECRETS = st.lists(st.binary(min_size=1, max_size=6), max_size=4)


@pytest.mark.parametrize(
    "name",
    [
        *("ANTHROPIC_API_KEY", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "NPM_AUTH"),
        *("MY_SECRET", "CLAUDE_CODE_OAUTH_TOKEN", "my_api_key", "GITHUB_PAT", "STRIPE_APIKEY"),
    ],
)
def test_names_of_secrets(name: str) -> None:
    """A key, a token, a password is known by its name."""
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *("PATH", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "GIT_CONFIG_KEY_0", "SSH_AUTH_SOCK"),
        *("MAX_THINKING_TOKENS", "GEMINI_DEFAULT_AUTH_TYPE", "AUTHOR", "TOKENIZERS_PARALLELISM"),
        *("KEYBOARD_LAYOUT", "COMPASS", "API_KEY_FILE"),
    ],
)
def test_names_of_settings(name: str) -> None:
    """What only looks like one is left readable."""
    assert not is_secret(name)


def test_values_that_count_as_secrets() -> None:
    """Neither short values, nor small numbers, nor paths; user information of an address does."""
    found = find_secrets(
        {
            "A_KEY": "sk-abcdef",
            "B_TOKEN": "short",
            "C_TOKEN": "300000",
            "D_KEY": "/etc/key.pem",
            "DATABASE_URL": "postgres://pat:pass-word@db.invalid/x",
            "HTTPS_PROXY": "http://token-in-front@proxy.invalid",
        }
    )

    assert set(found) == {b"sk-abcdef", b"pass-word", b"token-in-front"}


def test_a_secret_in_other_spellings() -> None:
    """As JSON and in addresses it is written otherwise, and of many lines each may stand alone."""
    secret = 'with "quotes" & ünicode\na-second-line-of-it'
    found = find_secrets({"A_KEY": secret})

    for spelled in (
        secret,
        'with \\"quotes\\" & \\u00fcnicode\\na-second-line-of-it',
        'with \\"quotes\\" & ünicode\\na-second-line-of-it',
        "with%20%22quotes%22%20%26%20%C3%BCnicode%0Aa-second-line-of-it",
    ):
        assert mask_bytes(f"<{spelled}>".encode(), found) == b"<***>"
    assert mask_bytes(b"<a-second-line-of-it>", found) == b"<***>"


@given(SECRETS, st.binary(max_size=60), st.lists(st.integers(0, 60)))
def test_any_cut_gives_the_same(secrets: list[bytes], data: bytes, cuts: list[int]) -> None:
    """Masked in pieces, whatever their borders, it is what it is in one piece."""
    ordered = sorted(set(secrets), key=lambda one: (-len(one), one))
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    mask = Mask(ordered)
    pieces = [mask.feed(data[start:end]) for start, end in pairwise(places)]

    assert b"".join([*pieces, mask.finish()]) == mask_bytes(data, ordered)


@given(
    st.lists(st.sampled_from([b"ab", b"aab", b"abab", b"b"]), min_size=1, unique=True),
    st.text("ab", max_size=30),
    st.integers(1, 4),
)
def test_secrets_that_overlap(secrets: list[bytes], text: str, step: int) -> None:
    """Secrets that begin like each other are masked the same in small pieces."""
    ordered = sorted(secrets, key=lambda one: (-len(one), one))
    data = text.encode()
    mask = Mask(ordered)
    pieces = [mask.feed(data[at : at + step]) for at in range(0, len(data), step)]

    assert b"".join([*pieces, mask.finish()]) == mask_bytes(data, ordered)


@given(st.binary(min_size=6, max_size=20), st.binary(max_size=50), st.binary(max_size=50))
def test_no_secret_comes_through(secret: bytes, before: bytes, after: bytes) -> None:
    """Byte by byte, a secret in the midst is gone; what is certain is not held back."""
    mask = Mask([secret])
    data = before + secret + after
    out = b"".join([*(mask.feed(data[at : at + 1]) for at in range(len(data))), mask.finish()])

    assert secret not in out.replace(b"***", b"\n")
    assert Mask([secret]).feed(b"x" * 10 + b"\n") == b"x" * 10 + b"\n" or b"\n" in secret


def test_strings_of_a_value_are_masked() -> None:
    """Strings at any depth; keys, numbers and lone surrogates stay."""
    value = {"s3cret": ["a s3cret b", 1, None, {"x": "\udcff s3cret"}]}

    expected = {"s3cret": ["a *** b", 1, None, {"x": "\udcff ***"}]}
    assert mask_strings(value, [b"s3cret"]) == expected


def test_a_file_is_rewritten_where_it_holds_one(tmp_path: Path) -> None:
    """Only then; a missing one is no matter."""
    path = tmp_path / "file"
    path.write_bytes(b"x s3cret y")
    mask_file(path, [b"s3cret"], 100)
    mask_file(tmp_path / "missing", [b"s3cret"], 100)

    assert path.read_bytes() == b"x *** y"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
