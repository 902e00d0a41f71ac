// Claims settled by worker processes, from the first that begins to the last that ends. Photos are in the store, and
// submissions wait in the backlog before the clock starts.

import { createCaptures, renamed } from './captures.ts'
import { judgeRatio, median, note, type Options, type Verdict } from './harness.ts'
import { type Process, processorMs, startProcess } from './processes.ts'
import { openStage, type Stage } from './stage.ts'
import { untilSettled } from './wait.ts'

const CLAIMS = 1_000
const PHOTOS = 20
const MIN_SCALING = 1.3

export async function runAttest(options: Options): Promise<Verdict[]> {
  const stage = await openStage({ redis: true })
  const start = (file: string, more: Record<string, string> = {}) =>
    startProcess(file, { ...stage.environment, ...more }, options)
  const web = await start('workers/web.ts')
  const dispatch = await start('workers/dispatch.ts')
  const started: Process[] = [web, dispatch]
  try {
    const { client, take, rootDer } = await createCaptures({ port: web.port, key: stage.key })
    const floor = await start('bench/floors/attest.ts', {
      ACCOUNT_ID: stage.scope.accountId,
      ROOT: rootDer.toString('base64'),
    })
    started.push(floor)
    await stage.pause('attest')
    const captures = await take(options.isQuick ? 4 : PHOTOS)
    const spent: number[] = []
    const floorSpent: number[] = []
    const count = options.isQuick ? 100 : CLAIMS
    const submit = async () => {
      const lines = Array.from({ length: count }, (_, index) => captures[index % captures.length])
      await client.submitBatch(lines.flatMap((capture) => (capture === undefined ? [] : [renamed(capture)])))
    }
    const floorRate = async () => {
      await submit()
      const before = processorOf([floor])
      const rate = await floor.ask<number>({})
      floorSpent.push((processorOf([floor]) - before) / count)
      return rate
    }
    // The queue is paused while nobody measures us: what the floor settles must not be dispatched.
    const settleOnce = async () => {
      const since = await nowOf(stage)
      await submit()
      await stage.resume('attest')
      await untilSettled(stage)
      await stage.pause('attest')
      return rateSince(stage, since)
    }
    const ours = async (processes: number) => {
      const workers = await Promise.all(Array.from({ length: processes }, () => start('workers/attest.ts')))
      try {
        // A floor that has run before is compared with workers that have: what compiles does so once.
        await settleOnce()
        const before = processorOf(workers)
        const rate = await settleOnce()
        if (processes === 1) spent.push((processorOf(workers) - before) / count)
        return rate
      } finally {
        await Promise.all(workers.map((worker) => worker.stop()))
      }
    }

    const floors: number[] = []
    const one: number[] = []
    const two: number[] = []
    for (let round = -1; round < options.rounds; round += 1) {
      const measured = [await floorRate(), await ours(1), await ours(2)] as const
      if (round < 0) await stage.owner('VACUUM ANALYZE')
      else for (const [index, rates] of [floors, one, two].entries()) rates.push(measured[index] ?? Number.NaN)
    }
    const unit = 'claims/s'
    return [
      judgeRatio({
        name: 'attest, one process',
        unit,
        floor: { label: 'verifying and settling, nothing else' },
        ours: { label: 'one attest worker' },
        floors,
        own: one,
        bar: 0.8,
      }),
      judgeRatio({
        name: 'attest, two processes',
        unit,
        floor: { label: 'one attest worker' },
        ours: { label: 'two attest workers' },
        floors: one,
        own: two,
        bar: MIN_SCALING,
      }),
      note('attest: processor time of the process per claim', `ours ${ms(spent)}, floor ${ms(floorSpent)}`),
      note('attest', `${stage.redisUrl === undefined ? 'Postgres' : 'Redis'} engine; web and dispatch beside them`),
    ]
  } finally {
    await Promise.all(started.map((one) => one.stop()))
    await stage.close()
  }
}

function processorOf(processes: readonly Process[]): number {
  return processes.reduce((sum, { pid }) => sum + (processorMs(pid) ?? Number.NaN), 0)
}

// The first one is the warm-up's.
function ms(values: readonly number[]): string {
  return `${median(values.slice(1)).toFixed(2)} ms`
}

async function nowOf(stage: Stage): Promise<Date> {
  const [row] = await stage.owner<{ now: Date }>('SELECT clock_timestamp() AS now')
  return row?.now ?? new Date()
}

async function rateSince(stage: Stage, since: Date): Promise<number> {
  const [row] = await stage.owner<{ rate: number; wrong: number }>(
    `SELECT (count(*) / extract(epoch FROM max(j.settled_at) - min(j.started_at)))::float8 AS rate,
       count(*) FILTER (WHERE a.provenance_status IS DISTINCT FROM 'verified')::int AS wrong
     FROM jobs j JOIN attestations a ON a.job_id = j.id WHERE j.created_at >= $1`,
    [since],
  )
  if (row === undefined || row.wrong > 0) throw new Error(`${row?.wrong} honest captures were not verified`)
  return row.rate
}
