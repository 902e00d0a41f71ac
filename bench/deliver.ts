// Webhooks per worker process, and what a receiver that never answers costs the others.

import { setTimeout as delay } from 'node:timers/promises'
import { emitMany, type NewEvent } from '#src/account/webhooks/emit.ts'
import { judgeRatio, median, note, type Options, percentile, type Verdict } from './harness.ts'
import { once, requestOf } from './load.ts'
import { type Process, startProcess } from './processes.ts'
import { openStage, type Stage } from './stage.ts'
import { untilSettled } from './wait.ts'

const EVENTS = 200
const ENDPOINTS = 32
const EVENTS_AT_ONCE = 20
/** For the steady load beside a receiver that hangs. */
const EVENTS_PER_SECOND = 10
const STEADY_SECONDS = 10

export async function runDeliver(options: Options): Promise<Verdict[]> {
  const stage = await openStage({ redis: true })
  const started: Process[] = []
  const start = async (file: string) => {
    const one = await startProcess(file, { ...stage.environment, FLOOR_DATABASE_URL: stage.ownerUrl }, options)
    started.push(one)
    return one
  }
  try {
    await stage.owner(
      `CREATE TABLE floor_deliveries (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event_id text NOT NULL,
         status integer NOT NULL, duration_ms integer NOT NULL, finished_at timestamptz NOT NULL DEFAULT now())`,
    )
    const web = await start('workers/web.ts')
    await start('workers/dispatch.ts')
    await start('workers/deliver.ts')
    const floor = await start('bench/floors/deliver.ts')
    const receivers = await start('bench/floors/receivers.ts')
    const base = `http://127.0.0.1:${receivers.port}`
    const addEndpoint = async (path: string): Promise<string> => {
      const body = Buffer.from(JSON.stringify({ url: `${base}${path}`, event_types: ['*'] }))
      const headers = { 'Content-Type': 'application/json' }
      const request = requestOf({ method: 'POST', path: '/v1/webhook-endpoints', key: stage.key, headers, body })
      return JSON.parse((await once(web.port, [request], 200)).toString()).endpoint_id
    }
    for (let index = 0; index < ENDPOINTS; index += 1) await addEndpoint(`/${index}`)

    const events = options.isQuick ? EVENTS / 10 : EVENTS
    const writes: Writes[] = []
    const ours = async (): Promise<number> => {
      await stage.pause('deliver')
      for (let emitted = 0; emitted < events; emitted += EVENTS_AT_ONCE) await emit(stage, EVENTS_AT_ONCE)
      const before = await readWrites(stage)
      await stage.resume('deliver')
      await untilSettled(stage, 'deliver')
      writes.push(describeWrites(before, await readWrites(stage), events * ENDPOINTS))
      const { rate, missing } = await recordOf(stage)
      if (missing > 0) throw new Error(`${missing} deliveries are not recorded as delivered at the first attempt`)
      await resetTables(stage)
      return rate
    }
    const floorRate = (isRecorded: boolean) =>
      floor.ask<number>({ url: `${base}/0`, count: events * ENDPOINTS, body: JSON.stringify(eventOf()), isRecorded })
    const bare: number[] = []
    const recorded: number[] = []
    const own: number[] = []
    // The first round warms up.
    for (let round = 0; round <= options.rounds; round += 1) {
      bare.push(await floorRate(false))
      recorded.push(await floorRate(true))
      own.push(await ours())
    }
    const judge = (label: string, floors: readonly number[], bar: number) =>
      judgeRatio({
        name: 'deliver',
        unit: 'deliveries/s',
        floor: { label },
        ours: { label: 'one deliver worker' },
        floors: floors.slice(1),
        own: own.slice(1),
        bar,
      })
    const verdicts = [
      judge('undici and a signature', bare, 0.33),
      judge('the same with one durable record each', recorded, 0.6),
      note('deliver, written per delivery', summarize(writes.slice(1))),
    ]

    const hanging = await addEndpoint('/hang')
    const p99 = async (isHanging: boolean): Promise<number> => {
      await stage.owner('UPDATE webhook_endpoints SET status = $2, disabled_reason = NULL WHERE id = $1', [
        hanging,
        isHanging ? 'enabled' : 'disabled',
      ])
      const steps = EVENTS_PER_SECOND * (options.isQuick ? 2 : STEADY_SECONDS)
      for (let step = 0; step < steps; step += 1) {
        await Promise.all([emit(stage, 1), delay(1_000 / EVENTS_PER_SECOND)])
      }
      const times = await untilDelivered(stage, hanging)
      // Deliveries that still hang would hang into the next run.
      await stage.owner(
        `UPDATE jobs SET state = 'cancelled', settled_at = now() WHERE queue = 'deliver' AND state = 'queued'`,
      )
      await untilIdle(stage)
      await resetTables(stage)
      return percentile(times, 99)
    }
    await p99(false)
    const alone: number[] = []
    const beside: number[] = []
    for (let round = 0; round < options.rounds; round += 1) {
      alone.push(await p99(false))
      beside.push(await p99(true))
    }
    return [
      ...verdicts,
      judgeRatio({
        name: 'deliver beside a receiver that hangs',
        unit: 'ms',
        floor: { label: 'p99 without it' },
        ours: { label: `p99 of the others at ${EVENTS_PER_SECOND * ENDPOINTS} deliveries/s` },
        floors: alone,
        own: beside,
        bar: 1.1,
        isTime: true,
      }),
      note('deliver', `${stage.redisUrl === undefined ? 'Postgres' : 'Redis'} engine, ${ENDPOINTS} endpoints`),
    ]
  } finally {
    await Promise.all(started.map((one) => one.stop()))
    await stage.close()
  }
}

