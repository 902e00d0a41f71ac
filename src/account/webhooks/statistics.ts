// How an endpoint does: counters by hour, which each attempt adds to when it ends, or up to two seconds later
// (outcome-buffer.ts). Read from attempts themselves, a week of a busy endpoint would be millions of rows.

import { randomInt } from 'node:crypto'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import type { PurgeStep } from '#src/platform/retention.ts'
import { laneOf } from './circuit.ts'
import { type BucketCount, bucketOf, quantileMs } from './latency.ts'
import { findEndpoint } from './rows.ts'
import { notFound } from './settings.ts'

export const STATISTICS_WINDOWS = { '24h': 24, '7d': 7 * 24 } as const
export type StatisticsWindow = keyof typeof STATISTICS_WINDOWS
/** The longest window, and its first hour. */
export const STATISTICS_DAYS = 8

// Two processes rarely share the row of a counter, and a week of an endpoint stays within some thousand rows.
const SHARDS = 4
const OWN_SHARD = randomInt(SHARDS)
// Jobs that wait are counted one by one.
const MAX_COUNTED = 10_000

/** How one attempt ended. */
export interface AttemptOutcome {
  endpointId: string
  isDelivered: boolean
  /** Of the call. */
  durationMs: number
  /** From the row of the delivery to the end of the call; null where it was sent again. Counts where it is delivered. */
  arrivalMs: number | null
}

type Kind = 'arrival' | 'answer' | 'failed'

