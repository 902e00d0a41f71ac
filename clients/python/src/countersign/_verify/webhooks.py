"""Checks the signature of a delivery over its raw body, before anything parses it."""

from __future__ import annotations

import hmac
import json
import re
import time
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Callable, Iterable, Literal, Mapping, Sequence

from typing_extensions import TypeAlias

SIGNATURE_HEADER = "service-signature"
TOLERANCE_SECONDS = 300
"""Signatures that are too old and too new are both refused: a receiver whose clock is behind must not accept replays for longer."""

# Two secrets are valid during a rotation; ten signatures leave room for future schemes.
MAX_HEADER_CHARACTERS = 1024
MAX_TIMESTAMP_DIGITS = 12

SignatureReason: TypeAlias = Literal[
    "missing_header",
    "malformed_header",
    "no_v1_signature",
    "timestamp_out_of_tolerance",
    "signature_mismatch",
    "invalid_json",
]


@dataclass(frozen=True)
class SignatureVerdict:
    """Whether a delivery comes from the service. It is true where it does."""

    valid: bool
    reason: SignatureReason | None = None

    def __bool__(self) -> bool:
        return self.valid


def verify_webhook_signature(
    raw_body: bytes | bytearray | memoryview,
    headers: Mapping[str, str | Sequence[str]] | Iterable[tuple[str, str]],
    secrets: str | Sequence[str],
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
    now: datetime | Callable[[], datetime] | None = None,
) -> SignatureVerdict:
    """Checks `Service-Signature` over the exact bytes that arrived.

    Args:
        raw_body: The body before anything parsed it.
        headers: Names in any case: the headers of any framework, or pairs.
        secrets: One, or both during a rotation.
        tolerance_seconds: The signature may be as much older or newer, not more.
        now: For tests.

    Raises:
        ValueError: without a secret, or with an empty one: anyone could make a signature that it accepts.
    """
    keys = [secrets] if isinstance(secrets, str) else list(secrets)
    if not keys or "" in keys:
        raise ValueError("verifying needs at least one secret")
    given = _find_header(headers)
    if not given:
        return SignatureVerdict(False, "missing_header")
    # With two headers, proxies and parsers disagree on which one counts.
    parsed = _parse(given[0]) if len(given) == 1 else None
    if parsed is None:
        return SignatureVerdict(False, "malformed_header")
    timestamp, signatures = parsed
    if not signatures:
        return SignatureVerdict(False, "no_v1_signature")
    if abs(_seconds_of(now) - int(timestamp)) > tolerance_seconds:
        return SignatureVerdict(False, "timestamp_out_of_tolerance")
    # Every pair is compared, so that the time does not reveal which of them matched.
    is_match = False
    for key in keys:
        expected = hmac.new(key.encode(), f"{timestamp}.".encode() + bytes(raw_body), sha256).hexdigest()
        for signature in signatures:
            is_match |= hmac.compare_digest(expected, signature)
    if not is_match:
        return SignatureVerdict(False, "signature_mismatch")
    return SignatureVerdict(True) if _is_json(bytes(raw_body)) else SignatureVerdict(False, "invalid_json")


def _seconds_of(now: datetime | Callable[[], datetime] | None) -> float:
    if now is None:
        return time.time()
    return (now if isinstance(now, datetime) else now()).timestamp()


def _find_header(headers: Any) -> list[str]:
    # Headers of frameworks give all values of a name as pairs; a plain dict may hold a list.
    pairs = headers.multi_items() if hasattr(headers, "multi_items") else None
    if pairs is None:
        pairs = headers.items() if hasattr(headers, "items") else headers
    values: list[str] = []
    for name, value in pairs:
        if name.lower() == SIGNATURE_HEADER:
            values.extend([value] if isinstance(value, str) else value)
    return values


_PART = re.compile(r"([a-z][a-z0-9]*)=(\S+)")


def _parse(text: str) -> tuple[str, list[str]] | None:
    """The time, and the signatures of the scheme v1. Others are skipped, so that a new scheme can be sent in addition."""
    if len(text) > MAX_HEADER_CHARACTERS:
        return None
    timestamp: str | None = None
    signatures: list[str] = []
    for part in text.split(","):
        found = _PART.fullmatch(part)
        if found is None:
            return None
        name, value = found.groups()
        if name == "t":
            is_number = len(value) <= MAX_TIMESTAMP_DIGITS and re.fullmatch(r"[0-9]+", value) is not None
            if timestamp is not None or not is_number:
                return None
            timestamp = value
        elif name == "v1":
            if re.fullmatch(r"[0-9a-f]{64}", value) is None:
                return None
            signatures.append(value)
    return None if timestamp is None else (timestamp, signatures)


def _is_json(body: bytes) -> bool:
    try:
        # Python would also take NaN and other encodings than UTF-8.
        json.loads(body.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
