// Erasing bytes, in three steps that may each be the last of a process that dies: a row says that they go, they go, the row
// says that they are gone. From the first step on nobody gets the row; until the last nobody gets another for these bytes.

import type { Database } from '#src/platform/db/database.ts'
import { idsBefore, type Scope } from '#src/platform/ids.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import {
  type Doomed,
  findStrays,
  finishErasing,
  purgeErased,
  takeStray,
  takeUnfinished,
  takeUnreferenced,
} from './erase-rows.ts'

// A transaction locks and looks at this many rows.
const STEP = 500
// Deletes at once: what an S3-speaking server answers in the time of one.
const AT_ONCE = 8

export interface EraserDeps {
  db: Pick<Database, 'tenant'>
  store: Pick<BlobStore, 'delete' | 'list' | 'storedAt'>
}

export type Eraser = ReturnType<typeof createEraser>

export function createEraser({ db, store }: EraserDeps) {
  /**
   * Erases the bytes of rows that were taken, and what is left of the rows.
   * @throws what the store throws, after all that could be erased is; the rest is taken up again when its lease is over.
   */
  async function eraseTaken(scope: Scope, taken: readonly Doomed[]): Promise<void> {
    if (taken.length === 0) return
    const gone: string[] = []
    const failures: unknown[] = []
    const waiting = taken.values()
    const lane = async () => {
      for (const { id, sha256 } of waiting) {
        try {
          await store.delete(scope, sha256)
          gone.push(id)
        } catch (error) {
          failures.push(error)
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, taken.length) }, lane))
    await db.tenant(scope, (tx) => finishErasing(tx, gone))
    if (failures.length > 0) throw failures[0]
  }

  return {
    eraseTaken,

    /** Media that no attestation refers to, and that were last uploaded before then. Answers how many went. */
    async eraseUnreferenced(scope: Scope, before: Date, signal: AbortSignal): Promise<number> {
      let erased = 0
      for (;;) {
        const { taken, looked } = await db.tenant(scope, (tx) =>
          takeUnreferenced(tx, { before, idsBefore: idsBefore('med', scope.environment, before), limit: STEP }),
        )
        await eraseTaken(scope, taken)
        erased += taken.length
        if (looked < STEP || signal.aborted) return erased
      }
    },

    /** What processes that died had begun to erase. */
    async finishUnfinished(scope: Scope, signal: AbortSignal): Promise<number> {
      let finished = 0
      for (;;) {
        const taken = await db.tenant(scope, (tx) => takeUnfinished(tx, STEP))
        await eraseTaken(scope, taken)
        finished += taken.length
        if (taken.length < STEP || signal.aborted) return finished
      }
    },

    /** Rows of erased media that nothing names any more. */
    async purgeErased(scope: Scope, before: Date, signal: AbortSignal): Promise<number> {
      for (let purged = 0; ; ) {
        const step = { idsBefore: idsBefore('med', scope.environment, before), limit: STEP }
        const count = await db.tenant(scope, (tx) => purgeErased(tx, step))
        purged += count
        if (count < STEP || signal.aborted) return purged
      }
    },

    /** Bytes without a row, stored before then: of uploads whose process or client went away before the row. */
    async eraseStrays(scope: Scope, before: Date, signal: AbortSignal): Promise<number> {
      let erased = 0
      for await (const page of store.list(scope)) {
        for (let at = 0; at < page.length && !signal.aborted; at += STEP) {
          const strays = await db.tenant(scope, (tx) => findStrays(tx, page.slice(at, at + STEP)))
          for (const sha256 of strays) {
            if (!signal.aborted && (await eraseStray(scope, sha256, before))) erased += 1
          }
        }
        if (signal.aborted) break
      }
      return erased
    },
  }

  async function eraseStray(scope: Scope, sha256: string, before: Date): Promise<boolean> {
    if (!(await isOlder(scope, sha256, before))) return false
    const taken = await db.tenant(scope, (tx) => takeStray(tx, scope, sha256))
    if (taken === undefined) return false
    // An upload that stored them between our look and our row has no row yet, and is told to try again.
    if (!(await isOlder(scope, sha256, before))) {
      await db.tenant(scope, (tx) => finishErasing(tx, [taken.id]))
      return false
    }
    await eraseTaken(scope, [taken])
    return true
  }

  async function isOlder(scope: Scope, sha256: string, before: Date): Promise<boolean> {
    const storedAt = await store.storedAt(scope, sha256)
    return storedAt !== undefined && storedAt < before
  }
}
