// The operations that accounts are counted for, all of them. Only those of the live environment count, and only
// successful ones.

import type { QueueName } from './queues.ts'

interface MeteredRow {
  /** For readers: what counts as one. */
  counts: string
  /**
   * The queue in which operations wait that count when they succeed: until then they take up room below the cap. Its
   * jobs are of the account's own lane.
   */
  waitsIn?: QueueName
  /** Operations in bulk count when they are accepted. */
  countsBulkAtOnce?: true
}

const METERED_OPERATIONS = {
  attest: {
    counts: 'a capture that was evaluated; a line of a batch from its acceptance on',
    waitsIn: 'attest',
    countsBulkAtOnce: true,
  },
  screen: { counts: 'an image that got a score', waitsIn: 'screen' },
  authorize: { counts: 'an intent token that was issued' },
  verify: { counts: 'an intent token that was verified, whatever the answer' },
  inference: { counts: 'a traced inference, an input that was read for its canaries, or an intervention' },
  trace_job: { counts: 'an attribution that succeeded', waitsIn: 'trace' },
  diff: { counts: 'a comparison of two models that succeeded', waitsIn: 'diff' },
  clinician_order: { counts: 'an order that was authorized' },
} as const satisfies Record<string, MeteredRow>

export type MeteredOperation = keyof typeof METERED_OPERATIONS
export const METERED_NAMES = Object.keys(METERED_OPERATIONS) as [MeteredOperation, ...MeteredOperation[]]

/** The queues whose jobs take up room, and whether those in bulk do not because they are counted. */
export const WAITING_QUEUES: readonly { queue: QueueName; countsBulkAtOnce: boolean }[] = Object.values(
  METERED_OPERATIONS,
).flatMap((row: MeteredRow) =>
  row.waitsIn === undefined ? [] : [{ queue: row.waitsIn, countsBulkAtOnce: row.countsBulkAtOnce ?? false }],
)
