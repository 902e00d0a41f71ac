// When the transactions of bulk work leave the processors to others. Priorities do not reach them: a session of Postgres has
// the same share of the processors for whatever process it works.

import { createActivity } from './activity.ts'
import { detached } from './context.ts'
import type { IdChannel } from './jobs/id-channel.ts'
import { type ProcessorUse, readUse } from './priority.ts'

/** Between two looks at the processors: transactions take some milliseconds, and a look 0.3 ms. */
const SHORTAGE_PERIOD_MS = 250
/** What happened longer ago says nothing about now. */
const MAX_LOOK_BACK_MS = 1_000
/** Less, in a look's period, is no shortage, however little the process ran. */
const SHORTAGE_WAIT_MS = 25
/** `web` reports twice a second, while it has requests. */
const ACTIVE_MS = 2_000

interface YieldingOptions {
  /** The accounts that have requests. Without it, others are taken to have some. */
  active: () => Pick<IdChannel, 'subscribe'> | undefined
  isShort?: () => boolean
  now?: () => number
}

/** Returns whether work of this account should leave processors to others now. Listens from the first shortage on. */
export function createYielding({
  active,
  isShort = createShortage({ read: readUse }),
  now = () => performance.now(),
}: YieldingOptions): (account: string) => boolean {
  const activity = createActivity(now, ACTIVE_MS)
  let others: { isOtherActive(account: string): boolean } | undefined

  function listen(): { isOtherActive(account: string): boolean } {
    const channel = active()
    if (channel === undefined) return { isOtherActive: () => true }
    // For the life of the process, and not of the job that comes first.
    detached(() => channel.subscribe((accounts) => accounts.forEach(activity.note)))
    return activity
  }

  return (account) => {
    if (!isShort()) return false
    others ??= listen()
    return others.isOtherActive(account)
  }
}

/** What the threads of a process did between two looks. */
interface Look {
  ranMs: number
  waitedMs: number
  elapsedMs: number
}

interface ShortageOptions {
  read: () => Pick<ProcessorUse, 'ranMs' | 'waitedMs'> | undefined
  /** By default: the threads waited for processors for as long as they ran. */
  isShort?: (look: Look) => boolean
  now?: () => number
}

/**
 * Returns whether processors were short for the threads of this process, since the last look, a quarter of a second to a second
 * ago. False after a longer time without looks, and where the system does not tell.
 */
export function createShortage({
  read,
  isShort: judge = ({ ranMs, waitedMs }) => waitedMs >= SHORTAGE_WAIT_MS && waitedMs >= ranMs,
  now = () => performance.now(),
}: ShortageOptions): () => boolean {
  let before: Pick<ProcessorUse, 'ranMs' | 'waitedMs'> | undefined
  let lookedAt = Number.NEGATIVE_INFINITY
  let isShort = false
  return () => {
    const elapsedMs = now() - lookedAt
    if (elapsedMs < SHORTAGE_PERIOD_MS) return isShort
    lookedAt = now()
    const use = read()
    isShort =
      use !== undefined &&
      before !== undefined &&
      elapsedMs <= MAX_LOOK_BACK_MS &&
      judge({ ranMs: use.ranMs - before.ranMs, waitedMs: use.waitedMs - before.waitedMs, elapsedMs })
    before = use
    return isShort
  }
}
