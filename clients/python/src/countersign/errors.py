"""One error for each way in which a call fails. None of them contains the API key."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any, Mapping


@dataclass(frozen=True)
class FieldError:
    """One finding about a request."""

    pointer: str
    """Where in the body (RFC 6901), or the name of a parameter or header."""
    code: str
    detail: str


class CountersignError(Exception):
    """What every error of a call has in common."""

    status: int
    """0 where there was no answer."""
    code: str
    """Stable: branch on it. `connection_failed`, `timeout` and `unexpected_response` are of this library."""
    detail: str
    """For people: it may change."""
    errors: list[FieldError]
    """Every finding about the request at once."""
    request_id: str | None
    """Tell it to the operator of the service."""
    retry_after: float | None
    """Seconds after which the service asks to try again."""
    problem: dict[str, Any]
    """The whole problem (RFC 9457), with the members that belong to its code."""

    def __init__(
        self,
        status: int,
        problem: Mapping[str, Any],
        *,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.status = status
        self.code = _text_of(problem, "code") or "unexpected_response"
        self.detail = _text_of(problem, "detail") or _text_of(problem, "title") or ""
        self.errors = [_finding_of(one) for one in problem.get("errors") or () if isinstance(one, Mapping)]
        self.request_id = _text_of(problem, "request_id") or request_id
        self.retry_after = retry_after
        self.problem = dict(problem)
        self.args = (status, self.problem)

    def __str__(self) -> str:
        told = self.code if self.status == 0 else f"{self.status} {self.code}"
        return f"{told}: {self.detail}" if self.detail else told


class InvalidRequestError(CountersignError):
    """400: `errors` has every finding."""


class AuthenticationError(CountersignError):
    """401: there is no key, or the service does not know it."""


class CapError(CountersignError):
    """402: the operations of the month are used up."""


# These three are also the errors of Python of the same name, so that `except TimeoutError` catches them under either name.
class PermissionError(CountersignError, builtins.PermissionError):
    """403: the key has not the scope."""


class NotFoundError(CountersignError):
    """404"""


class ConflictError(CountersignError):
    """409: the state is another one than the request supposes."""


class RateLimitError(CountersignError):
    """429, after the last attempt."""


class ServerError(CountersignError):
    """500 or above, after the last attempt."""


class ConnectionError(CountersignError, builtins.ConnectionError):
    """No answer, or one that broke off."""


class TimeoutError(ConnectionError, builtins.TimeoutError):
    """An attempt took longer than `timeout`."""


class UnexpectedResponse(CountersignError):
    """A success whose body is not what it must be: it is no JSON, or it lacks a member."""

    raw: Any
    """The JSON as it came, or the text where it is none."""

    def __init__(self, status: int, detail: str, raw: Any, *, request_id: str | None = None) -> None:
        super().__init__(status, {"code": "unexpected_response", "detail": detail}, request_id=request_id)
        self.raw = raw
        self.args = (status, detail, raw)


_BY_STATUS: Mapping[int, type[CountersignError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    402: CapError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def error_of(
    status: int, problem: Mapping[str, Any], *, request_id: str | None, retry_after: float | None
) -> CountersignError:
    """The error of an answer that is no success."""
    kind = ServerError if status >= 500 else _BY_STATUS.get(status, CountersignError)
    return kind(status, problem, request_id=request_id, retry_after=retry_after)


def _text_of(problem: Mapping[str, Any], name: str) -> str | None:
    value = problem.get(name)
    return value if isinstance(value, str) and value else None


def _finding_of(one: Mapping[str, Any]) -> FieldError:
    return FieldError(*(str(one.get(name, "")) for name in ("pointer", "code", "detail")))
