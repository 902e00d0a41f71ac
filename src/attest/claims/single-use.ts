// Takes what a capture may use once: its nonce before it is verified, the counter of its assertion after that. Each is a
// transaction of its own, and a repeated call returns the same: the evaluation of an attestation may run again after it.

import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { CaptureSession } from '../captures/rows.ts'
import { takeCounter, takeNonce } from './single-use-rows.ts'
import { type CaptureFacts, markCounterReused, type VerifiedCapture } from './verify-capture.ts'

export interface SingleUseDeps {
  db: Pick<Database, 'tenant'>
  now: () => Date
}

export function createSingleUse({ db, now }: SingleUseDeps) {
  return {
    /**
     * The session of a capture, whose nonce is taken for the attestation if it is free: of two captures that were sent with
     * it, the one that had consumed it was cancelled.
     */
    async takeSession(
      scope: Scope,
      attestationId: string,
      session: CaptureSession | undefined,
    ): Promise<CaptureSession | undefined> {
      if (session === undefined || session.consumedBy !== null) return session
      return db.tenant(scope, (tx) => takeNonce(tx, session.nonce, attestationId, now()))
    },

    /** The facts of a verified capture, which say so when another attestation took its counter first. */
    async takeCounter(
      scope: Scope,
      attestationId: string,
      { facts, counterUse }: VerifiedCapture,
    ): Promise<CaptureFacts> {
      if (counterUse === undefined) return facts
      const owner = await db.tenant(scope, (tx) => takeCounter(tx, scope, counterUse, attestationId))
      return owner === attestationId ? facts : markCounterReused(facts, owner)
    },
  }
}
