// What every part of the benchmark `deliver` needs: a worker, receivers, and endpoints whose limits are counted.

import { setTimeout as delay } from 'node:timers/promises'
import { type Emitted, emitMany, type NewEvent } from '#src/account/webhooks/emit.ts'
import type { Options } from './harness.ts'
import { once, requestOf } from './load.ts'
import { type Process, startProcess } from './processes.ts'
import { openStage, type Stage } from './stage.ts'
import { until } from './wait.ts'

export const ENDPOINTS = 50

export type Delivering = Awaited<ReturnType<typeof openDelivering>>

export async function openDelivering(options: Options) {
  const stage = await openStage({ redis: true })
  const started: Process[] = []
  const start = async (file: string) => {
    const one = await startProcess(file, { ...stage.environment, FLOOR_DATABASE_URL: stage.ownerUrl }, options)
    started.push(one)
    return one
  }
  const close = async () => {
    await Promise.all(started.map((one) => one.stop()))
    await stage.close()
  }
  try {
    await stage.owner(
      `CREATE TABLE floor_deliveries (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event_id text NOT NULL,
         status integer NOT NULL, duration_ms integer NOT NULL, finished_at timestamptz NOT NULL DEFAULT now())`,
    )
    const web = await start('workers/web.ts')
    const dispatch = await start('workers/dispatch.ts')
    const deliver = await start('workers/deliver.ts')
    const floor = await start('bench/floors/deliver.ts')
    const receivers = await start('bench/floors/receivers.ts')
    const base = `http://127.0.0.1:${receivers.port}`
    /** With limits that dispatch counts, and that are never reached. */
    const addEndpoint = async (path: string): Promise<string> => {
      const settings = { event_types: ['*'], max_per_second: 1_000, max_concurrency: 31 }
      const body = Buffer.from(JSON.stringify({ url: `${base}${path}`, ...settings }))
      const headers = { 'Content-Type': 'application/json' }
      const request = requestOf({ method: 'POST', path: '/v1/webhook-endpoints', key: stage.key, headers, body })
      return JSON.parse((await once(web.port, [request], 200)).toString()).webhook_endpoint_id
    }
    for (let index = 0; index < ENDPOINTS; index += 1) await addEndpoint(`/${index}`)
    return {
      stage,
      base,
      floor,
      dispatch,
      deliver,
      receivers,
      addEndpoint,
      emit: (count: number) => emit(stage, count),
      /** Unix milliseconds at which each delivery arrived since the last call, by its id. */
      async arrivals(): Promise<Map<string, number>> {
        const answer = await fetch(`${base}/arrivals`)
        return new Map((await answer.json()) as [string, number][])
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

// 1 kB with the members that every event has besides its data.
export function eventOf(): NewEvent {
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

function emit({ db, scope }: Stage, count: number): Promise<Emitted[]> {
  return db.tenant(scope, (tx) => emitMany(tx, scope, Array.from({ length: count }, eventOf)))
}

/** Enables one endpoint, or disables it as its owner would. */
export async function setEnabled(stage: Stage, endpointId: string, isEnabled: boolean): Promise<void> {
  await stage.owner('UPDATE webhook_endpoints SET status = $2, disabled_reason = NULL WHERE id = $1', [
    endpointId,
    isEnabled ? 'enabled' : 'disabled',
  ])
}

/** Until every delivery is delivered but those to one endpoint. Returns from written to delivered, in ms. */
export async function untilDelivered(stage: Stage, except: string): Promise<number[]> {
  for (;;) {
    const rows = await stage.owner<{ ms: number | null }>(
      `SELECT (extract(epoch FROM delivered_at - created_at) * 1000)::float8 AS ms FROM deliveries WHERE endpoint_id <> $1`,
      [except],
    )
    const times = rows.flatMap(({ ms }) => ms ?? [])
    if (times.length === rows.length) return times
    await delay(100)
  }
}

/** Until no job but those of one lane is open. */
export async function untilDrained(stage: Stage, except: string): Promise<void> {
  await until(async () => {
    // Two ranges of an index on each side of the lane, which may hold a million: `<>` would read all of them.
    const open = await stage.owner(
      ['<', '>']
        .flatMap((side) =>
          [`state = 'queued'`, `state = 'dispatched'`].map(
            (state) =>
              `(SELECT FROM jobs WHERE queue = 'deliver' AND lane ${side} $1 AND ${state} ORDER BY lane LIMIT 1)`,
          ),
        )
        .join(' UNION ALL '),
      [except],
    )
    return open.length === 0
  })
}

export async function untilIdle(stage: Stage): Promise<void> {
  for (;;) {
    // A delivery that hung is queued again, for later.
    const open = await stage.owner(`SELECT FROM jobs WHERE queue = 'deliver' AND state = 'dispatched' LIMIT 1`)
    if (open.length === 0) return
    await delay(250)
  }
}

/** Each run begins with the same tables, and with a planner without statistics, as on the first day. */
export async function resetTables(stage: Stage): Promise<void> {
  await stage.owner('TRUNCATE delivery_attempts, deliveries, events, jobs')
}
