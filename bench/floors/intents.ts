// What the floors of authorize and verify share: the reads of a decision about a token, in the order and with the locks of ours,
// and the row that it leaves in the ledger.

import { randomBytes } from 'node:crypto'
import { createDatabase, type Tx } from '#src/platform/db/database.ts'
import { newId } from '#src/platform/ids.ts'
import { insertDecisions } from '#src/platform/ledger/rows.ts'
import { setting } from './floor.ts'

export const db = createDatabase({ url: setting('DATABASE_URL') })
export const scope = { accountId: setting('ACCOUNT_ID'), environment: 'sandbox' } as const

// As large as those of ours.
const ENTRY = JSON.stringify({ entry: 'x'.repeat(900) })
const FACTS = randomBytes(2_000)
const HASH = randomBytes(32)

export interface Action {
  agent_session_id: string
  device_id: string
}

/** @param jti Of a token that is verified. */
export function readBound(tx: Tx, { agent_session_id: session, device_id: device }: Action, jti?: string) {
  return Promise.all([
    tx.query('SELECT pg_advisory_xact_lock_shared(key) FROM unnest($1::bigint[]) AS given (key) ORDER BY key', [
      [1, 2, 3],
    ]),
    jti === undefined ? undefined : tx.query('SELECT * FROM intents WHERE jti = $1 FOR NO KEY UPDATE', [jti]),
    tx.query('SELECT version, digest FROM policy_versions ORDER BY version DESC LIMIT 1'),
    tx.query('SELECT reason, stopped_at FROM stops WHERE resumed_at IS NULL'),
    tx.query(
      `SELECT id FROM revocations WHERE subject_id = $1 AND scope = 'session'
       UNION ALL SELECT id FROM revocations WHERE subject_id = $2 AND scope = 'device'`,
      [session, device],
    ),
    tx.query('SELECT id FROM session_locks WHERE cleared_at IS NULL AND agent_session_id = $1', [session]),
    tx.query('SELECT clock_timestamp() AS at'),
  ])
}

export function recordDecision(tx: Tx, kind: string, jti: string): Promise<void> {
  const row = { id: newId('dec', 'sandbox'), kind, at: new Date(), reason: null, jti, entry: ENTRY, entrySha256: HASH }
  return insertDecisions(tx, scope, [{ ...row, kind: row.kind as 'verify', sealedFacts: FACTS }])
}
