"""What `recon` does once its words are parsed: what the repository here is, by code alone."""

from pathlib import Path

from qloop.mission.scout import survey
from qloop.repo.checkout import find_git, find_repository
from qloop.state.codebase import Facts
from qloop.ui import console
from qloop.ui.recon_pages import recon_lines


def show_recon_here(*, as_json: bool) -> int:
    """The facts of the commit that is checked out here, as lines or as JSON."""
    facts = read_facts_here()
    if as_json:
        console.print_json(facts.model_dump(mode="json"))
        return 0
    for line in recon_lines(facts):
        console.result(console.printable(line))
    return 0


def read_facts_here() -> Facts:
    """The facts of the commit that is checked out here. Raises InputMissing, BadInput."""
    here = Path.cwd()
    repository = find_repository(here)
    return survey(repository, find_git(here).find("HEAD^{commit}"))
