"""Many processes at one place: `crowd.py COUNT ACTION FOLDER`, started by tests.

One process loads everything and forks the others, which all begin at once. Each prints what its
action gave, in a line. The exit code is the number of those that broke off.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from qloop.state.delivery_lock import acquire, add_delegate, make_lock
from qloop.state.insights import add_insight
from qloop.state.intents import create_intent
from qloop.state.lifecycle import Stage
from qloop.state.projects import add_project
from qloop.state.savepoints import add_savepoint


def create(root: Path, number: int) -> str:
    """Make five intents of the same words."""
    made = [create_intent(root, "Same words", author=str(number)) for _ in range(5)]
    return " ".join(str(one.id) for one in made)


def write(folder: Path, number: int) -> str:
    """Write ten lines of one's own, ten milestones that all write, and ten insights."""
    for at in range(10):
        add_savepoint(folder, "Wave", f"w{number} {at}")
        add_savepoint(folder, "Exec", f"milestone {at}")
        add_insight(folder, f"w{number} {at}", stage=Stage.EXEC, author="a")
    return str(number)


def own(folder: Path, number: int) -> str:
    """Try to become the owner, as one whose process tells nothing."""
    return acquire(folder, make_lock(f"s{number}", is_process=False)).held


def die(folder: Path, number: int) -> str:
    """Become the owner, and end without a word."""
    return acquire(folder, make_lock(f"dead-{number}", is_process=True)).held


def delegate(folder: Path, number: int) -> str:
    """Add a delegate in the name of the owner `boss`."""
    add_delegate(folder, "boss", f"d{number}")
    return str(number)


def register(file: Path, number: int) -> str:
    """Register a project of one's own."""
    return add_project(file, f"p{number}", Path(f"/srv/p{number}"), None).name


ACTIONS: dict[str, Callable[[Path, int], str]] = {
    "create": create,
    "write": write,
    "own": own,
    "die": die,
    "delegate": delegate,
    "register": register,
}


def crowd(count: int, action: str, place: Path) -> list[str]:
    """Start a crowd, and return the lines that its processes printed, when all have ended well."""
    lib = Path(__file__).parents[2] / "lib"
    done = subprocess.run(
        [sys.executable, "-P", __file__, str(count), action, str(place)],
        env={"PYTHONPATH": str(lib)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def main(count: int, action: str, place: Path) -> int:
    """Fork, let all go, and wait for them."""
    ready, go = os.pipe()
    pids = [fork(ready, go, action, place, number) for number in range(count)]
    os.close(go)
    return sum(1 for pid in pids if os.waitpid(pid, 0)[1])


def fork(ready: int, go: int, action: str, place: Path, number: int) -> int:
    """One process, which begins when the pipe is closed everywhere."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.close(go)
        os.read(ready, 1)
        os.write(1, f"{ACTIONS[action](place, number)}\n".encode())
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])))
