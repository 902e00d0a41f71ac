// Shared by benchmarks of the attest queue: web, dispatch, a floor in its own process, submissions that wait in the
// backlog before the clock starts, and workers that are warm before it starts.

import { setTimeout as delay } from 'node:timers/promises'
import type { AttestBody } from '../capture-kit/device.ts'
import { type Captures, createCaptures } from './captures.ts'
import type { Options } from './harness.ts'
import { type Process, processorMs, startProcess } from './processes.ts'
import { processorMsOf } from './processor-time.ts'
import type { Stage } from './stage.ts'
import { untilSettled } from './wait.ts'

export interface Settling extends Captures {
  /** Claims per second of the floor, and the processor time of a claim. */
  floor(kind: FloorKind, lines: readonly AttestBody[]): Promise<Settled>
  /** The same for fresh workers: they settle all of the first lines as a warm-up before the measured ones. */
  ours(processes: number, warmUp: readonly AttestBody[], lines: readonly AttestBody[]): Promise<Settled>
  /** Starts workers, lets `work` use them, and stops them. */
  withWorkers<R>(processes: number, work: (workers: readonly Process[]) => Promise<R>): Promise<R>
  /** Resumes the queue until no job waits. */
  settle(lines: readonly AttestBody[]): Promise<number>
  close(): Promise<void>
}

/** What a floor reads of a capture besides the work that it does for all. */
export type FloorKind = 'photo' | 'c2pa' | 'video'

export interface Settled {
  rate: number
  /** Processor time per claim of the processes that evaluate it. */
  processorMs: number
  /** The same with Postgres and, of ours, with Redis and the service's other processes. */
  allProcessorMs: number
}

// The service accepts 10,000 at most.
const LINES_PER_BATCH = 5_000

export async function openSettling(stage: Stage, options: Options): Promise<Settling> {
  const start = (file: string, more: Record<string, string> = {}) =>
    startProcess(file, { ...stage.environment, ...more }, options)
  const web = await start('workers/web.ts')
  const dispatch = await start('workers/dispatch.ts')
  const started: Process[] = [web, dispatch]
  const captures = await createCaptures({ port: web.port, key: stage.key })
  const floor = await start('bench/floors/attest.ts', {
    ACCOUNT_ID: stage.scope.accountId,
    ROOT: captures.rootDer.toString('base64'),
  })
  started.push(floor)
  await stage.pause('attest')

  async function submit(lines: readonly AttestBody[]): Promise<void> {
    for (let sent = 0; sent < lines.length; sent += LINES_PER_BATCH) {
      const { rejected } = await captures.client.submitBatch(lines.slice(sent, sent + LINES_PER_BATCH))
      const [first] = rejected
      if (first !== undefined) throw new Error(`a capture was refused: ${JSON.stringify(first)}`)
    }
  }

  // The queue is paused while ours is not measured: submissions for the floor must not be dispatched.
  async function settle(lines: readonly AttestBody[]): Promise<number> {
    return (await measure([], lines)).rate
  }

  // Accepting the submissions is no part of it.
  async function measure(workers: readonly Process[], lines: readonly AttestBody[]): Promise<Settled> {
    const [row] = await stage.owner<{ now: Date }>('SELECT clock_timestamp() AS now')
    await submit(lines)
    const spent = meter(workers, [web, dispatch, ...workers], lines.length)
    await stage.resume('attest')
    await untilSettled(stage)
    const processor = spent()
    await stage.pause('attest')
    return { rate: await rateSince(stage, row?.now ?? new Date()), ...processor }
  }

  function meter(own: readonly Process[], all: readonly Process[], claims: number) {
    const read = () => [
      processorOf(own),
      processorMsOf([...stage.storePids, ...all.map(({ pid }) => pid)]) ?? Number.NaN,
    ]
    const before = read()
    return () => {
      const [processorMs = 0, allProcessorMs = 0] = read().map(
        (after, index) => (after - (before[index] ?? 0)) / claims,
      )
      return { processorMs, allProcessorMs }
    }
  }

  async function withWorkers<R>(processes: number, work: (workers: readonly Process[]) => Promise<R>): Promise<R> {
    const workers = await Promise.all(Array.from({ length: processes }, () => start('workers/attest.ts')))
    try {
      return await work(workers)
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()))
      // Until dispatchers no longer count them.
      await delay(50)
    }
  }

  return {
    ...captures,
    settle,
    withWorkers,
    async floor(kind, lines) {
      await submit(lines)
      await floor.ask({ load: true })
      const spent = meter([floor], [floor], lines.length)
      const rate = await floor.ask<number>({ kind })
      return { rate, ...spent() }
    },
    ours: (processes, warmUp, lines) =>
      withWorkers(processes, async (workers) => {
        // A warm floor is compared with warm workers: code is compiled only once.
        await settle(warmUp)
        return measure(workers, lines)
      }),
    async close() {
      await Promise.all(started.map((one) => one.stop()))
    },
  }
}

function processorOf(processes: readonly Process[]): number {
  return processes.reduce((sum, { pid }) => sum + (processorMs(pid) ?? Number.NaN), 0)
}

async function rateSince(stage: Stage, since: Date): Promise<number> {
  const [row] = await stage.owner<{ rate: number; wrong: number }>(
    `SELECT (count(*) / extract(epoch FROM max(j.settled_at) - min(j.started_at)))::float8 AS rate,
       count(*) FILTER (WHERE a.provenance_status IS DISTINCT FROM 'verified' AND a.external_id NOT LIKE 'hostile%')::int AS wrong
     FROM jobs j CROSS JOIN LATERAL (
       SELECT * FROM attestations WHERE account_id = j.account_id AND environment = j.environment
         AND id = j.payload ->> 'attestationId' LIMIT 1) AS a
     WHERE j.created_at >= $1`,
    [since],
  )
  if (row === undefined || row.wrong > 0) throw new Error(`${row?.wrong} honest captures were not verified`)
  return row.rate
}
