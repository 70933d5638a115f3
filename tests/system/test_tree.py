"""Trees of processes end, whatever their members try, and nothing else does."""

import os
import pty
import signal
import time
from pathlib import Path

import pytest

from qloop.system.identity import identify
from qloop.system.tree import Marks, end_tree, find_members
from system.conftest import Zoo, is_running, is_there, until

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "

# Python code for a process that leaves the tree: in a session of its own and with no living
# parent. What follows runs in it, once its pid is in the file named by the first argument.
DETACH = """
import os, sys, time
if os.fork():
    os.wait()
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.01)
    {parent}
os.setsid()
if os.fork():
    os._exit(0)
{before}
with open(sys.argv[1] + ".new", "w") as note:
    note.write(f"{{os.getpid()}}\\n")
os.rename(sys.argv[1] + ".new", sys.argv[1])
{then}
time.sleep(600)
"""
SCRUB = "os.execve(sys.executable, ['python', '-c', 'import time; time.sleep(600)'], {})"


def detach(*, parent: str = "time.sleep(600)", before: str = "pass", then: str = "pass") -> str:
    """The code of a root whose grandchild detaches itself and goes on with *then*."""
    return DETACH.format(parent=parent, before=before, then=then)


def pids(zoo: Zoo, marks: Marks, roots: tuple[int, ...] = ()) -> set[int]:
    """The pids of the members."""
    return {member.pid for member in find_members(roots, marks, ())}


def test_descendants_are_members(zoo: Zoo) -> None:
    """A root, its children and theirs belong to the tree."""
    root = zoo.start(["sh", "-c", "sh -c 'sleep 600 & echo $! > leaf; wait' & wait"])
    leaf = zoo.pid_in("leaf")

    members = pids(zoo, Marks(), (root,))

    assert {root, leaf} <= members
    assert len(members) == 3


def test_a_tree_that_ignores_term_is_killed(zoo: Zoo) -> None:
    """Ignoring SIGTERM gains the grace, no more."""
    root = zoo.python(
        STUBBORN + "import os; p = os.fork(); open('child', 'w').write(f'{p}\\n') if p else 0; "
        "time.sleep(600)"
    )
    child = zoo.pid_in("child")

    survivors = end_tree([root], Marks(), grace_s=0.1)

    assert survivors == ()
    assert not is_running(child)
    assert zoo.roots[0].wait() == -signal.SIGKILL


def test_a_tree_may_end_by_itself(zoo: Zoo) -> None:
    """SIGTERM comes first, and what ends upon it within the grace is not killed."""
    root = zoo.python(
        "import os, signal, time\n"
        "def last(*_): time.sleep(0.2); open('last', 'w').write('bye\\n'); os._exit(7)\n"
        "signal.signal(signal.SIGTERM, last)\n"
        "open('up', 'w').write('1\\n')\n"
        "while True: time.sleep(0.01)\n"
    )
    zoo.pid_in("up")

    end_tree([root], Marks(), grace_s=60)

    assert zoo.roots[0].wait() == 7
    assert (zoo.folder / "last").read_text() == "bye\n"


def test_a_root_is_left_to_be_reaped(zoo: Zoo) -> None:
    """Whoever started the root still reads its exit status."""
    root = zoo.start(["sleep", "600"])

    end_tree([root], Marks(), grace_s=60)

    assert is_there(root)
    assert zoo.roots[0].wait() == -signal.SIGTERM


def test_a_stopped_process_takes_the_term(zoo: Zoo) -> None:
    """A process that stopped itself is made to go on, and ends in its own way."""
    root = zoo.start(["sh", "-c", "trap 'exit 7' TERM; echo $$ > up; kill -STOP $$; sleep 600"])
    zoo.pid_in("up")
    until(lambda: Path(f"/proc/{root}/stat").read_text().rpartition(")")[2].split()[0] == "T")

    end_tree([root], Marks(), grace_s=60)

    assert zoo.roots[0].wait() == 7


def test_a_detached_grandchild_is_found_by_its_environment(zoo: Zoo) -> None:
    """A session of its own and a dead parent hide nothing from the mark."""
    zoo.python(detach(parent="os._exit(0)"), "leaf")
    leaf = zoo.pid_in("leaf")
    zoo.roots[0].wait()

    assert pids(zoo, zoo.by_env) == {leaf}
    assert end_tree([], zoo.by_env, grace_s=0.1) == ()
    assert not is_running(leaf)


