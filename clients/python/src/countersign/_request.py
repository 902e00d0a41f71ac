"""Requests, and what is decided about their answers: which are tried again, and after how long."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, Mapping

from pydantic import BaseModel, TypeAdapter, ValidationError

from ._model import AnswerModel, Response, attach_response
from ._uploads import Body
from .errors import ConnectionError, CountersignError, RateLimitError, ServerError, UnexpectedResponse, error_of

BASE_DELAY_SECONDS = 0.5
MAX_RETRY_AFTER_SECONDS = 60.0
"""A longer wait is the caller's decision."""
MAX_PROBLEM_BYTES = 1_000_000


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    query: list[tuple[str, str]] = field(default_factory=list)
    body: Body | None = field(default=None, repr=False)
    is_repeatable: bool = True
    """Reading, or a change with an Idempotency-Key."""

    def delay_before_retry(self, error: CountersignError, attempt: int, random: float) -> float | None:
        """Seconds to wait before the next attempt; None when this one was the last."""
        if self.body is not None and not self.body.is_repeatable:
            return None
        if error.retry_after is not None and error.retry_after > MAX_RETRY_AFTER_SECONDS:
            return None
        is_failure = isinstance(error, (ServerError, ConnectionError))
        # 429 says that nothing was done.
        if not isinstance(error, RateLimitError) and not (is_failure and self.is_repeatable):
            return None
        return error.retry_after if error.retry_after is not None else random * BASE_DELAY_SECONDS * 2**attempt


def random_key() -> str:
    return f"auto_{secrets.token_hex(16)}"


def error_of_answer(status: int, headers: Mapping[str, str], content: bytes, reason: str) -> CountersignError:
    problem = _problem_of(content) or {"title": reason}
    return error_of(
        status, problem, request_id=headers.get("request-id"), retry_after=_retry_after_of(headers.get("retry-after"))
    )


def _problem_of(content: bytes) -> Mapping[str, Any] | None:
    # A proxy in between answers something else than JSON.
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _retry_after_of(value: str | None) -> float | None:
    """Retry-After is a number of seconds or a time (RFC 9110 10.2.3)."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


@lru_cache(maxsize=None)
def _adapter_of(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


def read_answer(content: bytes, model: Any, response: Response) -> Any:
    """The answer as its model."""
    raw = parse_json(content, response)
    try:
        answer = _adapter_of(model).validate_python(raw)
    except ValidationError as error:
        unexpected = UnexpectedResponse(response.status, _finding_of(error), raw, request_id=response.request_id)
    else:
        attach_response(answer, response)
        return answer
    # Outside of the handler: the other error would be printed with this one, and it repeats values of the answer.
    raise unexpected


def parse_json(content: bytes, response: Response) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        text = content.decode("utf-8", "replace")
    raise UnexpectedResponse(response.status, "the body is no JSON", text, request_id=response.request_id)


def _finding_of(error: ValidationError) -> str:
    """Where the first difference is, without the value."""
    findings = error.errors(include_url=False, include_input=False, include_context=False)
    place = "/".join(str(part) for part in findings[0]["loc"])
    return f"{place or 'the body'}: {findings[0]['msg']}"


def json_body(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    return text.encode()


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        # What the service did not say in an answer is not said to it either.
        return value.model_dump(mode="json", by_alias=True, exclude_unset=isinstance(value, AnswerModel))
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)) or hasattr(value, "__iter__"):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def query_of(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    query: list[tuple[str, str]] = []
    for name, value in arguments.items():
        values = value if isinstance(value, (list, tuple, set, frozenset)) else (value,)
        query.extend((name, _query_text(one)) for one in values if one is not None)
    return query


def _query_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
