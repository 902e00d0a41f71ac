// The queues of the last hour: `clock` notes each half a minute how long the oldest due job has waited.

import type { QueueName } from '#src/catalogue/queues.ts'
import type { Database } from '#src/platform/db/database.ts'
import { readStates } from './metrics.ts'

export const SAMPLE_EVERY_MS = 30_000

export interface QueueSample {
  queue: QueueName
  sampledAt: Date
  /** 0 when none was due. */
  oldestDueSeconds: number
  /** Jobs dispatched or running. */
  inFlight: number
}

/** Notes the queues as they are now. Of several processes at once, one does. */
export async function sampleQueues(db: Database): Promise<void> {
  const states = await readStates(db)
  await db.system('sample queues', (tx) =>
    tx.query(
      `INSERT INTO queue_samples (queue, sampled_at, oldest_due_seconds, in_flight)
       SELECT queue, to_timestamp(floor(extract(epoch FROM now()) / $4) * $4), oldest, in_flight
       FROM unnest($1::text[], $2::int[], $3::int[]) AS s (queue, oldest, in_flight)
       ON CONFLICT DO NOTHING`,
      [
        states.map(({ queue }) => queue),
        states.map(({ oldestDueSeconds }) => Math.round(oldestDueSeconds)),
        states.map(({ depth }) => depth.dispatched + depth.running),
        SAMPLE_EVERY_MS / 1_000,
      ],
    ),
  )
}

/** The samples of the last hour, oldest first. */
export function listSamples(db: Pick<Database, 'system'>): Promise<QueueSample[]> {
  return db.system('list samples', (tx) =>
    tx.query<QueueSample>(
      `SELECT queue, sampled_at AS "sampledAt", oldest_due_seconds AS "oldestDueSeconds", in_flight AS "inFlight"
       FROM queue_samples WHERE sampled_at > now() - interval '1 hour' ORDER BY sampled_at, queue`,
    ),
  )
}

/** Deletes what is older than an hour. Returns how many. */
export async function purgeSamples(db: Pick<Database, 'system'>): Promise<number> {
  const gone = await db.system('retention', (tx) =>
    tx.query(`DELETE FROM queue_samples WHERE sampled_at < now() - interval '1 hour' RETURNING queue`),
  )
  return gone.length
}
