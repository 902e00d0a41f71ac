"""The steps of guard and resume, for both kinds of client: generators that yield calls, which a driver makes and answers.

`failed` and `not_run` give budget back, so they are reported only where it is known that nothing ran: before the action is called,
or because it says so.
"""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Generator, Mapping, TypeVar

import anyio
from typing_extensions import TypeAlias

from ..errors import ConflictError, ConnectionError, NotFoundError, RateLimitError, ServerError
from ..literals import IntentOutcome
from ..models import VerifyResult
from .errors import ActionFailed, NotAllowed, NotExecuted
from .journal import JournalError, JournalStep, OpenAction, open_actions_of

Result = TypeVar("Result")


@dataclass(frozen=True)
class Call:
    """Something to call. With an asynchronous client its result may be awaitable."""

    function: Callable[[], Any]
    is_shielded: bool = False
    """A cancellation waits until it has ended."""
    is_blocking: bool = False
    """A function of a journal."""


Flow: TypeAlias = "Generator[Call, Any, Result]"


@dataclass(frozen=True)
class UnknownAction:
    """An action that has started, and whose end nobody has noted."""

    jti: str
    decision_id: str | None
    idempotency_key: str | None
    """Key that guard was given."""
    started_at: str
    """Time at which it started."""


@dataclass(frozen=True)
class ResumedGuards:
    """Ids of tokens."""

    closed: list[str] = field(default_factory=list)
    """The service has their outcome, or never executed them."""
    unknown: list[str] = field(default_factory=list)
    """`on_unknown` was told of them."""
    open: list[str] = field(default_factory=list)
    """They stay in the journal: the service is not reachable, refuses this key, or may still execute the token."""


@dataclass(frozen=True)
class Options:
    action: str
    payload: Mapping[str, Any]
    bindings: Mapping[str, Any]
    """Further arguments of authorize."""
    journal: Any
    approval_timeout: float | None
    idempotency_key: str | None
    on_unknown: Callable[..., Any] | None
    now: Callable[[], datetime]


# Refusals of authorize, which come as errors.
_REFUSALS = (
    "account_stopped",
    "agent_session_ended",
    "agent_session_revoked",
    "agent_suspended",
    "canary_tripped",
    "device_revoked",
    "session_canary_locked",
)
_PRESENTED = ("context", "context_evidence", "trace_id", "agent_session_id", "device_id", "audience")
_WAIT_SECONDS = 20
_WAIT_TIMEOUT = 30.0
# The result of the action waits for the report.
_REPORT_TIMEOUT = 10.0
# The service keeps a token until 31 days after its expiry, which is at most 7 days and an hour after its issue.
_KEPT = timedelta(days=40)

_guarded_now: set[str] = set()
"""Ids of the tokens whose guards run in this process. Only those of an earlier process are resumed."""


def utc_now() -> datetime:
    return datetime.now(timezone.utc)


def guard_flow(client: Any, run: Callable[[VerifyResult], Any], options: Options) -> Flow[Any]:
    authorization = yield from _authorize(client, options)
    if authorization.intent_token is None:
        raise NotAllowed("token_expired", jti=authorization.jti)
    attempt = _Attempt(client, options, authorization)
    _guarded_now.add(attempt.jti)
    try:
        verdict = yield from attempt.verify()
        yield from attempt.start(verdict)
        return (yield from attempt.run_and_report(verdict, run))
    finally:
        _guarded_now.discard(attempt.jti)


