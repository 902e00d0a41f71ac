import type { Logger } from 'pino'
import { QUEUE_NAMES } from '#src/catalogue/queues.ts'
import type { Dispatcher } from './dispatch.ts'
import { nextPauseMs, PAUSE_MS } from './pace.ts'

export interface Loop {
  /** Ends after the round that runs. */
  close(): Promise<void>
}

// A lapsed lease is found within 22.5 s of the worker's death.
const RECONCILE_EVERY_MS = 2_500

/** Dispatches every queue by itself, so that a slow queue does not hold another. */
export function runDispatchLoops(dispatcher: Dispatcher, log: Logger): Loop {
  const loops = QUEUE_NAMES.flatMap((queue) => {
    let pauseMs = PAUSE_MS
    const dispatching = repeat(async () => {
      pauseMs = nextPauseMs(pauseMs, await dispatcher.dispatch(queue))
      return pauseMs
    }, log)
    return [dispatching, every(RECONCILE_EVERY_MS, () => dispatcher.reconcile(queue), log)]
  })
  return { close: async () => void (await Promise.all(loops.map((loop) => loop.close()))) }
}

/** Runs a task again and again, `periodMs` after its last end. What it throws is logged, and the next round tries again. */
export function every(periodMs: number, task: () => Promise<unknown>, log: Logger): Loop {
  return repeat(async () => {
    await task()
    return periodMs
  }, log)
}

// After a failure: Postgres or Redis is away, and asking more often does not bring it back.
const AFTER_FAILURE_MS = 1_000

function repeat(round: () => Promise<number>, log: Logger): Loop {
  let isClosed = false
  let wake = () => {}
  const pause = (ms: number) =>
    new Promise<void>((done) => {
      const timer = setTimeout(done, ms)
      wake = () => {
        clearTimeout(timer)
        done()
      }
    })
  const ended = (async () => {
    while (!isClosed) {
      const pauseMs = await round().catch((error: unknown) => {
        log.warn({ err: error }, 'a round failed')
        return AFTER_FAILURE_MS
      })
      if (!isClosed) await pause(pauseMs)
    }
  })()
  return {
    close() {
      isClosed = true
      wake()
      return ended
    },
  }
}
