// The read that stands before every request. No cache, so that a revoked key is refused on the very next one; instead,
// look-ups that wait for a connection anyway travel together in one transaction. Nobody waits longer for it, and nobody
// joins a read that has begun.

import type { Database, Statement } from '#src/platform/db/database.ts'
import type { LookupRow } from './rows.ts'

interface Batch {
  hashes: Map<string, Buffer>
  rows: Promise<Map<string, LookupRow>>
}

/** @param select Reads the rows of some hashes. */
export function createLookup(db: Pick<Database, 'readSystem'>, select: (hashes: readonly Buffer[]) => Statement) {
  let boarding: Batch | undefined

  function depart(): Batch {
    const hashes = new Map<string, Buffer>()
    // Not before `boarding` is set: a read that failed at once would else stay the one that everybody joins.
    return { hashes, rows: Promise.resolve().then(read) }

    async function read() {
      try {
        const rows = await db.readSystem<LookupRow>('key look-up', () => {
          close()
          return select([...hashes.values()])
        })
        return new Map(rows.map((row) => [row.hash.toString('hex'), row]))
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
