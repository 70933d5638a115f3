"""The package as users get it: built from a copy of the checkout, its files counted, started."""

import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import qloop
from qloop.system import process
from qloop.system.assets import asset_path

ROOT = Path(__file__).resolve().parents[2]
NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", "__pycache__", "*_cache", ".hypothesis")
ASSETS = ("agents", "runners", "schemas", "examples")
SOURCES = ("lib", "tests", "bin", "docs", *ASSETS)
SINGLE = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md")
INFO = f"qloop-{qloop.__version__}.dist-info"


def files_under(folder: Path, name: str) -> set[str]:
    """The files of a sub-folder, by their paths within *folder*."""
    return {
        str(path.relative_to(folder))
        for path in (folder / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a sdist and with the wheel that was built from the sdist."""
    place = tmp_path_factory.mktemp("built")
    copy = place / "a copy"
    shutil.copytree(ROOT, copy, ignore=NOT_COPIED)
    (copy / ".venv").mkdir()
    (copy / ".venv" / "local.py").touch()
    words = ["-m", "build", "--no-isolation", "--outdir", str(place / "dist"), str(copy)]
    done = process.run([sys.executable, "-I", *words])
    assert done.code == 0, done.text + done.complaint
    return place / "dist"


@pytest.fixture(scope="module")
def unpacked(built: Path) -> Path:
    """The wheel's content, as an installer would put it into site-packages."""
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(built / "site")
    return built / "site"


def test_wheel_holds_the_package_and_its_assets(unpacked: Path) -> None:
    """In the wheel lie the package, its folders of assets, and nothing else."""
    package = {name.removeprefix("lib/") for name in files_under(ROOT, "lib")}
    assets = {f"qloop/_assets/{name}" for kind in ASSETS for name in files_under(ROOT, kind)}
    info = {f"{INFO}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    found = files_under(unpacked, "")

    assert found == package | assets | info | {f"{INFO}/licenses/LICENSE"}
    assert "qloop/py.typed" in found
    assert "qloop/_assets/agents/implementer.md" in found


def test_sdist_holds_what_a_developer_needs(built: Path) -> None:
    """In the sdist lie sources, tests, docs and scripts; nothing that a checkout made itself."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        files = {member.name.partition("/")[2] for member in archive if member.isfile()}
    wanted = {name for folder in SOURCES for name in files_under(ROOT, folder)} | set(SINGLE)

    assert wanted <= files
    assert [name for name in files if ".venv" in name or "__pycache__" in name] == []


def test_scripts_stay_executable(built: Path) -> None:
    """What is started by its name can be started from an unpacked sdist."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        modes = {member.name.partition("/")[2]: member.mode for member in archive}

    assert modes["bin/qloop"] & 0o111
    assert modes["bin/test"] & 0o111


def start(unpacked: Path, code: str) -> process.Completed:
    """Run a line of Python that sees the unpacked wheel instead of the checkout."""
    words = [f"import sys; sys.path.insert(0, {str(unpacked)!r}); {code}"]
    return process.run([sys.executable, "-I", "-c", *words], cwd=unpacked)


@pytest.mark.parametrize("kind", ASSETS)
def test_assets_are_found_from_the_wheel(unpacked: Path, kind: str) -> None:
    """An installed qloop finds its assets in the package."""
    done = start(
        unpacked, f"from qloop.system.assets import asset_path; print(asset_path({kind!r}, ''))"
    )

    assert done.text == str(unpacked / "qloop" / "_assets" / kind), done.complaint


def test_assets_are_found_from_the_checkout() -> None:
    """A qloop that runs from its checkout finds its assets at the checkout's root."""
    assert asset_path("agents", "implementer.md") == ROOT / "agents" / "implementer.md"


def test_the_wheel_starts(unpacked: Path) -> None:
    """The installed door answers with the version that the metadata names."""
    done = start(unpacked, "from qloop.cli.main import main; sys.exit(main(['--version']))")
    metadata = (unpacked / INFO / "METADATA").read_text("utf-8")

    assert done.text == f"qloop {qloop.__version__}", done.complaint
    assert f"\nVersion: {qloop.__version__}\n" in metadata
