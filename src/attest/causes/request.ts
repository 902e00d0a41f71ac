// Something became known after attestations were judged: a row says what, in the transaction that makes it known. Clock finds
// the attestations that it touches, and the attest queue judges them again.

import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'

/** Attestations that one cause may name one by one. */
export const MAX_NAMED = 1_000

export type Cause =
  /** Touches what was accepted at or after `effectiveAt` (ISO 8601) of what the device signed. */
  | { cause: 'device_revoked'; deviceId: string; effectiveAt: string }
  /** Touches every attestation that the policy judges otherwise. */
  | { cause: 'policy_changed'; version: number }
  /** Touches what shows these bytes. `key` makes two requests one. */
  | { cause: 'screening'; mediaSha256: string; key: string }
  /** Touches what was signed by devices whose evidence names one of the serials; null: by any device with evidence. */
  | { cause: 'revocation_list'; serials: readonly string[] | null; key: string }
  /** Touches the attestations named. */
  | { cause: 'requested'; attestationIds: readonly string[]; key: string }

/**
 * Has the attestations that a cause touches judged again, some time after the caller's transaction commits. Answers the
 * re-evaluation's id; undefined when the same cause was there before.
 */
export async function requestReevaluation(tx: Tx, scope: Scope, cause: Cause): Promise<string | undefined> {
  const { cause: name, ...subject } = cause
  if (cause.cause === 'requested' && cause.attestationIds.length > MAX_NAMED) {
    throw new RangeError(`a re-evaluation names ${MAX_NAMED} attestations at most`)
  }
  const [row] = await tx.query<{ id: string }>(
    `INSERT INTO reevaluations (account_id, environment, id, cause, key, subject) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT ON CONSTRAINT reevaluations_key_key DO NOTHING RETURNING id`,
    [
      scope.accountId,
      scope.environment,
      newId('ree', scope.environment),
      name,
      `${name}:${keyOf(cause)}`,
      JSON.stringify(subject),
    ],
  )
  return row?.id
}

function keyOf(cause: Cause): string {
  if (cause.cause === 'device_revoked') return cause.deviceId
  if (cause.cause === 'policy_changed') return String(cause.version)
  return cause.key
}
