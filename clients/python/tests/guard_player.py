"""Plays scenarios of clients/guard-scenarios.json for a test in another language, which writes one task a line and reads one outcome
a line. Each task has a process of its own, that a scenario may kill, forked from this one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, Callable

import anyio
import httpx2

from countersign import (
    ActionFailed,
    AsyncCountersign,
    Countersign,
    FileJournal,
    JournalEntry,
    NotAllowed,
    NotExecuted,
    UnknownAction,
    async_guard,
    async_resume_guards,
    guard,
    resume_guards,
)
from countersign.literals import IntentOutcome
from countersign.models import VerifyResult

Task = dict[str, Any]
OPERATIONS = ("authorize", "verify", "outcome", "approvals")


# Without `verify`, no process of a task reads the certificates of the machine.
class Player:
    """One scenario."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.scenario: dict[str, Any] = task["scenario"]
        self.folder = Path(task["folder"])
        self.abort: Callable[[], None] = self.interrupt
        path: str | None = task["journalPath"]
        self.journal = None if path is None else FileJournal(path)

    def reach(self, point: str) -> None:
        stop = self.scenario.get("stop", {})
        if stop.get("at") != point:
            return
        if stop["by"] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        self.abort()

    def interrupt(self) -> None:
        raise KeyboardInterrupt

    def send(self, request: httpx2.Request) -> None:
        operation = operation_of(request)
        if operation == "outcome" and self.scenario.get("unreachable"):
            raise httpx2.ConnectError("unreachable")
        self.reach(f"{operation}:sent")

    def receive(self, response: httpx2.Response) -> None:
        operation = operation_of(response.request)
        self.reach(f"{operation}:answered")
        if operation == "verify" and self.scenario.pop("lost", False):
            raise httpx2.ReadError("connection reset")

    async def send_later(self, request: httpx2.Request) -> None:
        self.send(request)

    async def receive_later(self, response: httpx2.Response) -> None:
        self.receive(response)
        await anyio.sleep(0)

    def begin(self) -> None:
        run = self.scenario.get("run")
        self.reach("run:begun")
        if run == "fails":
            raise ActionFailed("no such account")
        if run == "not_executed":
            raise NotExecuted("outside of opening hours")
        self.write("effects", "done")
        self.reach("run:done")

    def act(self, _verdict: VerifyResult) -> None:
        self.begin()
        if self.scenario.get("run") == "error":
            raise RuntimeError("connection lost")

    async def act_later(self, _verdict: VerifyResult) -> None:
        self.begin()
        await anyio.sleep(0)
        if self.scenario.get("run") == "error":
            raise RuntimeError("connection lost")

    def tell(self, action: UnknownAction, _error: BaseException | None) -> None:
        self.write("told", action.jti)

    def answer(self, action: UnknownAction, _error: BaseException | None) -> IntentOutcome | None:
        """onUnknown after the restart."""
        self.write("told", action.jti)
        if self.scenario.get("onUnknown") == "throws":
            raise RuntimeError("nobody answers")
        outcome: IntentOutcome | None = self.scenario.get("onUnknown")
        return outcome

    def write(self, name: str, line: str) -> None:
        with (self.folder / name).open("a") as file:
            file.write(f"{line}\n")

    def arguments(self) -> dict[str, Any]:
        options: dict[str, Any] = self.task["options"]
        key = f"key-of-{options['agentSessionId']}" if self.scenario.get("key") else None
        timeout = options.get("approvalTimeoutMs")
        return {
            "action": options["action"],
            "payload": options["payload"],
            "agent_session_id": options["agentSessionId"],
            "device_id": options["deviceId"],
            "mandate_id": options["mandateId"],
            "approval_timeout": None if timeout is None else timeout / 1_000,
            "idempotency_key": key,
            "on_unknown": self.tell,
        }

    def settings(self) -> dict[str, Any]:
        return {"base_url": self.task["baseUrl"], "api_key": self.task["apiKey"]}


class ReachingJournal:
    def __init__(self, player: Player, journal: FileJournal) -> None:
        self.player = player
        self.journal = journal

    def append(self, entry: JournalEntry, /) -> None:
        self.player.reach(f"{entry['step']}:noting")
        if entry["step"] == self.player.scenario.get("fails"):
            raise OSError("no space left on the device")
        self.journal.append(entry)
        self.player.reach(f"{entry['step']}:noted")

    def read(self) -> list[JournalEntry]:
        return self.journal.read()


