// `npm run hostile -- --count 10000 --seed 1 [--from INDEX] [--only NAME]`: the large form of hostile.test.ts, and its
// table.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Memory } from './child-driver.ts'
import type { Parser, Report } from './parser.ts'

type Told = Report & Pick<Parser, 'source' | 'limit'> & { memory: Memory; at: number }

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { count, seed, from, only } = readArguments()
const reports = mkdtempSync(join(tmpdir(), 'hostile-reports-'))
try {
  const status = await runTests()
  const table = tableOf(readReports())
  process.stdout.write(`\nSeed ${seed}, ${count} cases each.\n\n${table}\n`)
  process.exitCode = status
} finally {
  rmSync(reports, { recursive: true, force: true })
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        count: { type: 'string', default: '10000' },
        seed: { type: 'string', default: '1' },
        from: { type: 'string', default: '0' },
        only: { type: 'string' },
      },
    })
    const { count, seed, from } = values
    if (![count, seed, from].every((text) => /^\d{1,9}$/.test(text)))
      throw new Error('count, seed and from are numbers')
    return values
  } catch (error) {
    const why = error instanceof Error ? error.message : error
    process.stderr.write(`${why}\nUsage: npm run hostile -- [--count N] [--seed S] [--from INDEX] [--only NAME]\n`)
    process.exit(2)
  }
}

function runTests(): Promise<number> {
  const env = {
    ...process.env,
    HOSTILE: count,
    HOSTILE_SEED: seed,
    HOSTILE_FROM: from,
    HOSTILE_REPORTS: reports,
    ...(only === undefined ? {} : { HOSTILE_ONLY: only }),
  }
  const command = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', 'test/hostile/hostile.test.ts']
  return new Promise((done) => {
    const child = spawn(process.execPath, command, { cwd: ROOT, env, stdio: ['ignore', 2, 2] })
    const end = () => void child.kill('SIGTERM')
    process.once('disconnect', end)
    child.on('error', () => done(1))
    child.on('exit', (code) => {
      // A listener on the channel keeps the channel, and so the process, alive.
      process.off('disconnect', end)
      done(code ?? 1)
    })
  })
}

function readReports(): Told[] {
  if (!existsSync(reports)) return []
  const told = readdirSync(reports).map((file): Told => JSON.parse(readFileSync(join(reports, file), 'utf8')))
  return told.sort((a, b) => a.at - b.at)
}

function tableOf(told: readonly Told[]): string {
  const head = ['parser', 'cases', 'accepted', 'refused', 'slowest ms', 'limit', 'MB kept', 'MB peak', 'failures']
  const rows = told.map(({ name, cases, outcomes, slowestMs, limit, memory, failures }) => {
    const { accepted = 0, ...refused } = outcomes
    const codes = Object.entries(refused).sort(([, a], [, b]) => b - a)
    const refusals = codes.map(([code, times]) => `${code} ${times}`).join(', ')
    const limits = `${limit.ms} ${limit.kind}`
    return [
      name,
      cases,
      accepted,
      refusals,
      slowestMs.toFixed(1),
      limits,
      megabytes(memory.growth),
      megabytes(memory.peak),
      failures.length,
    ]
  })
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function megabytes(bytes: number): string {
  return (Math.max(0, bytes) / 1024 / 1024).toFixed(0)
}
