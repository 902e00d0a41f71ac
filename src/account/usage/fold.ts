// Work of the clock: adds entries to the sums of their days, writes the notices that are due, and has people told of
// them. Several processes may do it at once.

import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import { findUntoldNotices, foldEntries, insertDueNotices, type TouchedMonth, tryLockFold } from './fold-rows.ts'
import { markNoticesTold, type NoticeRow } from './notice-rows.ts'

/**
 * Tells people of a notice, in the transaction that notes that they were told: it enqueues what is sent, and sends
 * nothing itself. When it throws, it is called again later.
 */
export type Notify = (tx: Tx, notice: NoticeRow & { accountId: string }) => Promise<void>

interface FoldDeps {
  db: Pick<Database, 'system' | 'tenant'>
  notify: Notify
  log: Pick<Log, 'warn'>
  /** Entries per transaction. */
  step?: number
}

const STEP = 5_000
const ACCOUNTS_OF_A_ROUND = 100

export type Fold = ReturnType<typeof createFold>

export function createFold({ db, notify, log, step = STEP }: FoldDeps) {
  /** Folds what there is. Returns how many entries; 0 while another process folds. */
  async function fold(signal?: AbortSignal): Promise<number> {
    for (let folded = 0; ; ) {
      const count = await db.system('fold usage', async (tx) => {
        if (!(await tryLockFold(tx))) return 0
        const { count, touched } = await foldEntries(tx, step)
        await insertDueNotices(tx, touched)
        return count
      })
      folded += count
      if (count < step || signal?.aborted === true) return folded
    }
  }

  /** Writes the notices that became due by another plan and not by more usage. */
  async function noteDue(month: TouchedMonth): Promise<void> {
    await db.system('usage notices', (tx) => insertDueNotices(tx, [month]))
  }

  /** Has people told of notices that they were not told of. */
  async function tell(): Promise<void> {
    const untold = await db.system('usage notices', (tx) => findUntoldNotices(tx, ACCOUNTS_OF_A_ROUND))
    for (const { accountId } of untold) {
      const scope: Scope = { accountId, environment: 'live' }
      try {
        await db.tenant(scope, async (tx) => {
          for (const notice of await markNoticesTold(tx)) await notify(tx, { accountId, ...notice })
        })
      } catch (error) {
        log.warn({ account: accountId, err: error }, 'telling of a usage notice failed; it is tried again')
      }
    }
  }

  return {
    fold,
    noteDue,
    tell,
    async run(signal: AbortSignal): Promise<void> {
      await fold(signal)
      await tell()
    },
  }
}
