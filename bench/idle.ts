// What an idle deployment costs: processor time and wake-ups of every process that `npm start` starts, including the
// embedded Postgres. Read from /proc, so on Linux only.

import { chmodSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, judgeLimit, note, type Options, type Verdict } from './harness.ts'
import { processesOf, spawnStart, stop, untilReady } from './npm-start.ts'
import { readProc, threadsOf } from './processor-time.ts'
import { startRedis } from './redis.ts'

// No floors: doing nothing costs nothing.
const MAX_PERCENT = 2
const MAX_WAKEUPS = 150
// V8 collects garbage twice in a process that has nothing to do: for a tenth of a second each, the second time 215 to 285 s
// after its start, and not again while nothing happens.
const SETTLE_MS = 300_000
// The measurement covers the periods of 1, 2.5, 5, 10 and 30 s.
const MEASURE_MS = 30_000

export async function runIdle(options: Options): Promise<Verdict[]> {
  if (process.platform !== 'linux') return [note('idle', 'not measured: only Linux tells')]
  const verdicts: Verdict[] = []
  for (const engine of ['postgres', 'redis'] as const) {
    if (options.part !== undefined && options.part !== engine) continue
    verdicts.push(...(await measureEngine(engine, options)))
  }
  return verdicts
}

async function measureEngine(engine: 'postgres' | 'redis', { isQuick, rounds }: Options): Promise<Verdict[]> {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-idle-'))
  // When started by root, Postgres runs as another user, which must be able to enter the folder.
  chmodSync(directory, 0o711)
  const redis = engine === 'redis' ? await startRedis(directory) : undefined
  if (engine === 'redis' && redis === undefined) return [note('idle, redis', 'not measured: no redis-server')]
  const child = spawnStart(join(directory, 'data'), { redisUrl: redis?.url })
  try {
    await untilReady(child)
    await delay(isQuick ? 1_000 : SETTLE_MS)
    const measured: Record<'all' | 'node' | 'postgres', Cost[]> = { all: [], node: [], postgres: [] }
    for (let round = 0; round < rounds; round += 1) {
      const pids = processesOf(child, join(directory, 'data'))
      const before = pids.map(costOf)
      const startedAt = performance.now()
      await delay(isQuick ? 1_000 : MEASURE_MS)
      const seconds = (performance.now() - startedAt) / 1_000
      const costs = pids.map((pid, index) => ({
        program: programOf(pid),
        ...rateOf(before[index], costOf(pid), seconds),
      }))
      measured.all.push(sum(costs))
      for (const name of ['node', 'postgres'] as const) {
        measured[name].push(sum(costs.filter(({ program }) => program === name)))
      }
    }
    const beside = (unit: string, pick: (cost: Cost) => number) =>
      (['node', 'postgres'] as const).map((name) => `${name} ${describe(measured[name].map(pick), unit)}`).join(', ')
    const percent = (cost: Cost) => cost.busyNs / 1e7
    const wakeups = (cost: Cost) => cost.wakeups
    return [
      judgeLimit({
        name: `idle, queues on ${engine}`,
        label: 'all processes',
        unit: '% of a core',
        values: measured.all.map(percent),
        max: MAX_PERCENT,
        beside: beside('%', percent),
      }),
      judgeLimit({
        name: `idle, queues on ${engine}`,
        label: 'wake-ups of all processes',
        unit: '/s',
        values: measured.all.map(wakeups),
        max: MAX_WAKEUPS,
        beside: beside('/s', wakeups),
      }),
    ]
  } finally {
    await stop(child)
    redis?.stop()
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Totals since the process began; as a rate, per second. */
interface Cost {
  busyNs: number
  wakeups: number
}

// Threads too: those of the garbage collector and the thread pool also wake up.
function costOf(pid: number): Cost {
  return sum(
    threadsOf(pid).map((thread) => ({
      busyNs: Number(readProc(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]),
      wakeups: Number(
        /^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readProc(`/proc/${pid}/task/${thread}/status`))?.[1] ?? 0,
      ),
    })),
  )
}

function rateOf(before: Cost | undefined, after: Cost, seconds: number): Cost {
  // A process that ended meanwhile no longer counts.
  const rate = (key: keyof Cost) => Math.max(0, after[key] - (before?.[key] ?? 0)) / seconds
  return { busyNs: rate('busyNs'), wakeups: rate('wakeups') }
}

function sum(costs: readonly Cost[]): Cost {
  return costs.reduce((all, one) => ({ busyNs: all.busyNs + one.busyNs, wakeups: all.wakeups + one.wakeups }), {
    busyNs: 0,
    wakeups: 0,
  })
}

function programOf(pid: number): string {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`))
  } catch {
    return ''
  }
}
