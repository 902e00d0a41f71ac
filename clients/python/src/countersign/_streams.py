"""Answers that are read after the call: bytes of files, and values of one a line."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Callable, Generic, Iterator, TypeVar

import httpx2

from ._model import Response
from ._request import read_answer
from .errors import ConnectionError, CountersignError, TimeoutError

Item = TypeVar("Item")
# What the HTTP library raises when there is no answer, or one that breaks off.
FAILURES = (httpx2.TransportError, httpx2.DecodingError)


def connection_error(error: httpx2.TransportError | httpx2.DecodingError) -> ConnectionError:
    if isinstance(error, httpx2.TimeoutException):
        return TimeoutError(0, {"code": "timeout", "detail": "the service did not answer in time"})
    # Its text names the cause, such as a name that is not found; it does not repeat what was sent.
    detail = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return ConnectionError(0, {"code": "connection_failed", "detail": f"the service did not answer ({detail})"})


def response_facts(response: httpx2.Response) -> Response:
    return Response(response.status_code, response.headers)


class Download:
    """Bytes of an answer. Leaving a `with` block, or reading to the end, closes it."""

    def __init__(self, response: httpx2.Response) -> None:
        self._sent = response
        self.response = response_facts(response)

    @property
    def content_type(self) -> str:
        return self.response.headers.get("content-type", "")

    def __iter__(self) -> Iterator[bytes]:
        """The bytes as they come."""
        with self:
            chunks = self._sent.iter_bytes()
            while True:
                failure: CountersignError | None = None
                chunk = b""
                try:
                    chunk = next(chunks)
                except StopIteration:
                    return
                except FAILURES as error:
                    failure = connection_error(error)
                # Outside of the handler, whose error holds the request with the key.
                if failure is not None:
                    raise failure
                yield chunk

    def read(self) -> bytes:
        return b"".join(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file. What is there already is replaced."""
        with open(path, "wb") as file:
            file.writelines(self)

    def close(self) -> None:
        self._sent.close()

    def __enter__(self) -> Download:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncDownload:
    """Bytes of an answer. Leaving an `async with` block, or reading to the end, closes it."""

    def __init__(self, response: httpx2.Response) -> None:
        self._sent = response
        self.response = response_facts(response)

    @property
    def content_type(self) -> str:
        return self.response.headers.get("content-type", "")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The bytes as they come."""
        async with self:
            chunks = self._sent.aiter_bytes()
            while True:
                failure: CountersignError | None = None
                chunk = b""
                try:
                    chunk = await chunks.__anext__()
                except StopAsyncIteration:
                    return
                except FAILURES as error:
                    failure = connection_error(error)
                if failure is not None:
                    raise failure
                yield chunk

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self])

    async def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file. What is there already is replaced."""
        with open(path, "wb") as file:
            async for chunk in self:
                file.write(chunk)

    async def aclose(self) -> None:
        await self._sent.aclose()

    async def __aenter__(self) -> AsyncDownload:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _LineSplitter:
    """Whole lines of bytes that come in pieces."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [line for line in lines if line.strip()]

    def end(self) -> list[bytes]:
        return [self._rest] if self._rest.strip() else []


class Lines(Generic[Item]):
    """Values that arrive one a line. Each loop over them asks the service anew, and reads them as they come."""

    def __init__(self, open_download: Callable[[], Download], model: Any) -> None:
        self._open = open_download
        self._model = model

    def download(self) -> Download:
        """The text as it is, to save it for example."""
        return self._open()

    def __iter__(self) -> Iterator[Item]:
        splitter = _LineSplitter()
        # A loop that ends early closes the connection.
        with self._open() as download:
            for chunk in download:
                for line in splitter.feed(chunk):
                    yield read_answer(line, self._model, download.response)
            for line in splitter.end():
                yield read_answer(line, self._model, download.response)


class AsyncLines(Generic[Item]):
    """Values that arrive one a line. Each loop over them asks the service anew, and reads them as they come."""

    def __init__(self, open_download: Callable[[], Awaitable[AsyncDownload]], model: Any) -> None:
        self._open = open_download
        self._model = model

    async def download(self) -> AsyncDownload:
        """The text as it is, to save it for example."""
        return await self._open()

    async def __aiter__(self) -> AsyncIterator[Item]:
        splitter = _LineSplitter()
        async with await self._open() as download:
            async for chunk in download:
                for line in splitter.feed(chunk):
                    yield read_answer(line, self._model, download.response)
            for line in splitter.end():
                yield read_answer(line, self._model, download.response)
