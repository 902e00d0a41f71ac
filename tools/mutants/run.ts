// Removes each single check of each target in turn, and runs the vectors of its families: one of them must fail. A mutant that
// all vectors accept is a check that no library would be missed for. `npm run mutants [-- part of a path]`

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { EQUALS } from './equals.ts'
import type { Report, Work } from './judge.ts'
import { findMutants, type Mutant } from './mutate.ts'
import { TARGETS, type Target } from './targets.ts'

const ROOT = resolve(import.meta.dirname, '../..')
// Of processor time, which is the same on a busy machine. The slowest target runs its vectors in a second: a mutant without an
// answer after so long loops.
const LIMIT_MS = 10_000
const WATCH_MS = 200
const MAX_HEAP_MB = 512

type Outcome = Exclude<Report, 'ready'> | 'endless'

export interface TargetReport {
  file: string
  mutants: number
  /** So many do not end without the check, which a vector sees as well. */
  endless: number
  /** No vector fails without these checks. */
  unseen: Pick<Mutant, 'line' | 'check'>[]
  /** Entries of the target's list of equals with another number of such mutants. */
  stale: string[]
}

interface RunOptions {
  /** Whether mutants that the target lists as equals are run too, each with all vectors. */
  includesEquals?: boolean
  limitMs?: number
}

export async function runTarget(
  { file, answers, vectors, ...choice }: Target,
  { includesEquals = true, limitMs = LIMIT_MS }: RunOptions = {},
): Promise<TargetReport> {
  const equals = EQUALS[file] ?? {}
  const source = readFileSync(resolve(ROOT, file), 'utf8')
  const mutants = findMutants(source, choice)
  const counts = Map.groupBy(mutants, ({ check }) => check)
  const isEqual = ({ check }: Mutant) => equals[check]?.[0] === counts.get(check)?.length
  const wanted = mutants.filter((mutant) => includesEquals || !isEqual(mutant))
  const work = { target: { file, answers, vectors }, source, mutants: wanted.map((one) => one.source) }
  const outcomes = await judgeAll(work, limitMs)
  const unseen = wanted.filter((_, index) => outcomes[index] === 'unseen')
  const unseenOf = Map.groupBy(unseen, ({ check }) => check)
  const isListed = (check: string) => equals[check]?.[0] === unseenOf.get(check)?.length
  return {
    file,
    mutants: mutants.length,
    endless: outcomes.filter((outcome) => outcome === 'endless').length,
    unseen: unseen.filter(({ check }) => !isListed(check)).map(({ line, check }) => ({ line, check })),
    stale: includesEquals ? Object.keys(equals).filter((check) => !isListed(check)) : [],
  }
}

// A mutant that loops ends its thread, and the next thread goes on behind it.
async function judgeAll(work: Work, limitMs: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  do {
    const mutants = work.mutants.slice(outcomes.length)
    outcomes.push(...(await judgeInThread({ ...work, mutants }, limitMs)))
  } while (outcomes.length < work.mutants.length)
  return outcomes
}

// Outcomes of all mutants, or of those up to one that ended the thread.
function judgeInThread(work: Work, limitMs: number): Promise<Outcome[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome[]>()
  const outcomes: Outcome[] = []
  const thread = new Worker(new URL('./judge.ts', import.meta.url), {
    workerData: work,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  })
  let isReady = false
  let last = { outcomes: -1, usedMs: 0 }
  const watch = setInterval(async () => {
    const used = await thread.cpuUsage().catch(() => undefined)
    if (!isReady || used === undefined) return
    const usedMs = (used.user + used.system) / 1_000
    if (last.outcomes !== outcomes.length) last = { outcomes: outcomes.length, usedMs }
    else if (usedMs - last.usedMs > limitMs) void thread.terminate()
  }, WATCH_MS)
  thread.on('message', (report: Report) => {
    if (report === 'ready') isReady = true
    else outcomes.push(report)
  })
  thread.on('error', (error) => {
    if (!isReady) reject(error)
    // It fills the heap, or throws where no answer catches it.
    resolve([...outcomes, 'seen'])
  })
  thread.on('exit', () => {
    clearInterval(watch)
    resolve(outcomes.length < work.mutants.length ? [...outcomes, 'endless'] : outcomes)
  })
  return promise
}

if (import.meta.main) {
  const [wanted = ''] = process.argv.slice(2)
  const chosen = TARGETS.filter(({ file }) => file.includes(wanted))
  for (const target of chosen) {
    const { file, mutants, endless, unseen, stale } = await runTarget(target)
    const loops = endless > 0 ? `, ${endless} without which it loops` : ''
    console.log(`${file}: ${mutants} checks${loops}, ${unseen.length} that no vector sees`)
    for (const { line, check } of unseen) console.log(`  ${file}:${line}  ${check}`)
    for (const check of stale) console.log(`  listed as equal with another number: ${check}`)
    if (unseen.length + stale.length > 0) process.exitCode = 1
  }
}
