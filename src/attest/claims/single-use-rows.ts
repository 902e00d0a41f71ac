// What one attestation may use and no other: an App Attest key's counter, and a nonce.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { STALE_JOB } from '#src/platform/jobs/backlog.ts'
import { type CaptureSession, consumeNonces, findSessionsOf } from '../captures/rows.ts'
import { holdUncancelled } from './cancelled-rows.ts'
import type { CounterUse } from './hardware-facts.ts'

/**
 * Takes a free counter for an attestation and returns its owner: the attestation that was verified first keeps it, in
 * whatever order workers finish. A repeated call returns the same.
 * @throws {STALE_JOB} when the attestation was cancelled: its counter would never be returned.
 */
export async function takeCounter(tx: Tx, scope: Scope, use: CounterUse, attestationId: string): Promise<string> {
  const { deviceId, keyDigest, counter } = use
  if (!(await holdUncancelled(tx, attestationId))) throw STALE_JOB
  await tx.query(
    `INSERT INTO assertion_counters (account_id, environment, device_id, key_digest, counter, attestation_id)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT ON CONSTRAINT assertion_counters_pkey DO NOTHING`,
    [scope.accountId, scope.environment, deviceId, keyDigest, counter, attestationId],
  )
  // A separate statement: it sees the row that a concurrent transaction committed while ours waited for it.
  const [row] = await tx.query<{ owner: string }>(
    `SELECT attestation_id AS owner FROM assertion_counters WHERE device_id = $1 AND key_digest = $2 AND counter = $3`,
    [deviceId, keyDigest, counter],
  )
  if (row === undefined) throw new Error('a counter that was just taken has no owner')
  return row.owner
}

/**
 * The same for a free nonce: accepting a capture consumes its nonce, so a free one was returned by a cancelled capture.
 */
export async function takeNonce(
  tx: Tx,
  nonce: string,
  attestationId: string,
  now: Date,
): Promise<CaptureSession | undefined> {
  if (!(await holdUncancelled(tx, attestationId))) throw STALE_JOB
  await consumeNonces(tx, [{ nonce, attestationId }], now)
  return (await findSessionsOf(tx, [nonce]))[0]
}
