// The read that stands before every request. No cache, so that a revoked key is refused on the very next one; instead,
// look-ups that wait for a connection anyway travel together in one transaction. Nobody waits longer for it, and nobody
// joins a read that has begun.

import type { Database, Tx } from '#src/platform/db/database.ts'
import type { LookupRow } from './rows.ts'

interface Batch {
  hashes: Map<string, Buffer>
  rows: Promise<Map<string, LookupRow>>
}

/** @param select Reads the rows of some hashes. */
export function createLookup(
  db: Pick<Database, 'system'>,
  select: (tx: Tx, hashes: readonly Buffer[]) => Promise<LookupRow[]>,
) {
  let boarding: Batch | undefined

  function depart(): Batch {
    const hashes = new Map<string, Buffer>()
    // Not before `boarding` is set: a read that failed at once would else stay the one that everybody joins.
    return { hashes, rows: Promise.resolve().then(read) }

    async function read() {
      try {
        return await db.system('key look-up', async (tx) => {
          close()
          const rows = await select(tx, [...hashes.values()])
          return new Map(rows.map((row) => [row.hash.toString('hex'), row]))
        })
      } finally {
        close()
      }
    }
    function close() {
      if (boarding?.hashes === hashes) boarding = undefined
    }
  }

  return async (hash: Buffer): Promise<LookupRow | undefined> => {
    boarding ??= depart()
    const { hashes, rows } = boarding
    const name = hash.toString('hex')
    hashes.set(name, hash)
    return (await rows).get(name)
  }
}
