// A new list of revoked attestation keys: whoever has devices whose evidence it names otherwise than the one before gets their
// captures judged again.

import { requestReevaluation } from '#src/attest/causes/request.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Environment } from '#src/platform/ids.ts'
import { findUnapplied, markApplied, type UnappliedList } from '../hardware/list-rows.ts'

export interface ListDeps {
  db: Database
  accounts: { walk(): AsyncIterable<{ id: string }> }
}

const ENVIRONMENTS: readonly Environment[] = ['sandbox', 'live']
// With more than these in one change, each account's devices are all looked at instead.
const MAX_SERIALS = 1_000

/**
 * Requests what a list asks for that nobody has applied yet. Broken off, it starts over, and asks nobody twice. Answers how
 * many re-evaluations were requested.
 */
export function createListApplier({ db, accounts }: ListDeps): () => Promise<number> {
  return async () => {
    const lists = await db.system('revocation list', findUnapplied)
    let requested = 0
    for (const list of lists) {
      const serials = changedSerials(list)
      const key = `${list.digest.toString('hex')} ${list.changedAt.toISOString()}`
      for await (const { id: accountId } of accounts.walk()) {
        for (const environment of ENVIRONMENTS) {
          const scope = { accountId, environment }
          const id = await db.tenant(scope, async (tx) =>
            (await hasDevices(tx, serials))
              ? requestReevaluation(tx, scope, { cause: 'revocation_list', serials, key })
              : undefined,
          )
          if (id !== undefined) requested += 1
        }
      }
      await db.system('revocation list', (tx) => markApplied(tx, list))
    }
    return requested
  }
}

// A key that was suspended and is good again counts as well. Null: all of them.
function changedSerials({ serials, appliedSerials }: UnappliedList): string[] | null {
  if (appliedSerials === null) return null
  const [before, after] = [new Set(appliedSerials), new Set(serials)]
  const changed = [...after.symmetricDifference(before)].toSorted()
  return changed.length > MAX_SERIALS ? null : changed
}

async function hasDevices(tx: Tx, serials: string[] | null): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 FROM devices WHERE CASE WHEN $1::text[] IS NULL THEN attestation_serials <> '{}' OR past_serials <> '{}'
       ELSE attestation_serials && $1 OR past_serials && $1 END LIMIT 1`,
    [serials],
  )
  return rows.length > 0
}
