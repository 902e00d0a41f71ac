// The decision ledger in a fault run: decisions are recorded as the service records them, while its processes and Postgres
// die, and what is left is read for the checker.

import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createSealer } from '#src/platform/crypto/seal.ts'
import { createDatabase } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { createLedger } from '#src/platform/ledger/record.ts'
import type { ScopeName } from './evidence.ts'
import type { PostgresServer } from './stores.ts'

export interface DecisionFact {
  id: string
  scope: ScopeName
  /** Hexadecimal, as all hashes here. */
  hash: string
}

export interface LeafFact {
  scope: ScopeName
  position: number
  hash: string
  decisionId: string
}

export interface LedgerFacts {
  /** Decisions whose transaction was answered with success. */
  decided: string[]
  /** Tokens with two executions, by the answers or by the ledger. */
  executedTwice: string[]
  decisions: DecisionFact[]
  /** Leaves in the order of their positions. */
  leaves: LeafFact[]
  heads: { scope: ScopeName; size: number; frontier: string }[]
  checkpoints: { scope: ScopeName; size: number; jws: string }[]
  /** Entries without a leaf. */
  pending: number
  positions: { scope: ScopeName; id: string; position: number | null }[]
}

const PAUSE_MS = 100
const SCOPE = `account_id || ' ' || environment AS scope`

/** Records decisions for each tenant in turn until stopped. @param url Of Postgres, through the relay. */
export function startDecisions(url: string, tenants: readonly Scope[]) {
  // A connection that a fault cut is replaced by a new one.
  const db = createDatabase({ url, poolSize: 2, onError: () => {} })
  const sealer = createSealer({ current: { id: 'faults', key: randomBytes(32) } })
  const ledger = createLedger({ sealer, db })
  const decided: string[] = []
  let isStopping = false
  const deciding = (async () => {
    for (let n = 0; !isStopping; n += 1) {
      const scope = tenants[n % tenants.length]
      if (scope === undefined) return
      // Whether it committed is not known when it fails.
      await decide(scope).then(
        (ids) => void decided.push(...ids),
        () => {},
      )
      await delay(PAUSE_MS)
    }
  })()

  function decide(scope: Scope): Promise<string[]> {
    const at = new Date()
    const decision = {
      kind: 'lock',
      at,
      actor: 'service',
      subject: null,
      reason: null,
      valid: null,
      inputs: {},
    } as const
    const decisions = [1, 2, 3].map((n) => ({ ...decision, id: newId('dec', scope.environment), facts: { n } }))
    return db.tenant(scope, (tx) => ledger.recordMany(tx, scope, decisions))
  }

  return {
    decided,
    async stop() {
      isStopping = true
      await deciding
      await db.close().catch(() => {})
    },
  }
}

/** SQL: how many rows the process sequence has still to order. */
export const UNORDERED = `(SELECT count(*) FROM ledger_pending) + (SELECT count(*) FROM events WHERE position IS NULL)`

export async function readLedgers(
  { owner }: Pick<PostgresServer, 'owner'>,
  { decided, executedTwice }: { decided: readonly string[]; executedTwice: readonly string[] },
): Promise<LedgerFacts> {
  const [pending] = await owner<{ count: number }>('SELECT count(*)::int AS count FROM ledger_pending')
  const twice = await owner<{ jti: string }>(
    `SELECT jti FROM decisions WHERE kind = 'execute' GROUP BY jti HAVING count(*) > 1`,
  )
  return {
    decided: [...decided],
    executedTwice: [...executedTwice, ...twice.map(({ jti }) => jti)],
    decisions: await owner(`SELECT id, ${SCOPE}, encode(entry_sha256, 'hex') AS hash FROM decisions`),
    leaves: await owner(
      `SELECT ${SCOPE}, position::int, encode(leaf_sha256, 'hex') AS hash, decision_id AS "decisionId"
       FROM ledger_leaves ORDER BY position`,
    ),
    heads: await owner(
      `SELECT ${SCOPE}, size::int, encode(frontier_sha256, 'hex') AS frontier FROM ledger_heads ORDER BY 1`,
    ),
    checkpoints: await owner(`SELECT ${SCOPE}, size::int, jws FROM ledger_checkpoints ORDER BY size`),
    pending: pending?.count ?? 0,
    positions: await owner(`SELECT ${SCOPE}, id, position::int FROM events ORDER BY position`),
  }
}
