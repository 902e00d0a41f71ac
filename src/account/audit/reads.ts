// Records reads of photos, videos and other evidence before their first byte is sent. Entries that wait for a
// connection share one transaction. A page shows dozens of pictures again and again, and a player reads one video in
// many ranges: reads of one representation by one principal within a minute are one entry, except where each counts.

import { LRUCache } from 'lru-cache'
import type { AuditAction } from '#src/catalogue/audit.ts'
import { createTransactionBatcher } from '#src/platform/batching.ts'
import type { Database } from '#src/platform/db/database.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import { auditEntryOf } from './record.ts'
import { insertAuditEntries, type NewAuditEntry } from './rows.ts'

export interface AuditedRead {
  action: AuditAction
  subjectId: string
  /** What of it was read, such as `thumbnail`. */
  representation: string
  /** True: this read has an entry of its own, also within a minute of another. */
  hasOwnEntry?: boolean
  /** False for what concerns the whole account. True when absent. */
  isScoped?: boolean
}

/** Resolves when the read is recorded. */
export type ReadAudit = (by: Acting, read: AuditedRead) => Promise<void>

const REPEAT_MS = 60_000
// Per process. Beyond them a repeated read has an entry of its own.
const MAX_REMEMBERED = 20_000
// A third transaction of one tenant would take the connections that the reads themselves need.
const MAX_RUNNING = 2
const MAX_BATCH = 100

interface ReadAuditDeps {
  db: Pick<Database, 'tenant'>
  now: () => Date
}

export function createReadAudit({ db, now }: ReadAuditDeps): ReadAudit {
  const write = createTransactionBatcher<{ scope: Scope; entry: NewAuditEntry }, void>({
    keyOf: ({ scope }) => `${scope.accountId} ${scope.environment}`,
    maxSize: MAX_BATCH,
    maxRunning: MAX_RUNNING,
    run: (take, { scope }) =>
      db.tenant(scope, async (tx) => {
        const entries = take().map(({ entry }) => entry)
        await insertAuditEntries(tx, entries)
        return entries.map(() => undefined)
      }),
  })
  const recorded = new LRUCache<string, Promise<void>>({
    max: MAX_REMEMBERED,
    ttl: REPEAT_MS,
    perf: { now: () => now().getTime() },
  })

  return (by, { action, subjectId, representation, hasOwnEntry = false, isScoped = true }) => {
    const { accountId, environment } = by
    const key = JSON.stringify([accountId, environment, actorOf(by.principal).id, action, subjectId, representation])
    const known = recorded.get(key)
    if (known !== undefined && !hasOwnEntry) return known
    const entry = auditEntryOf(by, { action, subjectId, after: { representation }, isScoped })
    const written = write({ scope: { accountId, environment }, entry })
    recorded.set(key, written)
    written.catch(() => {
      if (recorded.peek(key) === written) recorded.delete(key)
    })
    return written
  }
}
