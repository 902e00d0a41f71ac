"""The form of the claims of a token. Other members than the known ones are ignored: later versions of the service add some."""

from __future__ import annotations

import re
from typing import Any, Callable, Literal, Mapping, cast

from typing_extensions import NotRequired, TypedDict


class Biometric(TypedDict):
    verified: bool
    credential: str
    uv: bool
    at: int


class StatusList(TypedDict):
    idx: int
    uri: str


class Status(TypedDict):
    status_list: StatusList


class IntentClaims(TypedDict):
    """The claims of an intent token."""

    iss: str
    sub: str
    aud: str
    jti: str
    iat: int
    exp: int
    nbf: NotRequired[int]
    env: Literal["sandbox", "live"]
    action_hash: str
    payload_hash: str
    context_hash: NotRequired[str]
    trace_id: NotRequired[str]
    reading_hash: NotRequired[str]
    agent_id: NotRequired[str]
    agent_session_id: str
    device_id: str
    mandate_id: NotRequired[str]
    schedule_id: NotRequired[str]
    cycle: NotRequired[int]
    order_id: NotRequired[str]
    order_hash: NotRequired[str]
    """Content of the order when the token was issued."""
    biometric: NotRequired[Biometric]
    approval_id: NotRequired[str]
    single_use: NotRequired[bool]
    """The token can be executed once. Whether it was, only the service knows."""
    policy_version: int
    status: Status


_Check = Callable[[Any], bool]
# 32 bytes in base64url without padding; the last character carries four bits.
_HASH = re.compile(r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_count(value: Any) -> bool:
    """A whole number, also one that is written as 1.0 or 1e3, as other languages read it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return value >= 0 and float(value).is_integer()


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _is_environment(value: Any) -> bool:
    return value in ("sandbox", "live")


def _is_status(value: Any) -> bool:
    listed = _member_of(value, "status_list")
    return _is_count(_member_of(listed, "idx")) and _is_text(_member_of(listed, "uri"))


def _is_biometric(value: Any) -> bool:
    return (
        _is_flag(_member_of(value, "verified"))
        and _is_flag(_member_of(value, "uv"))
        and _is_text(_member_of(value, "credential"))
        and _is_count(_member_of(value, "at"))
    )


_REQUIRED: Mapping[str, _Check] = {
    "iss": _is_text,
    "sub": _is_text,
    "aud": _is_text,
    "jti": _is_text,
    "iat": _is_count,
    "exp": _is_count,
    "env": _is_environment,
    "action_hash": _is_hash,
    "payload_hash": _is_hash,
    "agent_session_id": _is_text,
    "device_id": _is_text,
    "policy_version": _is_count,
    "status": _is_status,
}

_OPTIONAL: Mapping[str, _Check] = {
    "nbf": _is_count,
    "context_hash": _is_hash,
    "trace_id": _is_text,
    "reading_hash": _is_hash,
    "agent_id": _is_text,
    "mandate_id": _is_text,
    "schedule_id": _is_text,
    "cycle": _is_count,
    "order_id": _is_text,
    "order_hash": _is_hash,
    "biometric": _is_biometric,
    "approval_id": _is_text,
    "single_use": _is_flag,
}


def read_claims(payload: Mapping[str, Any]) -> IntentClaims | None:
    """None unless every claim that a token must have is there, and every known one has its form."""
    is_whole = all(check(payload.get(name)) for name, check in _REQUIRED.items())
    is_sound = all(check(payload[name]) for name, check in _OPTIONAL.items() if name in payload)
    return cast(IntentClaims, payload) if is_whole and is_sound else None


def _member_of(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