// 1 kB with the members that every event has besides its data.
function eventOf(): NewEvent {
  return {
    type: 'attestation.created',
    data: {
      attestation_id: 'att_test_00000000000000000000000000',
      claim_id: 'clm_test_00000000000000000000000000',
      risk_score: 0,
      risk_status: 'passed',
      provenance_status: 'verified',
      factor_codes: Array.from({ length: 24 }, (_, index) => `factor_of_a_kilobyte_${index}`),
      advisory_codes: [],
    },
  }
}

function emit({ db, scope }: Stage, count: number): Promise<unknown> {
  return db.tenant(scope, (tx) => emitMany(tx, scope, Array.from({ length: count }, eventOf)))
}

async function recordOf(stage: Stage): Promise<{ rate: number; missing: number }> {
  const [row] = await stage.owner<{ rate: number; missing: number }>(
    `SELECT (count(*) / extract(epoch FROM max(a.finished_at) - min(a.started_at)))::float8 AS rate,
       count(*) FILTER (WHERE d.status <> 'delivered' OR a.attempt <> 1 OR a.response_status IS DISTINCT FROM 204)::int
         AS missing
     FROM deliveries d LEFT JOIN delivery_attempts a ON a.delivery_id = d.id`,
  )
  return row ?? { rate: Number.NaN, missing: 1 }
}

/** What Postgres wrote, which does not depend on the machine's speed. */
interface Writes {
  walBytes: number
  updates: number
  /** Updates that wrote no index (heap-only tuples). */
  hotUpdates: number
}

// Other sessions report their counts within a second.
const STATISTICS_MS = 1_500

async function readWrites(stage: Stage): Promise<Writes> {
  await delay(STATISTICS_MS)
  const [row] = await stage.owner<Writes>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS "walBytes", sum(n_tup_upd)::float8 AS updates,
       sum(n_tup_hot_upd)::float8 AS "hotUpdates"
     FROM pg_stat_user_tables WHERE relname IN ('jobs', 'deliveries', 'delivery_attempts')`,
  )
  return row ?? { walBytes: Number.NaN, updates: Number.NaN, hotUpdates: Number.NaN }
}

function describeWrites(before: Writes, after: Writes, deliveries: number): Writes {
  const each = (of: keyof Writes) => (after[of] - before[of]) / deliveries
  return { walBytes: each('walBytes'), updates: each('updates'), hotUpdates: each('hotUpdates') }
}

function summarize(writes: readonly Writes[]): string {
  const of = (name: keyof Writes) => median(writes.map((one) => one[name]))
  return (
    `${Math.round(of('walBytes')).toLocaleString('en')} bytes of WAL, ${of('updates').toFixed(2)} updates, ` +
    `${of('hotUpdates').toFixed(2)} of them without an index`
  )
}

/** From written to delivered, in ms, for all deliveries to other receivers. */
async function untilDelivered(stage: Stage, hanging: string): Promise<number[]> {
  for (;;) {
    const rows = await stage.owner<{ ms: number | null }>(
      `SELECT (extract(epoch FROM delivered_at - created_at) * 1000)::float8 AS ms FROM deliveries WHERE endpoint_id <> $1`,
      [hanging],
    )
    const times = rows.flatMap(({ ms }) => ms ?? [])
    if (times.length === rows.length) return times
    await delay(100)
  }
}

async function untilIdle(stage: Stage): Promise<void> {
  for (;;) {
    // A delivery that hung is queued again, for later.
    const open = await stage.owner(
      `SELECT FROM jobs WHERE queue = 'deliver' AND state IN ('dispatched', 'running') LIMIT 1`,
    )
    if (open.length === 0) return
    await delay(250)
  }
}

/** Each run begins with the same tables, and with a planner without statistics, as on the first day. */
async function resetTables(stage: Stage): Promise<void> {
  await stage.owner('TRUNCATE delivery_attempts, deliveries, events, jobs')
}
