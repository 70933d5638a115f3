"""What keeps an agent from working and is no fault of its story: one rule for each cause. Pure.

A refusal is judged by the agent's own word for it, by its HTTP status and by its text; of plain
text only lines count that are an error's own (`API Error: …`, `litellm.RateLimitError: …`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from qloop.agents.reading import Refusal


class Cause(StrEnum):
    """Why an agent could not work."""

    USAGE_LIMIT = "usage_limit"
    """An allowance is used up; it comes back at some time by itself."""
    AUTHENTICATION = "authentication"
    """A person must log in, give a key, or pay."""
    CONFIGURATION = "configuration"
    """The model, or an option of the command line, was refused: it will be so next time."""
    OVERLOAD = "overload"
    """The service is busy, or paces its callers."""
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class Rule:
    """What makes a refusal one of a cause: any of the three is enough."""

    cause: Cause
    words: frozenset[str]
    """The agent's own words for it, in lower case."""
    statuses: frozenset[int]
    text: re.Pattern[str]


def _rule(cause: Cause, words: str, statuses: tuple[int, ...], *texts: str) -> Rule:
    text = re.compile("|".join(texts), re.IGNORECASE)
    return Rule(cause, frozenset(words.split()), frozenset(statuses), text)


RULES = (
    _rule(
        Cause.AUTHENTICATION,
        "billing_error",
        (402,),
        r"credit balance|payment required|out of credits|insufficient (?:credit|balance|funds)",
    ),
    _rule(
        Cause.USAGE_LIMIT,
        "usage_limit_reached usage_limit insufficient_quota quota_exceeded terminalquotaerror",
        (),
        r"usage[ _]limit|exhausted your|request allowance|out of (?:\w+ )?usage",
        r"(?:hit|reached|exceeded) your (?:[\w-]+ ){0,2}limit",
        r"\bquota (?:exceeded|exhausted|reached|limit|will reset)\b|(?:your|current) quota\b",
        r"(?:session|hour|daily|weekly|monthly|spending) limit (?:reached|exceeded)",
        r"limit will reset|insufficient_quota",
    ),
    _rule(
        Cause.CONFIGURATION,
        "not_found_error model_not_found invalid_model notfounderror "
        "providermodelnotfounderror modelnotfounderror",
        (404,),
        r"issue with the selected model|model[_ ]?not[_ ]?found|LLM provider not provided",
        r"(?:unknown|invalid|unsupported|unrecognized) model",
        r"\bmodel\b.{0,80}\b(?:does not exist|not found|not supported|not available"
        r"|not have access)",
    ),
    _rule(
        Cause.AUTHENTICATION,
        "authentication_failed authentication_error authentication permission_error "
        "authenticationerror permissiondeniederror unauthorized oauth_org_not_allowed",
        (401, 403),
        r"(?:invalid|incorrect|missing|expired) (?:\w+ )?api[ _]key|api[ _]key.{0,40}(?:not valid"
        r"|invalid|not set|missing|not found|required)|not logged in|please run /login|log in again"
        r"|failed to authenticate|authentication[ _]?(?:error|failed|required)|invalid auth"
        r"|not able to authenticate|token (?:has )?expired|401 unauthorized|login required",
    ),
    _rule(
        Cause.OVERLOAD,
        "rate_limit rate_limit_error ratelimiterror overloaded overloaded_error server_error "
        "api_error_5xx internalservererror serviceunavailableerror timeout_error",
        (408, 425, 429, 500, 502, 503, 504, 529),
        r"overloaded|rate[ _-]?limit|too many requests|RESOURCE_EXHAUSTED|at capacity",
        r"internal ?server ?error|service ?unavailable|bad gateway|gateway time-?out",
        r"temporarily unavailable|servers? (?:are|is) (?:down|busy)|exceeded retry limit",
        r"high demand",
    ),
    _rule(
        Cause.NETWORK,
        "connection_failed connection_error network_error apiconnectionerror api_timeout",
        (),
        r"\bE(?:CONN(?:RESET|REFUSED|ABORTED)|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH|NETUNREACH)\b",
        r"fetch failed|socket hang up|connection ?(?:error|dropped|refused|reset|closed|aborted)",
        r"could not (?:connect|resolve)|(?:request|connection) timed out|network (?:error|is)",
        r"getaddrinfo|name resolution|stream disconnected|error sending request",
        r"TypeError: terminated|other side closed|UND_ERR_(?:SOCKET|\w*TIMEOUT)",
    ),
)
"""In this order, the more telling first: the first that fits decides."""

