"""What a guard notes of an action. After the death of its process, the notes say which actions never started: only those may give
their budget back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Iterable, Literal, Protocol

from typing_extensions import NotRequired, TypeAlias, TypedDict, TypeGuard

from ..literals import IntentOutcome

JournalStep: TypeAlias = Literal["verifying", "verified", "started", "ended", "closed"]
"""`verifying`: the service is asked, and may execute the token. `verified`: it has. `started`: the action is called next.
`ended`: how it ended, which the service may not know yet. `closed`: nothing is left to do."""

ORDER: tuple[JournalStep, ...] = ("verifying", "verified", "started", "ended", "closed")


class JournalEntry(TypedDict):
    """One note. It contains ids alone: no token, API key, description or payload."""

    step: JournalStep
    jti: str
    """Id of the token, under which the service knows the execution."""
    at: str
    """Time of the note."""
    expires_at: NotRequired[str]
    """With `verifying`: the token can't be executed later."""
    decision_id: NotRequired[str]
    """With `verified`."""
    idempotency_key: NotRequired[str]
    """With `verified`: the key that the caller gave."""
    outcome: NotRequired[IntentOutcome]
    """With `ended`."""


class Journal(Protocol):
    """Belongs to one process at a time."""

    def append(self, entry: JournalEntry, /) -> None:
        """Returns when the note survives the death of the process and of the machine. When it raises, the action does not run."""

    def read(self) -> list[JournalEntry]:
        """The notes in their order. Those of closed actions may be left out."""
        ...


class AsyncJournal(Protocol):
    """The same, for programs with asyncio or trio."""

    async def append(self, entry: JournalEntry, /) -> None: ...

    async def read(self) -> list[JournalEntry]: ...


class JournalError(Exception):
    """A note could not be written or read. Where it was to precede the action, the action did not run."""


@dataclass(frozen=True)
class OpenAction:
    """An action that was not closed."""

    step: JournalStep
    jti: str
    at: str
    """Time of its last note."""
    expires_at: str | None = None
    decision_id: str | None = None
    idempotency_key: str | None = None
    outcome: IntentOutcome | None = None


def open_actions_of(entries: Iterable[JournalEntry]) -> list[OpenAction]:
    actions: dict[str, OpenAction] = {}
    for entry in entries:
        step, jti, at = entry["step"], entry["jti"], entry["at"]
        if step == "closed":
            actions.pop(jti, None)
            continue
        before = actions.get(jti) or OpenAction(step, jti, at)
        actions[jti] = replace(
            before,
            # What started stays started.
            step=max(step, before.step, key=ORDER.index),
            at=at,
            expires_at=entry.get("expires_at", before.expires_at),
            decision_id=entry.get("decision_id", before.decision_id),
            idempotency_key=entry.get("idempotency_key", before.idempotency_key),
            outcome=entry.get("outcome", before.outcome),
        )
    return list(actions.values())


def is_entry(value: Any) -> TypeGuard[JournalEntry]:
    return isinstance(value, dict) and isinstance(value.get("jti"), str) and value.get("step") in ORDER
