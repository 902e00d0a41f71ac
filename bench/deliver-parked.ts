// A million deliveries whose endpoint is parked: what they cost those of other endpoints.

import { readFileSync } from 'node:fs'
import { openCircuit } from '#src/account/webhooks/circuit-rows.ts'
import { type Delivering, resetTables, untilDrained } from './delivering.ts'
import { judgeLimit, judgeRatio, median, type Options, print, type Verdict } from './harness.ts'

const PARKED = 1_000_000
const EVENTS = 240
const EVENTS_AT_ONCE = 20
const HOUR_MS = 3_600_000
const MIN_RATIO = 0.9
const MAX_GROWTH_MB = 30

export async function runParked(on: Delivering, options: Options): Promise<Verdict[]> {
  const { stage } = on
  const parked = await on.addEndpoint('/parked')
  const count = options.isQuick ? PARKED / 1_000 : PARKED
  const rates: { alone: number[]; beside: number[] } = { alone: [], beside: [] }
  const memory: { alone: number[]; beside: number[] } = { alone: [], beside: [] }
  await stage.db.tenant(stage.scope, (tx) => openCircuit(tx, stage.scope, parked, HOUR_MS))
  // The first round warms up.
  for (let round = 0; round <= options.rounds; round += 1) {
    for (const kind of ['alone', 'beside'] as const) {
      await stage.pause('deliver')
      if (kind === 'beside') await park(on, parked, count)
      await settleTables(on)
      const rate = await measure(on, parked, options)
      const residentMb = residentOf(on.dispatch.pid) + residentOf(on.deliver.pid)
      print(`  round ${round}, ${kind}: ${Math.round(rate)} deliveries/s, ${residentMb.toFixed(0)} MB`)
      if (round > 0) {
        rates[kind].push(rate)
        memory[kind].push(residentMb)
      }
      await requireParked(on, parked, kind === 'beside' ? count : 0)
      await resetTables(stage)
    }
  }
  const what = `${count.toLocaleString('en')} parked`
  return [
    judgeRatio({
      name: `deliver beside ${what}`,
      unit: 'deliveries/s',
      floor: { label: 'with none parked' },
      ours: { label: `to the other endpoints with ${what}` },
      floors: rates.alone,
      own: rates.beside,
      bar: MIN_RATIO,
    }),
    judgeLimit({
      name: `deliver beside ${what}, memory`,
      label: 'dispatch and deliver together above that with none parked',
      unit: 'MB',
      values: memory.beside.map((mb, round) => mb - (memory.alone[round] ?? Number.NaN)),
      max: MAX_GROWTH_MB,
      beside: `median with none ${median(memory.alone).toFixed(0)} MB`,
    }),
  ]
}

async function measure({ stage, emit }: Delivering, parked: string, options: Options): Promise<number> {
  const events = options.isQuick ? EVENTS_AT_ONCE : EVENTS
  // Events for the others alone: what the parked endpoint would get waits already.
  await stage.owner(`UPDATE webhook_endpoints SET event_types = '{intent.revoked}' WHERE id = $1`, [parked])
  for (let emitted = 0; emitted < events; emitted += EVENTS_AT_ONCE) await emit(EVENTS_AT_ONCE)
  await stage.resume('deliver')
  await untilDrained(stage, parked)
  const [row] = await stage.owner<{ rate: number }>(
    `SELECT (count(*) / extract(epoch FROM max(finished_at) - min(started_at)))::float8 AS rate FROM delivery_attempts`,
  )
  return row?.rate ?? Number.NaN
}

/** Deliveries and their due jobs, as the endpoint would have them after days. */
async function park({ stage }: Delivering, endpointId: string, count: number): Promise<void> {
  await stage.owner(
    `WITH made AS (
       SELECT n, uuidv7() AS job_id, 'whd_test_' || lpad(n::text, 26, '0') AS id FROM generate_series(1, $4::int) n
     ), jobs_made AS (
       INSERT INTO jobs (id, queue, lane, priority, account_id, environment, payload)
       SELECT job_id, 'deliver', $3, 0, $1, $2, jsonb_build_object('deliveryId', id) FROM made
     )
     INSERT INTO deliveries (account_id, environment, id, endpoint_id, event_id, event_type, job_id, next_attempt_at)
     SELECT $1, $2, id, $3, 'evt_test_' || lpad(n::text, 26, '0'), 'attestation.created', job_id, now() FROM made`,
    [stage.scope.accountId, stage.scope.environment, endpointId, count],
  )
}

// Rows that were written a moment ago are read and written once more by the statements that come first.
async function settleTables({ stage }: Delivering): Promise<void> {
  await stage.owner('VACUUM jobs, deliveries')
  await stage.owner('CHECKPOINT')
}

async function requireParked({ stage }: Delivering, endpointId: string, count: number): Promise<void> {
  const [row] = await stage.owner<{ waiting: number; touched: number }>(
    `SELECT count(*) FILTER (WHERE state = 'queued' AND attempts = 0)::int AS waiting,
       count(*) FILTER (WHERE dispatches > 0)::int AS touched FROM jobs WHERE queue = 'deliver' AND lane = $1`,
    [endpointId],
  )
  if (row?.waiting !== count || row.touched !== 0) {
    throw new Error(`${row?.waiting} of ${count} deliveries wait, and ${row?.touched} were dispatched`)
  }
}

function residentOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1_024
}
