"""projects.yml: a file that a person edits, and that qloop adds to."""

from pathlib import Path

import pytest
import yaml

from qloop.state.projects import (
    ProjectStatus,
    add_project,
    drop_project,
    read_projects,
)
from qloop.system.errors import BadInput, InputMissing, UsageWrong
from state.crowd import crowd

HAND = """\
# mine
other: 1

projects:
    # the shop
    shop:
        path: /srv/shop   # on the big disk
        status: paused
        note: "kept"
# end
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the projects would be written down."""
    return tmp_path / "my config" / "projects.yml"


def test_what_a_person_wrote_stays(file: Path) -> None:
    """Comments, unknown keys and the indentation; a new entry is read back as it was added."""
    file.parent.mkdir()
    file.write_text(HAND)
    add_project(file, "tea", Path("/srv/tea: 1"), "git@example.org:tea.git")
    made = file.read_text()

    assert [(one.name, str(one.path), one.status) for one in read_projects(file)] == [
        ("tea", "/srv/tea: 1", ProjectStatus.ACTIVE),
        ("shop", "/srv/shop", ProjectStatus.PAUSED),
    ]
    assert read_projects(file)[0].remote == "git@example.org:tea.git"
    assert "    tea:\n" in made
    assert all(line in made.splitlines() for line in HAND.splitlines())
    drop_project(file, "tea")
    assert file.read_text() == HAND
    drop_project(file, "shop")
    assert read_projects(file) == []
    assert yaml.safe_load(file.read_text())["other"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "other: [1]",
        "projects: {}\n",
        "projects:\n",
        "projects: # none yet\n",
        "projects: {shop: {path: /srv/shop}}\n",
        '"projects":\n  shop: {path: /srv/shop}\n',
        "\ufeffprojects:\r\n  shop:\r\n    path: /srv/shop\r\n",
        "projects:\n  shop:\n    path: /srv/shop",
    ],
)
def test_a_project_is_added_to_any_form_of_the_file(file: Path, text: str) -> None:
    """However it is written, nothing that it says is lost."""
    file.parent.mkdir()
    file.write_bytes(text.encode())
    before = {one.name for one in read_projects(file)}
    add_project(file, "tea", Path("/srv/tea"), None)
    add_project(file, "yes", Path("/srv/yes"), None)

    assert {one.name for one in read_projects(file)} == before | {"tea", "yes"}
    assert ("other" in text) == ("other" in yaml.safe_load(file.read_text()))
    for name in ("yes", *sorted(before), "tea"):
        drop_project(file, name)
    assert read_projects(file) == []


def test_names_and_places_are_taken_once(file: Path) -> None:
    """Neither can be registered again; a name must be one."""
    add_project(file, "tea", Path("/srv/tea"), None)
    with pytest.raises(UsageWrong, match="--name"):
        add_project(file, "tea", Path("/srv/other"), None)
    with pytest.raises(UsageWrong, match="'tea' already"):
        add_project(file, "coffee", Path("/srv/../srv/tea"), None)
    with pytest.raises(UsageWrong, match="no project's name"):
        add_project(file, "Tea Shop", Path("/srv/shop"), None)
    with pytest.raises(InputMissing, match="the projects are tea"):
        drop_project(file, "coffee")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("projects: [a]\n", "projects"),
        ("projects:\n  a: /srv/a\n", "projects.a.path"),
        ("projects:\n  a: {path: srv/a}\n", "projects.a.path"),
        ("projects:\n  a: {path: /a, status: off-line}\n", "projects.a.status"),
        ("projects: {\n", "line"),
        ("projects:\n  a: {path: /a}\n  a: {path: /b}\n", "line 3"),
    ],
)
def test_a_file_of_another_form_is_named(file: Path, text: str, told: str) -> None:
    """With what is wrong and where; and it is not written over."""
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(BadInput, match=told):
        add_project(file, "tea", Path("/srv/tea"), None)

    assert file.read_text() == text


def test_processes_that_register_at_once_lose_none(file: Path) -> None:
    """Ten add a project each."""
    file.parent.mkdir()
    crowd(10, "register", file)

    assert len(read_projects(file)) == 10
