"""Secrets that never leave: the values of variables whose names say that they are secret.

Every place where another program's words are kept or passed on takes them out, whatever pieces
they come in. What is no longer than a word is left alone, for it stands in innocent text too.
Units: bytes. Errors: OSError for a file that cannot be rewritten.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qloop.system.files import read_blocks, write_atomic

MASK = b"***"
SHORTEST = 6
"""Characters that a value has at least to be taken for a secret."""

_SHORTEST_LINE = 16
_SHORTEST_NUMBER = 10
_SECRET = {
    *("KEY", "KEYS", "PASS", "PWD", "PAT", "AUTH", "AUTHORIZATION", "BEARER", "COOKIE"),
    *("CREDENTIAL", "CREDENTIALS", "JWT"),
}
_SECRET_ENDS = ("TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY")
_PLAIN = {"TYPE", "METHOD", "MODE", "MAX", "TTL", "FILE", "PATH", "DIR", "SOCK", "NAME", "COMMAND"}
_NAMED_OTHERWISE = ("GIT_CONFIG_",)
_USER_INFO = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([^\s/@]+)@")


@cache
def is_secret(name: str) -> bool:
    """Whether a variable's name says that its value is secret."""
    words = name.upper().split("_")
    if name.startswith(_NAMED_OTHERWISE) or _PLAIN.intersection(words):
        return False
    return any(word in _SECRET or word.endswith(_SECRET_ENDS) for word in words)


def find_secrets(variables: Mapping[str, str]) -> tuple[bytes, ...]:
    """The secrets among variables, in each way that they are commonly written, longest first."""
    found: set[str] = set()
    for name, value in variables.items():
        if is_secret(name) and not Path(value[:4096]).is_absolute():
            found.update(_spellings(value))
        if "@" in value:
            found.update(_user_secrets(value))
    long = {text for text in found if _is_telling(text)}
    encoded = {text.encode("utf-8", "surrogateescape") for text in long}
    return tuple(sorted(encoded, key=lambda secret: (-len(secret), secret)))


def own_secrets() -> tuple[bytes, ...]:
    """The secrets in this process's environment."""
    return find_secrets(os.environ)


class Mask:
    """Takes secrets out of a stream, however it is cut: equal to masking it in one piece."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self._pattern = _pattern(secrets)
        self._secrets = tuple(secrets)
        self._starts = {secret[0] for secret in secrets}
        self._longest = max(map(len, secrets), default=0)
        self._kept = b""

    def feed(self, data: bytes) -> bytes:
        """Take the next piece; what is certain of all that came."""
        if self._pattern is None:
            return data
        whole = self._kept + data
        done: list[bytes] = []
        at, open_from = 0, self._open_from(whole, 0)
        while (match := self._pattern.search(whole, at)) and match.start() < open_from:
            done += [whole[at : match.start()], MASK]
            at = match.end()
            open_from = self._open_from(whole, at)
        self._kept = whole[open_from:]
        return b"".join([*done, whole[at:open_from]])

    def finish(self) -> bytes:
        """The rest, when nothing comes any more."""
        rest, self._kept = self._kept, b""
        return rest if self._pattern is None else self._pattern.sub(MASK, rest)

    def _open_from(self, data: bytes, at: int) -> int:
        """Where a secret may begin whose end has not come yet; the end of *data* if nowhere."""
        for start in range(max(at, len(data) - self._longest + 1), len(data)):
            if data[start] in self._starts:
                rest = data[start:]
                if any(len(one) > len(rest) and one.startswith(rest) for one in self._secrets):
                    return start
        return len(data)


def mask_bytes(data: bytes, secrets: Sequence[bytes]) -> bytes:
    """*data* without the secrets."""
    pattern = _pattern(secrets)
    return data if pattern is None else pattern.sub(MASK, data)


def mask_strings(value: Any, secrets: Sequence[bytes]) -> Any:
    """A JSON value without the secrets in its strings; keys are left as they are."""
    if not secrets:
        return value
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        return mask_bytes(data, secrets).decode("utf-8", "surrogatepass")
    if isinstance(value, dict):
        return {key: mask_strings(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mask_strings(item, secrets) for item in value]
    return value


def mask_text(text: str) -> str:
    """A text without the secrets of this process's environment."""
    masked: str = mask_strings(text, own_secrets())
    return masked


def mask_file(path: Path, secrets: Sequence[bytes], limit_bytes: int) -> None:
    """Rewrite a file without the secrets, where it is there and holds any.

    Of a file that is longer than *limit_bytes* the rest is dropped.
    """
    if not secrets or not path.is_file():
        return
    data = b"".join(read_blocks(path, limit_bytes))
    masked = mask_bytes(data, secrets)
    if masked != data:
        write_atomic(path, masked)


def _user_secrets(value: str) -> Iterator[str]:
    """What stands before the host in addresses: the password, or all of it where it is alone."""
    for user_info in _USER_INFO.findall(value):
        yield user_info.partition(":")[2] or user_info


def _spellings(value: str) -> Iterator[str]:
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield quote(value, safe="", errors="replace")
    if "\n" in value.strip():
        yield from (line for line in value.split("\n") if len(line) >= _SHORTEST_LINE)


def _is_telling(text: str) -> bool:
    return len(text) >= (_SHORTEST_NUMBER if text.isdecimal() else SHORTEST)


def _pattern(secrets: Sequence[bytes]) -> re.Pattern[bytes] | None:
    return re.compile(b"|".join(map(re.escape, secrets))) if secrets else None
