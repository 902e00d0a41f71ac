// Ends the approvals of what was revoked, in the transaction of the revocation.

import type { Tx } from '#src/platform/db/database.ts'
import type { Acting } from '#src/platform/http/principal.ts'

export type CancelledSubject = { jti: string } | { agentSessionId: string } | { deviceId: string }

/** Those that are pending. Returns how many. Called after the tokens were marked: approvals are locked after their tokens. */
export type CancelApprovals = (tx: Tx, acting: Acting, subject: CancelledSubject) => Promise<number>