def test_a_scrubbed_grandchild_is_found_by_its_folder(zoo: Zoo) -> None:
    """Without the mark in its environment it still works in the folder."""
    zoo.python(detach(parent="os._exit(0)", then=SCRUB), "leaf")
    leaf = zoo.pid_in("leaf")
    zoo.roots[0].wait()
    until(lambda: pids(zoo, zoo.by_env) == set())

    assert pids(zoo, zoo.by_folder) == {leaf}
    assert end_tree([], zoo.by_folder, grace_s=0.1) == ()
    assert not is_running(leaf)


def test_a_scrubbed_grandchild_is_found_by_a_file_it_writes(zoo: Zoo) -> None:
    """Elsewhere at work, it still has a file of the folder open."""
    then = "os.dup2(os.open('held', os.O_WRONLY | os.O_CREAT), 1); os.chdir('/'); " + SCRUB
    zoo.python(detach(parent="os._exit(0)", then=then), "leaf")
    leaf = zoo.pid_in("leaf")
    zoo.roots[0].wait()
    until(lambda: pids(zoo, zoo.by_env) == set())

    assert pids(zoo, zoo.by_folder) == {leaf}
    end_tree([], zoo.by_folder, grace_s=0.1)
    assert not is_running(leaf)


def test_a_reader_of_a_log_is_no_member(zoo: Zoo) -> None:
    """Following a log from elsewhere, as a person does, is no crime."""
    (zoo.folder / "log").write_text("line\n")
    plain = {"PATH": os.environ["PATH"]}
    reader = zoo.start(["tail", "-f", str(zoo.folder / "log")], cwd=Path("/"), env=plain)
    until(lambda: any(str(fd.resolve()).endswith("/log") for fd in _descriptors(reader)))

    assert pids(zoo, zoo.by_folder) == set()


