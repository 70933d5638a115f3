"""bin/qloop and bin/test, started for real in small checkouts that need no network.

Such a checkout has the two scripts, a package that tells how it was started, and dependencies
that are wheels beside it.
"""

import ast
import base64
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from qloop.system import process

BIN = Path(__file__).resolve().parents[2] / "bin"
WORKERS = (os.cpu_count() or 1) + 2
PYTEST = f"pytest --numprocesses={WORKERS} --dist=worksteal --quiet"

TELLS = """
import importlib.util, json, os, sys
import tiny
print(json.dumps({
    "argv": sys.argv[1:], "pid": os.getpid(), "prefix": sys.prefix, "cwd": os.getcwd(),
    "click": importlib.util.find_spec("click") is not None,
}))
sys.exit(7)
"""
TOOL = """
import sys
from pathlib import Path
print("ran", Path(__file__).stem, *sys.argv[1:], flush=True)
sys.exit(Path(__file__).stem in Path("red").read_text().split())
"""


def make_wheel(folder: Path, name: str, modules: dict[str, str]) -> str:
    """Write a wheel with some modules; return the requirement that names it."""
    info = f"{name}-1.0.dist-info"
    files = {f"{module}.py": text for module, text in modules.items()}
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = [f"{info}/RECORD,,"]
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record.append(f"{path},sha256={digest.decode()},{len(text.encode())}")
    files[f"{info}/RECORD"] = "\n".join(record) + "\n"
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return f"{name} @ {wheel.as_uri()}"


def make_checkout(root: Path) -> Path:
    """A checkout that was never started."""
    package = root / "lib" / "qloop"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(TELLS, encoding="utf-8")
    shutil.copytree(BIN, root / "bin")
    (root / "red").touch()
    tiny = make_wheel(root, "tiny", {"tiny": ""})
    tools = make_wheel(root, "tools", dict.fromkeys(("ruff", "mypy", "pytest"), TOOL))
    groups = f"[dependency-groups]\ndev = [{json.dumps(tools)}]\n"
    text = f"[project]\ndependencies = [{json.dumps(tiny)}]\n{groups}"
    (root / "pyproject.toml").write_text(text, encoding="utf-8")
    return root


def outside(**more: str) -> dict[str, str]:
    """The environment of a start: this Python first on PATH, and no package index."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PIP_NO_INDEX": "1", **more}


def start(script: Path, *args: str, cwd: Path | None = None, **env: str) -> process.Completed:
    """Start a script as a person does, by its name."""
    return process.run([str(script), *args], cwd=cwd, env=outside(**env))


def told(done: process.Completed) -> dict[str, Any]:
    """What the package said of how it was started."""
    assert done.code == 7, done.complaint
    value: dict[str, Any] = json.loads(done.text)
    return value


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout that bin/test has set up."""
    root = make_checkout(tmp_path_factory.mktemp("ready") / "a checkout")
    done = start(root / "bin" / "test", "--version")
    assert done.code == 0, done.complaint
    return root


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A checkout that was never started, in a folder whose name has a space."""
    return make_checkout(tmp_path / "a checkout")


def test_two_first_starts_set_up_once(fresh: Path) -> None:
    """Of two first starts one sets up, the other waits, and both run in the new environment."""
    script = str(fresh / "bin" / "qloop")
    children = [
        subprocess.Popen(
            [script, word], env=outside(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for word in ("one", "two")
    ]
    ends = [(child, *child.communicate(), child.returncode) for child in children]

    assert [code for *_, code in ends] == [7, 7], ends
    for child, out, _, _ in ends:
        assert json.loads(out)["prefix"] == str(fresh / ".venv")
        assert json.loads(out)["pid"] == child.pid
    assert sorted("making" in err for _, _, err, _ in ends) == [False, True]


def test_second_start_is_silent_and_execs(ready: Path, tmp_path: Path) -> None:
    """With nothing to set up, the started process itself becomes qloop, without a word."""
    with subprocess.Popen(
        [ready / "bin" / "qloop", "--json", "a b"],
        cwd=tmp_path,
        env=outside(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        out, err = child.communicate()
    value = json.loads(out)

    assert err == b""
    assert value["pid"] == child.pid
    assert value["argv"] == ["--json", "a b"]
    assert value["cwd"] == str(tmp_path)


def test_second_start_needs_no_python_on_path(ready: Path, tmp_path: Path) -> None:
    """With nothing to set up no other interpreter is started; a link to the script will do."""
    never = tmp_path / "python3"
    never.write_text("#!/bin/sh\nexit 99\n", encoding="utf-8")
    never.chmod(0o755)
    link = tmp_path / "a link"
    link.symlink_to(ready / "bin" / "qloop")
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"

    for script in (ready / "bin" / "qloop", link):
        assert told(start(script, PATH=path))["prefix"] == str(ready / ".venv")


def test_change_that_looks_old_is_noticed(ready: Path) -> None:
    """Another pyproject.toml counts by its content, whatever its time says."""
    project = ready / "pyproject.toml"
    seen = project.stat()
    project.write_text(project.read_text("utf-8") + "# other\n", encoding="utf-8")
    os.utime(project, (seen.st_atime, seen.st_mtime - 1000))

    assert "installing" in start(ready / "bin" / "qloop").complaint


def test_start_through_a_link(ready: Path, tmp_path: Path) -> None:
    """A symbolic link to bin/qloop from another folder starts that checkout's qloop."""
    link = tmp_path / "qloop"
    link.symlink_to(ready / "bin" / "qloop")

    assert told(start(link, cwd=tmp_path))["prefix"] == str(ready / ".venv")


