// Callers that wait for an approval to end. People take minutes, so one statement a quarter of a second for all waiting callers
// of the process is soon enough, and no connection is held. What is decided in this process is known at once.

import { detached } from '#src/platform/context.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { findEnded } from './resolution-rows.ts'

const MAX_WAITING = 1_000
const MAX_OF_ACCOUNT = 900
const POLL_MS = 250

interface Waiting extends Scope {
  id: string
  wake(): void
}

export type ApprovalWaits = ReturnType<typeof createApprovalWaits>

export function createApprovalWaits({ db }: { db: Pick<Database, 'readSystem'> }) {
  const waiting = new Set<Waiting>()
  const ofAccount = new Map<string, number>()
  let next: NodeJS.Timeout | undefined
  let isClosed = false

  function wake(ids: ReadonlySet<string>): void {
    for (const one of [...waiting]) if (ids.has(one.id)) one.wake()
  }

  // A failed poll is not the caller's failure: the next one may answer.
  async function poll(): Promise<void> {
    const asked = [...new Map([...waiting].map((one) => [one.id, one])).values()]
    const ended = await db.readSystem<{ id: string }>('awaited approvals', () => findEnded(asked)).catch(() => [])
    wake(new Set(ended.map(({ id }) => id)))
    next = undefined
    schedule()
  }

  // For every caller, so not in the context of the first one's request.
  function schedule(): void {
    if (waiting.size === 0 || next !== undefined || isClosed) return
    next = detached(() => setTimeout(() => void poll(), POLL_MS))
  }

  function countOf({ accountId }: Scope, change: 1 | -1): void {
    const count = (ofAccount.get(accountId) ?? 0) + change
    if (count === 0) ofAccount.delete(accountId)
    else ofAccount.set(accountId, count)
  }

  /** Where all places are taken, the account with the most of them gives back its oldest: a few accounts must not take all. */
  function hasRoom({ accountId }: Scope): boolean {
    const own = ofAccount.get(accountId) ?? 0
    if (own >= MAX_OF_ACCOUNT) return false
    if (waiting.size < MAX_WAITING) return true
    const [most] = [...ofAccount].toSorted(([, a], [, b]) => b - a)
    if (most === undefined || most[1] <= own + 1) return false
    for (const one of waiting) {
      if (one.accountId !== most[0]) continue
      one.wake()
      return true
    }
    return false
  }

  return {
    /** Resolves when it has ended, after `timeoutMs`, or earlier when too many wait. Read it again then. */
    ended(scope: Scope, id: string, timeoutMs: number, signal?: AbortSignal): Promise<void> {
      if (isClosed || timeoutMs <= 0 || signal?.aborted === true || !hasRoom(scope)) return Promise.resolve()
      const { accountId, environment } = scope
      return new Promise((resolve) => {
        const one: Waiting = {
          accountId,
          environment,
          id,
          wake() {
            if (!waiting.delete(one)) return
            clearTimeout(deadline)
            signal?.removeEventListener('abort', one.wake)
            countOf(scope, -1)
            resolve()
          },
        }
        const deadline = setTimeout(() => one.wake(), timeoutMs)
        signal?.addEventListener('abort', one.wake, { once: true })
        waiting.add(one)
        countOf(scope, 1)
        schedule()
      })
    },

    /** After the commit that ended it. */
    tell: (id: string): void => wake(new Set([id])),

    close(): void {
      isClosed = true
      clearTimeout(next)
      for (const one of [...waiting]) one.wake()
    },
  }
}
