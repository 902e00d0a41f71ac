// Hostile inputs for every parser of bytes from outside: 40 each here, 4 to 10 more that begin as real files, the number in
// HOSTILE in the large form (docs/assurance/hostile.md).

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attestParsers } from '../../hostile/attest-parsers.ts'
import { type Memory, type Nursery, startNursery } from '../../hostile/child-driver.ts'
import { costlyWebParsers } from '../../hostile/costly-web-parsers.ts'
import { intentParsers } from '../../hostile/intent-parsers.ts'
import { describeFailures, note, type Parser, type Report, runCase } from '../../hostile/parser.ts'
import { diceOf } from '../../hostile/random.ts'
import { traceParsers } from '../../hostile/trace-parsers.ts'
import { createWeb } from '../../hostile/web.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

const isLarge = process.env.HOSTILE !== undefined
const count = Number(process.env.HOSTILE ?? 40)
const seed = Number(process.env.HOSTILE_SEED ?? 1)
const from = Number(process.env.HOSTILE_FROM ?? 0)
const only = process.env.HOSTILE_ONLY
const reports = process.env.HOSTILE_REPORTS
// A real photo takes ten times as long to decode as a made one, by the same parser, so a tenth of the cases. JSON bodies
// of all routes pass the same parser first.
function countOf(name: string): number {
  if (isLarge) return count
  if (/^image: .*real files$/.test(name)) return count / 10
  return /real files$|\/v1\//.test(name) ? count / 4 : count
}
const isWanted = (name: string) => only === undefined || name.includes(only)
const timeout = 60_000 + count * 200
const MEGABYTE = 1024 * 1024
// Memory that may remain after thousands of cases: full caches, the heap that V8 keeps for the next, and where
// pictures are decoded what the allocator keeps of the largest one, 64 megapixels in RGBA.
const MAX_GROWTH = { thread: 192 * MEGABYTE, wall: 384 * MEGABYTE }
// Concurrent requests, as many as two cores can serve.
const AT_ONCE = 4
const LOOK_EVERY = 50
const MAX_FAILURES = 20

describe(`hostile inputs, seed ${seed}, ${count} each`, () => {
  describe('sent directly to the parser', () => {
    let nursery: Nursery
    beforeAll(async () => {
      nursery = await startNursery()
    })
    afterAll(() => nursery.close())

    it('are refused with a known code or accepted as valid, in time, and leave nothing behind', {
      timeout: timeout * 30,
    }, async () => {
      const wrong: string[] = []
      for (const { name, source, limit } of nursery.names.filter((one) => isWanted(one.name))) {
        // In the large form a process each: memory left by one must not count for the next.
        if (isLarge) {
          nursery.close()
          nursery = await startNursery()
        }
        const { report, memory } = await nursery.run({ name, seed, from, count: countOf(name) })
        tell(report, memory, { source, limit })
        wrong.push(...describeFailures(report, seed))
        if (isLarge && memory.growth > MAX_GROWTH[limit.kind]) wrong.push(tooMuch(name, memory))
      }
      expect(wrong).toEqual([])
    })
  })

  describe('sent to the public port', () => {
    let system: System
    beforeAll(async () => {
      system = await startSystem({ engine: 'postgres', only: ['web', 'dispatch', 'attest'] })
    })
    afterAll(() => system.close())

    it('are refused with a known code or accepted, never with 5xx, in time, and the process lives', {
      timeout: timeout * 20,
    }, async () => {
      const web = system.supervisor.children.get('web')
      const wrong: string[] = []
      const via = createWeb(system)
      const parsers = [
        ...(await attestParsers(via)),
        ...costlyWebParsers(system),
        ...(await intentParsers(via)),
        ...(await traceParsers(via)),
      ]
      for (const parser of parsers.filter(({ name }) => isWanted(name))) {
        const { report, memory } = await runAtOnce(parser, web?.pid)
        tell(report, memory, parser)
        wrong.push(...describeFailures(report, seed))
        if (isLarge && memory.growth > MAX_GROWTH.thread) wrong.push(tooMuch(parser.name, memory))
      }
      expect(wrong).toEqual([])
      expect(web?.exitCode).toBeNull()
      expect(system.supervisor.children.get('web')).toBe(web)
      expect(system.warnings).toEqual([])
    })

    it('are evaluated where they were accepted: no job ends dead', { timeout }, async () => {
      const { database } = system
      const left = () =>
        database.owner<{ state: string; count: number }>(
          `SELECT state, count(*)::int AS count FROM jobs WHERE queue = 'attest' AND state <> 'succeeded' GROUP BY state`,
        )
      await until(async () => (await left()).every(({ state }) => state === 'dead'), {
        timeoutMs: timeout - 5_000,
        everyMs: 200,
        what: 'every capture that was accepted is evaluated',
      })
      expect(await left()).toEqual([])
      expect(await database.owner(`SELECT id FROM jobs WHERE attempts > 1 AND queue = 'attest'`)).toEqual([])
      expect(system.warnings).toEqual([])
    })
  })
})

async function runAtOnce(parser: Parser, pid: number | undefined): Promise<{ report: Report; memory: Memory }> {
  const report: Report = { name: parser.name, cases: 0, outcomes: {}, slowestMs: 0, slowestIndex: from, failures: [] }
  const end = from + countOf(parser.name)
  let next = from
  // Of the second half, as in child.ts.
  let start = 0
  let peak = 0
  const work = async () => {
    while (next < end && report.failures.length < MAX_FAILURES) {
      const index = next
      next += 1
      const input = parser.make(diceOf(seed, parser.name, index))
      note(report, await runCase(parser, input), index, input)
      if (index === Math.floor((from + end) / 2)) start = residentBytes(pid)
      if (start > 0 && index % LOOK_EVERY === 0) peak = Math.max(peak, residentBytes(pid))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const growth = residentBytes(pid) - start
  return { report, memory: { growth, peak: Math.max(growth, peak - start) } }
}

function tooMuch(name: string, { growth }: Memory): string {
  return `${name}: ${Math.round(growth / MEGABYTE)} MB stay`
}

/** Linux reports it for any process; elsewhere it is 0, and memory is not checked. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

function tell(report: Report, memory: Memory, { source, limit }: Pick<Parser, 'source' | 'limit'>): void {
  if (reports === undefined) return
  mkdirSync(reports, { recursive: true })
  const file = `${report.name.replaceAll(/[^a-zA-Z0-9]+/g, '-')}.json`
  writeFileSync(join(reports, file), JSON.stringify({ ...report, memory, source, limit, at: Date.now() }))
}
