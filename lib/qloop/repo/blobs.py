"""Objects by their names: how large they are, and what they hold.

Units: bytes. Errors: InternalFailure where one is missing; GitFailed. Source: git-cat-file(1).
"""

from collections.abc import Iterable, Mapping

from qloop.repo.git import Git
from qloop.system.errors import InternalFailure

_FEW = 50
"""So many objects are asked for one by one, where a git stays to answer."""


def object_sizes(git: Git, names: Iterable[str]) -> dict[str, int]:
    """The size of each object, in bytes."""
    asked = sorted(set(names))
    if not asked:
        return {}
    known = git.sizes(*asked)
    if known is not None and None not in known:
        return {name: size for name, size in zip(asked, known, strict=True) if size is not None}
    lines = "\n".join(asked).encode("ascii")
    answers = git.text("cat-file", "--batch-check=%(objectsize)", stdin=lines).split("\n")
    missing = [answer for answer in answers if not answer.isdigit()]
    if missing:
        raise InternalFailure(f"the repository lacks an object of the work: {missing[0]}")
    return {name: int(size) for name, size in zip(asked, answers, strict=True)}


def object_contents(git: Git, sizes: Mapping[str, int]) -> dict[str, bytes]:
    """The bytes of objects that fit into memory together, given their sizes."""
    if not sizes:
        return {}
    known = {name: git.read_object(name) for name in sizes} if len(sizes) <= _FEW else {}
    read = {name: data for name, data in known.items() if data is not None}
    if len(read) == len(sizes):
        return read
    rest = memoryview(git.run("cat-file", "--batch", stdin="\n".join(sizes).encode("ascii")).out)
    found: dict[str, bytes] = {}
    for name, size in sizes.items():
        start = len(_head(rest)) + 1
        found[name] = bytes(rest[start : start + size])
        rest = rest[start + size + 1 :]
    return found


def _head(rest: memoryview) -> bytes:
    """The line that comes before an object's content: its name, type and size."""
    return bytes(rest[:200]).partition(b"\n")[0]
