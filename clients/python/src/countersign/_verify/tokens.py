"""Verifies an intent token with the public keys alone: that the service signed it, for this environment, and that it has not
expired. What needs the action, or the state that the service keeps, is named in `not_checked`.
"""

from __future__ import annotations

import re
import time
from base64 import urlsafe_b64decode
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Callable, Literal, Mapping, Union

from typing_extensions import TypeAlias

from .claims import IntentClaims, read_claims
from .strict_json import JsonError, parse_json

PublicKey: TypeAlias = Mapping[str, Any]
"""A key of the service's key set (`/.well-known/jwks.json`)."""
Keys: TypeAlias = Union[Mapping[str, Any], Callable[[str], "PublicKey | None"]]

Reason: TypeAlias = Literal["invalid_token", "token_expired", "environment_mismatch"]
Problem: TypeAlias = Literal[
    "too_long",
    "segments",
    "encoding",
    "header",
    "algorithm",
    "type",
    "unknown_key",
    "signature",
    "payload",
    "claims",
    "environment",
    "issuer",
    "audience",
    "not_yet_valid",
    "expired",
]

MAX_TOKEN_CHARACTERS = 16 * 1024
MAX_HEADER_CHARACTERS = 512
MAX_TOLERANCE_SECONDS = 60
SIGNATURE_BYTES = 64


@dataclass(frozen=True)
class OfflineVerdict:
    """What can be said of a token without asking the service."""

    valid: bool
    """The service signed it, for this environment and audience, and it has not expired."""
    reason: Reason | None = None
    problem: Problem | None = None
    """For people: which check failed. Programs decide by `reason`."""
    claims: IntentClaims | None = None
    """Only for a token whose signature verifies."""
    not_checked: list[str] = field(default_factory=list)
    """What a verify of the service would have checked besides."""
    requires_online: bool = False
    """The token is of single use, or bound to something whose state only the service knows: call verify before you act."""


def verify_intent_token_offline(
    token: str,
    *,
    keys: Keys,
    environment: Literal["sandbox", "live"] = "live",
    audience: str | None = None,
    issuer: str | None = None,
    clock_tolerance_seconds: float = 0,
    now: datetime | Callable[[], datetime] | None = None,
) -> OfflineVerdict:
    """Verifies a token. Never raises for a bad one; what `keys` raises when they can't be had is raised.

    It needs `pip install 'countersign[verify]'`.

    Args:
        keys: The key set, or a function that finds a key by its id, such as `KeySource(...).find`.
        environment: A token of the sandbox authorizes nothing.
        audience: Compared with `aud`. Without it the audience is not checked.
        issuer: Compared with `iss`.
        clock_tolerance_seconds: 60 at most.
        now: For tests.
    """
    parsed = _parse(token, keys)
    if isinstance(parsed, str):
        return OfflineVerdict(False, "invalid_token", parsed)
    claims, key = parsed
    if claims["env"] != key.get("env"):
        return OfflineVerdict(False, "invalid_token", "claims")
    if claims["env"] != environment:
        return OfflineVerdict(False, "environment_mismatch", "environment", claims)
    if issuer is not None and claims["iss"] != issuer:
        return OfflineVerdict(False, "invalid_token", "issuer", claims)
    if audience is not None and claims["aud"] != audience:
        return OfflineVerdict(False, "invalid_token", "audience", claims)
    tolerance = min(max(clock_tolerance_seconds, 0), MAX_TOLERANCE_SECONDS)
    seconds = _seconds_of(now)
    # Clocks differ; an issuer whose clock is further ahead gives tokens that live as much longer.
    is_ahead = claims["iat"] > seconds + MAX_TOLERANCE_SECONDS
    if is_ahead or ("nbf" in claims and seconds < claims["nbf"] - tolerance):
        return OfflineVerdict(False, "invalid_token", "not_yet_valid", claims)
    if seconds >= claims["exp"] + tolerance:
        return OfflineVerdict(False, "token_expired", "expired", claims)
    requires_online = claims.get("single_use") is True or bool(_bindings_of(claims))
    return OfflineVerdict(True, None, None, claims, _unchecked_of(claims, audience), requires_online)


def _seconds_of(now: datetime | Callable[[], datetime] | None) -> float:
    if now is None:
        return time.time()
    return (now if isinstance(now, datetime) else now()).timestamp()


