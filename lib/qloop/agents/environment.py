"""The environment of what qloop starts: an allow-list, so that nothing steers by accident.

Neither the caller's `GIT_*` nor its `QLOOP_*` nor another agent's session variables get through,
whatever the settings ask for.
"""

import functools
import os
import re
from collections.abc import Iterable
from fnmatch import translate

_PASSED = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
)
_NEVER = (
    "GIT_*",
    "QLOOP_*",
    # What agent command lines tell their own children: a new agent is no child of theirs.
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_REMOTE*",
    "CLAUDE_CODE_SESSION*",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_EFFORT",
    "CLAUDE_PID",
    "CLAUDE_SESSION*",
    "CODEX_CI",
    "CODEX_SANDBOX*",
    "CODEX_SESSION*",
    "CODEX_SNAPSHOT_*",
    "CODEX_THREAD_ID",
    "CODEX_TOOL_CALL*",
    "CURSOR_AGENT",
    "CURSOR_TRACE_ID",
    "GEMINI_CLI",
    "GEMINI_CLI_IDE_*",
    "OPENCODE",
    "OPENCODE_PID",
    "OPENCODE_RUN_ID",
    "QWEN_CODE",
    "QWEN_CODE_SESSION*",
)


def base_environment(env_pass: Iterable[str]) -> dict[str, str]:
    """What set-up and gate commands see of qloop's own environment."""
    return {**_passed(_ALWAYS), **passed_through(env_pass), "TERM": "dumb"}


def passed_through(patterns: Iterable[str]) -> dict[str, str]:
    """The variables whose names match one of *patterns* (names, or globs such as `X_*`)."""
    return _passed(_any_of(patterns))


def _passed(wanted: re.Pattern[str]) -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if wanted.match(name) and not _REFUSED.match(name)
    }


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """What matches where one of the globs does; compiled once, since it is asked very often."""
    return _compiled("|".join(translate(pattern) for pattern in dict.fromkeys(patterns)) or "(?!)")


_compiled = functools.lru_cache(re.compile)
_REFUSED = _any_of(_NEVER)
_ALWAYS = _any_of(_PASSED)
