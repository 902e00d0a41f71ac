// When something becomes known after an evaluation, a row records it in the same transaction, with a job of the
// queue reevaluate. The job finds the attestations that it affects, and each is re-evaluated by a job of its own.

import type { Tx } from '#src/platform/db/database.ts'
import { newId, newJobId, type Scope } from '#src/platform/ids.ts'
import { enqueueWalk } from './rows.ts'

/** How many attestations one cause may list. */
export const MAX_NAMED = 1_000

export type Cause =
  /** Affects what the device signed and we accepted at or after `effectiveAt` (ISO 8601). */
  | { cause: 'device_revoked'; deviceId: string; effectiveAt: string }
  /** Affects every attestation whose result the policy changes. */
  | { cause: 'policy_changed'; version: number }
  /** Affects attestations of these bytes. Requests with the same `key` are one. */
  | { cause: 'screening'; mediaSha256: string; key: string }
  /** Affects captures signed by devices whose evidence names one of the serials; null: by any device with evidence. */
  | { cause: 'revocation_list'; serials: readonly string[] | null; key: string }
  /** Affects the listed attestations. */
  | { cause: 'requested'; attestationIds: readonly string[]; key: string }

/**
 * Requests a re-evaluation of the attestations that a cause affects; it runs after the caller's transaction commits.
 * Returns its id; undefined when the same cause was requested before.
 */
export async function requestReevaluation(tx: Tx, scope: Scope, cause: Cause): Promise<string | undefined> {
  const { cause: name, ...subject } = cause
  if (cause.cause === 'requested' && cause.attestationIds.length > MAX_NAMED) {
    throw new RangeError(`a re-evaluation names ${MAX_NAMED} attestations at most`)
  }
  const jobId = newJobId()
  const [row] = await tx.query<{ id: string }>(
    `INSERT INTO reevaluations (account_id, environment, id, cause, key, subject, job_id) VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT ON CONSTRAINT reevaluations_key_key DO NOTHING RETURNING id`,
    [
      scope.accountId,
      scope.environment,
      newId('ree', scope.environment),
      name,
      `${name}:${keyOf(cause)}`,
      JSON.stringify(subject),
      jobId,
    ],
  )
  if (row !== undefined) await enqueueWalk(tx, scope, row.id, jobId)
  return row?.id
}

function keyOf(cause: Cause): string {
  if (cause.cause === 'device_revoked') return cause.deviceId
  if (cause.cause === 'policy_changed') return String(cause.version)
  return cause.key
}