def _parse(token: Any, keys: Keys) -> tuple[IntentClaims, PublicKey] | Problem:
    if not isinstance(token, str):
        return "segments"
    if len(token) > MAX_TOKEN_CHARACTERS:
        return "too_long"
    segments = token.split(".")
    if len(segments) != 3 or "" in segments:
        return "segments"
    if len(segments[0]) > MAX_HEADER_CHARACTERS:
        return "header"
    header, payload, signature = (_decode(segment) for segment in segments)
    if header is None or payload is None or signature is None:
        return "encoding"
    read = _read_header(header)
    if not isinstance(read, _Kid):
        return read
    if len(signature) != SIGNATURE_BYTES:
        return "signature"
    key = _find_key(keys, read.kid)
    if key is None:
        return "unknown_key"
    if not _is_signed(key, signature, f"{segments[0]}.{segments[1]}".encode("ascii")):
        return "signature"
    parsed = _parse_object(payload)
    if parsed is None:
        return "payload"
    claims = read_claims(parsed)
    return "claims" if claims is None else (claims, key)


@dataclass(frozen=True)
class _Kid:
    kid: str


def _read_header(source: bytes) -> _Kid | Problem:
    """Exactly the three members that the service writes. `crit`, `b64`, `jwk`, `jku`, `x5c` and `x5u` change how a token is
    verified, or by which key.
    """
    header = _parse_object(source)
    if header is None:
        return "header"
    kid = header.get("kid")
    if not header.keys() <= {"alg", "typ", "kid"} or not isinstance(kid, str):
        return "header"
    if header.get("alg") != "ES256":
        return "algorithm"
    return _Kid(kid) if header.get("typ") == "intent+jwt" else "type"


def _parse_object(source: bytes) -> dict[str, Any] | None:
    try:
        value = parse_json(source, max_depth=8)
    except JsonError:
        return None
    return value if isinstance(value, dict) else None


def _find_key(keys: Keys, kid: str) -> PublicKey | None:
    """A key that signs records signs no tokens."""
    if callable(keys):
        found = keys(kid)
    else:
        found = next((key for key in keys["keys"] if key.get("kid") == kid), None)
    expected = {"kid": kid, "family": "token", "kty": "EC", "crv": "P-256"}
    if found is None or any(found.get(name) != value for name, value in expected.items()):
        return None
    return found


def _is_signed(key: PublicKey, signature: bytes, data: bytes) -> bool:
    """JWS has r and s of 32 bytes each, and no DER (RFC 7518 3.4)."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
        from cryptography.hazmat.primitives.hashes import SHA256
    except ImportError as error:
        raise ImportError("verifying tokens needs cryptography: pip install 'countersign[verify]'") from error

    x, y = (_decode(str(key.get(name, ""))) or b"" for name in ("x", "y"))
    numbers = ec.EllipticCurvePublicNumbers(int.from_bytes(x, "big"), int.from_bytes(y, "big"), ec.SECP256R1())
    der = encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
    try:
        # An r or s outside of the curve's order is refused by the library.
        numbers.public_key().verify(der, data, ec.ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")


def _decode(text: str) -> bytes | None:
    """base64url without padding. Bits of the last character that carry nothing must be zero: otherwise several texts are the
    same bytes.
    """
    if len(text) % 4 == 1 or _BASE64URL.fullmatch(text) is None:
        return None
    spare_bits = {2: 4, 3: 2}.get(len(text) % 4, 0)
    if spare_bits and _value_of(text[-1]) & ((1 << spare_bits) - 1):
        return None
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _value_of(character: str) -> int:
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".index(character)


def _bindings_of(claims: IntentClaims) -> list[str]:
    ids = {"approval": "approval_id", "mandate": "mandate_id", "schedule": "schedule_id", "order": "order_id"}
    return [name for name, claim in ids.items() if claim in claims]


def _unchecked_of(claims: IntentClaims, audience: str | None) -> list[str]:
    return [
        "action",
        "payload",
        *(["context"] if "context_hash" in claims else []),
        *(["reading"] if "reading_hash" in claims else []),
        *(["audience"] if audience is None else []),
        "revocation",
        "agent",
        "policy",
        "execution",
        *_bindings_of(claims),
    ]
