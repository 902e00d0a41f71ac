"""ES256 with the keys of a key set, and the form of base64url that tokens have."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from typing import TYPE_CHECKING, Any, Mapping

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

COORDINATE_BYTES = 32

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")


def load_key(key: Mapping[str, Any]) -> EllipticCurvePublicKey | None:
    """None for coordinates that are no point of P-256."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError as error:
        raise ImportError("verifying tokens needs the package cryptography, which countersign[verify] installs") from error

    x, y = (_read_coordinate(key.get(name)) for name in ("x", "y"))
    if x is None or y is None:
        return None
    try:
        return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    except ValueError:
        return None


def is_signed_by(key: EllipticCurvePublicKey, signature: bytes, data: bytes) -> bool:
    """JWS has r and s of 32 bytes each, and no DER (RFC 7518 3.4)."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256

    r, s = (int.from_bytes(half, "big") for half in (signature[:COORDINATE_BYTES], signature[COORDINATE_BYTES:]))
    try:
        # An r or s outside of the curve's order is refused by the library.
        key.verify(encode_dss_signature(r, s), data, ec.ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def decode_base64url(text: str) -> bytes | None:
    """base64url without padding. Bits of the last character that carry nothing must be zero: otherwise several texts are the
    same bytes.
    """
    if len(text) % 4 == 1 or _BASE64URL.fullmatch(text) is None:
        return None
    spare_bits = {2: 4, 3: 2}.get(len(text) % 4, 0)
    if spare_bits and _ALPHABET.index(text[-1]) & ((1 << spare_bits) - 1):
        return None
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _read_coordinate(text: Any) -> int | None:
    decoded = decode_base64url(text) if isinstance(text, str) else None
    return int.from_bytes(decoded, "big") if decoded is not None and len(decoded) == COORDINATE_BYTES else None
