// Webhooks per worker process with every attempt recorded, circuits, limits and statistics on; how soon they arrive; and
// what a receiver that never answers, or a million parked deliveries, cost the others.

import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { runParked } from './deliver-parked.ts'
import {
  type Delivering,
  ENDPOINTS,
  eventOf,
  openDelivering,
  resetTables,
  setEnabled,
  untilDelivered,
  untilIdle,
} from './delivering.ts'
import { describe, judgeRatio, median, note, type Options, percentile, type Verdict } from './harness.ts'
import { processorMsOf } from './processor-time.ts'
import type { Stage } from './stage.ts'
import { untilSettled } from './wait.ts'

/**
 * Nine seconds of deliveries with 50 endpoints. In two seconds, the beginning and the end, in which few are in flight,
 * would be a good part of the measured time.
 */
const EVENTS = 1_000
const EVENTS_AT_ONCE = 20
/** The steady load, for times and beside a receiver that hangs. */
const EVENTS_PER_SECOND = 6
const STEADY_SECONDS = 10

const PARTS = { rate: runRate, arrival: runArrival, hanging: runHanging, parked: runParked, snapshot: runSnapshot }

export async function runDeliver(options: Options): Promise<Verdict[]> {
  const on = await openDelivering(options)
  try {
    const verdicts: Verdict[] = []
    for (const [part, run] of Object.entries(PARTS)) {
      if (options.part === undefined || options.part === part) verdicts.push(...(await run(on, options)))
    }
    const engine = on.stage.redisUrl === undefined ? 'Postgres' : 'Redis'
    return [...verdicts, note('deliver', `${engine} engine, ${ENDPOINTS} endpoints`)]
  } finally {
    await on.close()
  }
}

