// Callers that wait for rows to change, with one statement a quarter of a second for all waiting callers of the process: no
// connection is held. What changes in this process can be told at once.

import { detached } from './context.ts'
import type { Database, Statement } from './db/database.ts'
import type { Scope } from './ids.ts'
import { createWaitingPlaces } from './waiting-places.ts'

const POLL_MS = 250

/** What a caller waits for. `id` is unique among all accounts. */
export interface AwaitedRow extends Scope {
  id: string
}

interface PolledWaitsDeps<Subject extends AwaitedRow> {
  db: Pick<Database, 'readSystem'>
  /** Reason of the statement, for the log. */
  reason: string
  /** Rows with the `id` of those that are no longer to be waited for. */
  find(asked: readonly Subject[]): Statement
}

export interface PolledWaits<Subject extends AwaitedRow> {
  /**
   * Resolves when it has changed, after `timeoutMs`, or earlier when too many wait. Read it again then. false: there was no
   * room to wait at all.
   */
  ended(subject: Subject, timeoutMs: number, signal?: AbortSignal): Promise<boolean>
  /** Called after the commit that changed the row. */
  tell(id: string): void
  close(): void
}

interface Waiting<Subject> {
  subject: Subject
  wake(): void
}

export function createPolledWaits<Subject extends AwaitedRow>({
  db,
  reason,
  find,
}: PolledWaitsDeps<Subject>): PolledWaits<Subject> {
  const waiting = new Set<Waiting<Subject>>()
  const places = createWaitingPlaces()
  let next: NodeJS.Timeout | undefined
  let isClosed = false

  function wake(ids: ReadonlySet<string>): void {
    for (const one of [...waiting]) if (ids.has(one.subject.id)) one.wake()
  }

  // A failed poll is not the caller's failure: the next one may answer.
  async function poll(): Promise<void> {
    const asked = [...new Map([...waiting].map(({ subject }) => [subject.id, subject])).values()]
    const ended = await db.readSystem<{ id: string }>(reason, () => find(asked)).catch(() => [])
    wake(new Set(ended.map(({ id }) => id)))
    next = undefined
    schedule()
  }

  // For every caller, so not in the context of the first one's request.
  function schedule(): void {
    if (waiting.size === 0 || next !== undefined || isClosed) return
    next = detached(() => setTimeout(() => void poll(), POLL_MS))
  }

  return {
    ended(subject, timeoutMs, signal) {
      if (isClosed || timeoutMs <= 0 || signal?.aborted === true) return Promise.resolve(false)
      return new Promise((resolve) => {
        const free = places.take(subject.accountId, () => one.wake())
        if (free === undefined) {
          resolve(false)
          return
        }
        const one: Waiting<Subject> = {
          subject,
          wake() {
            if (!waiting.delete(one)) return
            clearTimeout(deadline)
            signal?.removeEventListener('abort', one.wake)
            free()
            resolve(true)
          },
        }
        const deadline = setTimeout(() => one.wake(), timeoutMs)
        signal?.addEventListener('abort', one.wake, { once: true })
        waiting.add(one)
        schedule()
      })
    },

    tell: (id) => wake(new Set([id])),

    close() {
      isClosed = true
      clearTimeout(next)
      for (const one of [...waiting]) one.wake()
    },
  }
}
