// Submissions without waiting callers: from the first byte to the answer that the rows are safe.

import { createCaptures, renamed } from './captures.ts'
import { compare, judgeLimit, note, type Options, percentile, type Verdict } from './harness.ts'
import { closedLoop, createMeter, openLoop, requestOf } from './load.ts'
import { startProcess } from './processes.ts'
import { openStage } from './stage.ts'

const CONNECTIONS = 32
const MAX_P99_MS = 25

export async function runAccept(options: Options): Promise<Verdict[]> {
  const stage = await openStage({ redis: true })
  const web = await startProcess('workers/web.ts', stage.environment, options)
  const floor = await startProcess(
    'bench/floors/accept.ts',
    { ...stage.environment, ACCOUNT_ID: stage.scope.accountId },
    options,
  )
  try {
    const { take } = await createCaptures({ port: web.port, key: stage.key }, { isSmall: true })
    const [body] = await take(1)
    if (body === undefined) throw new Error('no capture')
    const request = () => [
      requestOf({
        method: 'POST',
        path: '/v1/claims/attest',
        key: stage.key,
        headers: { 'Content-Type': 'application/json', Prefer: 'wait=0' },
        body: Buffer.from(JSON.stringify(renamed(body))),
      }),
    ]
    const seconds = options.isQuick ? 1 : 5
    const load = { connections: CONNECTIONS, seconds, request, status: 202 }
    const rates: number[] = []
    await closedLoop({ ...load, port: web.port })
    const meter = createMeter(load)
    await stage.owner('ANALYZE')
    const verdict = await compare({
      name: 'accept',
      unit: 'submissions/s',
      floor: { label: 'one transaction of the same inserts', run: () => meter.rateOf(floor) },
      ours: {
        label: 'POST /v1/claims/attest',
        run: async () => {
          const rate = await meter.rateOf(web)
          rates.push(rate)
          return rate
        },
      },
      bar: 0.7,
      rounds: options.rounds,
    })

    // Without the warm-up run.
    const half = Math.max(...rates.slice(1)) / 2
    const at = async (port: number) => {
      const { latenciesMs } = await openLoop({ ...load, port, seconds: seconds * 2, ratePerSecond: half })
      return [50, 99].map((p) => percentile(latenciesMs, p))
    }
    const floors: number[][] = []
    const own: number[][] = []
    for (let round = 0; round < options.rounds; round += 1) {
      floors.push(await at(floor.port))
      own.push(await at(web.port))
    }
    const column = (rows: number[][], index: number) => rows.map((row) => row[index] ?? Number.NaN)
    return [
      verdict,
      judgeLimit({
        name: `accept at ${Math.round(half)}/s, half of the most`,
        label: 'p99',
        unit: 'ms',
        values: column(own, 1),
        max: MAX_P99_MS,
        beside: `p50 ${column(own, 0)
          .map((p50) => p50.toFixed(1))
          .join(', ')} ms; the floor's p99 at that rate ${column(floors, 1)
          .map((p99) => p99.toFixed(1))
          .join(', ')} ms`,
      }),
      note('accept', meter.costs(web, floor)),
      note('accept', `${stage.redisUrl === undefined ? 'Postgres' : 'Redis'} engine, no workers: jobs stay queued`),
    ]
  } finally {
    await Promise.all([web.stop(), floor.stop()])
    await stage.close()
  }
}
