// What `npm start` takes until it is ready, and what it holds then: processes, and their memory, where what several share
// counts once (PSS of /proc/<pid>/smaps_rollup). Read from /proc, so on Linux only.

import { chmodSync, mkdirSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { judgeLimit, note, type Options, type Verdict } from './harness.ts'
import { processesOf, spawnStart, stop, untilReady } from './npm-start.ts'
import { readProc } from './processor-time.ts'

// No floors: nothing else starts it.
const MAX_COLD_SECONDS = 60
const MAX_WARM_SECONDS = 5
const MAX_MEGABYTES = 700

export async function runStart({ rounds }: Options): Promise<Verdict[]> {
  if (process.platform !== 'linux') return [note('start', 'not measured: only Linux tells')]
  const directory = mkdtempSync(join(tmpdir(), 'countersign-start-'))
  // When started by root, Postgres runs as another user, which must be able to enter the folder.
  chmodSync(directory, 0o711)
  try {
    const compileCache = join(directory, 'compiled')
    mkdirSync(compileCache)
    const data = join(directory, 'data')
    // New data and nothing compiled, as after a clone; later starts find both.
    const cold = await measureStart(data, compileCache)
    const warm: Started[] = []
    for (let round = 0; round < rounds; round += 1) warm.push(await measureStart(data, compileCache))
    const seconds = warm.map((one) => one.seconds)
    return [
      judgeLimit({ name: 'start', label: 'the first', unit: 's', values: [cold.seconds], max: MAX_COLD_SECONDS }),
      judgeLimit({ name: 'start', label: 'a later one', unit: 's', values: seconds, max: MAX_WARM_SECONDS }),
      judgeLimit({
        name: 'start',
        label: 'memory when ready',
        unit: 'MB',
        values: warm.map(({ megabytes }) => megabytes),
        max: MAX_MEGABYTES,
        beside: warm[0]?.parts ?? '',
      }),
      note(
        'start',
        `start: ${warm.map(({ processes }) => processes).join(', ')} processes, those of Postgres included`,
      ),
    ]
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
  }
}

interface Started {
  seconds: number
  processes: number
  megabytes: number
  /** Megabytes and processes by program. */
  parts: string
}

async function measureStart(data: string, compileCache: string): Promise<Started> {
  const since = performance.now()
  const child = spawnStart(data, { compileCache })
  try {
    await untilReady(child)
    const seconds = (performance.now() - since) / 1_000
    const pids = processesOf(child, data)
    const byProgram = new Map<string, number[]>()
    for (const pid of pids) {
      const megabytes = Number(/^Pss:\s+(\d+) kB$/m.exec(readProc(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1_024
      const program = basename(readLink(`/proc/${pid}/exe`))
      byProgram.set(program, [...(byProgram.get(program) ?? []), megabytes])
    }
    const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
    const parts = [...byProgram].map(
      ([program, values]) => `${values.length} ${program} ${Math.round(total(values))} MB`,
    )
    return {
      seconds,
      processes: pids.length,
      megabytes: total([...byProgram.values()].flat()),
      parts: parts.join(', '),
    }
  } finally {
    await stop(child)
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return 'ended'
  }
}
