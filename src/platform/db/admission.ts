// Decides which account gets the next connection of a pool. Waiters queue per account and are served in turn, and one
// account never has all connections: its row locks and bulk work delay its own callers, not those of others. Where the
// process yields, an account has one connection at a time, for a fifth of the time: each session of Postgres has the same
// share of the processors, whatever waits for its answers.

import { detached } from '#src/platform/context.ts'

export interface Admission {
  /**
   * Waits until the account may use one more connection. Returns the function that gives it back, to be called once.
   * @throws {Error} after `timeoutMs`, as the pool does when it has no connection.
   */
  enter(account: string): Promise<() => void>
  waiting(): number
}

interface AdmissionOptions {
  /** Connections of the pool. */
  slots: number
  /** How many of them one account may have. All but one by default, at least one. */
  perAccount?: number
  timeoutMs: number
  /** Whether transactions of this account should leave processors to others now. */
  yields?: (account: string) => boolean
  now?: () => number
  later?: (delayMs: number, act: () => void) => void
}

/**
 * Of the time, which an account's transactions may take while the process yields. Beside a bulk of captures on two
 * processors, a third had all requests of others take 2.5 times as long at the 99th percentile, a fifth 2.1 times.
 */
const YIELDING_SHARE = 1 / 5
/** What an account may take beyond its share, in milliseconds: the transactions of a few single jobs, for which callers wait. */
const YIELDING_BURST_MS = 200
/** A transaction takes 1 to 50 ms. One that takes longer has waited itself, for a row or for processors. */
const MAX_COUNTED_MS = 50
/** What has waited as long must not time out for the sake of others. */
const MAX_YIELDED_MS = 1_000

interface Waiter {
  admit(): void
  since: number
  timer: NodeJS.Timeout
}

interface Account {
  name: string
  busy: number
  queue: Waiter[]
  /** What its transactions took while the process yielded, beyond its share. */
  takenMs: number
  takenAt: number
  isLeaving: boolean
}

export function createAdmission({
  slots,
  perAccount = Math.max(1, slots - 1),
  timeoutMs,
  yields = () => false,
  now = () => performance.now(),
  later = (delayMs, act) => detached(() => void setTimeout(act, delayMs).unref()),
}: AdmissionOptions): Admission {
  const accounts = new Map<string, Account>()
  // Accounts with waiters, in the order in which they are served.
  const turns = new Set<Account>()
  let free = slots
  let waiting = 0
  let isLooking = false

  // Where nothing yields, at most slots / perAccount accounts are skipped, so that a round is short however many wait.
  function admitNext(): void {
    for (const account of turns) {
      if (free === 0) return
      if (account.busy >= mostOf(account)) {
        if (account.busy < perAccount) lookAgain(account)
        continue
      }
      const waiter = account.queue.shift()
      turns.delete(account)
      if (account.queue.length > 0) turns.add(account)
      if (waiter === undefined) continue
      clearTimeout(waiter.timer)
      waiting -= 1
      free -= 1
      account.busy += 1
      waiter.admit()
    }
  }

  /** For an account that only yields: without other requests nothing would end its wait. */
  function lookAgain({ queue: [oldest] }: Account): void {
    if (isLooking || oldest === undefined) return
    isLooking = true
    later(Math.ceil(Math.max(1, MAX_YIELDED_MS - (now() - oldest.since))), () => {
      isLooking = false
      admitNext()
    })
  }

  function isYielding({ name, queue: [oldest] }: Account): boolean {
    return yields(name) && (oldest === undefined || now() - oldest.since < MAX_YIELDED_MS)
  }

  function mostOf(account: Account): number {
    return isYielding(account) ? 1 : perAccount
  }

  /** Returns for how long the account must pause. */
  function countTaken(account: Account, heldMs: number): number {
    const elapsedMs = now() - account.takenAt
    account.takenAt += elapsedMs
    account.takenMs = Math.max(0, account.takenMs - elapsedMs * YIELDING_SHARE)
    if (!isYielding(account)) return 0
    account.takenMs += Math.min(heldMs, MAX_COUNTED_MS)
    const pauseMs = Math.max(0, account.takenMs - YIELDING_BURST_MS) / YIELDING_SHARE
    return Math.min(MAX_YIELDED_MS, pauseMs)
  }

  function leave(account: Account, heldMs: number): void {
    free += 1
    const pauseMs = countTaken(account, heldMs)
    const end = (): void => {
      account.busy -= 1
      admitNext()
      dropIfIdle(account)
    }
    if (pauseMs === 0) {
      end()
    } else {
      later(pauseMs, end)
      admitNext()
    }
  }

  function dropIfIdle(account: Account): void {
    if (account.isLeaving || account.busy > 0 || account.queue.length > 0) return
    // What it took counts until its share has made up for it.
    const leftMs = account.takenMs / YIELDING_SHARE - (now() - account.takenAt)
    if (leftMs <= 0) {
      accounts.delete(account.name)
      return
    }
    account.isLeaving = true
    later(leftMs, () => {
      account.isLeaving = false
      dropIfIdle(account)
    })
  }

  function leaveOnce(account: Account): () => void {
    const since = now()
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      leave(account, now() - since)
    }
  }

  return {
    waiting: () => waiting,
    enter(name) {
      let account = accounts.get(name)
      if (account === undefined) {
        account = { name, busy: 0, queue: [], takenMs: 0, takenAt: now(), isLeaving: false }
        accounts.set(name, account)
      }
      const entered = account
      if (free > 0 && entered.queue.length === 0 && entered.busy < mostOf(entered)) {
        free -= 1
        entered.busy += 1
        return Promise.resolve(leaveOnce(entered))
      }
      return new Promise((resolve, reject) => {
        const giveUp = () => {
          entered.queue.splice(entered.queue.indexOf(waiter), 1)
          waiting -= 1
          if (entered.queue.length === 0) turns.delete(entered)
          dropIfIdle(entered)
          // The pool's own words, so that the error maps to the same 503.
          reject(new Error(`timeout exceeded when trying to connect: ${timeoutMs} ms in this account's queue`))
        }
        const waiter: Waiter = {
          admit: () => resolve(leaveOnce(entered)),
          since: now(),
          timer: detached(() => setTimeout(giveUp, timeoutMs)),
        }
        entered.queue.push(waiter)
        turns.add(entered)
        waiting += 1
        // Those before it may have waited until now because the process yielded.
        admitNext()
      })
    },
  }
}
