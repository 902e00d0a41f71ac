// The same work with a growing backlog: waiting jobs must cost neither time nor memory of the engine.

import { Redis } from 'ioredis'
import { createEngine } from '#src/platform/jobs/bull.ts'
import { judgeLimit, judgeRatio, median, note, type Options, print, type Verdict } from './harness.ts'
import { drain } from './noop.ts'
import { openStage, type Stage } from './stage.ts'

const JOBS = 3_000
const CONCURRENCY = 50
const DEPTHS = [10_000, 100_000, 1_000_000]
const LANES = 10
const MIN_RATIO = 0.9
const MAX_GROWTH_MB = 2

export async function runBacklogDepth(options: Options): Promise<Verdict[]> {
  const stage = await openStage({ poolSize: 8, redis: true })
  const { redisUrl } = stage
  const engine = createEngine(redisUrl === undefined ? { databaseUrl: stage.url } : { redisUrl, prefix: 'bench' })
  try {
    const lanes = [stage.scope, ...(await Promise.all(Array.from({ length: LANES - 1 }, () => stage.addAccount())))]
    const accounts = lanes.map(({ accountId }) => accountId)
    const depths = options.isQuick ? DEPTHS.map((depth) => depth / 100) : DEPTHS
    const jobs = options.isQuick ? JOBS / 10 : JOBS
    const rates = depths.map((): number[] => [])
    const memory = depths.map((): number[] => [])
    const fresh: number[] = []
    // The first round warms up, on a table without statistics.
    for (let round = -1; round < options.rounds; round += 1) {
      for (const [index, depth] of depths.entries()) {
        await fill(stage, accounts, depth + jobs)
        if (round >= 0) await stage.owner('VACUUM ANALYZE jobs')
        const peak = watchMemory(redisUrl)
        const rate = await drain(stage, engine, { count: jobs, concurrency: CONCURRENCY })
        const peakMb = await peak()
        print(
          `  round ${round + 1}, ${depth.toLocaleString('en')} waiting: ${Math.round(rate)} jobs/s, Redis ${peakMb.toFixed(1)} MB`,
        )
        if (round < 0) fresh.push(rate)
        else {
          rates[index]?.push(rate)
          memory[index]?.push(peakMb)
        }
      }
      await stage.owner('TRUNCATE jobs')
    }
    const [base = [], ...deeper] = rates
    const [smallest = [], ...larger] = memory
    const named = (index: number) => (depths[index + 1] ?? 0).toLocaleString('en')
    return [
      ...deeper.map((own, index) =>
        judgeRatio({
          name: `backlog-depth, ${named(index)}`,
          unit: 'jobs/s',
          floor: { label: `with ${depths[0]?.toLocaleString('en')} waiting` },
          ours: { label: `with ${named(index)}` },
          floors: base,
          own,
          bar: MIN_RATIO,
        }),
      ),
      ...(redisUrl === undefined
        ? [note('backlog-depth, memory', 'not measured: there is no redis-server here')]
        : larger.map((values, index) =>
            judgeLimit({
              name: `backlog-depth, memory with ${named(index)}`,
              label: 'peak of Redis above that with the fewest',
              unit: 'MB',
              values: values.map((value, round) => value - (smallest[round] ?? Number.NaN)),
              max: MAX_GROWTH_MB,
              beside: `median with the fewest ${median(smallest).toFixed(1)} MB`,
            }),
          )),
      note('backlog-depth', `without statistics: ${fresh.map((rate) => Math.round(rate)).join(', ')} jobs/s`),
    ]
  } finally {
    await engine.close()
    await stage.close()
  }
}

/** Adds jobs until `count` wait, to each lane in turn. */
async function fill(stage: Stage, accounts: string[], count: number): Promise<void> {
  await stage.owner(
    `INSERT INTO jobs (id, queue, lane, priority, account_id, environment, payload)
     SELECT gen_random_uuid(), 'attest', account, 1, account, 'sandbox', '{"attestationId": "bench"}'
     FROM (SELECT ($1::text[])[1 + n % array_length($1, 1)] AS account
       FROM generate_series(1, $2 - (SELECT count(*)::int FROM jobs WHERE state = 'queued')) n) waiting`,
    [accounts, count],
  )
}

/** The most memory that Redis used until the function is called, in MB. */
function watchMemory(url: string | undefined): () => Promise<number> {
  if (url === undefined) return async () => Number.NaN
  const redis = new Redis(url)
  let peak = 0
  const sample = async () => {
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
    peak = Math.max(peak, used / 2 ** 20)
  }
  const timer = setInterval(() => void sample(), 100)
  return async () => {
    clearInterval(timer)
    await sample()
    redis.disconnect()
    return peak
  }
}
