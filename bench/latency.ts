// The time of one submission on an otherwise idle system, as its caller sees it.

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Queue } from 'bullmq'
import { createCaptures, renamed } from './captures.ts'
import { judgeLimit, note, type Options, percentile, type Verdict } from './harness.ts'
import { check, openConnection, requestOf } from './load.ts'
import { type Process, startProcess } from './processes.ts'
import { openStage } from './stage.ts'

const SUBMISSIONS = 200
const MAX_P50_MS = 20
const MAX_P99_MS = 60

export async function runLatency(options: Options): Promise<Verdict[]> {
  const stage = await openStage({ redis: true })
  const { redisUrl } = stage
  const started: Process[] = []
  const start = async (file: string) => {
    const one = await startProcess(file, stage.environment, options)
    started.push(one)
    return one
  }
  try {
    if (redisUrl === undefined) return [note('latency', 'not measured: there is no redis-server here')]
    const web = await start('workers/web.ts')
    for (const file of ['workers/dispatch.ts', 'workers/attest.ts', 'workers/deliver.ts', 'workers/clock.ts'])
      await start(file)
    const floor = await start('bench/floors/latency.ts')
    const { take } = await createCaptures({ port: web.port, key: stage.key })
    const [capture] = await take(1)
    if (capture === undefined) throw new Error('no capture')
    const count = options.isQuick ? 10 : SUBMISSIONS

    const connection = await openConnection(web.port)
    const submit = async (): Promise<number> => {
      const body = Buffer.from(JSON.stringify(renamed(capture)))
      const headers = { 'Content-Type': 'application/json', Prefer: 'wait=10' }
      const request = requestOf({ method: 'POST', path: '/v1/claims/attest', key: stage.key, headers, body })
      const startedAt = performance.now()
      check(await connection.send([request]), 200)
      return performance.now() - startedAt
    }
    const queue = new Queue('bare', { connection: { url: redisUrl } })
    const addBare = async (): Promise<number> => {
      const id = randomUUID()
      const startedAt = process.hrtime.bigint()
      await queue.add('noop', { id }, { removeOnComplete: true })
      for (;;) {
        const arrival = await floor.ask<string | null>({ id })
        if (arrival !== null) return Number(BigInt(arrival) - startedAt) / 1e6
        await delay(1)
      }
    }
    const series = async (one: () => Promise<number>): Promise<number[]> => {
      const times: number[] = []
      for (let done = 0; done < count; done += 1) {
        times.push(await one())
        // Out of step with every poll interval.
        await delay(20 + Math.random() * 100)
      }
      return [50, 99].map((p) => percentile(times, p))
    }
    await series(submit)
    const floors: number[][] = []
    const own: number[][] = []
    for (let round = 0; round < options.rounds; round += 1) {
      floors.push(await series(addBare))
      own.push(await series(submit))
    }
    connection.close()
    await queue.close()
    const column = (rows: number[][], index: number) => rows.map((row) => row[index] ?? Number.NaN)
    const beside = (index: number) =>
      `BullMQ, add to handler ${column(floors, index)
        .map((time) => time.toFixed(1))
        .join(', ')} ms`
    const limit = (label: string, index: number, max: number) =>
      judgeLimit({ name: 'latency', label, unit: 'ms', values: column(own, index), max, beside: beside(index) })
    return [limit('submit to settled, p50', 0, MAX_P50_MS), limit('submit to settled, p99', 1, MAX_P99_MS)]
  } finally {
    await Promise.all(started.map((one) => one.stop()))
    await stage.close()
  }
}
