"""The marks by which an agent's doings are told from the person's.

Whatever an attempt's git writes, in any repository, bears the attempt in its committer line,
which shows in commits, tags and reflogs; and every git process of the attempt appends what it
was asked to do to the attempt's trace file. Source: git(1), git-commit-tree(1), api-trace2.
"""

from pathlib import Path

from qloop.repo.git import QLOOP_NAME
from qloop.repo.names import parse_attempt_id

TRACED_VARIABLES = ("GIT_DIR", "PWD")
"""What a trace must tell so that the repository of each command can be found."""

_AGENT_CONFIG = (
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("tag.forceSignAnnotated", "false"),
    ("push.gpgSign", "false"),
    ("log.showSignature", "false"),
    # An agent that asks for a signature all the same is refused at once; a real program might
    # wait for a passphrase for ever.
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.program", "false"),
    ("credential.interactive", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)


def committer_mark(attempt_id: str) -> str:
    """The committer name of all that an attempt's git writes."""
    return f"{QLOOP_NAME} {attempt_id}"


def marked_attempt(committer: str) -> str | None:
    """The attempt whose mark a committer name is, or None for anybody else's name."""
    name, _, attempt_id = committer.partition(" ")
    return attempt_id if name == QLOOP_NAME and parse_attempt_id(attempt_id) else None


def agent_git_environment(
    name: str, email: str, attempt_id: str, trace_file: Path
) -> dict[str, str]:
    """The `GIT_*` and askpass variables of an agent: *name* and *email* author, the mark commits.

    Git in it can neither prompt, sign, open an editor or a pager, nor start maintenance, whatever
    the person's configuration says: settings in the environment outrank every file.
    """
    return {
        **quiet_git_environment(),
        "GIT_AUTHOR_EMAIL": email,
        "GIT_AUTHOR_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
        "GIT_COMMITTER_NAME": committer_mark(attempt_id),
        "GIT_TRACE2_ENV_VARS": ",".join(TRACED_VARIABLES),
        "GIT_TRACE2_EVENT": str(trace_file),
        "GIT_TRACE2_EVENT_BRIEF": "1",
    }


def quiet_git_environment() -> dict[str, str]:
    """The variables with which git waits for nobody: no prompt, signature, editor or pager."""
    return {
        "GIT_ASKPASS": "true",
        "GIT_EDITOR": "true",
        "GIT_PAGER": "cat",
        "GIT_SEQUENCE_EDITOR": "true",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        "GIT_TERMINAL_PROMPT": "0",
        "SSH_ASKPASS": "true",
        "SSH_ASKPASS_REQUIRE": "force",
        **_config_variables(),
    }


def _config_variables() -> dict[str, str]:
    variables = {"GIT_CONFIG_COUNT": str(len(_AGENT_CONFIG))}
    for number, (key, value) in enumerate(_AGENT_CONFIG):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables
