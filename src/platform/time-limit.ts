// Limits on how long something is waited for, and how long the steps of an ordered end took.

import type { Log } from './log.ts'

// A user who ends everything with Ctrl-C wonders by then.
const SLOW_STEP_MS = 5_000

/**
 * Waits for work at most this long. false when it has not ended in time: then it goes on unobserved.
 * @throws what the work throws in time.
 */
export async function endsWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((done) => {
    timer = setTimeout(done, Math.max(0, limitMs), false)
  })
  // A failure after the limit has no listener any more.
  work.catch(() => {})
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits for work. A failure is thrown when this long has passed since the call, or later: whether the work took a little
 * more or less does not show.
 */
export async function failsNoEarlier<R>(limitMs: number, work: () => Promise<R>): Promise<R> {
  let isPast = false
  let onPast = () => {}
  // Begun now and not at the failure, whose time it would show.
  const timer = setTimeout(() => {
    isPast = true
    onPast()
  }, limitMs)
  try {
    return await work()
  } catch (error) {
    if (!isPast) {
      await new Promise<void>((done) => {
        onPast = done
      })
    }
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Runs a step of an ordered end. The log has its duration at level debug, and its name at level warn while it takes longer
 * than `slowMs`.
 */
export async function timeStep<Result>(
  log: Pick<Log, 'debug' | 'warn'>,
  step: string,
  run: () => Promise<Result>,
  slowMs = SLOW_STEP_MS,
): Promise<Result> {
  const startedAt = performance.now()
  const seconds = () => Math.round(performance.now() - startedAt) / 1_000
  const warn = () => log.warn({ step, seconds: seconds() }, 'a step of stopping takes long')
  const timer = setTimeout(warn, slowMs).unref()
  try {
    return await run()
  } finally {
    clearTimeout(timer)
    log.debug({ step, seconds: seconds() }, 'a step of stopping ended')
  }
}