class _Attempt:
    """One call of guard, from its token on."""

    def __init__(self, client: Any, options: Options, authorization: Any) -> None:
        self.client = client
        self.options = options
        self.authorization = authorization
        self.jti: str = authorization.jti
        # The token of a repeated key may have been executed by another call. All others are of this call alone.
        self.is_own = options.idempotency_key is None

    def verify(self) -> Flow[VerifyResult]:
        timeout = self.options.approval_timeout
        deadline = None if timeout is None else self.options.now() + timedelta(seconds=timeout)
        awaited: set[str] = set()
        approval_id: str | None = self.authorization.approval_id
        while True:
            if approval_id is not None:
                awaited.add(approval_id)
                yield from self._await_approval(approval_id, deadline)
            verdict: VerifyResult = yield from self._verify_once()
            if verdict.valid and (self.is_own or not verdict.already_executed):
                return verdict
            # A policy that was tightened since authorize may ask people now.
            approval_id = None if verdict.valid else verdict.approval_id
            if approval_id is None or approval_id in awaited:
                raise NotAllowed(
                    "already_executed" if verdict.valid else verdict.reason or "unknown",
                    detail=verdict.detail,
                    decision_id=verdict.decision_id,
                    jti=self.jti,
                    approval_id=verdict.approval_id,
                )

    def _await_approval(self, approval_id: str, deadline: datetime | None) -> Flow[None]:
        """Returns when people have decided, the approval has ended, or the time is over: verify says which."""
        while True:
            seconds = math.inf if deadline is None else (deadline - self.options.now()).total_seconds()
            if seconds <= 0:
                return
            wait = min(_WAIT_SECONDS, seconds if seconds == math.inf else math.ceil(seconds))
            retrieve = self.client.approvals.retrieve
            approval = yield Call(lambda: retrieve(approval_id, wait=int(wait), timeout=_WAIT_TIMEOUT))
            if approval.status != "pending":
                return

    def _verify_once(self) -> Flow[VerifyResult]:
        bindings = self.options.bindings
        if self.is_own:
            yield from self._note("verifying", expires_at=self.authorization.expires_at)
        try:
            verdict: VerifyResult = yield Call(
                lambda: self.client.intent.verify(
                    intent_token=self.authorization.intent_token,
                    action_description=self.options.action,
                    action_payload=self.options.payload,
                    idempotency_key=self.options.idempotency_key,
                    **{name: bindings[name] for name in _PRESENTED if name in bindings},
                )
            )
        except GeneratorExit:
            raise
        except BaseException:
            # Without an answer the service may have executed the token.
            if self.is_own:
                yield from self._give_back()
            raise
        if self.is_own and not verdict.valid:
            yield from _attempt(self._note("closed"))
        return verdict

    def start(self, verdict: VerifyResult) -> Flow[None]:
        try:
            yield from self._note(
                "verified", decision_id=verdict.decision_id, idempotency_key=self.options.idempotency_key
            )
            yield from self._note("started")
        except GeneratorExit:
            raise
        except BaseException:
            yield from self._give_back()
            raise

    def run_and_report(self, verdict: VerifyResult, run: Callable[[VerifyResult], Any]) -> Flow[Any]:
        started_at = self._time()
        try:
            result = yield Call(lambda: run(verdict))
        except ActionFailed:
            yield from self._settle("failed")
            raise
        except NotExecuted:
            yield from self._settle("not_run")
            raise
        except GeneratorExit:
            raise
        except BaseException as error:
            key = self.options.idempotency_key
            yield from self._tell_unknown(UnknownAction(self.jti, verdict.decision_id, key, started_at), error)
            raise
        yield from self._settle("succeeded")
        return result

    def _give_back(self) -> Flow[None]:
        """Reports that nothing ran. What can't be reported now stays in the journal."""

        def report() -> Flow[None]:
            # A verification that is still under way may execute the token after this.
            if (yield from _report_outcome(self.client, self.jti, "not_run")) == "recorded":
                yield from self._note("closed")

        yield from _attempt(report())

    def _settle(self, outcome: IntentOutcome) -> Flow[None]:
        """The end of the action matters more than its note: the outcome is reported without it, and stays in the journal."""

        def report() -> Flow[None]:
            yield from _report_outcome(self.client, self.jti, outcome)
            yield from self._note("closed")

        yield from _attempt(self._note("ended", outcome=outcome))
        yield from _attempt(report())

    def _tell_unknown(self, action: UnknownAction, error: BaseException) -> Flow[None]:
        on_unknown = self.options.on_unknown
        if on_unknown is None:
            return

        def tell() -> Flow[None]:
            outcome = yield Call(lambda: on_unknown(action, error), is_shielded=True)
            if outcome:
                yield from self._settle(outcome)
            else:
                yield from self._note("closed")

        yield from _attempt(tell())

    def _note(self, step: JournalStep, **more: Any) -> Flow[None]:
        journal = self.options.journal
        if journal is None:
            return
        given = {name: value for name, value in more.items() if value is not None}
        entry = {"step": step, "jti": self.jti, "at": self._time(), **given}
        try:
            # A cancellation before the action starts ends it there.
            yield Call(lambda: journal.append(entry), is_shielded=step in ("ended", "closed"), is_blocking=True)
        except JournalError:
            raise
        except Exception as error:
            raise JournalError("a note could not be written") from error

    def _time(self) -> str:
        return self.options.now().isoformat()


def resume_flow(client: Any, journal: Any, on_unknown: Callable[..., Any], now: Callable[[], datetime]) -> Flow[Any]:
    entries = yield Call(journal.read, is_blocking=True)
    actions = [action for action in open_actions_of(entries) if action.jti not in _guarded_now]
    resuming = _Resuming(client, journal, on_unknown, now)
    _guarded_now.update(action.jti for action in actions)
    try:
        for action in actions:
            if action.step != "started":
                yield from resuming.close_or_keep(action, action.outcome or "not_run")
        # What on_unknown raises keeps no report back.
        for action in actions:
            if action.step == "started":
                yield from resuming.ask(action)
    finally:
        _guarded_now.difference_update(action.jti for action in actions)
    return resuming.resumed


