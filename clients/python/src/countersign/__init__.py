"""The client of Countersign, and checks of what the service signed."""

from . import literals, models, params
from ._client import AsyncCountersign, Countersign
from ._given import NOT_GIVEN, NotGiven
from ._model import AnswerModel, Response, response_of
from ._pages import AsyncPages, Pages
from ._streams import AsyncDownload, AsyncLines, Download, Lines
from ._verify.canonical import canonicalize, canonicalize_json
from ._verify.key_source import KeySource
from ._verify.strict_json import JsonError, parse_json
from ._verify.tokens import OfflineVerdict, verify_intent_token_offline
from ._verify.webhooks import SignatureVerdict, verify_webhook_signature
from ._version import VERSION as __version__
from .errors import (
    AuthenticationError,
    CapError,
    ConflictError,
    ConnectionError,
    CountersignError,
    FieldError,
    InvalidRequestError,
    NotFoundError,
    PermissionError,
    RateLimitError,
    ServerError,
    TimeoutError,
    UnexpectedResponse,
)

# Not the errors with the names of Python's own: `from countersign import *` must not replace those.
__all__ = [
    "AnswerModel",
    "AsyncCountersign",
    "AsyncDownload",
    "AsyncLines",
    "AsyncPages",
    "AuthenticationError",
    "CapError",
    "ConflictError",
    "Countersign",
    "CountersignError",
    "Download",
    "FieldError",
    "InvalidRequestError",
    "JsonError",
    "KeySource",
    "Lines",
    "NOT_GIVEN",
    "NotFoundError",
    "NotGiven",
    "OfflineVerdict",
    "Pages",
    "RateLimitError",
    "Response",
    "ServerError",
    "SignatureVerdict",
    "UnexpectedResponse",
    "__version__",
    "canonicalize",
    "canonicalize_json",
    "literals",
    "models",
    "params",
    "parse_json",
    "response_of",
    "verify_intent_token_offline",
    "verify_webhook_signature",
]
