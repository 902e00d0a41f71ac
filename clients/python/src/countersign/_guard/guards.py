"""guard and resume_guards, which programs call."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any, Awaitable, Callable, Mapping, TypeVar

from typing_extensions import TypeAlias

from .. import params
from .._client import AsyncCountersign, Countersign
from .._given import given
from ..literals import IntentOutcome
from ..models import VerifyResult
from .file_journal import shared_file_journal
from .flow import Options, ResumedGuards, UnknownAction, drive, drive_async, guard_flow, resume_flow, utc_now
from .journal import AsyncJournal, Journal

Result = TypeVar("Result")
Path: TypeAlias = "str | os.PathLike[str]"
OnUnknown: TypeAlias = "Callable[[UnknownAction, BaseException | None], IntentOutcome | None]"
"""Tells people, or finds out in records of yours what became of the action. An outcome that it returns is reported. The error is
what the action raised; None after a restart."""
AsyncOnUnknown: TypeAlias = (
    "Callable[[UnknownAction, BaseException | None], Awaitable[IntentOutcome | None]] | OnUnknown"
)


def guard(
    client: Countersign,
    run: Callable[[VerifyResult], Result],
    *,
    action: str,
    payload: Mapping[str, Any],
    agent_session_id: str,
    device_id: str,
    mandate_id: str | None = None,
    schedule_id: str | None = None,
    agent_id: str | None = None,
    action_type: str | None = None,
    context: Mapping[str, Any] | None = None,
    context_evidence: Mapping[str, Any] | str | None = None,
    trace_id: str | None = None,
    audience: str | None = None,
    ttl_seconds: int | None = None,
    metadata: Mapping[str, Any] | None = None,
    passkey_assertion: params.PasskeyAssertionParam | None = None,
    journal: Path | Journal | None = None,
    approval_timeout: float | None = None,
    idempotency_key: str | None = None,
    on_unknown: OnUnknown | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result:
    """Runs `run` if the action is allowed, and returns its result.

    Args:
        run: Called with the verdict. It raises ActionFailed or NotExecuted where its budget is to be given back.
        action: What people read: `action_description` of authorize.
        journal: Path of a file, or an object with `append` and `read`. Without a journal, a crash leaves the budget charged.
        approval_timeout: Seconds to wait for people. Without a limit, the wait ends with the approval.
        idempotency_key: Name of the attempt in your own records: the action runs once under it.
        on_unknown: Called when `run` raises anything else than ActionFailed and NotExecuted.
        now: For tests.

    Raises:
        NotAllowed: It was refused.
        JournalError: It did not run because it could not be noted.
    """
    bindings = given(
        {
            "agent_session_id": agent_session_id,
            "device_id": device_id,
            "mandate_id": mandate_id,
            "schedule_id": schedule_id,
            "agent_id": agent_id,
            "action_type": action_type,
            "context": context,
            "context_evidence": context_evidence,
            "trace_id": trace_id,
            "audience": audience,
            "ttl_seconds": ttl_seconds,
            "metadata": metadata,
            "passkey_assertion": passkey_assertion,
        }
    )
    noted = _journal_of(journal)
    options = Options(action, payload, bindings, noted, approval_timeout, idempotency_key, on_unknown, now)
    result: Result = drive(guard_flow(client, run, options))
    return result


async def async_guard(
    client: AsyncCountersign,
    run: Callable[[VerifyResult], Awaitable[Result]],
    *,
    action: str,
    payload: Mapping[str, Any],
    agent_session_id: str,
    device_id: str,
    mandate_id: str | None = None,
    schedule_id: str | None = None,
    agent_id: str | None = None,
    action_type: str | None = None,
    context: Mapping[str, Any] | None = None,
    context_evidence: Mapping[str, Any] | str | None = None,
    trace_id: str | None = None,
    audience: str | None = None,
    ttl_seconds: int | None = None,
    metadata: Mapping[str, Any] | None = None,
    passkey_assertion: params.PasskeyAssertionParam | None = None,
    journal: Path | Journal | AsyncJournal | None = None,
    approval_timeout: float | None = None,
    idempotency_key: str | None = None,
    on_unknown: AsyncOnUnknown | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result:
    """As `guard`, for programs with asyncio or trio. A cancellation before the action starts gives the budget back; during the
    action it is for `run` to say what it has done."""
    bindings = given(
        {
            "agent_session_id": agent_session_id,
            "device_id": device_id,
            "mandate_id": mandate_id,
            "schedule_id": schedule_id,
            "agent_id": agent_id,
            "action_type": action_type,
            "context": context,
            "context_evidence": context_evidence,
            "trace_id": trace_id,
            "audience": audience,
            "ttl_seconds": ttl_seconds,
            "metadata": metadata,
            "passkey_assertion": passkey_assertion,
        }
    )
    noted = _journal_of(journal)
    options = Options(action, payload, bindings, noted, approval_timeout, idempotency_key, on_unknown, now)
    result: Result = await drive_async(guard_flow(client, run, options))
    return result


def resume_guards(
    client: Countersign,
    journal: Path | Journal,
    on_unknown: OnUnknown,
    *,
    now: Callable[[], datetime] = utc_now,
) -> ResumedGuards:
    """Call it once at the start, before the first guard. What never started is reported as `not_run`; what ended without a report
    is reported; `on_unknown` is called once for each action that started and whose end was not noted. Where it raises, it is called
    again at the next start."""
    resumed: ResumedGuards = drive(resume_flow(client, _journal_of(journal), on_unknown, now))
    return resumed


async def async_resume_guards(
    client: AsyncCountersign,
    journal: Path | Journal | AsyncJournal,
    on_unknown: AsyncOnUnknown,
    *,
    now: Callable[[], datetime] = utc_now,
) -> ResumedGuards:
    """As `resume_guards`, for programs with asyncio or trio."""
    resumed: ResumedGuards = await drive_async(resume_flow(client, _journal_of(journal), on_unknown, now))
    return resumed


def _journal_of(journal: Any) -> Any:
    return shared_file_journal(journal) if isinstance(journal, (str, os.PathLike)) else journal
