"""What can go wrong at a model service, on demand."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Wording:
    """How one HTTP status is worded by each kind of service."""

    anthropic: str
    openai: str
    google: str
    message: str


WORDINGS: Mapping[int, Wording] = {
    400: Wording(
        "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT", "Invalid request"
    ),
    401: Wording("authentication_error", "invalid_api_key", "UNAUTHENTICATED", "Invalid API key"),
    403: Wording("permission_error", "forbidden", "PERMISSION_DENIED", "No access to this model"),
    404: Wording("not_found_error", "model_not_found", "NOT_FOUND", "The model does not exist"),
    429: Wording(
        "rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED", "Rate limit reached"
    ),
    500: Wording("api_error", "server_error", "INTERNAL", "Internal server error"),
    503: Wording("api_error", "server_error", "UNAVAILABLE", "The service is unavailable"),
    529: Wording("overloaded_error", "overloaded", "UNAVAILABLE", "Overloaded"),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """What requests to the model meet instead of an answer."""

    kind: Literal["refuse", "hang", "cut"]
    """An HTTP error; no answer while the server lives; an answer that breaks off."""
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    after: int = 0
    """Requests that are answered first."""
    times: int | None = None
    """Requests that then meet it; None: all."""
    resets_at_s: int | None = None
    """For a usage limit: its end, in seconds since the epoch."""
    then: "Fault | None" = None
    """What other requests meet."""

    @property
    def wording(self) -> Wording:
        """The words for its status."""
        return WORDINGS[self.status]

    def at(self, asked_before: int) -> "Fault | None":
        """What the request meets that so many requests went before."""
        nth = asked_before - self.after
        if nth >= 0 and (self.times is None or nth < self.times):
            return self
        return self.then and self.then.at(asked_before)


def refuse(
    status: int, *, after: int = 0, times: int | None = None, retry_after_s: int | None = None
) -> Fault:
    """An HTTP error with the body that each service gives it."""
    headers = {} if retry_after_s is None else {"retry-after": str(retry_after_s)}
    return Fault("refuse", status, headers, after, times)


def usage_limit(resets_at_s: int, *, after: int = 0, times: int | None = None) -> Fault:
    """A subscription's limit that lasts until an instant, in seconds since the epoch."""
    headers = {
        "retry-after": str(max(1, resets_at_s - int(time.time()))),
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": str(resets_at_s),
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
    }
    return Fault("refuse", 429, headers, after, times, resets_at_s)


def hang(*, after: int = 0, times: int | None = None) -> Fault:
    """No answer as long as the server lives."""
    return Fault("hang", after=after, times=times)


def cut(*, after: int = 0, times: int | None = None) -> Fault:
    """A connection that is closed in the middle of the answer."""
    return Fault("cut", after=after, times=times)
