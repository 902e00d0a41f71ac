import { z } from 'zod'

// One row per kind of work. The word names the queue, the Procfile process, the worker file, the log field and the
// metric label. A payload carries ids only: the row that they name is the truth.

interface QueueSettings {
  payload: z.ZodType
  /** Claims a job may have before it is dead. Counts crashes of the worker too. */
  maxAttempts: number
  /** Jobs at once in one worker process. */
  concurrency: number
  /** Jobs that may travel together. More are cheaper to carry; fewer spread better over workers. */
  packet: number
  /** Jobs of one lane dispatched or running at once. */
  laneCap: number
  /** First delay after a failure; doubles with each attempt, with jitter, up to `retryCapMs`. */
  retryBaseMs: number
  retryCapMs: number
}

export const QUEUES = {
  attest: {
    payload: z.strictObject({ attestationId: z.string() }),
    // 2 s doubling to 5 min: ten attempts outlast ten minutes of a blob store that is away.
    maxAttempts: 10,
    // A job waits for Postgres and the photo most of its time.
    concurrency: 16,
    packet: 4,
    laneCap: 100_000,
    retryBaseMs: 2_000,
    retryCapMs: 300_000,
  },
  screen: {
    payload: z.strictObject({ screeningId: z.string() }),
    // 5 s doubling to 5 min: eight attempts outlast ten minutes of a detector that fails. Waiting for one that is away or
    // busy counts as none.
    maxAttempts: 8,
    // A job waits for the detector most of its time, and holds an image of up to 20 MB.
    concurrency: 8,
    packet: 1,
    laneCap: 100_000,
    retryBaseMs: 5_000,
    retryCapMs: 300_000,
  },
  deliver: {
    payload: z.strictObject({ deliveryId: z.string() }),
    // The webhook schedule counts its own ten attempts; this bounds crashes on top of them.
    maxAttempts: 40,
    // A delivery waits for its receiver most of its time.
    concurrency: 128,
    packet: 32,
    // A receiver that hangs may hold this many of our connections and no more.
    laneCap: 8,
    retryBaseMs: 5_000,
    retryCapMs: 300_000,
  },
} as const satisfies Record<string, QueueSettings>

export type QueueName = keyof typeof QUEUES
export type Payload<Q extends QueueName> = z.infer<(typeof QUEUES)[Q]['payload']>

export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[]

/** The processes of the Procfile: one per queue, and those that have none. */
export const PROCESS_NAMES = ['web', 'dispatch', ...QUEUE_NAMES, 'clock'] as const
export type ProcessName = (typeof PROCESS_NAMES)[number]

export function isQueueName(name: string): name is QueueName {
  return Object.hasOwn(QUEUES, name)
}

/** Milliseconds until the next try after `attempt` failures (from 1), jittered by ±20 % so that a crowd spreads out. */
export function retryDelayMs(queue: QueueName, attempt: number, random: () => number = Math.random): number {
  const { retryBaseMs, retryCapMs } = QUEUES[queue]
  const plain = Math.min(retryCapMs, retryBaseMs * 2 ** Math.min(attempt - 1, 20))
  return Math.round(plain * (0.8 + 0.4 * random()))
}
