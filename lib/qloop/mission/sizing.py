"""How large a mission looks, from its words alone."""

from qloop.repo.checkout import Repository
from qloop.state.mission import Triage


def size_up(repository: Repository, text: str) -> Triage:  # noqa: ARG001
    """The triage of a directive."""
    words = len(text.split())
    return Triage(complexity="SIMPLE" if words < 50 else "MEDIUM", reasons=(f"{words} words",))
