// Decides which account gets the next connection of a pool. Waiters queue per account and are served in turn, and one
// account never has all connections: its row locks and bulk work delay its own callers, not those of others.

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
}

interface Waiter {
  admit(): void
  timer: NodeJS.Timeout
}

interface Account {
  busy: number
  queue: Waiter[]
}

export function createAdmission({
  slots,
  perAccount = Math.max(1, slots - 1),
  timeoutMs,
}: AdmissionOptions): Admission {
  const accounts = new Map<string, Account>()
  // Accounts with waiters, in the order in which they are served.
  const turns = new Set<Account>()
  let free = slots
  let waiting = 0

  // At most slots / perAccount accounts are skipped, so a round is short however many wait.
  function admitNext(): void {
    for (const account of turns) {
      if (free === 0) return
      if (account.busy >= perAccount) continue
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

  function leave(name: string, account: Account): void {
    free += 1
    account.busy -= 1
    admitNext()
    dropIfIdle(name, account)
  }

  function dropIfIdle(name: string, account: Account): void {
    if (account.busy === 0 && account.queue.length === 0) accounts.delete(name)
  }

  function leaveOnce(name: string, account: Account): () => void {
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      leave(name, account)
    }
  }

  return {
    waiting: () => waiting,
    enter(name) {
      let account = accounts.get(name)
      if (account === undefined) {
        account = { busy: 0, queue: [] }
        accounts.set(name, account)
      }
      const entered = account
      if (free > 0 && entered.busy < perAccount) {
        free -= 1
        entered.busy += 1
        return Promise.resolve(leaveOnce(name, entered))
      }
      return new Promise((resolve, reject) => {
        const giveUp = () => {
          entered.queue.splice(entered.queue.indexOf(waiter), 1)
          waiting -= 1
          if (entered.queue.length === 0) turns.delete(entered)
          dropIfIdle(name, entered)
          // The pool's own words, so that the error maps to the same 503.
          reject(new Error(`timeout exceeded when trying to connect: ${timeoutMs} ms in this account's queue`))
        }
        const waiter: Waiter = {
          admit: () => resolve(leaveOnce(name, entered)),
          timer: detached(() => setTimeout(giveUp, timeoutMs)),
        }
        entered.queue.push(waiter)
        turns.add(entered)
        waiting += 1
      })
    },
  }
}