class AsyncReachingJournal:
    def __init__(self, player: Player, journal: FileJournal) -> None:
        self.journal = ReachingJournal(player, journal)

    async def append(self, entry: JournalEntry, /) -> None:
        self.journal.append(entry)

    async def read(self) -> list[JournalEntry]:
        return self.journal.read()


def operation_of(request: httpx2.Request) -> str:
    return next((name for name in OPERATIONS if name in request.url.path.split("/")), "")


def outcome_of(error: BaseException) -> str:
    if isinstance(error, (KeyboardInterrupt, asyncio.CancelledError)):
        return "aborted"
    if isinstance(error, NotAllowed):
        # Every refusal of verify is a decision of the ledger.
        return "NotAllowed without a decision" if error.decision_id is None else f"NotAllowed {error.reason}"
    return "Error" if isinstance(error, RuntimeError) else type(error).__name__


def guard_once(player: Player) -> None:
    journal = None if player.journal is None else ReachingJournal(player, player.journal)
    hooks: dict[str, list[Callable[..., Any]]] = {"request": [player.send], "response": [player.receive]}
    with httpx2.Client(event_hooks=hooks, verify=False) as http_client:
        with Countersign(http_client=http_client, sleep=lambda _: None, **player.settings()) as client:
            guard(client, player.act, journal=journal, **player.arguments())


async def guard_once_later(player: Player) -> None:
    journal = None if player.journal is None else AsyncReachingJournal(player, player.journal)
    task = asyncio.current_task()
    assert task is not None
    player.abort = lambda: void(task.cancel())
    hooks: dict[str, list[Callable[..., Any]]] = {"request": [player.send_later], "response": [player.receive_later]}

    async def sleep(_seconds: float) -> None:
        await anyio.sleep(0)

    async with httpx2.AsyncClient(event_hooks=hooks, verify=False) as http_client:
        async with AsyncCountersign(http_client=http_client, sleep=sleep, **player.settings()) as client:
            await async_guard(client, player.act_later, journal=journal, **player.arguments())


def void(_value: object) -> None:
    pass


def play_guard(task: Task) -> str:
    """In a process of its own."""
    player = Player(task)
    outcomes = []
    for _ in range(player.scenario.get("calls", 1)):
        try:
            if task["flavour"] == "async":
                asyncio.run(guard_once_later(player))
            else:
                guard_once(player)
            outcomes.append("ok")
        except BaseException as error:
            outcomes.append(outcome_of(error))
    return ", ".join(outcomes)


def play_resume(task: Task) -> list[int]:
    player = Player(task)
    journal = player.journal
    assert journal is not None
    left = []
    for _ in range(2):
        try:
            if task["flavour"] == "async":
                asyncio.run(resume_later(player, journal))
            else:
                with httpx2.Client(verify=False) as http_client:
                    resume_guards(Countersign(http_client=http_client, **player.settings()), journal, player.answer)
        except RuntimeError as error:
            assert str(error) == "nobody answers"
        left.append(len({entry["jti"] for entry in journal.read()}))
    journal.close()
    return left


async def resume_later(player: Player, journal: FileJournal) -> None:
    async with httpx2.AsyncClient(verify=False) as http_client:
        client = AsyncCountersign(http_client=http_client, **player.settings())
        await async_resume_guards(client, journal, player.answer)


def in_fork(act: Callable[[], Any]) -> Any:
    """What it gives, as JSON; `killed` where it was."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            pipe.write(json.dumps(act()))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        given = pipe.read()
    _, status = os.waitpid(pid, 0)
    return "killed" if os.WIFSIGNALED(status) else json.loads(given)


def main() -> None:
    # Nobody waits for the processes of the tasks.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if os.fork() != 0:
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        task = json.loads(line)
        played = in_fork(lambda: play_guard(task)) if task["do"] == "guard" else play_resume(task)
        os.write(sys.stdout.fileno(), f"{json.dumps({'id': task['id'], 'played': played})}\n".encode())
        os._exit(0)


if __name__ == "__main__":
    main()
