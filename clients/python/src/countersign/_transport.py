"""Sends requests: time-outs, retries and errors. A change is sent again only where the service knows that it is the same one, by
its Idempotency-Key, or where it says that nothing was done (429).

An attempt gives its error back as a value: raised inside of a handler it would carry the error of the HTTP library, whose
request has the key.
"""

from __future__ import annotations

import random as random_module
import time
from dataclasses import dataclass
from typing import Any, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator

import anyio
import httpx2

from ._options import KeyAuth
from ._request import MAX_PROBLEM_BYTES, Request, error_of_answer
from ._streams import FAILURES, connection_error
from ._uploads import Body, watched, watched_async
from .errors import CountersignError, TimeoutError



@dataclass(frozen=True)
class Settings:
    """What both kinds of transport need."""

    base_url: str
    auth: KeyAuth | None
    timeout: float
    max_retries: int
    random: Callable[[], float] = random_module.random


@dataclass(frozen=True)
class Answered:
    """A success."""

    response: httpx2.Response
    content: bytes
    """Empty where the body is read later."""


class _Late(Exception):
    """The attempt took too long."""


def _late(seconds: float) -> TimeoutError:
    return TimeoutError(0, {"code": "timeout", "detail": f"no answer within {seconds:g} s"})


def _arguments(settings: Settings, request: Request, timeout: float) -> dict[str, Any]:
    headers = dict(request.headers)
    if request.body is not None:
        headers["Content-Type"] = request.body.content_type
        if request.body.size is not None:
            headers["Content-Length"] = str(request.body.size)
    return {
        "method": request.method,
        "url": settings.base_url + request.path,
        "params": request.query or None,
        "headers": headers,
        "timeout": httpx2.Timeout(timeout),
    }


class Transport:
    """Of Countersign."""

    def __init__(self, settings: Settings, client: httpx2.Client, sleep: Callable[[float], None] = time.sleep) -> None:
        self.settings = settings
        self.client = client
        self._sleep = sleep

    def send(self, request: Request, timeout: float) -> Answered:
        """The answer with its body."""
        return self._send(request, timeout, is_streamed=False)

    def stream(self, request: Request, timeout: float) -> httpx2.Response:
        """The answer with its body unread. The caller closes it."""
        return self._send(request, timeout, is_streamed=True).response

    def _send(self, request: Request, timeout: float, *, is_streamed: bool) -> Answered:
        attempt = 0
        while True:
            outcome = self._attempt(request, timeout, is_streamed)
            if isinstance(outcome, Answered):
                return outcome
            self._sleep(_delay_before_retry(self.settings, request, outcome, attempt))
            attempt += 1

    def _attempt(self, request: Request, timeout: float, is_streamed: bool) -> Answered | CountersignError:
        ends_at = time.monotonic() + timeout

        # The HTTP library limits each wait for the network, and this the attempt as a whole.
        def check() -> None:
            if time.monotonic() >= ends_at:
                raise _Late

        try:
            content = None if request.body is None else _content(request.body, check)
            sent = self.client.build_request(**_arguments(self.settings, request, timeout), content=content)
            response = self.client.send(sent, auth=self.settings.auth, stream=True, follow_redirects=False)
            if is_streamed and response.is_success:
                return Answered(response, b"")
            try:
                body = _read(response, check)
            finally:
                response.close()
        except (httpx2.TimeoutException, _Late):
            return _late(timeout)
        except FAILURES as error:
            return connection_error(error)
        return _answered(response, body)


class AsyncTransport:
    """Of AsyncCountersign."""

    def __init__(
        self,
        settings: Settings,
        client: httpx2.AsyncClient,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self.settings = settings
        self.client = client
        self._sleep = sleep

    async def send(self, request: Request, timeout: float) -> Answered:
        """The answer with its body."""
        return await self._send(request, timeout, is_streamed=False)

    async def stream(self, request: Request, timeout: float) -> httpx2.Response:
        """The answer with its body unread. The caller closes it."""
        return (await self._send(request, timeout, is_streamed=True)).response

    async def _send(self, request: Request, timeout: float, *, is_streamed: bool) -> Answered:
        attempt = 0
        while True:
            outcome: Answered | CountersignError = _late(timeout)
            # Cancelled from outside, it is the caller's cancellation; only its own deadline ends here.
            with anyio.move_on_after(timeout):
                outcome = await self._attempt(request, timeout, is_streamed)
            if isinstance(outcome, Answered):
                return outcome
            await self._sleep(_delay_before_retry(self.settings, request, outcome, attempt))
            attempt += 1

    async def _attempt(self, request: Request, timeout: float, is_streamed: bool) -> Answered | CountersignError:
        try:
            content = None if request.body is None else _async_content(request.body)
            sent = self.client.build_request(**_arguments(self.settings, request, timeout), content=content)
            response = await self.client.send(sent, auth=self.settings.auth, stream=True, follow_redirects=False)
            if is_streamed and response.is_success:
                return Answered(response, b"")
            try:
                body = await _read_async(response)
            finally:
                await response.aclose()
        except httpx2.TimeoutException:
            return _late(timeout)
        except FAILURES as error:
            return connection_error(error)
        return _answered(response, body)


def _delay_before_retry(settings: Settings, request: Request, error: CountersignError, attempt: int) -> float:
    """@raises CountersignError: the error itself, after the last attempt."""
    delay = None
    if attempt < settings.max_retries:
        delay = request.delay_before_retry(error, attempt, settings.random())
    if delay is None:
        raise error
    return delay


def _answered(response: httpx2.Response, body: bytes) -> Answered | CountersignError:
    if response.is_success:
        return Answered(response, body)
    return error_of_answer(response.status_code, response.headers, body, response.reason_phrase)


def _content(body: Body, check: Callable[[], None]) -> bytes | Iterator[bytes]:
    opened = body.open()
    if isinstance(opened, bytes):
        return opened
    if isinstance(opened, AsyncIterable):
        raise TypeError("an asynchronous iterable needs AsyncCountersign")
    return watched(opened, body, check)


def _async_content(body: Body) -> bytes | AsyncIterator[bytes]:
    opened = body.open()
    return opened if isinstance(opened, bytes) else watched_async(opened, body)


def _read(response: httpx2.Response, check: Callable[[], None]) -> bytes:
    content = bytearray()
    for chunk in response.iter_bytes():
        check()
        content += chunk
        if _is_enough(response, content):
            break
    return bytes(content)


async def _read_async(response: httpx2.Response) -> bytes:
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if _is_enough(response, content):
            break
    return bytes(content)


def _is_enough(response: httpx2.Response, content: bytearray) -> bool:
    return not response.is_success and len(content) > MAX_PROBLEM_BYTES