/** Counts attempts that have ended, or end in this transaction. */
export async function countOutcomes(tx: Tx, scope: Scope, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const counts = new Map<string, { endpointId: string; kind: Kind; bucket: number; count: number }>()
  const add = (endpointId: string, kind: Kind, ms: number) => {
    const bucket = bucketOf(ms)
    const key = `${endpointId} ${kind} ${bucket}`
    const known = counts.get(key) ?? { endpointId, kind, bucket, count: 0 }
    counts.set(key, { ...known, count: known.count + 1 })
  }
  for (const { endpointId, isDelivered, durationMs, arrivalMs } of outcomes) {
    add(endpointId, isDelivered ? 'answer' : 'failed', durationMs)
    if (isDelivered && arrivalMs !== null) add(endpointId, 'arrival', arrivalMs)
  }
  if (counts.size === 0) return
  // In one order, so that two transactions can't deadlock.
  const rows = [...counts.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  await tx.query(
    `INSERT INTO endpoint_statistics AS known (account_id, environment, endpoint_id, hour, shard, kind, bucket, count)
     SELECT $1, $2, new.endpoint_id, date_trunc('hour', now(), 'UTC'), $3, new.kind, new.bucket, new.count
     FROM unnest($4::text[], $5::text[], $6::smallint[], $7::int[]) AS new (endpoint_id, kind, bucket, count)
     ON CONFLICT (account_id, environment, endpoint_id, hour, shard, kind, bucket)
       DO UPDATE SET count = known.count + excluded.count`,
    [
      scope.accountId,
      scope.environment,
      OWN_SHARD,
      rows.map(({ endpointId }) => endpointId),
      rows.map(({ kind }) => kind),
      rows.map(({ bucket }) => bucket),
      rows.map(({ count }) => count),
    ],
  )
}

export interface Quantiles {
  p50: number | null
  p99: number | null
}

export interface EndpointStatistics {
  from: Date
  to: Date
  delivered: number
  failed: number
  arrivalMs: Quantiles
  responseMs: Quantiles
  pending: { count: number; isCounted: boolean; oldestAt: Date | null }
}

export type Statistics = ReturnType<typeof createStatistics>

export function createStatistics({ db }: { db: Pick<Database, 'tenant'> }) {
  return {
    /**
     * Over the current hour and the whole ones before it.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async get(scope: Scope, id: string, window: StatisticsWindow): Promise<EndpointStatistics> {
      checkId(id, 'whe', scope.environment)
      return db.tenant(scope, async (tx) => {
        if ((await findEndpoint(tx, id)) === undefined) throw notFound(id)
        const [found] = await readStatistics(tx, [id], window)
        if (found === undefined) throw new Error('each endpoint has statistics')
        return found
      })
    },

    /** The same for each of several endpoints of the account, in their order. */
    getAll: (scope: Scope, ids: readonly string[], window: StatisticsWindow): Promise<EndpointStatistics[]> =>
      db.tenant(scope, (tx) => readStatistics(tx, ids, window)),
  }
}

async function readStatistics(tx: Tx, ids: readonly string[], window: StatisticsWindow): Promise<EndpointStatistics[]> {
  const [[times], counts, pending] = await Promise.all([
    tx.query<{ from: Date; to: Date }>(
      `SELECT date_trunc('hour', now(), 'UTC') - ($1::int - 1) * interval '1 hour' AS "from", now() AS "to"`,
      [STATISTICS_WINDOWS[window]],
    ),
    findCounts(tx, ids, STATISTICS_WINDOWS[window]),
    findPending(tx, ids),
  ])
  if (times === undefined) throw new Error('a statement without a table has one row')
  const countsOf = Map.groupBy(counts, ({ endpointId }) => endpointId)
  return ids.map((id) => {
    const of = (...kinds: Kind[]) => (countsOf.get(id) ?? []).filter(({ kind }) => kinds.includes(kind))
    const total = (kind: Kind) => of(kind).reduce((sum, { count }) => sum + count, 0)
    const quantiles = (found: BucketCount[]) => ({ p50: quantileMs(found, 0.5), p99: quantileMs(found, 0.99) })
    return {
      ...times,
      delivered: total('answer'),
      failed: total('failed'),
      arrivalMs: quantiles(of('arrival')),
      responseMs: quantiles(of('answer', 'failed')),
      pending: pending.get(id) ?? { count: 0, isCounted: true, oldestAt: null },
    }
  })
}

function findCounts(tx: Tx, endpointIds: readonly string[], hours: number) {
  return tx.query<{ endpointId: string; kind: Kind; bucket: number; count: number }>(
    `SELECT endpoint_id AS "endpointId", kind, bucket, sum(count)::int8 AS count FROM endpoint_statistics
     WHERE endpoint_id = ANY($1::text[]) AND hour >= date_trunc('hour', now(), 'UTC') - ($2::int - 1) * interval '1 hour'
     GROUP BY endpoint_id, kind, bucket`,
    [endpointIds, hours],
  )
}

// A delivery that is pending has a job that has not ended. The backlog has an index for them, and a partial one on
// deliveries would make each end of a delivery write to every index.
async function findPending(
  tx: Tx,
  endpointIds: readonly string[],
): Promise<Map<string, EndpointStatistics['pending']>> {
  const lanes = [false, true].map((isDirect) => endpointIds.map((id) => laneOf(id, { isDirect })))
  const rows = await tx.query<{ endpointId: string; count: number; oldestAt: Date | null }>(
    `SELECT asked.id AS "endpointId", count(live.created_at)::int AS count, min(live.created_at) AS "oldestAt"
     FROM unnest($1::text[], $2::text[], $3::text[]) AS asked (id, lane, direct_lane) LEFT JOIN LATERAL (
       (SELECT created_at FROM jobs WHERE queue = 'deliver' AND lane IN (asked.lane, asked.direct_lane) AND state = 'queued' LIMIT $4)
       UNION ALL
       (SELECT created_at FROM jobs WHERE queue = 'deliver' AND lane IN (asked.lane, asked.direct_lane)
          AND state = 'dispatched')) live ON true
     GROUP BY asked.id`,
    [endpointIds, ...lanes, MAX_COUNTED + 1],
  )
  return new Map(
    rows.map(({ endpointId, count, oldestAt }) => [
      endpointId,
      { count: Math.min(count, MAX_COUNTED), isCounted: count <= MAX_COUNTED, oldestAt },
    ]),
  )
}

/** Hours that no window reaches. */
export const purgeStatistics: PurgeStep = async (tx, _scope, { before, limit }) => {
  const gone = await tx.query(
    `DELETE FROM endpoint_statistics WHERE ctid = ANY(ARRAY(
       SELECT ctid FROM endpoint_statistics WHERE hour < $1 LIMIT $2)) RETURNING 1`,
    [before, limit],
  )
  return gone.length
}
