"""The gate's hook in the settings of Claude Code."""

import json

import pytest

from qloop.agents.gate.settings import json_texts, merge_hook
from qloop.agents.gate.terms import HOOK_COMMAND


def test_new_settings_hold_the_hook_alone() -> None:
    """For each tool, and so that a hook that fails blocks it; a second time nothing changes."""
    made = merge_hook(None)

    assert made is not None
    (group,) = json.loads(made)["hooks"]["PreToolUse"]
    assert group["matcher"] == "*"
    assert group["hooks"][0]["command"] == HOOK_COMMAND
    assert group["hooks"][0]["onFailure"] == "block"
    assert merge_hook(made) is None


def test_what_stands_there_stays() -> None:
    """Other hooks come first, the order of keys and the indentation are as they were."""
    mine = {"type": "command", "command": "echo é"}
    before = {
        "model": "opus",
        "hooks": {"Stop": [], "PreToolUse": [{"matcher": "Bash", "hooks": [mine]}]},
        "permissions": {"deny": ["Read(.env)"]},
    }
    made = merge_hook(json.dumps(before, indent=4, ensure_ascii=False).encode())

    assert made is not None
    after = json.loads(made)
    assert list(after) == list(before)
    assert after["hooks"]["PreToolUse"][0] == before["hooks"]["PreToolUse"][0]  # type: ignore[index]
    assert HOOK_COMMAND in json_texts(after["hooks"]["PreToolUse"][1])
    assert after["permissions"] == before["permissions"]
    assert "echo é" in made.decode()
    assert '\n    "model"' in made.decode()


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"hooks": 1}', '{"hooks": {"PreToolUse": {}}}', '{"a": 1, "a": 2}', "\xff"],
)
def test_settings_that_cannot_be_merged(text: str) -> None:
    """They are not touched."""
    with pytest.raises(ValueError, match=r"."):
        merge_hook(text.encode("latin-1"))
