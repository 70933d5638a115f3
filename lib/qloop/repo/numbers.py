"""Which numbers a story's attempts have had, as far as references tell."""

from qloop.repo.checkout import Repository
from qloop.repo.salvage import ATTEMPTS


def highest_attempts(repository: Repository) -> dict[str, int]:
    """For each story the highest number of an attempt that was kept."""
    listed = repository.git.text("for-each-ref", "--format=%(refname:lstrip=3)", ATTEMPTS)
    highest: dict[str, int] = {}
    for name in listed.splitlines():
        story, _, number = name.rpartition("/")
        if number.isdigit():
            highest[story] = max(highest.get(story, 0), int(number))
    return highest
