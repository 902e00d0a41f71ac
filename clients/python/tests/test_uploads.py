"""What can be uploaded, what is sent again, and what is told of progress."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from random import Random
from typing import Any, AsyncIterator, Callable, Iterator

import pytest
from conftest import Answer, Server
from samples import sample_of

from countersign import AsyncCountersign, Countersign, ServerError, models
from countersign.params import EnrollDeviceRequestParam

PHOTO = bytes(range(256)) * 3_000
KEYS = "Idempotency-Key"


@pytest.fixture
def failing_once(server: Server) -> Server:
    """Answers 503 to the first request, then the media."""
    media = sample_of(models.Media, Random(1))
    server.answer = lambda _: Answer(503, json={}) if len(server.arrived) == 1 else Answer(json=media)
    return server


def chunks() -> Iterator[bytes]:
    for start in range(0, len(PHOTO), 100_000):
        yield PHOTO[start : start + 100_000]


async def chunks_later() -> AsyncIterator[bytes]:
    for chunk in chunks():
        yield chunk


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "photo.jpg"
    path.write_bytes(PHOTO)
    return path


def no_sleep(_seconds: float) -> None:
    pass


async def no_sleep_later(_seconds: float) -> None:
    pass


def upload(server: Server, flavour: str, source: Any, **options: Any) -> models.Media:
    if flavour == "sync":
        with Countersign(base_url=server.url, sleep=no_sleep) as client:
            return client.media.upload(source, **options)

    async def run() -> models.Media:
        async with AsyncCountersign(base_url=server.url, sleep=no_sleep_later) as client:
            return await client.media.upload(source, **options)

    return asyncio.run(run())


REPEATABLE: dict[str, Callable[[Path], Any]] = {
    "bytes": lambda _: PHOTO,
    "bytearray": lambda _: bytearray(PHOTO),
    "memoryview": lambda _: memoryview(PHOTO),
    "path": lambda path: path,
    "open file": lambda path: path.open("rb"),
    "file in memory": lambda _: io.BytesIO(PHOTO),
    "function": lambda _: chunks,
    "list of chunks": lambda _: list(chunks()),
}


@pytest.mark.parametrize("flavour", ["sync", "async"])
@pytest.mark.parametrize("kind", REPEATABLE)
def test_what_can_be_read_again_is_sent_again_with_one_key(
    failing_once: Server, path: Path, kind: str, flavour: str
) -> None:
    upload(failing_once, flavour, REPEATABLE[kind](path), content_type="image/jpeg")
    assert [arrived.body == PHOTO for arrived in failing_once.arrived] == [True, True]
    assert {arrived.headers["Content-Type"] for arrived in failing_once.arrived} == {"image/jpeg"}
    keys = {arrived.headers[KEYS] for arrived in failing_once.arrived}
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("flavour", "make"), [("sync", chunks), ("async", chunks), ("async", chunks_later)], ids=["sync", "async", "async later"]
)
def test_an_iterator_is_sent_once(failing_once: Server, flavour: str, make: Callable[[], Any]) -> None:
    with pytest.raises(ServerError):
        upload(failing_once, flavour, make(), content_type="image/jpeg")
    assert [arrived.body == PHOTO for arrived in failing_once.arrived] == [True]
    assert failing_once.arrived[0].headers["Transfer-Encoding"] == "chunked"


@pytest.mark.parametrize("flavour", ["sync", "async"])
def test_progress_begins_again_with_each_attempt(failing_once: Server, flavour: str) -> None:
    seen: list[tuple[int, int | None]] = []
    upload(failing_once, flavour, PHOTO, content_type="image/jpeg", on_progress=lambda sent, total: seen.append((sent, total)))
    starts = [index for index, (sent, _) in enumerate(seen) if sent == 0]
    assert len(starts) == 2
    for attempt in (seen[: starts[1]], seen[starts[1] :]):
        assert [sent for sent, _ in attempt] == sorted({sent for sent, _ in attempt})
        assert attempt[-1] == (len(PHOTO), len(PHOTO))
        assert len(attempt) > 2


def test_the_type_follows_from_the_name_of_a_file(failing_once: Server, path: Path) -> None:
    upload(failing_once, "sync", path)
    with path.open("rb") as file:
        upload(failing_once, "sync", file)
    assert {arrived.headers["Content-Type"] for arrived in failing_once.arrived} == {"image/jpeg"}
    with pytest.raises(TypeError, match="content_type"):
        upload(failing_once, "sync", PHOTO)
    with pytest.raises(TypeError, match="pathlib"):
        upload(failing_once, "sync", str(path))


def test_a_file_that_is_open_for_text_is_refused(failing_once: Server, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    with (tmp_path / "a.txt").open() as file, pytest.raises(TypeError, match="'rb'"):
        upload(failing_once, "sync", file, content_type="image/jpeg")


def test_an_error_of_the_source_is_the_callers_own(failing_once: Server) -> None:
    def broken() -> Iterator[bytes]:
        yield b"x"
        raise OSError("the disk is gone")

    for flavour in ("sync", "async"):
        with pytest.raises(OSError, match="the disk is gone"):
            upload(failing_once, flavour, broken(), content_type="image/jpeg")


def test_a_batch_is_read_as_it_is_sent(server: Server) -> None:
    # More than the connection takes at once: nothing of it is kept.
    def lines() -> Iterator[EnrollDeviceRequestParam]:
        for number in range(3_000):
            yield {"certificate_chain": [str(number) * 100]}

    async def lines_later() -> AsyncIterator[EnrollDeviceRequestParam]:
        for number in range(3):
            yield {"certificate_chain": [str(number)]}

    async def run() -> None:
        async with AsyncCountersign(base_url=server.url) as client:
            await client.devices.batches.create(lines_later())

    server.answer = lambda _: Answer(json=sample_of(models.DeviceBatch, Random(1)))
    with Countersign(base_url=server.url) as client:
        client.devices.batches.create(lines())
    asyncio.run(run())
    first, second = (arrived.body.decode().splitlines() for arrived in server.arrived)
    assert len(first) == 3_000
    assert json.loads(first[2_999]) == {"certificate_chain": ["2999" * 100]}
    assert [json.loads(line) for line in second] == [{"certificate_chain": [str(number)]} for number in range(3)]