async function runRate(on: Delivering, options: Options): Promise<Verdict[]> {
  const { stage, base, floor, emit } = on
  const events = options.isQuick ? EVENTS / 10 : EVENTS
  const writes: Writes[] = []
  const spent: Spent[] = []
  const ours = async (): Promise<number> => {
    await stage.pause('deliver')
    for (let emitted = 0; emitted < events; emitted += EVENTS_AT_ONCE) await emit(EVENTS_AT_ONCE)
    const before = await readWrites(stage)
    const spentBefore = readSpent(on)
    await stage.resume('deliver')
    await untilSettled(stage, 'deliver')
    spent.push(describeSpent(spentBefore, readSpent(on), events * ENDPOINTS))
    writes.push(describeWrites(before, await readWrites(stage), events * ENDPOINTS))
    const { rate, missing } = await recordOf(stage)
    if (missing > 0) throw new Error(`${missing} deliveries are not recorded as delivered at the first attempt`)
    await resetTables(stage)
    return rate
  }
  const floorRate = (isRecorded: boolean) =>
    floor.ask<number>({ url: `${base}/0`, count: events * ENDPOINTS, body: JSON.stringify(eventOf()), isRecorded })
  const bareMs: number[] = []
  const bareRate = async () => {
    const before = processorMsOf([floor.pid]) ?? Number.NaN
    const rate = await floorRate(false)
    bareMs.push(((processorMsOf([floor.pid]) ?? Number.NaN) - before) / (events * ENDPOINTS))
    return rate
  }
  const bare: number[] = []
  const recorded: number[] = []
  const own: number[] = []
  // The first round warms up.
  for (let round = 0; round <= options.rounds; round += 1) {
    bare.push(await bareRate())
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
  return [
    judge('undici and a signature', bare, 0.33),
    judge('the same with one durable record each', recorded, 0.6),
    note('deliver, written per delivery', summarize(writes.slice(1))),
    note('deliver, processor time per delivery', summarizeSpent(spent.slice(1))),
    note('deliver, of the process alone', compareSpent(bareMs.slice(1), spent.slice(1))),
  ]
}

/** Measures the time from the commit of an event to its arrival at each receiver, at a steady rate. */
async function runArrival({ stage, emit, arrivals }: Delivering, options: Options): Promise<Verdict[]> {
  const p50: number[] = []
  const p99: number[] = []
  for (let round = 0; round <= options.rounds; round += 1) {
    await arrivals()
    const committed = new Map<string, number>()
    await steadily(options, async () => {
      const emitted = await emit(1)
      const at = Date.now()
      for (const { deliveryIds } of emitted) for (const id of deliveryIds) committed.set(id, at)
    })
    await untilSettled(stage, 'deliver')
    const times = [...(await arrivals())].flatMap(([id, at]) => {
      const since = committed.get(id)
      return since === undefined ? [] : [at - since]
    })
    if (times.length !== committed.size) throw new Error(`${times.length} of ${committed.size} deliveries arrived`)
    await resetTables(stage)
    if (round === 0) continue
    p50.push(percentile(times, 50))
    p99.push(percentile(times, 99))
  }
  const rate = EVENTS_PER_SECOND * ENDPOINTS
  return [
    note(
      'deliver, from commit to arrival',
      `p50 ${describe(p50, 'ms')}, p99 ${describe(p99, 'ms')} at ${rate} deliveries/s`,
    ),
  ]
}

/**
 * Beside a transaction that began before the deliveries, as pg_dump's does: until it ends, no version of a row that it could
 * see is removed, and each look for due jobs passes over those of jobs that are done.
 */
async function runSnapshot({ stage, emit }: Delivering, options: Options): Promise<Verdict[]> {
  const events = options.isQuick ? EVENTS_AT_ONCE : EVENTS
  const rate = async (isHeld: boolean): Promise<number> => {
    await stage.pause('deliver')
    for (let emitted = 0; emitted < events; emitted += EVENTS_AT_ONCE) await emit(EVENTS_AT_ONCE)
    const holder = new pg.Client({ connectionString: stage.ownerUrl })
    await holder.connect()
    if (isHeld) await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM jobs LIMIT 1')
    await stage.resume('deliver')
    await untilSettled(stage, 'deliver')
    await holder.end()
    const { rate } = await recordOf(stage)
    await resetTables(stage)
    return rate
  }
  await rate(false)
  const [without, beside] = [await rate(false), await rate(true)]
  const figures = [beside, without].map((one) => `${Math.round(one).toLocaleString('en')} deliveries/s`)
  const count = (events * ENDPOINTS).toLocaleString('en')
  return [note('deliver beside a snapshot', `${count} deliveries at ${figures[0]}, without ${figures[1]}`)]
}

async function runHanging({ stage, addEndpoint, emit }: Delivering, options: Options): Promise<Verdict[]> {
  const hanging = await addEndpoint('/hang')
  const p99 = async (isHanging: boolean): Promise<number> => {
    await setEnabled(stage, hanging, isHanging)
    await steadily(options, () => emit(1))
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
  await setEnabled(stage, hanging, false)
  return [
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
  ]
}

async function steadily(options: Options, step: () => Promise<unknown>): Promise<void> {
  const steps = EVENTS_PER_SECOND * (options.isQuick ? 2 : STEADY_SECONDS)
  for (let count = 0; count < steps; count += 1) await Promise.all([step(), delay(1_000 / EVENTS_PER_SECOND)])
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

/** Processor time by process, in ms, which hardly depends on what else the machine does. */
type Spent = Record<'deliver' | 'dispatch' | 'Postgres and Redis' | 'receivers', number>

function readSpent({ deliver, dispatch, receivers, stage }: Delivering): Spent {
  const of = (...pids: number[]) => processorMsOf(pids) ?? Number.NaN
  return {
    deliver: of(deliver.pid),
    dispatch: of(dispatch.pid),
    'Postgres and Redis': of(...stage.storePids),
    receivers: of(receivers.pid),
  }
}

const NAMES = ['deliver', 'dispatch', 'Postgres and Redis', 'receivers'] as const

function describeSpent(before: Spent, after: Spent, deliveries: number): Spent {
  const each = NAMES.map((name) => [name, (after[name] - before[name]) / deliveries])
  return Object.fromEntries(each) as Spent
}

function summarizeSpent(spent: readonly Spent[]): string {
  const of = (name: keyof Spent) => median(spent.map((one) => one[name]))
  return NAMES.map((name) => `${name} ${of(name).toFixed(3)} ms`).join(', ')
}

/** What the ratio of rates would be if the worker had a processor of its own, as the floor's process nearly has. */
function compareSpent(bareMs: readonly number[], spent: readonly Spent[]): string {
  const [floor, own] = [median(bareMs), median(spent.map(({ deliver }) => deliver))]
  return `${own.toFixed(3)} ms of processor time per delivery, bare ${floor.toFixed(3)} ms; ratio ${(floor / own).toFixed(2)}`
}