class _Resuming:
    def __init__(self, client: Any, journal: Any, on_unknown: Callable[..., Any], now: Callable[[], datetime]) -> None:
        self.client = client
        self.journal = journal
        self.on_unknown = on_unknown
        self.now = now
        self.resumed = ResumedGuards()
        # Later ones don't each wait for a service that is not reachable.
        self.is_reachable = True

    def ask(self, action: OpenAction) -> Flow[None]:
        retrieve = self.client.intent.executions.retrieve
        execution = yield from self._while_reachable(_once(lambda: retrieve(action.jti)))
        # The outcome was reported, and only its note is missing.
        if execution is not None and execution.status != "executed":
            yield from self._close(action.jti)
            return
        unknown = UnknownAction(action.jti, action.decision_id, action.idempotency_key, action.at)
        outcome: IntentOutcome | None = yield Call(lambda: self.on_unknown(unknown, None))
        self.resumed.unknown.append(action.jti)
        if outcome:
            yield from self._append("ended", action.jti, outcome=outcome)
            yield from self.close_or_keep(OpenAction("ended", action.jti, action.at), outcome)
        else:
            yield from self._append("closed", action.jti)

    def close_or_keep(self, action: OpenAction, outcome: IntentOutcome) -> Flow[None]:
        state = yield from self._while_reachable(_report_outcome(self.client, action.jti, outcome))
        is_over = action.step != "verifying" or action.expires_at is None or _time_of(action.expires_at) < self.now()
        is_purged = self.is_reachable and state is None and _time_of(action.at) + _KEPT < self.now()
        if state == "recorded" or (state == "not_executed" and is_over) or is_purged:
            yield from self._close(action.jti)
        else:
            self.resumed.open.append(action.jti)

    def _close(self, jti: str) -> Flow[None]:
        yield from self._append("closed", jti)
        self.resumed.closed.append(jti)

    def _append(self, step: JournalStep, jti: str, **more: Any) -> Flow[None]:
        entry = {"step": step, "jti": jti, "at": self.now().isoformat(), **more}
        yield Call(lambda: self.journal.append(entry), is_shielded=True, is_blocking=True)

    def _while_reachable(self, flow: Flow[Result]) -> Flow[Result | None]:
        """None where the service gives no answer, or none to this key."""
        if not self.is_reachable:
            flow.close()
            return None
        try:
            return (yield from flow)
        except (ConnectionError, ServerError, RateLimitError):
            self.is_reachable = False
        except (NotFoundError, ConflictError):
            pass
        return None


def _authorize(client: Any, options: Options) -> Flow[Any]:
    try:
        return (
            yield Call(
                lambda: client.intent.authorize(
                    action_description=options.action,
                    action_payload=options.payload,
                    single_use=True,
                    idempotency_key=options.idempotency_key,
                    **options.bindings,
                )
            )
        )
    except ConflictError as error:
        if error.code not in _REFUSALS:
            raise
        raise NotAllowed(error.code, detail=error.detail) from error


def _report_outcome(client: Any, jti: str, outcome: IntentOutcome) -> Flow[str]:
    """`recorded`: the service has this outcome or an earlier one, which is final. `not_executed`: no verification has executed the
    token so far.

    Raises NotFoundError where the service keeps no such token.
    """
    executions = client.intent.executions
    try:
        yield Call(lambda: executions.report(jti, status=outcome, timeout=_REPORT_TIMEOUT), is_shielded=True)
        return "recorded"
    except ConflictError as error:
        if error.code != "invalid_state_transition":
            raise
    try:
        yield Call(lambda: executions.retrieve(jti, timeout=_REPORT_TIMEOUT), is_shielded=True)
        return "recorded"
    except NotFoundError:
        return "not_executed"


def _once(function: Callable[[], Any]) -> Flow[Any]:
    return (yield Call(function))


def _attempt(flow: Flow[None]) -> Flow[None]:
    """What ended the action has happened, and no later error takes its place."""
    try:
        yield from flow
    except Exception:
        pass


def _time_of(text: str) -> datetime:
    # Python 3.10 knows no Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def drive(flow: Flow[Result]) -> Result:
    try:
        call = next(flow)
        while True:
            try:
                value = call.function()
            except BaseException as error:
                call = flow.throw(error)
            else:
                call = flow.send(value)
    except StopIteration as stop:
        result: Result = stop.value
        return result


async def drive_async(flow: Flow[Result]) -> Result:
    try:
        call = next(flow)
        while True:
            value: Any = None
            try:
                with anyio.CancelScope(shield=call.is_shielded):
                    value = await _make(call)
            except GeneratorExit:
                raise
            except BaseException as error:
                call = flow.throw(error)
            else:
                call = flow.send(value)
    except StopIteration as stop:
        result: Result = stop.value
        return result


async def _make(call: Call) -> Any:
    if call.is_blocking and not call.is_shielded:
        # A journal may never wait, and so never see a cancellation.
        await anyio.lowlevel.checkpoint()
    # The functions of a journal wait for the disk, unless they are asynchronous themselves.
    value = await anyio.to_thread.run_sync(call.function) if call.is_blocking else call.function()
    return await value if inspect.isawaitable(value) else value
