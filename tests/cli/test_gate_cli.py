"""`qloop gate check` and `qloop gate hook`."""

import io
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from qloop.agents.gate.terms import HOOK_COMMAND, gate_variables
from qloop.cli.main import main
from repository import Repo
from world import QLOOP

Capture = pytest.CaptureFixture[str]


def check(role: str, tool: str, *more: str, **args: Any) -> int:
    """Ask for a decision."""
    return main(
        ["gate", "check", "--role", role, "--tool", tool, "--args", json.dumps(args), *more]
    )


def hook(monkeypatch: pytest.MonkeyPatch, data: bytes | dict[str, Any]) -> int:
    """Ask the hook, with this on its standard input."""
    given = data if isinstance(data, bytes) else json.dumps(data).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    return main(["gate", "hook"])


@pytest.fixture
def here(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a repository."""
    monkeypatch.chdir(repo.path)
    return repo.path


def test_a_decision_as_json(here: Path, capsys: Capture) -> None:
    """Allowed is exit 0, denied exit 1; both name the rule."""
    (here / "src").mkdir()
    allowed = check("executor", "Write", "--json", file_path="src/a.py")
    one = json.loads(capsys.readouterr().out)
    denied = check("mission", "Read", "--json", file_path=str(here / "src" / "a.py"))
    other = json.loads(capsys.readouterr().out)

    assert (allowed, one["allow"], one["rule"]) == (0, True, "write")
    assert (denied, other["allow"], other["rule"]) == (1, False, "read-outside")
    assert set(one) == set(other) == {"allow", "rule", "reason"}


def test_a_decision_as_a_sentence(here: Path, capsys: Capture) -> None:
    """Places may be given: the worktree, the intent, the declared checks."""
    intent = here / ".qloop" / "intents" / "1--a"
    intent.mkdir(parents=True)
    codes = [
        check("implementer", "Write", "--worktree", str(here / "wt"), file_path="wt/a"),
        check("implementer", "Write", "--worktree", str(here / "wt"), file_path="a"),
        check("recon", "Write", "--intent", str(intent), file_path=f"{intent}/recon/a.md"),
        check("recon", "Write", file_path=f"{intent}/recon/a.md"),
        check("recon", "Write", "--intent", str(intent.parent), file_path=f"{intent}/recon/a.md"),
        check("reviewer", "Bash", "--check", "make test", command="make test"),
        check("reviewer", "Bash", command="make test"),
    ]
    said = capsys.readouterr().out.splitlines()

    assert codes == [0, 1, 0, 0, 1, 0, 1]
    assert said[0].startswith("allowed by write: ")
    assert said[1].startswith("denied by write-outside: ")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--role", "implementor", "--tool", "Read"], 64, "did you mean implementer"),
        (["--role", "qa", "--tool", "bash"], 64, "did you mean Bash"),
        (["--role", "qa", "--tool", "Zzz"], 64, "one of Read"),
        (["--role", "qa", "--tool", "Read", "--args", "{"], 65, "no JSON"),
        (["--role", "qa", "--tool", "Read", "--args", "[]"], 65, "no JSON object"),
        (["--role", "recon", "--tool", "Read"], 65, "file_path"),
        (["--tool", "Read"], 64, "--role"),
    ],
)
def test_bad_questions(here: Path, capsys: Capture, words: list[str], code: int, told: str) -> None:
    """They are named, with the nearest word that is known."""
    assert here.is_dir()
    assert main(["gate", "check", *words]) == code
    assert told in capsys.readouterr().err


def test_the_hook_denies_and_stops_at_the_third(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Its answer is in the client's form; what is allowed is answered by nothing."""
    log = tmp_path / "denied.jsonl"
    monkeypatch.setenv("QLOOP_ROLE", "implementer")
    monkeypatch.setenv("QLOOP_WORKTREE", str(here))
    for name, value in gate_variables("qloop", str(log), str(here), []).items():
        monkeypatch.setenv(name, value)

    def ask(path: str, call: str) -> dict[str, Any]:
        asked = {"tool_name": "Write", "tool_input": {"file_path": path}, "tool_use_id": call}
        assert hook(monkeypatch, {**asked, "cwd": str(here)}) == 0
        out = capsys.readouterr().out
        answer: dict[str, Any] = json.loads(out) if out else {}
        return answer

    fine = ask("a.txt", "1")
    answers = [ask("quantum.json", call) for call in ("2", "3", "4")]

    assert fine == {}
    for answer in answers:
        inner = answer["hookSpecificOutput"]
        assert inner["hookEventName"] == "PreToolUse"
        assert inner["permissionDecision"] == "deny"
        assert "protected" in inner["permissionDecisionReason"]
    assert [answer.get("continue") for answer in answers] == [None, None, False]
    assert "3 times" in answers[2]["stopReason"]


def test_the_hook_of_a_declared_check_and_of_an_intent(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """What the call's terms say counts."""
    monkeypatch.setenv("QLOOP_ROLE", "e2e-exerciser")
    monkeypatch.setenv("QLOOP_INTENT_DIR", str(here / ".qloop" / "intents" / "1--a"))
    for name, value in gate_variables("qloop", "", str(here), ["make e2e"]).items():
        monkeypatch.setenv(name, value)
    mine, other = (f".qloop/intents/{name}/refinement/a.md" for name in ("1--a", "2--b"))

    hook(monkeypatch, {"tool_name": "Bash", "tool_input": {"command": "make e2e"}})
    hook(monkeypatch, {"tool_name": "Write", "tool_input": {"file_path": mine}})
    allowed = capsys.readouterr().out
    hook(monkeypatch, {"tool_name": "Write", "tool_input": {"file_path": other}})

    assert allowed == ""
    assert "write-outside" in capsys.readouterr().out


def test_a_persons_own_session_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Without a role of qloop's nothing is asked, read or said."""
    assert hook(monkeypatch, b"no json") == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"tool_input": {}}', b"\xff"])
def test_a_question_that_cannot_be_read_is_denied(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, data: bytes
) -> None:
    """Nothing gets through a gate that does not know what it is asked."""
    monkeypatch.setenv("QLOOP_ROLE", "implementer")

    assert hook(monkeypatch, data) == 0
    assert "unclear-call" in capsys.readouterr().out


def test_a_gate_that_fails_blocks(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """With the exit code by which a hook blocks, and in words."""
    monkeypatch.setenv("QLOOP_ROLE", "implementer")
    monkeypatch.setenv("QLOOP_GATE_TERMS", "{")

    assert hook(monkeypatch, {"tool_name": "Read", "tool_input": {"file_path": "a"}}) == 2
    assert "no decision can be made" in capsys.readouterr().err


def test_the_hooks_command_line(here: Path) -> None:
    """It starts this very qloop for an agent, nothing for a person, and blocks where none is."""
    asked = json.dumps({"tool_name": "Write", "tool_input": {"file_path": "qloop.toml"}})

    def run(**env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", HOOK_COMMAND], cwd=here, env={"PATH": "/usr/bin:/bin", **env},
            input=asked, capture_output=True, text=True, check=False,
        )  # fmt: skip

    words = shlex.join(["env", f"PYTHONPATH={Path(__file__).parents[2] / 'lib'}", *QLOOP])
    denied = run(QLOOP_ROLE="implementer", QLOOP_GATE=words)
    missing = run(QLOOP_ROLE="implementer", QLOOP_GATE="/nowhere/qloop")

    assert run().stdout == ""
    assert run().returncode == denied.returncode == 0
    assert "protected" in denied.stdout
    assert missing.returncode == 2