def test_nothing_from_outside_gets_in(ready: Path, tmp_path: Path) -> None:
    """A click.py in the current folder or on PYTHONPATH is not seen, nor is a PYTHONHOME."""
    (tmp_path / "click.py").write_text("raise SystemExit('stolen')\n", encoding="utf-8")
    value = told(
        start(
            ready / "bin" / "qloop",
            cwd=tmp_path,
            PYTHONPATH=str(tmp_path),
            PYTHONHOME=sys.base_prefix,
        )
    )

    assert value["prefix"] == str(ready / ".venv")
    assert not value["click"]


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_interrupted_set_up_is_done_again(fresh: Path, signum: int, code: int) -> None:
    """A start stopped in the midst of its set-up leaves nothing that the next one trusts."""
    script = fresh / "bin" / "qloop"
    with subprocess.Popen([script], env=outside(), stderr=subprocess.PIPE, text=True) as child:
        while not (fresh / ".venv" / "bin" / "python").exists():
            assert child.poll() is None
            time.sleep(0.01)
        child.send_signal(signum)
        child.wait()
        done = start(script)
        assert child.stderr is not None
        told_first = child.stderr.read()

    assert child.returncode == code
    assert "Traceback" not in told_first
    assert told(done)["prefix"] == str(fresh / ".venv")
    assert "making" in done.complaint


def test_moved_checkout_is_set_up_again(ready: Path, tmp_path: Path) -> None:
    """An environment that was made in another place is made anew."""
    moved = tmp_path / "moved"
    shutil.copytree(ready, moved, symlinks=True)
    done = start(moved / "bin" / "qloop")

    assert told(done)["prefix"] == str(moved / ".venv")
    assert "making" in done.complaint


def test_changed_dependencies_are_installed(ready: Path) -> None:
    """Another pyproject.toml is installed into the environment there is."""
    project = ready / "pyproject.toml"
    project.write_text(project.read_text("utf-8") + "# changed\n", encoding="utf-8")
    first, second = start(ready / "bin" / "qloop"), start(ready / "bin" / "qloop")

    assert told(first) != told(second)  # the process ids
    assert "installing" in first.complaint
    assert "making" not in first.complaint
    assert second.complaint == ""


def test_failing_pip_is_told(fresh: Path) -> None:
    """Dependencies that cannot be had end the start with 69, without a traceback or a stamp."""
    (fresh / "tiny-1.0-py3-none-any.whl").unlink()
    done = start(fresh / "bin" / "qloop")

    assert done.code == 69
    assert done.out == b""
    assert "error: cannot set up .venv" in done.complaint
    assert "Traceback" not in done.complaint
    assert not list((fresh / ".venv").glob(".qloop-stamp*"))


def too_old(checkout: Path) -> Path:
    """bin/qloop of a time when the Python that runs these tests is too old."""
    script = checkout / "bin" / "qloop"
    text = script.read_text("utf-8")
    assert "OLDEST = (3, 11)" in text
    script.write_text(text.replace("OLDEST = (3, 11)", "OLDEST = (3, 99)"), encoding="utf-8")
    return script


def test_too_old_python_is_told(fresh: Path, tmp_path: Path) -> None:
    """Where no newer Python is on PATH, the message says what to install."""
    (tmp_path / "empty").mkdir()
    done = process.run(
        [sys.executable, str(too_old(fresh))], env=outside(PATH=str(tmp_path / "empty"))
    )

    assert done.code == 69
    assert "is too old" in done.complaint
    assert "install Python 3.11 or newer" in done.complaint


def test_newer_python_is_found(fresh: Path, tmp_path: Path) -> None:
    """A too old Python hands over to a newer one on PATH, with the same arguments."""
    newer = tmp_path / "shims" / "python3.13"
    newer.parent.mkdir()
    newer.write_text('#!/bin/sh\n[ "$1" = -c ] || echo "$@"\n', encoding="utf-8")
    newer.chmod(0o755)
    script = too_old(fresh)
    done = process.run([sys.executable, str(script), "status"], env=outside(PATH=str(newer.parent)))

    assert done.text == f"{script} status"


@pytest.mark.parametrize("name", ["qloop", "test"])
def test_old_pythons_can_read_the_scripts(name: str) -> None:
    """The syntax is as old as the Pythons that are told to make way."""
    ast.parse((BIN / name).read_text("utf-8"), feature_version=(3, 7))


def test_all_checks_run_and_are_counted(ready: Path) -> None:
    """Without arguments every check runs, also after a red one; the total names what failed."""
    (ready / "red").write_text("ruff", encoding="utf-8")
    done = start(ready / "bin" / "test")
    (ready / "red").write_text("", encoding="utf-8")
    ran = [line for line in done.text.splitlines() if line.startswith("ran ")]

    assert done.code == 1
    assert ran == [
        "ran ruff check",
        "ran ruff format --check",
        "ran mypy",
        "ran mypy bin/qloop",
        "ran mypy bin/test",
        f"ran {PYTEST}",
    ]
    assert done.text.endswith(
        "bin/test: 4 of 6 checks passed; FAILED: ruff check; FAILED: ruff format --check"
    )


def test_arguments_go_to_pytest_alone(ready: Path) -> None:
    """With arguments only pytest runs, and they come last so that they win."""
    done = start(ready / "bin" / "test", "tests/plan", "-n0")

    assert done.code == 0
    assert f"ran {PYTEST} tests/plan -n0" in done.text
    assert "ruff" not in done.text
