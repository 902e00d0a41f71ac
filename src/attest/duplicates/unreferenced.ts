// Deletes pictures that no fingerprint shows. An erasure deletes those of its claim at once; retention deletes attestations
// and leaves their pictures.

import type { Database } from '#src/platform/db/database.ts'
import { DAY_MS, finishRule, type RetentionRule } from '#src/platform/retention.ts'
import { deleteUnreferencedPictures, findUnreferencedPictures } from './picture-rows.ts'

const STEP = 2_000

export function unreferencedPictures({ db }: { db: Pick<Database, 'tenant'> }): RetentionRule {
  const rule = finishRule('pictures', async (scope, signal) => {
    let deleted = 0
    for (let after: string | null = ''; after !== null && !signal.aborted; ) {
      const from: string = after
      after = await db.tenant(scope, async (tx) => {
        const { last, unreferenced } = await findUnreferencedPictures(tx, { after: from, limit: STEP })
        deleted += await deleteUnreferencedPictures(tx, unreferenced)
        return last
      })
    }
    return deleted
  })
  // Each run reads all pictures of the account.
  return { ...rule, everyMs: DAY_MS }
}
