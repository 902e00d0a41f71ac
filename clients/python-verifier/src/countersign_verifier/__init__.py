"""Verifies intent tokens of Countersign with its public keys alone."""

from ._verify.canonical import canonicalize, canonicalize_json
from ._verify.claims import Biometric, IntentClaims, Status, StatusList
from ._verify.key_source import KeySource
from ._verify.strict_json import Json, JsonError, parse_json
from ._verify.tokens import Keys, OfflineVerdict, Problem, PublicKey, Reason, verify_intent_token_offline
from ._version import VERSION as __version__

__all__ = [
    "Biometric",
    "IntentClaims",
    "Json",
    "JsonError",
    "KeySource",
    "Keys",
    "OfflineVerdict",
    "Problem",
    "PublicKey",
    "Reason",
    "Status",
    "StatusList",
    "__version__",
    "canonicalize",
    "canonicalize_json",
    "parse_json",
    "verify_intent_token_offline",
]
