"""Bodies of requests. What can be read again is sent again when an attempt fails; an iterator is sent once."""

from __future__ import annotations

import mimetypes
import os
from dataclasses import dataclass
from typing import (
    IO,
    Any,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    TypeVar,
    Union,
    cast,
)

import anyio.to_thread
from typing_extensions import TypeAlias

CHUNK_BYTES = 256 * 1024

Progress: TypeAlias = Callable[[int, "int | None"], None]
"""Called with the bytes sent so far and their number in all, None where it is not known. From 0 again for each attempt."""

Source: TypeAlias = Union[
    bytes,
    bytearray,
    memoryview,
    "os.PathLike[str]",
    IO[bytes],
    Iterable[bytes],
    Callable[[], Iterable[bytes]],
]
"""Bytes to send: themselves, the path of a file, an open file, an iterable of chunks, or a function that makes one."""

AsyncSource: TypeAlias = Union[Source, AsyncIterable[bytes], Callable[[], AsyncIterable[bytes]]]
"""As Source; chunks may also come from an asynchronous iterable."""

Item = TypeVar("Item")
Items: TypeAlias = Iterable[Item]
"""Values, one a line: a list, or what gives them one after the other."""
AsyncItems: TypeAlias = Union[Iterable[Item], AsyncIterable[Item]]

Chunks: TypeAlias = Union[Iterable[bytes], AsyncIterable[bytes]]


@dataclass(frozen=True)
class Body:
    content_type: str
    is_repeatable: bool
    open: Callable[[], bytes | Chunks]
    """Called for each attempt."""
    size: int | None = None
    on_progress: Progress | None = None


def body_of_bytes(source: Any, content_type: str | None, on_progress: Progress | None) -> Body:
    """@raises TypeError: when the content type is not given, and no file name tells it."""
    if isinstance(source, str):
        raise TypeError("a text is no source of bytes: give a path as pathlib.Path")
    name = source if isinstance(source, os.PathLike) else getattr(source, "name", None)
    kind = content_type or (mimetypes.guess_type(os.fspath(name))[0] if isinstance(name, (str, os.PathLike)) else None)
    if kind is None:
        raise TypeError("the upload has no type of its own: name it as content_type")
    is_repeatable, size, open_source = _held(source)
    return Body(kind, is_repeatable, open_source, size, on_progress)


def _held(source: Any) -> tuple[bool, int | None, Callable[[], Chunks]]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        view = memoryview(source).cast("B")
        return True, len(view), lambda: (bytes(view[at : at + CHUNK_BYTES]) for at in range(0, len(view), CHUNK_BYTES))
    if isinstance(source, os.PathLike):
        return True, os.stat(source).st_size, lambda: _read_path(source)
    if hasattr(source, "read"):
        return _held_file(source)
    if callable(source):
        return True, None, cast("Callable[[], Chunks]", source)
    # A list or tuple of chunks; anything else may be an iterator, which is read once.
    if isinstance(source, (list, tuple)):
        return True, sum(map(len, source)), lambda: source
    return False, None, lambda: source


def _held_file(file: Any) -> tuple[bool, int | None, Callable[[], Chunks]]:
    if not file.seekable():
        return False, None, lambda: _read_file(file)
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start

    def again() -> Iterator[bytes]:
        file.seek(start)
        return _read_file(file)

    file.seek(start)
    return True, size, again


def _read_path(path: os.PathLike[str]) -> Iterator[bytes]:
    with open(path, "rb") as file:
        yield from _read_file(file)


def _read_file(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        if not isinstance(chunk, bytes):
            raise TypeError("the file is open for text: open it with 'rb'")
        yield chunk


def body_of_lines(items: Any, encode: Callable[[Any], bytes]) -> Body:
    """Lines of JSON, encoded as they are sent."""
    content_type = "application/x-ndjson"
    if isinstance(items, (list, tuple)):
        return Body(content_type, True, lambda: b"".join(encode(item) + b"\n" for item in items))

    def lines() -> Iterator[bytes]:
        for item in items:
            yield encode(item) + b"\n"

    async def lines_later() -> AsyncIterator[bytes]:
        async for item in items:
            yield encode(item) + b"\n"

    return Body(content_type, False, lines_later if isinstance(items, AsyncIterable) else lines)


def watched(chunks: Iterable[bytes], body: Body, check: Callable[[], None]) -> Iterator[bytes]:
    """Tells of progress; `check` ends an attempt that takes too long."""
    sent = 0
    _tell(body, sent)
    for chunk in chunks:
        check()
        yield chunk
        sent += len(chunk)
        _tell(body, sent)


async def watched_async(chunks: Chunks, body: Body) -> AsyncIterator[bytes]:
    sent = 0
    _tell(body, sent)
    async for chunk in chunks if isinstance(chunks, AsyncIterable) else _in_threads(chunks):
        yield chunk
        sent += len(chunk)
        _tell(body, sent)


_END = object()


async def _in_threads(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Reads what may wait for a disk without stopping the event loop."""
    iterator = iter(chunks)
    while True:
        chunk: Any = await anyio.to_thread.run_sync(next, iterator, _END)
        if chunk is _END:
            return
        yield chunk


def _tell(body: Body, sent: int) -> None:
    if body.on_progress is not None:
        body.on_progress(sent, body.size)
