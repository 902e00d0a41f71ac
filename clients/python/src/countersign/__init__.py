"""The client of Countersign, and checks of what the service signed."""

from . import literals, models, params
from ._client import AsyncCountersign, Countersign
from ._given import NOT_GIVEN, NotGiven
from ._guard.errors import ActionFailed, NotAllowed, NotExecuted
from ._guard.file_journal import FileJournal
from ._guard.flow import ResumedGuards, UnknownAction
from ._guard.guards import async_guard, async_resume_guards, guard, resume_guards
from ._guard.journal import AsyncJournal, Journal, JournalEntry, JournalError
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
    "ActionFailed",
    "AnswerModel",
    "AsyncCountersign",
    "AsyncDownload",
    "AsyncJournal",
    "AsyncLines",
    "AsyncPages",
    "AuthenticationError",
    "CapError",
    "ConflictError",
    "Countersign",
    "CountersignError",
    "Download",
    "FieldError",
    "FileJournal",
    "InvalidRequestError",
    "Journal",
    "JournalEntry",
    "JournalError",
    "JsonError",
    "KeySource",
    "Lines",
    "NOT_GIVEN",
    "NotAllowed",
    "NotExecuted",
    "NotFoundError",
    "NotGiven",
    "OfflineVerdict",
    "Pages",
    "RateLimitError",
    "Response",
    "ResumedGuards",
    "ServerError",
    "SignatureVerdict",
    "UnexpectedResponse",
    "UnknownAction",
    "__version__",
    "async_guard",
    "async_resume_guards",
    "canonicalize",
    "canonicalize_json",
    "guard",
    "literals",
    "models",
    "params",
    "parse_json",
    "response_of",
    "resume_guards",
    "verify_intent_token_offline",
    "verify_webhook_signature",
]
