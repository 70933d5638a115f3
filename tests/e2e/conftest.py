"""A PATH on which no agent is but those that a test puts there."""

from pathlib import Path

import pytest

from qloop.agents.shipped import SHIPPED, load_shipped


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The machine's programs, without any agent that may be installed beside them."""
    folder = tmp_path_factory.mktemp("machine")
    agents = {manifest.argv[0] for name in SHIPPED if (manifest := load_shipped(name))}
    for place in ("/usr/bin", "/bin"):
        for path in Path(place).iterdir():
            if path.name not in agents and not (folder / path.name).is_symlink():
                (folder / path.name).symlink_to(path)
    return folder


@pytest.fixture
def programs(tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which programs are found first; on PATH there is no agent."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{machine}")
    return folder
