// Removes each single check of each target in turn, and runs the vectors of its families: one of them must fail. A mutant that
// all vectors accept is a check that no library would be missed for. `npm run mutants [-- part of a path]`

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Answers, isAnswered } from '../vectors/answers.ts'
import { readVectors, type VectorCase } from '../vectors/file.ts'
import { EQUALS } from './equals.ts'
import { createMutantLoader } from './load.ts'
import { findMutants, type Mutant } from './mutate.ts'
import { NOT_TARGETED, TARGETS, type Target } from './targets.ts'

const ROOT = resolve(import.meta.dirname, '../..')

export interface TargetReport {
  file: string
  mutants: number
  /** No vector fails without these checks. */
  unseen: Pick<Mutant, 'line' | 'check'>[]
  /** Entries of the target's list of equals with another number of such mutants. */
  stale: string[]
}

interface RunOptions {
  /** Whether mutants that the target lists as equals are run too, each with all vectors. */
  includesEquals?: boolean
}

interface Task {
  name: string
  vector: VectorCase
}

export async function runTarget(
  { file, answers, vectors, ...choice }: Target,
  { includesEquals = true }: RunOptions = {},
): Promise<TargetReport> {
  const equals = EQUALS[file] ?? {}
  const source = readFileSync(resolve(ROOT, file), 'utf8')
  const tasks = vectors.flatMap((name) => readVectors(name).cases.map((vector): Task => ({ name, vector })))
  using loader = createMutantLoader(`tools/vectors/answers/${answers}.ts`, file)
  const failing = await findFailing(await loader.load(source), tasks)
  if (failing !== undefined) throw new Error(`${file} as it is fails ${failing.vector.id}`)
  const mutants = findMutants(source, choice)
  const counts = Map.groupBy(mutants, ({ check }) => check)
  const isEqual = ({ check }: Mutant) => equals[check]?.[0] === counts.get(check)?.length
  const unseen: Mutant[] = []
  for (const mutant of mutants) {
    if (!includesEquals && isEqual(mutant)) continue
    const failed = await loader.load<{ answers: Answers }>(mutant.source).then(
      (module) => findFailing(module, tasks),
      // What does not load is noticed.
      () => tasks[0],
    )
    if (failed === undefined) unseen.push(mutant)
    // What failed once is likely to fail again.
    else tasks.unshift(...tasks.splice(tasks.indexOf(failed), 1))
  }
  const unseenOf = Map.groupBy(unseen, ({ check }) => check)
  const isListed = (check: string) => equals[check]?.[0] === unseenOf.get(check)?.length
  return {
    file,
    mutants: mutants.length,
    unseen: unseen.filter(({ check }) => !isListed(check)).map(({ line, check }) => ({ line, check })),
    stale: includesEquals ? Object.keys(equals).filter((check) => !isListed(check)) : [],
  }
}

async function findFailing({ answers }: { answers: Answers }, tasks: readonly Task[]): Promise<Task | undefined> {
  for (const task of tasks) {
    const answer = answers[task.name]
    if (answer === undefined || !(await isAnswered(answer, task.vector))) return task
  }
  return undefined
}

if (import.meta.main) {
  const [wanted] = process.argv.slice(2)
  const chosen =
    wanted === undefined ? TARGETS : [...TARGETS, ...NOT_TARGETED].filter(({ file }) => file.includes(wanted))
  for (const target of chosen) {
    const { file, mutants, unseen, stale } = await runTarget(target)
    console.log(`${file}: ${mutants} checks, ${unseen.length} that no vector sees`)
    for (const { line, check } of unseen) console.log(`  ${file}:${line}  ${check}`)
    for (const check of stale) console.log(`  listed as equal with another number: ${check}`)
    if (unseen.length + stale.length > 0) process.exitCode = 1
  }
  if (wanted === undefined) for (const { file } of NOT_TARGETED) console.log(`${file}: not targeted`)
}
