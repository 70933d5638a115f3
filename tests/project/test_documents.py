"""The documents that people read: short enough, every link leads somewhere, each agent is told."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"(?m)^#+ (.+)$")


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    kept = (
        re.sub(r"[^\w\- ]", "", title.lower()) for title in HEADING.findall(document.read_text())
    )
    return {title.replace(" ", "-") for title in kept}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_within_the_documents_leads_somewhere(document: Path) -> None:
    """A file that is linked is there, and so is the heading in it that is named."""
    broken = []
    for link in LINK.findall(document.read_text()):
        if link.startswith(("https://", "http://")):
            continue
        place, _, anchor = link.partition("#")
        target = (document.parent / place).resolve() if place else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)

    assert not broken


def test_the_readme_can_be_read_at_one_sitting() -> None:
    """It stays under 30 KB: what is more has a document of its own."""
    assert len((ROOT / "README.md").read_bytes()) < 30_000


def test_each_agent_that_is_shipped_has_its_set_up_in_both_documents() -> None:
    """README.md has a line for each runner, docs/agents.md a row."""
    readme, agents = (ROOT / "README.md").read_text(), (ROOT / "docs/agents.md").read_text()
    names = [path.stem for path in (ROOT / "runners").glob("*.toml")]

    assert names
    assert [name for name in names if f"--runner {name}" not in readme] == []
    assert [name for name in names if f"| `{name}` |" not in agents] == []
