"""Where a repository comes from."""

import re

from qloop.repo.git import persons_git
from qloop.repo.repository import Repository

_LOGIN = re.compile(r"(?<=://)[^/@]*@")


def origin_url(repository: Repository) -> str | None:
    """The address of `origin`, without a name or password in it; None where there is none."""
    done = persons_git(repository.root, "config", "--get", "remote.origin.url")
    return _LOGIN.sub("", done.text) or None if done.code == 0 else None