def _descriptors(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/fd").iterdir())


def test_a_sibling_folder_of_the_same_beginning_is_another(zoo: Zoo) -> None:
    """Folders are compared by whole names."""
    other = zoo.folder / "tree-2"
    other.mkdir()
    zoo.start(["sleep", "600"], cwd=other)

    assert pids(zoo, Marks(folders=(zoo.folder / "tree",))) == set()
    assert len(pids(zoo, Marks(folders=(other,)))) == 1


def test_a_folder_behind_a_link_is_the_same(zoo: Zoo) -> None:
    """A mark may name the folder through a symbolic link."""
    link = zoo.folder / "link"
    real = zoo.folder / "real"
    real.mkdir()
    link.symlink_to(real)
    pid = zoo.start(["sleep", "600"], cwd=real)

    assert pids(zoo, Marks(folders=(link,))) == {pid}


def test_what_stays_in_the_session_of_a_dead_root_is_a_member(zoo: Zoo) -> None:
    """With no mark and no parent, the session of the root still tells."""
    root = zoo.start(["sh", "-c", 'cd /; env -i sleep 600 & echo $! > "$0"', f"{zoo.folder}/leaf"])
    leaf = zoo.pid_in("leaf")
    until(lambda: not is_running(root))

    survivors = end_tree([root], Marks(), grace_s=0.1)

    assert survivors == ()
    assert not is_running(leaf)
    assert zoo.roots[0].wait() == 0


def test_what_was_seen_before_the_signal_is_pursued(zoo: Zoo) -> None:
    """A child that hides from every mark and ignores SIGTERM dies after its parent did."""
    before = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.chdir('/')"
    code = (
        "import os, sys, time\n"
        "if os.fork(): time.sleep(600)\n"
        f"os.setsid()\n{before}\n"
        "with open(sys.argv[1], 'w') as note: note.write(f'{os.getpid()}\\n')\n" + SCRUB
    )
    root = zoo.python(code, str(zoo.folder / "leaf"))
    leaf = zoo.pid_in("leaf")

    survivors = end_tree([root], zoo.by_env, grace_s=0.3)

    assert survivors == ()
    assert not is_running(leaf)
    assert zoo.roots[0].wait() == -signal.SIGTERM


def test_a_process_without_its_main_thread_is_ended(zoo: Zoo) -> None:
    """It looks like a zombie, and is none."""
    root = zoo.python(
        "import ctypes, signal, threading, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)"
    )
    until(lambda: not is_running(root))

    assert pids(zoo, Marks(), (root,)) == {root}
    assert end_tree([root], Marks(), grace_s=0.1) == ()
    assert zoo.roots[0].wait() == -signal.SIGKILL


def test_what_is_spared_is_no_member_nor_what_it_started(zoo: Zoo) -> None:
    """Neither marks nor a root reach into what the caller spares."""
    root = zoo.start(["sh", "-c", "sh -c 'sleep 600 & echo $! > leaf; wait' & echo $! > kid; wait"])
    spared, leaf = zoo.pid_in("kid"), zoo.pid_in("leaf")

    members = find_members([root], zoo.by_env, {spared})
    end_tree([root], zoo.by_env, grace_s=60, spare={spared})

    assert {member.pid for member in members} == {root}
    assert is_running(spared)
    assert is_running(leaf)


def test_the_caller_and_its_ancestors_are_never_members(zoo: Zoo) -> None:
    """A marked program ends what it started, not itself nor what started it."""
    done = zoo.script(
        "import os, subprocess, sys\n"
        "from pathlib import Path\n"
        "from qloop.system.tree import Marks, end_tree, find_members\n"
        "name, _, value = sys.argv[1].partition('=')\n"
        "marks = Marks((sys.argv[1],), (Path.cwd(),))\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        "roots = [child.pid, os.getpid(), os.getppid()]\n"
        "print([m.pid for m in find_members(roots, marks, ())] == [child.pid])\n"
        "print(end_tree(roots, marks, grace_s=5), child.wait())\n",
        zoo.mark,
    )

    assert done.text == "True\n() -15"


def test_a_short_command_of_our_own_is_never_a_member(zoo: Zoo) -> None:
    """What `process.run` has under way in the folder, in another thread, is left alone."""
    done = zoo.script(
        "import threading, time\n"
        "from pathlib import Path\n"
        "from qloop.system import process\n"
        "from qloop.system.tree import Marks, end_tree\n"
        "codes = []\n"
        "command = ['sh', '-c', 'echo $$ > up; sleep 1; exit 4']\n"
        "runner = threading.Thread(target=lambda: codes.append(process.run(command).code))\n"
        "runner.start()\n"
        "while not Path('up').exists(): time.sleep(0.01)\n"
        "print(end_tree([], Marks(folders=(Path.cwd(),)), grace_s=5))\n"
        "runner.join()\n"
        "print(codes)\n"
    )

    assert done.text == "()\n[4]"


def test_a_person_at_a_terminal_in_the_folder_is_no_member(zoo: Zoo) -> None:
    """A shell that somebody took into the folder is theirs."""
    # The shell's parent is one that left this process, as a terminal program would have.
    master, slave = pty.openpty()
    code = detach(
        parent="os._exit(0)",
        then="import fcntl, termios\n"
        "os.setsid()\n"
        "fcntl.ioctl(os.open(sys.argv[2], os.O_RDWR), termios.TIOCSCTTY, 0)\n"
        "open('ready', 'w').write('1\\n')\n" + SCRUB,
    )
    zoo.python(code, "leaf", os.ttyname(slave))
    leaf = zoo.pid_in("leaf")
    zoo.pid_in("ready")
    zoo.roots[0].wait()
    until(lambda: pids(zoo, zoo.by_env) == set())
    in_folder = pids(zoo, zoo.by_folder)
    which = identify(leaf)
    os.kill(leaf, signal.SIGKILL)
    os.close(master)
    os.close(slave)

    assert which is not None
    assert in_folder == set()


SUBREAPER = (
    "import os, sys, threading, time\n"
    "from pathlib import Path\n"
    "from qloop.system import process\n"
    "from qloop.system.identity import identify\n"
    "from qloop.system.table import read_row\n"
    "from qloop.system.tree import *\n"
    "assert become_subreaper()\n"
    "def start(code, *args):\n"
    "    null = os.open('/dev/null', os.O_RDWR)\n"
    "    return process.start([sys.executable, '-c', code, *args], cwd=Path.cwd(), env=os.environ,"
    " stdin=null, output=2)\n"
    "def note(name):\n"
    "    path = Path(name)\n"
    "    while not path.exists() or not path.read_text(): time.sleep(0.01)\n"
    "    return int(Path(name).read_text())\n"
    "def kids(): return Path(f'/proc/self/task/{os.getpid()}/children').read_text().split()\n"
)


def test_members_that_became_our_children_are_reaped(zoo: Zoo) -> None:
    """A subreaper is left with no zombie but the root, whose status is kept."""
    done = zoo.script(
        SUBREAPER + "root = start(sys.argv[1], 'leaf')\n"
        "leaf = note('leaf')\n"
        "print(end_tree([root], Marks((sys.argv[2],)), grace_s=5), kids() == [str(root)])\n"
        "print(process.wait_status(root), identify(leaf))\n",
        detach(),
        zoo.mark,
    )

    assert done.complaint == ""
    assert done.text == "() True\n-15 None"


def test_a_chain_of_forks_is_ended_and_reaped(zoo: Zoo) -> None:
    """Processes that live shorter than a look takes are caught by their group."""
    done = zoo.script(
        SUBREAPER + "root = start(sys.argv[1])\n"
        "note('up')\n"
        "print(end_tree([root], Marks((sys.argv[2],)), grace_s=0.1), kids() == [str(root)])\n"
        "print(process.wait_status(root))\n",
        "import os, time\n"
        "limit = time.monotonic() + 20\n"
        "while time.monotonic() < limit:\n"
        "    if os.fork(): os._exit(0)\n"
        "    open('up', 'w').write('1')\n"
        "    time.sleep(0.001)\n",
        zoo.mark,
    )

    assert done.complaint == ""
    assert done.text == "() True\n0"


def test_orphans_are_found_ended_and_reaped(zoo: Zoo) -> None:
    """What hid from every mark became our child; what we started and spare is not an orphan."""
    done = zoo.script(
        SUBREAPER + "root = start(sys.argv[1], str(Path('leaf').absolute()))\n"
        "leaf = note('leaf')\n"
        "print(process.wait_status(root), end_tree([], Marks((), (Path.cwd(),)), grace_s=0))\n"
        "other, spared = start('import time; time.sleep(600)'), os.fork()\n"
        "if not spared: time.sleep(600)\n"
        "print([one.pid for one in find_orphans({spared})] == [leaf])\n"
        "print(end_tree((), Marks(), grace_s=0.2, spare={spared}, orphans=True), end=' ')\n"
        "print(find_orphans({spared}))\n"
        "print(kids() == [str(other), str(spared)])\n"
        "print(end_tree((), Marks(), grace_s=5, orphans=True), kids() == [str(other)])\n"
        "end_tree([other], Marks(), grace_s=5)\n"
        "print(process.wait_status(other), kids())\n",
        detach(
            parent="os._exit(0)",
            before="import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.chdir('/')",
            then=SCRUB,
        ),
    )

    assert done.complaint == ""
    assert done.text == "0 ()\nTrue\n() set()\nTrue\n() True\n-15 []"


def test_a_tree_at_its_own_terminal_is_ended_by_its_folder(zoo: Zoo) -> None:
    """To lead a terminal of its own hides nothing that descends from the caller."""
    done = zoo.script(
        SUBREAPER + "root = start(sys.argv[1], 'leaf')\n"
        "leaf = note('leaf')\n"
        "process.wait_status(root)\n"
        "print(read_row(leaf).terminal)\n"
        "print([m.pid for m in find_members([], Marks((), (Path.cwd(),)), ())] == [leaf])\n"
        "print(end_tree([], Marks((), (Path.cwd(),)), grace_s=0.1), kids())\n",
        detach(
            parent="os._exit(0)",
            before="import fcntl, pty, termios\n"
            "os.setsid()\n"
            "master, slave = pty.openpty()\n"
            "os.set_inheritable(master, True)\n"
            "fcntl.ioctl(slave, termios.TIOCSCTTY, 0)",
            then=SCRUB,
        ),
    )

    assert done.complaint == ""
    assert done.text == "True\nTrue\n() []"


def test_an_empty_mark_marks_nobody(zoo: Zoo) -> None:
    """An empty entry is in no environment, though a zero byte ends each."""
    zoo.start(["sleep", "600"])

    assert find_members([], Marks(env=("",)), ()) == set()


def test_no_tree_is_nothing_to_end() -> None:
    """Without roots and marks nothing is a member."""
    start = time.monotonic()

    assert find_members([], Marks(), ()) == set()
    assert end_tree([], Marks(), grace_s=600) == ()
    assert time.monotonic() - start < 600


@pytest.mark.parametrize("grace_s", [0.0, 600.0])
def test_a_dead_root_costs_no_grace(zoo: Zoo, grace_s: float) -> None:
    """Where everything has ended already, nobody waits."""
    root = zoo.start(["true"])
    until(lambda: not is_running(root))

    assert end_tree([root], zoo.by_env, grace_s=grace_s) == ()
    assert zoo.roots[0].wait() == 0
