"""What a plan is tied to its document by: the document's hash, and the branch named after it."""

import hashlib
import re
import unicodedata

_LONGEST_SLUG = 100


def prd_hash(data: bytes) -> str:
    """`sha256:` and the digest of a document's bytes, the same for LF and CRLF line ends."""
    data = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return "sha256:" + hashlib.sha256(data).hexdigest()


def default_branch(title: str) -> str:
    """The feature branch of a plan that names none: `ql/` and the title in plain letters."""
    plain = unicodedata.normalize("NFKD", title.casefold()).encode("ascii", "ignore").decode()
    slug = re.sub("[^a-z0-9]+", "-", plain).strip("-")
    return f"ql/{slug[:_LONGEST_SLUG].strip('-') or 'feature'}"
