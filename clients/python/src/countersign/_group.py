"""What the generated methods call: arguments to a request, answers to models."""

from __future__ import annotations

from typing import Any, Mapping, TypeVar
from urllib.parse import quote

from ._given import NOT_GIVEN, NotGiven
from ._pages import AsyncPages, Pages
from ._request import Request, json_body, query_of, read_answer
from ._streams import AsyncDownload, AsyncLines, Download, Lines, response_facts
from ._transport import Answered, AsyncTransport, Settings, Transport
from ._uploads import Body, Progress, body_of_bytes, body_of_lines
from ._version import VERSION

M = TypeVar("M")

# How long the service waits when nothing is said.
DEFAULT_WAIT_SECONDS = 10


class _Base:
    _settings: Settings

    def _timeout_of(self, timeout: float | None) -> float:
        return self._settings.timeout if timeout is None else timeout

    def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: Any = NOT_GIVEN,
        accept: str = "application/json",
        prefer_wait: int | NotGiven | None = NOT_GIVEN,
        is_repeatable: bool = True,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        prepared: Body | None = None,
    ) -> Request:
        # The service answers before the attempt is over.
        longest = max(0, int(self._timeout_of(timeout)) - 1)
        all_headers = {"User-Agent": f"countersign-python/{VERSION}", "Accept": accept}
        all_headers.update((name, value) for name, value in (headers or {}).items() if value is not None)
        if not isinstance(prefer_wait, NotGiven) and (prefer_wait is not None or longest < DEFAULT_WAIT_SECONDS):
            wanted = DEFAULT_WAIT_SECONDS if prefer_wait is None else prefer_wait
            all_headers["Prefer"] = f"wait={min(wanted, longest)}"
        if idempotency_key is not None:
            all_headers["Idempotency-Key"] = idempotency_key
        arguments = dict(query or {})
        if isinstance(arguments.get("wait"), int):
            arguments["wait"] = min(arguments["wait"], longest)
        if prepared is None and not isinstance(body, NotGiven):
            content = json_body(body)
            prepared = Body("application/json", True, lambda: content)
        return Request(method, path, all_headers, query_of(arguments), prepared, is_repeatable)


class Group(_Base):
    """A group of methods that block."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._settings = transport.settings

    def _json(
        self, method: str, path: str, model: type[M], *, timeout: float | None = None, **spec: Any
    ) -> M:
        answer: M = self._json_union(method, path, model, timeout=timeout, **spec)
        return answer

    def _json_union(self, method: str, path: str, model: Any, *, timeout: float | None = None, **spec: Any) -> Any:
        request = self._request(method, path, timeout=timeout, **spec)
        return _read(self._transport.send(request, self._timeout_of(timeout)), model)

    def _pages(
        self,
        method: str,
        path: str,
        model: Any,
        *,
        query: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        **spec: Any,
    ) -> Pages[Any, Any]:
        def load(cursor: str | None) -> Any:
            return self._json_union(method, path, model, query=_at(query, cursor), timeout=timeout, **spec)

        return Pages(load)

    def _lines(self, method: str, path: str, model: Any, *, timeout: float | None = None, **spec: Any) -> Lines[Any]:
        def download() -> Download:
            return self._download(method, path, accept="application/x-ndjson", timeout=timeout, **spec)

        return Lines(download, model)

    def _download(self, method: str, path: str, *, timeout: float | None = None, **spec: Any) -> Download:
        request = self._request(method, path, timeout=timeout, **spec)
        return Download(self._transport.stream(request, self._timeout_of(timeout)))

    def _upload(
        self,
        method: str,
        path: str,
        source: Any,
        model: type[M],
        *,
        content_type: str | None = None,
        on_progress: Progress | None = None,
        **spec: Any,
    ) -> M:
        return self._json(method, path, model, prepared=body_of_bytes(source, content_type, on_progress), **spec)

    def _batch(self, method: str, path: str, items: Any, model: type[M], **spec: Any) -> M:
        return self._json(method, path, model, prepared=body_of_lines(items, json_body), **spec)


class AsyncGroup(_Base):
    """A group of methods that are awaited."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self._settings = transport.settings

    async def _json(
        self, method: str, path: str, model: type[M], *, timeout: float | None = None, **spec: Any
    ) -> M:
        answer: M = await self._json_union(method, path, model, timeout=timeout, **spec)
        return answer

    async def _json_union(
        self, method: str, path: str, model: Any, *, timeout: float | None = None, **spec: Any
    ) -> Any:
        request = self._request(method, path, timeout=timeout, **spec)
        return _read(await self._transport.send(request, self._timeout_of(timeout)), model)

    def _pages(
        self,
        method: str,
        path: str,
        model: Any,
        *,
        query: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        **spec: Any,
    ) -> AsyncPages[Any, Any]:
        async def load(cursor: str | None) -> Any:
            return await self._json_union(method, path, model, query=_at(query, cursor), timeout=timeout, **spec)

        return AsyncPages(load)

    def _lines(
        self, method: str, path: str, model: Any, *, timeout: float | None = None, **spec: Any
    ) -> AsyncLines[Any]:
        async def download() -> AsyncDownload:
            return await self._download(method, path, accept="application/x-ndjson", timeout=timeout, **spec)

        return AsyncLines(download, model)

    async def _download(self, method: str, path: str, *, timeout: float | None = None, **spec: Any) -> AsyncDownload:
        request = self._request(method, path, timeout=timeout, **spec)
        return AsyncDownload(await self._transport.stream(request, self._timeout_of(timeout)))

    async def _upload(
        self,
        method: str,
        path: str,
        source: Any,
        model: type[M],
        *,
        content_type: str | None = None,
        on_progress: Progress | None = None,
        **spec: Any,
    ) -> M:
        return await self._json(method, path, model, prepared=body_of_bytes(source, content_type, on_progress), **spec)

    async def _batch(self, method: str, path: str, items: Any, model: type[M], **spec: Any) -> M:
        return await self._json(method, path, model, prepared=body_of_lines(items, json_body), **spec)


def path(template: str, *values: str | int) -> str:
    """A path with its arguments escaped. @raises ValueError: for one that is empty or would change the path."""
    for index, value in enumerate(values):
        if value in ("", ".", "..") or not isinstance(value, (str, int)):
            raise ValueError(f"argument {index + 1} of the path is missing")
    return template.format(*(quote(str(value), safe="") for value in values))


def _at(query: Mapping[str, Any] | None, cursor: str | None) -> Mapping[str, Any]:
    return {**(query or {}), **({} if cursor is None else {"cursor": cursor})}


def _read(answered: Answered, model: Any) -> Any:
    return read_answer(answered.content, model, response_facts(answered.response))
