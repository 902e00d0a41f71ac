import { setTimeout as delay } from 'node:timers/promises'
import { isLockTimeout, isTimeout, isUnavailable } from '#src/platform/unavailable.ts'

const DEADLOCK = '40P01'
const SERIALIZATION = '40001'
const TRIES = 3
// The other transaction must get to the row first, or the two deadlock again. Detecting a deadlock took Postgres a
// second already.
const GIVE_WAY_MS = 100

/** Runs a transaction again, after a pause, when Postgres chose it as a deadlock's victim: it was rolled back whole. */
export function retryDeadlocks<R>(transaction: () => Promise<R>): Promise<R> {
  return retry(transaction, isDeadlock)
}

/**
 * The same, also when a lock timed out. A tenant's lock timeout is shorter than the second after which Postgres looks for
 * deadlocks, so a deadlock of two tenants' transactions ends as one. For rare work that a person waits for; a hot path
 * would hold its connection three times as long.
 */
export function retryLocks<R>(transaction: () => Promise<R>): Promise<R> {
  return retry(transaction, (error) => isDeadlock(error) || isLockTimeout(error))
}

async function retry<R>(transaction: () => Promise<R>, isConflict: (error: unknown) => boolean): Promise<R> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction()
    } catch (error) {
      if (attempt === TRIES || !isConflict(error)) throw error
    }
    await delay(GIVE_WAY_MS * (0.5 + Math.random()) * attempt)
  }
}

function isDeadlock(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === DEADLOCK || code === SERIALIZATION
}

// Postgres is back within seconds of a restart; a job's lease outlasts dozens of tries.
const AWAY_PAUSE_MS = 500

/**
 * Runs a transaction again while Postgres is away, until `signal` aborts: for results that must not be lost, such as
 * the answer of a call that can't be made twice. The transaction may have been committed although its answer was lost.
 */
export async function retryWhileAway<R>(transaction: () => Promise<R>, signal: AbortSignal): Promise<R> {
  for (;;) {
    try {
      return await transaction()
    } catch (error) {
      if (signal.aborted || !isUnavailable(error)) throw error
      // Aborted during the pause: one more try throws the cause.
      await delay(AWAY_PAUSE_MS * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
    }
  }
}

/**
 * Runs a step of a start again as long as it takes a store too long: the limits of a request are too short for a process
 * that starts on a busy machine. The step is safe to run twice.
 */
export async function retryWhileSlow<R>(
  step: () => Promise<R>,
  onSlow: (error: unknown) => void = () => {},
): Promise<R> {
  for (;;) {
    try {
      return await step()
    } catch (error) {
      if (!isTimeout(error)) throw error
      onSlow(error)
    }
    await delay(AWAY_PAUSE_MS * (0.5 + Math.random()))
  }
}
