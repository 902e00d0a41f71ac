// The secret of the match keys, one of the deployment. It is random and stored sealed, and not derived from the master key: a
// rotation of the master key seals it again, so that keys of before and after the rotation still match.

import { randomBytes } from 'node:crypto'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'
import type { Database } from '#src/platform/db/database.ts'

const ID = 'match'
const SECRET_BYTES = 32
const useOf = (id = ID) => `exclusion secret ${id}`

export const SEALED_MATCH_SECRET: SealedColumn = {
  table: 'exclusion_secrets',
  column: 'sealed_secret',
  of: 'deployment',
  id: 'id',
  use: ({ id }) => useOf(id),
}

/** Resolves to the secret; the first process that asks makes it. It never changes, so that it is read once. */
export type MatchSecret = () => Promise<Buffer>

export function createMatchSecret({ db, sealer }: { db: Pick<Database, 'system'>; sealer: Sealer }): MatchSecret {
  let reading: Promise<Buffer> | undefined
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined
      throw error
    })
    return reading
  }

  async function read(): Promise<Buffer> {
    const made = sealer.seal(randomBytes(SECRET_BYTES), useOf())
    const sealed = await db.system('the secret of exclusion lists', async (tx) => {
      const select = 'SELECT sealed_secret AS sealed FROM exclusion_secrets WHERE id = $1'
      const [stored] = await tx.query<{ sealed: Buffer }>(select, [ID])
      if (stored !== undefined) return stored.sealed
      await tx.query('INSERT INTO exclusion_secrets (id, sealed_secret) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        ID,
        made,
      ])
      // In a separate statement, which also sees a row that another process has committed meanwhile.
      const [row] = await tx.query<{ sealed: Buffer }>(select, [ID])
      if (row === undefined) throw new Error('the secret of exclusion lists was not stored')
      return row.sealed
    })
    return sealer.open(sealed, useOf())
  }
}
