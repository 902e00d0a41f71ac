"""Runs calls for tests in another language, which speak to it in lines of JSON: one task a line, one outcome a line."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import threading
import time
from typing import Any, AsyncIterator, Callable, Iterator

import httpx2

from countersign import (
    AnswerModel,
    AsyncCountersign,
    AsyncDownload,
    AsyncLines,
    AsyncPages,
    Countersign,
    CountersignError,
    Download,
    Lines,
    Pages,
    response_of,
)

Task = dict[str, Any]


def plain(answer: Any) -> Any:
    if isinstance(answer, AnswerModel):
        return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(answer, list):
        return [plain(item) for item in answer]
    return base64.b64encode(answer).decode() if isinstance(answer, bytes) else answer


def method_of(client: Any, names: list[str]) -> Callable[..., Any]:
    for name in names:
        client = getattr(client, name)
    method: Callable[..., Any] = client
    return method


def once(items: list[Any]) -> Iterator[Any]:
    yield from items


async def once_later(items: list[Any]) -> AsyncIterator[Any]:
    for item in items:
        yield item


def arguments_of(task: Task) -> list[Any]:
    """Bytes are in base64; a stream can be read once."""
    arguments = list(task.get("args", []))
    if "bytes" in task:
        arguments.append(base64.b64decode(task["bytes"]))
    if "stream" in task:
        arguments.append((once_later if task["flavour"] == "async" else once)(task["stream"]))
    return arguments


class Watch:
    """What happens during a task besides its outcome."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.delays: list[float] = []
        self.items = 0
        self.texts: list[str] = []

    def sleep(self, seconds: float) -> None:
        self.delays.append(seconds)
        if self.task.get("sleeps"):
            time.sleep(seconds)

    async def sleep_later(self, seconds: float) -> None:
        self.delays.append(seconds)
        if self.task.get("abort") == "waiting":
            running = asyncio.current_task()
            assert running is not None
            running.cancel()
        await asyncio.sleep(seconds if self.task.get("sleeps") else 0)

    def options(self) -> dict[str, Any]:
        options = dict(self.task.get("options", {}))
        number = options.pop("random", 0.5)
        return {**options, "random": lambda: number}

    def keep(self, response: httpx2.Response) -> None:
        if self.task.get("keeps_text"):
            self.texts.append(response.read().decode("latin-1" if "bytes" in self.task else "utf-8", "replace"))

    async def keep_later(self, response: httpx2.Response) -> None:
        if self.task.get("keeps_text"):
            self.texts.append((await response.aread()).decode("utf-8", "replace"))


def run_sync(task: Task, watch: Watch) -> Any:
    http_client = httpx2.Client(headers=task.get("headers"), event_hooks={"response": [watch.keep]})
    with http_client, Countersign(http_client=http_client, sleep=watch.sleep, **watch.options()) as client:
        answer = method_of(client, task["op"])(*arguments_of(task), **task.get("kwargs", {}))
        if isinstance(answer, Pages) and not task.get("iterates"):
            answer = answer.page()
        if isinstance(answer, (Pages, Lines)):
            items = []
            for item in answer:
                watch.items += 1
                items.append(item)
            return items
        return answer.read() if isinstance(answer, Download) else answer


async def run_async(task: Task, watch: Watch) -> Any:
    http_client = httpx2.AsyncClient(headers=task.get("headers"), event_hooks={"response": [watch.keep_later]})
    async with http_client, AsyncCountersign(
        http_client=http_client, sleep=watch.sleep_later, **watch.options()
    ) as client:
        answer = method_of(client, task["op"])(*arguments_of(task), **task.get("kwargs", {}))
        if isinstance(answer, AsyncPages) and not task.get("iterates"):
            answer = answer.page()
        if isinstance(answer, (AsyncPages, AsyncLines)):
            items = []
            async for item in answer:
                watch.items += 1
                items.append(item)
            return items
        answer = await answer
        return await answer.read() if isinstance(answer, AsyncDownload) else answer


async def run(task: Task) -> dict[str, Any]:
    watch = Watch(task)
    outcome: dict[str, Any]
    try:
        if task["flavour"] == "async":
            answer = await run_async(task, watch)
        else:
            answer = await asyncio.to_thread(run_sync, task, watch)
        facts = response_of(answer) if isinstance(answer, AnswerModel) else None
        outcome = {"outcome": "ok", "answer": plain(answer), "status": facts.status if facts else None}
    except asyncio.CancelledError:
        outcome = {"outcome": "aborted"}
    except CountersignError as error:
        outcome = {
            "outcome": type(error).__name__,
            "code": error.code,
            "detail": error.detail,
            "status": error.status,
            "request_id": error.request_id,
            "retry_after": error.retry_after,
            "errors": [f"{finding.pointer} {finding.code}" for finding in error.errors],
            "shown": f"{error!r} {error} {vars(error)!r}",
        }
    except Exception as error:
        outcome = {"outcome": f"{type(error).__name__}: {error}"}
    return {**outcome, "id": task["id"], "delays": watch.delays, "items": watch.items, "texts": watch.texts}


async def main() -> None:
    loop = asyncio.get_running_loop()
    running: dict[int, asyncio.Task[None]] = {}

    async def answer(task: Task) -> None:
        print(json.dumps(await run(task)), flush=True)

    def take(line: str) -> None:
        task = json.loads(line)
        if "cancel" in task:
            running[task["cancel"]].cancel()
            return
        running[task["id"]] = loop.create_task(answer(task))
        if task.get("abort") == "before":
            # It has begun when it is cancelled, and has sent nothing.
            loop.call_soon(running[task["id"]].cancel)

    ended = asyncio.Event()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(take, line)
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read, daemon=True).start()
    await ended.wait()


asyncio.run(main())
