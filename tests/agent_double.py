"""A scripted agent: what it does for a story and an attempt stands in a JSON file.

Started as `python agent_double.py SCRIPT`, in the worktree, like any agent command line. SCRIPT
maps a story's id to a list, one entry per attempt (the last one serves all later attempts), or
the name of another role than the implementer's to one entry per call; each is a list of steps:
`["write", path, text]`, `["append", path, text]`, `["remove", path]`, `["commit", message]`,
`["git", …]`, `["sh", command]`, `["sleep", seconds]`,
`["spin", seconds]`, `["print", text]`, `["print-bytes", count]`, `["echo-prompt"]`,
`["ignore", signal name]`, `["wait-for", path]`, `["touch", path]`, `["spawn", seconds]` (a
detached process that holds the output), `["kill-parent"]`, `["exit", code]`. Unless a step says
otherwise it ends with the signal STORY_PASSED and code 0.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PASSED = "<quantum>STORY_PASSED</quantum>"
MAKER = "implementer"


def main() -> None:
    """Read the prompt, then do what the script has for this story and attempt."""
    prompt = sys.stdin.read()
    script = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    role = os.environ.get("QLOOP_ROLE", MAKER)
    if role == "orchestrator" and role not in script:
        role = MAKER  # one that ends with each story
    number = int(os.environ["QLOOP_ATTEMPT"]) if role == MAKER else _count_call(role)
    attempts = script.get(os.environ["QLOOP_STORY"] if role == MAKER else role)
    attempts = attempts or script.get("*", [[]])
    steps = attempts[min(number, len(attempts)) - 1]
    said = False
    for name, *words in steps:
        said = said or name in ("say", "print", "echo-prompt", "quiet")
        do(name, words, prompt)
    if not said:
        print(PASSED, flush=True)


def _count_call(role: str) -> int:
    """The number of this call among all of a role, from 1."""
    calls = Path(sys.argv[1]).with_suffix(f".{role}")
    with calls.open("a", encoding="utf-8") as out:
        out.write("call\n")
    return calls.read_text(encoding="utf-8").count("\n")


def do(name: str, words: list[Any], prompt: str) -> None:
    """Carry out one step."""
    actions: dict[str, Callable[[], object]] = {
        "write": lambda: _write(words[0], words[1]),
        "append": lambda: _append(words[0], words[1]),
        "remove": lambda: Path(words[0]).unlink(),
        "commit": lambda: _commit(words[0]),
        "git": lambda: subprocess.run(["git", *words], check=True),
        "sh": lambda: subprocess.run(["sh", "-c", words[0]], check=False),
        "sleep": lambda: time.sleep(words[0]),
        "spin": lambda: _spin(words[0]),
        "say": lambda: print(f"<quantum>{words[0]}</quantum>", flush=True),
        "print": lambda: print(words[0], flush=True),
        "print-bytes": lambda: _print_bytes(words[0]),
        "quiet": lambda: None,
        "echo-prompt": lambda: print(prompt, flush=True),
        "ignore": lambda: signal.signal(signal.Signals[words[0]], signal.SIG_IGN),
        "wait-for": lambda: _wait_for(Path(words[0])),
        "touch": lambda: Path(words[0]).touch(),
        "spawn": lambda: _spawn(words[0]),
        "kill-parent": lambda: os.kill(os.getppid(), signal.SIGKILL),
        "exit": lambda: sys.exit(words[0]),
    }
    actions[name]()


def _write(path: str, text: str) -> None:
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def _append(path: str, text: str) -> None:
    with Path(path).open("a", encoding="utf-8") as out:
        out.write(text)


def _commit(message: str) -> None:
    subprocess.run(["git", "add", "--all"], check=True)
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "-m", message], check=True)


def _spin(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def _print_bytes(count: int) -> None:
    block = b"x" * 1_000_000
    for _ in range(count // len(block)):
        sys.stdout.buffer.write(block)
    print(flush=True)


def _wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.02)


def _spawn(seconds: float) -> None:
    subprocess.Popen(
        ["sh", "-c", f"sleep {seconds}"], start_new_session=True, stdin=subprocess.DEVNULL
    )


if __name__ == "__main__":
    main()
