// The read before every request, of its key or its session. No cache, so that a revoked one is refused on the next
// request. Instead, look-ups that wait for a connection share one statement.

import { createTransactionBatcher } from '#src/platform/batching.ts'
import type { Database, Statement } from '#src/platform/db/database.ts'

// Per process. Look-ups that come while one runs share the next: two at once would carry half as many each, and a round trip
// costs this process and Postgres more than a look-up waits.
const MAX_RUNNING = 2
// They take less than a millisecond. A connection that hangs must not hold up every request.
const PATIENCE_MS = 20

/** @param select Reads the `Row`s of some hashes. */
export function createLookup<Row extends { hash: Buffer }>(
  db: Pick<Database, 'readSystem'>,
  reason: string,
  select: (hashes: readonly Buffer[]) => Statement,
) {
  const lookUp = createTransactionBatcher<{ name: string; hash: Buffer }, Row | undefined>({
    maxRunning: MAX_RUNNING,
    patienceMs: PATIENCE_MS,
    async run(take) {
      let names: string[] = []
      const rows = await db.readSystem<Row>(reason, () => {
        const asked = take()
        names = asked.map(({ name }) => name)
        return select([...new Map(asked.map(({ name, hash }) => [name, hash])).values()])
      })
      const found = new Map(rows.map((row) => [row.hash.toString('hex'), row]))
      return names.map((name) => found.get(name))
    },
  })
  return (hash: Buffer): Promise<Row | undefined> => lookUp({ name: hash.toString('hex'), hash })
}
