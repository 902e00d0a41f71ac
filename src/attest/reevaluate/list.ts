// Applies a new list of revoked attestation keys: captures of devices whose evidence it lists differently from the
// previous list are re-evaluated.

import { requestReevaluation } from '#src/attest/causes/request.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Environment } from '#src/platform/ids.ts'
import { findUnapplied, markApplied, type UnappliedList } from '../hardware/list-rows.ts'

export interface ListDeps {
  db: Database
  accounts: { walk(): AsyncIterable<{ id: string }> }
}

const ENVIRONMENTS: readonly Environment[] = ['sandbox', 'live']
// When more serials change at once, all devices of each account are checked instead.
const MAX_SERIALS = 1_000

/**
 * Requests the re-evaluations of a list that is not applied yet. If interrupted, it starts over and requests none
 * twice. Returns how many re-evaluations it requested.
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

// Includes keys that were suspended and are valid again. Null: all keys.
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
