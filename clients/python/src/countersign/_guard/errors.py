"""What ends a guarded action other than its result."""

from __future__ import annotations


class NotAllowed(Exception):
    """The action was refused and did not run."""

    reason: str
    """A reason of verify, a rule's own reason, or the code with which authorize refuses."""
    detail: str | None
    """For people: it may change."""
    decision_id: str | None
    """Entry of the decision ledger; None where no decision was recorded."""
    jti: str | None
    approval_id: str | None
    """Approval that is pending, or was not granted."""

    def __init__(
        self,
        reason: str,
        *,
        detail: str | None = None,
        decision_id: str | None = None,
        jti: str | None = None,
        approval_id: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.decision_id = decision_id
        self.jti = jti
        self.approval_id = approval_id

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


class ActionFailed(Exception):
    """Raise it where the action failed and had no effect that its budget must pay for: the outcome is `failed`."""


class NotExecuted(Exception):
    """Raise it where the action was not begun: the outcome is `not_run`."""
