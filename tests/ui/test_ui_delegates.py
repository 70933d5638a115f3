"""What delegates did, in words for people."""

from typing import Any

import pytest

from qloop.ui.delegates import DelegateRun, delegate_words

QA = {"role": "qa", "outcome": "compressed", "source": "model", "lines_in": 150, "tokens_out": 9}
WORKER = {"role": "worker", "target": "a.py", "text": "verify-1: exit 1\nmore"}
PAID = {"runner": "claude", "model": "haiku", "usd": 0.5, "cost_source": "reported"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            {**QA, **PAID, "text": "a.py:1: no"},
            "qa compressed 150 lines to 9 tokens: a.py:1: no (claude, haiku, $0.50)",
        ),
        (
            {**QA, "text": "no", "truncated": True, "runner": "x", "cost_source": "estimated"},
            "qa compressed 150 lines to 9 tokens, cut: no (x, $0.00)",
        ),
        ({**QA, "source": "extract", "text": "x"}, "an extract brings 150 lines to 9 tokens: x"),
        (
            {**WORKER, "outcome": "applied", "text": "1 command green"},
            "worker changed a.py: 1 command green",
        ),
        (
            {**WORKER, "outcome": "put back"},
            "worker changed a.py, which was put back: verify-1: exit 1",
        ),
        ({**WORKER, "outcome": "rejected"}, "worker did not change a.py: verify-1: exit 1"),
        ({"role": "worker", "outcome": "cancelled"}, "worker was stopped"),
        ({"role": "qa", "outcome": "killed", "text": "by it"}, "qa was stopped: by it"),
        ({}, "an extract brings 0 lines to 0 tokens: "),
    ],
)
def test_each_call_is_a_line(data: dict[str, Any], words: str) -> None:
    """What came of it, by whom, and what it cost; a strange event breaks nothing."""
    assert delegate_words(DelegateRun.of(data)) == words
