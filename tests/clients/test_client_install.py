"""Installing clients: once whoever asks, whole or not at all, from where pip is told to look."""

import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from client_install import AS_STARTED, NotInstalled, Package, ensure_installed, is_installed

THERE = Package("greet", "pip", "greet", "1.0")
NOT_THERE = Package("greet", "pip", "greet", "2.0")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and one wheel as all that can be installed."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    info = "greet-1.0.dist-info"
    files = {
        "greet.py": "def main(): print('hello')\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ngreet = greet:main\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(wheels / "greet-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    monkeypatch.setitem(AS_STARTED, "XDG_CACHE_HOME", str(tmp_path / "a cache"))
    monkeypatch.setitem(AS_STARTED, "PIP_NO_INDEX", "1")
    monkeypatch.setitem(AS_STARTED, "PIP_FIND_LINKS", str(wheels))
    return tmp_path / "a cache"


def test_it_is_installed_once_for_all_who_ask(cache: Path) -> None:
    """Two at a time get one installation, whole, in the cache."""
    with ThreadPoolExecutor() as askers:
        list(askers.map(ensure_installed, [THERE, THERE]))
    made = (THERE.programs / "greet").stat()

    ensure_installed(THERE)

    assert is_installed(THERE)
    assert THERE.folder.is_relative_to(cache)
    assert (THERE.programs / "greet").stat().st_ino == made.st_ino


def test_what_is_half_made_is_made_again() -> None:
    """A folder without its stamp comes from an installation that was ended."""
    THERE.folder.mkdir(parents=True)
    (THERE.folder / "rest").touch()

    ensure_installed(THERE)

    assert (THERE.programs / "greet").exists()
    assert not (THERE.folder / "rest").exists()


def test_what_cannot_be_installed_says_why() -> None:
    """With the installer's words; nothing half made stays."""
    with pytest.raises(NotInstalled, match=r"greet 2\.0: .*No matching distribution"):
        ensure_installed(NOT_THERE)

    assert not is_installed(NOT_THERE)
    assert not NOT_THERE.folder.exists()
