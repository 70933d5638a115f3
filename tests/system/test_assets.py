"""Role prompts, schemas and examples are found wherever qloop is installed."""

import shutil
import sys
from pathlib import Path

import pytest

import qloop
from qloop.system import process

PACKAGE = Path(qloop.__file__).parent
READ = (
    "import sys\n"
    "from qloop.system.assets import asset_path, read_asset\n"
    "from qloop.system.errors import InternalFailure\n"
    "try: print(read_asset('agents', sys.argv[1]), asset_path('agents', ''))\n"
    "except InternalFailure as error: print(error)\n"
)


def read(library: Path, name: str) -> str:
    """What a copy of the package says of an asset."""
    env = {"PYTHONPATH": str(library)}
    return process.run([sys.executable, "-P", "-c", READ, name], env=env).text


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with a copy of the package in lib, as in a checkout, and nothing else."""
    root = tmp_path / "a checkout"
    ignored = shutil.ignore_patterns("__pycache__", "_assets")
    shutil.copytree(PACKAGE, root / "lib" / "qloop", ignore=ignored)
    return root


def put(folder: Path, text: str) -> Path:
    """Put a role prompt into a folder."""
    folder.mkdir(parents=True)
    (folder / "worker.md").write_text(text)
    return folder


def test_a_checkout_has_them_at_its_root(checkout: Path) -> None:
    """In a checkout, files are found beside lib."""
    folder = put(checkout / "agents", "from the root")

    assert read(checkout / "lib", "worker.md") == f"from the root {folder}"


def test_a_wheel_has_them_in_the_package(checkout: Path) -> None:
    """Installed, files are found in the package, before any other place."""
    put(checkout / "agents", "from the root")
    folder = put(checkout / "lib" / "qloop" / "_assets" / "agents", "from the package")

    assert read(checkout / "lib", "worker.md") == f"from the package {folder}"


def test_a_missing_file_is_told(checkout: Path) -> None:
    """A file that is in neither place is a fault of the installation, named."""
    said = read(checkout / "lib", "worker.md")

    assert said.startswith("qloop's own file agents/worker.md is missing")
    assert said.endswith("install qloop again")
