// Names what a start waits for. No wait has a time limit: a process on a busy machine has no time in which it must have
// done something. A wait ends with the work itself, or with the signal.

import { loadavg } from 'node:os'

export interface Waits {
  /** Its reason is what aborted waits throw. undefined: nothing aborts them. */
  signal: AbortSignal | undefined
  /** Names `what` until the returned function is called. `lacks` completes "which has not ...". */
  begin(what: Named, lacks: string): () => void
  /**
   * Runs work and names it meanwhile.
   * @throws what the work throws; the signal's reason as soon as that aborts, whatever becomes of the work.
   */
  until<Result>(what: Named, lacks: string, work: () => Promise<Result>): Promise<Result>
  /** Waits that say the same, and that another signal aborts. */
  withSignal(signal: AbortSignal): Waits
}

type Named = string | (() => string)

interface WaitsOptions {
  /** Called every `everyMs` with a line about everything that has taken longer than that. */
  say?: ((line: string) => void) | undefined
  everyMs?: number | undefined
  signal?: AbortSignal | undefined
}

interface Wait {
  what: Named
  lacks: string
  since: number
}

const EVERY_MS = 10_000

export function createWaits({ say = () => {}, everyMs = EVERY_MS, signal }: WaitsOptions = {}): Waits {
  const waits = new Set<Wait>()
  let timer: NodeJS.Timeout | undefined

  // Processes that began together share one line: a Procfile has thirteen processes.
  const sayAll = () => {
    const now = performance.now()
    const periodsOf = (wait: Wait) => Math.floor((now - wait.since) / everyMs)
    const late = [...waits].filter((wait) => periodsOf(wait) > 0)
    for (const group of Map.groupBy(late, (wait) => `${periodsOf(wait)} ${wait.lacks}`).values()) {
      say(describeWaits(group, now - Math.max(...group.map(({ since }) => since))))
    }
  }

  const waiter: Waits = {
    signal,
    begin(what, lacks) {
      const wait = { what, lacks, since: performance.now() }
      waits.add(wait)
      timer ??= setInterval(sayAll, everyMs)
      return () => {
        waits.delete(wait)
        if (waits.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    async until(what, lacks, work) {
      signal?.throwIfAborted()
      const end = waiter.begin(what, lacks)
      try {
        return await abortable(work(), signal)
      } finally {
        end()
      }
    },
    withSignal: (other) => createWaits({ say, everyMs, signal: other }),
  }
  return waiter
}

/** Waits for work, until the signal aborts: then the work goes on unobserved, and the signal's reason is thrown. */
export async function abortable<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

const LIST = new Intl.ListFormat('en-GB')

function describeWaits(waits: readonly Wait[], waitedMs: number): string {
  const names = waits.map(({ what }) => (typeof what === 'string' ? what : what()))
  const verb = names.length === 1 ? 'has' : 'have'
  const load = loadavg()[0]?.toFixed(1)
  const [seconds, lacks] = [Math.floor(waitedMs / 1_000), waits[0]?.lacks]
  return `waiting for ${LIST.format(names)}, which ${verb} not ${lacks} for ${seconds} s (load ${load})`
}
