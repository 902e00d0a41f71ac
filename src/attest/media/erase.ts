// Erases bytes in three steps, and a process may die after any of them: the row is marked as erasing, the bytes are
// deleted, the row is marked as erased. After the first step the row is given to no request; until the last, no new row
// is made for these bytes.

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

// Rows that one transaction locks and checks.
const STEP = 500
// Concurrent deletes: an S3-compatible server handles this many in the time of one.
const AT_ONCE = 8

export interface EraserDeps {
  db: Pick<Database, 'tenant'>
  store: Pick<BlobStore, 'delete' | 'list' | 'storedAt'>
}

export type Eraser = ReturnType<typeof createEraser>

export function createEraser({ db, store }: EraserDeps) {
  /**
   * Erases the bytes of the taken rows, and then the rows.
   * @throws what the store throws, after erasing all that it can; the others are taken again when their lease ends.
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

    /**
     * Erases media that no attestation refers to and that were last uploaded before the given time. Returns how many.
     */
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

    /** Finishes the erasures of processes that died. */
    async finishUnfinished(scope: Scope, signal: AbortSignal): Promise<number> {
      let finished = 0
      for (;;) {
        const taken = await db.tenant(scope, (tx) => takeUnfinished(tx, STEP))
        await eraseTaken(scope, taken)
        finished += taken.length
        if (taken.length < STEP || signal.aborted) return finished
      }
    },

    /** Deletes rows of erased media that nothing names any more. */
    async purgeErased(scope: Scope, before: Date, signal: AbortSignal): Promise<number> {
      for (let purged = 0; ; ) {
        const step = { idsBefore: idsBefore('med', scope.environment, before), limit: STEP }
        const count = await db.tenant(scope, (tx) => purgeErased(tx, step))
        purged += count
        if (count < STEP || signal.aborted) return purged
      }
    },

    /**
     * Erases bytes without a row that were stored before the given time: of uploads that were interrupted before the
     * row.
     */
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
    // An upload that stored these bytes between our SELECT and our INSERT has no row yet, and is told to retry.
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
