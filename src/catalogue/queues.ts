import { z } from 'zod'

// One row per kind of work. The word names the queue, the Procfile process, the worker file, the log field and the
// metric label. A payload carries ids only: the rows that they name are the truth.

interface QueueSettings {
  payload: z.ZodType
  /** Claims (leases) that a job may have before it is dead. Crashes of the worker count too. */
  maxAttempts: number
  /** Jobs at once in one worker process. */
  concurrency: number
  /** Most jobs in one batch of the engine. Larger batches cost less; smaller ones spread better over workers. */
  batchSize: number
  /** Jobs of one lane dispatched or running at once, unless the lane has a cap of its own. */
  laneCap: number
  /**
   * Half of the room is always left to other accounts (see shareByAccount): for jobs that callers wait for, or that
   * take as long as a tenant chooses.
   */
  leavesRoom?: boolean
  /** First delay after a failure; doubles with each attempt, with jitter, up to `retryCapMs`. */
  retryBaseMs: number
  retryCapMs: number
  /** Callers of the API wait for its interactive jobs, so their ends are published. */
  isAwaited?: true
  /**
   * Its jobs are deleted when they succeed, which writes a fifth of what another state writes: for jobs whose own
   * subjects show what was done, and when.
   */
  leavesNoRow?: true
}

export const QUEUES = {
  attest: {
    payload: z.strictObject({ attestationId: z.string() }),
    // 2 s doubling to 5 min: ten attempts outlast a blob store that is away for ten minutes.
    maxAttempts: 10,
    // A job waits for Postgres and the photo most of its time, and for others of its batch. One account takes half of it.
    concurrency: 128,
    batchSize: 8,
    laneCap: 100_000,
    // A single claim beside another account's bulk starts at once.
    leavesRoom: true,
    retryBaseMs: 2_000,
    retryCapMs: 300_000,
    isAwaited: true,
  },
  screen: {
    payload: z.strictObject({ screeningId: z.string() }),
    // 5 s doubling to 5 min: eight attempts outlast a detector that fails for ten minutes. Waiting for one that is away
    // or busy does not count as an attempt.
    maxAttempts: 8,
    // A job waits for the detector most of its time, and holds an image of up to 20 MB.
    concurrency: 8,
    batchSize: 1,
    laneCap: 100_000,
    retryBaseMs: 5_000,
    retryCapMs: 300_000,
    isAwaited: true,
  },
  compare: {
    payload: z.strictObject({ attestationId: z.string() }),
    // 5 s doubling to 5 min: ten attempts outlast errors of Postgres for sixteen minutes. An unreachable blob store
    // does not count.
    maxAttempts: 10,
    // A job waits for the decoder, for its account's turn there, or for the disk at its commit.
    concurrency: 64,
    // Most pictures are known bytes, whose comparison is a few statements: claimed one by one, claiming costs as much.
    batchSize: 8,
    laneCap: 100_000,
    // An account with slow pictures fills its half.
    leavesRoom: true,
    retryBaseMs: 5_000,
    retryCapMs: 300_000,
  },
  reevaluate: {
    // A walk searches the attestations that a cause affects; each of them is re-evaluated by a job of its own.
    payload: z.union([z.strictObject({ reevaluationId: z.string() }), z.strictObject({ attestationId: z.string() })]),
    // Same as in attest: the job may read the photo again.
    maxAttempts: 10,
    concurrency: 8,
    batchSize: 4,
    laneCap: 100_000,
    retryBaseMs: 2_000,
    retryCapMs: 300_000,
  },
  trace: {
    payload: z.strictObject({ traceJobId: z.string() }),
    // 5 s doubling to 5 min: five attempts outlast a model's process that ends twice. Waiting for a busy model does not
    // count.
    maxAttempts: 5,
    // A job waits for the process of its model, which answers one request at a time.
    concurrency: 2,
    batchSize: 1,
    // An account has one at a time, as its jobs would only wait for each other.
    laneCap: 1,
    leavesRoom: true,
    retryBaseMs: 5_000,
    retryCapMs: 300_000,
  },
  deliver: {
    // A recovery walks over old deliveries; each that it sends again has a job of its own.
    payload: z.union([z.strictObject({ deliveryId: z.string() }), z.strictObject({ recoveryId: z.string() })]),
    // The webhook schedule counts its own ten attempts; this number bounds crashes in addition.
    maxAttempts: 40,
    // A delivery waits for its receiver most of its time, and twice for the disk, so that many are needed to keep a worker
    // busy. One account takes half of it.
    concurrency: 1024,
    batchSize: 32,
    // A receiver that hangs may hold at most this many of our connections. Its endpoint may set another number.
    laneCap: 8,
    leavesRoom: true,
    leavesNoRow: true,
    retryBaseMs: 5_000,
    retryCapMs: 300_000,
  },
  mail: {
    payload: z.strictObject({ mailId: z.string() }),
    // 2 s doubling to 5 min: thirty attempts outlast a mail server that is away for an hour and a half, and greylisting.
    maxAttempts: 30,
    // A job waits for the mail server most of its time, on a connection of its own.
    concurrency: 5,
    batchSize: 1,
    // Fewer than a worker runs at once: an account that invites many people leaves room to links that sign in.
    laneCap: 4,
    retryBaseMs: 2_000,
    retryCapMs: 300_000,
  },
  export: {
    payload: z.strictObject({ exportId: z.string() }),
    // 5 s doubling to 5 min: ten attempts outlast a store that is away for ten minutes. Each begins anew.
    maxAttempts: 10,
    // A job reads for minutes or hours, and holds one connection at a time.
    concurrency: 2,
    batchSize: 1,
    // An account has one at a time.
    laneCap: 1,
    retryBaseMs: 5_000,
    retryCapMs: 300_000,
  },
  diff: {
    payload: z.strictObject({ diffId: z.string() }),
    // 5 s doubling to 5 min: ten attempts outlast a model that can't be loaded for ten minutes. Each continues at the
    // last checkpoint.
    maxAttempts: 10,
    // A job waits for its models, which answer one request at a time: two share them.
    concurrency: 2,
    batchSize: 1,
    // Minutes with a small model, hours with a large one.
    laneCap: 1,
    retryBaseMs: 5_000,
    retryCapMs: 300_000,
  },
  exclusions: {
    // The import of a list, and the comparison of all prescribers of an account with the lists.
    payload: z.union([
      z.strictObject({ exclusionImportId: z.string() }),
      z.strictObject({ exclusionScreeningId: z.string() }),
    ]),
    // 5 s doubling to 5 min: ten attempts outlast a store that is away for ten minutes. Each begins anew.
    maxAttempts: 10,
    // An import parses and hashes for up to a minute, in one transaction.
    concurrency: 2,
    batchSize: 1,
    // Imports of one account follow each other.
    laneCap: 1,
    leavesRoom: true,
    retryBaseMs: 5_000,
    retryCapMs: 300_000,
  },
} as const satisfies Record<string, QueueSettings>

