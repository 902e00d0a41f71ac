// `npm run faults -- --minutes N --seed S`: the large form. Prints its plan, then its findings as Markdown; ends with 0
// when every invariant holds and every bar is reached, with 1 when not.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { check } from './check.ts'
import { measure } from './figures.ts'
import { describeFault, type EngineKind, ofEachKind, planFaults } from './plan.ts'
import { runFaults } from './run.ts'
import { hasRedis } from './stores.ts'
import { isReached, type Report, toMarkdown } from './table.ts'

const USAGE = `Usage: npm run faults -- [--minutes 10] [--seed 1] [--engine redis|postgres] [--captures N] [--only WORD] [--calm] [--keep]
  [--plan] [--write docs/assurance/faults.md]

  --minutes   for how long faults come
  --seed      which faults, in which order; the same seed gives the same plan
  --engine    what carries the queues; redis where redis-server is installed
  --captures  no more submissions than this
  --only      faults alone whose line in the plan contains this word; may be repeated
  --calm      no faults at all: a soak
  --keep      leave journals, logs and data behind, and say where
  --plan      print the plan and do nothing
  --write     put the table into this file, between its markers
`
const BEGIN = '<!-- the last run -->'
const END = '<!-- end -->'

// As much as two cores can do, and a backlog beside it: recovering jobs must overtake waiting ones.
const LOADED = { openTarget: 2_000, batchSize: 400, pauseMs: 150, batchPauseMs: 1_000 }
// Thirty captures a second, half of them in batches: a load for weeks, not the machine's maximum. More than 100,000 an
// hour.
const STEADY = { openTarget: 200, batchSize: 25, pauseMs: 750, batchPauseMs: 10_000 }

const say = (line: string) => void process.stdout.write(`${line}\n`)

// Started processes end with their parent: processes and relays by their channel, Postgres by its watchdog.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130))
process.on('disconnect', () => process.exit(130))
// Handles that still keep the event loop alive must not delay the exit.
process.exit(await main())

async function main(): Promise<number> {
  const options = readOptions()
  if (options === undefined) {
    process.stderr.write(USAGE)
    return 2
  }
  const { minutes, seed, engine, only, isCalm, file } = options
  const faults = isCalm ? [] : planFaults({ seed, minutes, engine, ...(only.length > 0 && { only }) })
  say(`seed ${seed}, ${minutes} minutes, queues on ${engine}, ${faults.length} faults:`)
  for (const fault of faults) say(`  ${describeFault(fault)}`)
  if (options.isPlanOnly) return 0

  const directory = mkdtempSync(join(tmpdir(), 'countersign-faults-'))
  process.once('exit', (code) => code === 130 && say(`What it left behind: ${directory}`))
  let hasEnded = false
  try {
    const run = await runFaults({
      engine,
      seed,
      faults,
      minutes,
      directory,
      processes: { ...ofEachKind(2), clock: 1 },
      accounts: 3,
      gapMs: 2_000,
      calmMs: isCalm ? minutes * 60_000 : Math.min(30_000, minutes * 6_000),
      pace: 'settled',
      isWeighed: isCalm,
      ...(isCalm ? STEADY : LOADED),
      say,
      ...(options.captures === undefined ? {} : { maxCaptures: options.captures }),
    })
    const report: Report = { ...run, findings: await check(run.evidence), figures: measure(run.evidence) }
    for (const { invariant, what } of report.findings.slice(0, 100)) say(`${invariant}: ${what}`)
    const markdown = toMarkdown(report)
    say(`\n${markdown}`)
    if (file !== undefined) write(file, `${headline(options, run.injected)}\n\n${markdown}`)
    hasEnded = true
    return isReached(report) ? 0 : 1
  } finally {
    if (options.isKept || !hasEnded) say(`What it left behind: ${directory}`)
    else rmSync(directory, { recursive: true, force: true })
  }
}

interface Options {
  minutes: number
  seed: number
  engine: EngineKind
  captures: number | undefined
  only: readonly string[]
  isCalm: boolean
  isKept: boolean
  isPlanOnly: boolean
  file: string | undefined
}

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: 'string', default: '10' },
        seed: { type: 'string', default: '1' },
        engine: { type: 'string', default: hasRedis() ? 'redis' : 'postgres' },
        captures: { type: 'string' },
        only: { type: 'string', multiple: true, default: [] },
        calm: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        plan: { type: 'boolean', default: false },
        write: { type: 'string' },
      },
    })
    const [minutes, seed, captures] = [Number(values.minutes), Number(values.seed), Number(values.captures ?? 1)]
    const { engine } = values
    if (!(minutes > 0) || !Number.isSafeInteger(seed) || !(captures > 0)) return undefined
    if (engine !== 'redis' && engine !== 'postgres') return undefined
    if (engine === 'redis' && !hasRedis()) {
      process.stderr.write('There is no redis-server on this machine.\n')
      return undefined
    }
    return {
      minutes,
      seed,
      engine,
      captures: values.captures === undefined ? undefined : captures,
      only: values.only,
      isCalm: values.calm,
      isKept: values.keep,
      isPlanOnly: values.plan,
      file: values.write,
    }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return undefined
  }
}

function headline({ minutes, seed, engine, only, isCalm }: Options, injected: number): string {
  const [cpu] = cpus()
  const machine = `${cpus().length} cores${cpu === undefined ? '' : ` (${cpu.model.trim()})`}, ${Math.round(totalmem() / 2 ** 30)} GiB, kernel ${release()}`
  const command = `npm run faults -- --minutes ${minutes} --seed ${seed} --engine ${engine}${only.map((word) => ` --only ${word}`).join('')}${isCalm ? ' --calm' : ''}`
  return `${new Date().toISOString().slice(0, 10)}, \`${command}\`: ${injected} faults, on ${machine}, Node ${process.versions.node}.`
}

function write(file: string, text: string): void {
  const page = readFileSync(file, 'utf8')
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (from < 0 || to < from) throw new Error(`${file} has no place for the table: ${BEGIN} and ${END}`)
  writeFileSync(file, `${page.slice(0, from + BEGIN.length)}\n\n${text}\n\n${page.slice(to)}`)
}