PACED = 429
_PACED_WORDS = frozenset({"rate_limit", "rate_limit_error", "ratelimiterror"})
_PACED_TEXT = re.compile(r"rate[ _-]?limit|too many requests", re.IGNORECASE)


def find_cause(refusal: Refusal) -> Cause | None:
    """The cause of a refusal; None for one that is no hindrance, such as too long a prompt.

    One that only paces its callers but gives an instant is a limit until then.
    """
    word, text = refusal.kind.lower(), _straight(refusal.text)
    for rule in RULES:
        fits = word in rule.words or refusal.status in rule.statuses
        if not (fits or rule.text.search(text)):
            continue
        paced = refusal.status == PACED or word in _PACED_WORDS or _PACED_TEXT.search(text)
        if rule.cause is Cause.OVERLOAD and paced and refusal.resets_at_s is not None:
            return Cause.USAGE_LIMIT
        return rule.cause
    return None


_ERROR_LINE = re.compile(
    r"""[\W_]*(?:
      (?:[\w./-]+:?\s){0,3}(?:\w+[._])*error["')\]]*\s*[:={\]]   # error: API Error: "error": {
    | (?!assertion)(?:[\w.]+)?(?:Error|Exception)\b\s*(?::|$)    # litellm.RateLimitError:
    | error\ when\ talking\ to | failed\ to\ authenticate | unexpected\ status
    | stream\ disconnected | exceeded\ retry\ limit | request\ (?:timed\ out|rejected\ \()
    | the\ api\ provider
    | (?:sorry,?\ )?you(?:'ve|\ have)?\ (?:been\ rate
        | (?:hit|exceeded|exhausted|reached|run\ out\ of)\ your)
    | (?:you're\ )?out\ of\ (?:credits|(?:\w+\ )?usage) | insufficient\ (?:credits?|balance|funds)
    | (?:[\w-]+\ ){0,3}limit\ (?:reached|exceeded)\b | quota\ exceeded | (?:your\ )?credit\ balance
    | (?:invalid|incorrect|missing)\ (?:\w+\ )?api\ key | not\ logged\ in | please\ run\ /login
    | invalid\ auth\ method | there's\ an\ issue\ with\ the\ selected\ model
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_STATUS = re.compile(
    r"\b(?:status|code|error|http(?:/[0-9.]+)?|rejected)\W{0,4}([45][0-9]{2})\b", re.IGNORECASE
)
_TERMINAL_CODES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
LAST_LINES = 40
"""So many lines from the end may hold the error that ended a call: a trace fits."""


def find_errors(text: str) -> Iterator[Refusal]:
    """The errors that the last lines of a failed call's output are, the newest first.

    Each comes with the lines after it, which may tell more.
    """
    lines = plain_lines(text)[-LAST_LINES:]
    for number in reversed(range(len(lines))):
        if _ERROR_LINE.match(lines[number]):
            status = _STATUS.search(lines[number])
            yield Refusal(lines[number], int(status.group(1)) if status else None)


_FLAG = re.compile(
    r"(?:unknown|unexpected|unrecogni[sz]ed|invalid|no such) (?:option|argument|flag)s?\b"
    r"|(?:option|argument)s? .{0,60}(?:is|are) (?:invalid|not recogni[sz]ed)"
    r"|cannot be used with (?:root|')",
    re.IGNORECASE,
)
REFUSED_WITHIN_S = 60.0
LONGEST_REFUSAL = 200
"""Lines of a command line's own help, which some print with the word they refuse."""


def find_refused_option(text: str, seconds: float) -> str:
    """The line that refuses a word of the command line; empty where none does.

    It stands first or last in a short output, soon after the start: later on, and amid others,
    such a line is that of some tool which the agent used.
    """
    lines = plain_lines(text)
    if not lines or len(lines) > LONGEST_REFUSAL or seconds > REFUSED_WITHIN_S:
        return ""
    return next((line for line in (lines[0], lines[-1]) if _FLAG.search(line)), "")


def plain_lines(text: str) -> list[str]:
    """The lines that say something, without blanks around them and terminal codes."""
    plain = _straight(_TERMINAL_CODES.sub("", text)).replace("\r", "\n")
    return [line.strip() for line in plain.split("\n") if line.strip()]


def _straight(text: str) -> str:
    """With the apostrophe of typewriters, which some print and some do not."""
    return text.replace("\u2019", "'")