export type QueueName = keyof typeof QUEUES
export type Payload<Q extends QueueName> = z.infer<(typeof QUEUES)[Q]['payload']>

export const QUEUE_NAMES = Object.keys(QUEUES) as QueueName[]

/** The processes of the Procfile: one per queue, and those without a queue. */
export const PROCESS_NAMES = ['web', 'dispatch', ...QUEUE_NAMES, 'sequence', 'clock'] as const
export type ProcessName = (typeof PROCESS_NAMES)[number]

// Callers and receivers wait for these processes at every step, and they do little but wait themselves.
const FOREGROUND: ReadonlySet<ProcessName> = new Set(['web', 'dispatch', 'deliver'])

/** Whether a process runs at a lower priority than those that answer callers and receivers. */
export function isBackground(process: ProcessName): boolean {
  return !FOREGROUND.has(process)
}

/** Whether an account may take no more than the room that it leaves to others. */
export function leavesRoom(queue: QueueName): boolean {
  const settings: QueueSettings = QUEUES[queue]
  return settings.leavesRoom ?? false
}

/** Whether its jobs are deleted when they succeed. */
export function leavesNoRow(queue: QueueName): boolean {
  const settings: QueueSettings = QUEUES[queue]
  return settings.leavesNoRow ?? false
}

export function isQueueName(name: string): name is QueueName {
  return Object.hasOwn(QUEUES, name)
}

/** Whether callers of the API wait for jobs of this queue. */
export function isAwaited(queue: QueueName): boolean {
  const settings: QueueSettings = QUEUES[queue]
  return settings.isAwaited ?? false
}

/**
 * Milliseconds until the next try after `attempt` failures (from 1), jittered by ±20 % so that jobs that failed
 * together spread out.
 */
export function retryDelayMs(queue: QueueName, attempt: number, random: () => number = Math.random): number {
  const { retryBaseMs, retryCapMs } = QUEUES[queue]
  const plain = Math.min(retryCapMs, retryBaseMs * 2 ** Math.min(attempt - 1, 20))
  return Math.round(plain * (0.8 + 0.4 * random()))
}
