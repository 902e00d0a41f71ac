import type { Logger } from 'pino'
import type { Dispatcher } from './dispatch.ts'
import { QUEUE_NAMES } from './queues.ts'

export interface Loop {
  /** Ends after the round that runs. */
  close(): Promise<void>
}

// A round costs the same for one job and for a hundred. The more of the window it filled, the sooner workers would run dry
// and the next one follows. A trickle is asked for every 25 ms, and an idle system 4 times a second.
const CROWDED = 0.5
const FLOWING = 0.2
const PAUSE_IN_CROWD_MS = 2
const PAUSE_IN_FLOW_MS = 8
const PAUSE_MIN_MS = 25
const PAUSE_MAX_MS = 250
// A lapsed lease is found within 22.5 s of the worker's death.
const RECONCILE_EVERY_MS = 2_500

/** Dispatches every queue by itself, so that a slow queue does not hold another. */
export function runDispatchLoops(dispatcher: Dispatcher, log: Logger): Loop {
  const loops = QUEUE_NAMES.flatMap((queue) => {
    let pauseMs = PAUSE_MIN_MS
    const dispatching = repeat(async () => {
      const { count, share } = await dispatcher.dispatch(queue)
      if (share >= CROWDED) pauseMs = PAUSE_IN_CROWD_MS
      else if (share >= FLOWING) pauseMs = PAUSE_IN_FLOW_MS
      else if (count > 0) pauseMs = PAUSE_MIN_MS
      else pauseMs = Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, pauseMs * 1.5))
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
