// Removes each single check of each verifier in turn, and runs the vectors of its families: one of them must fail. A mutant that
// all vectors accept is a check that no library would be missed for. `npm run mutants [-- part of a path]`

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Answers, isAnswered } from '../vectors/answers.ts'
import { readVectors, type VectorCase } from '../vectors/file.ts'
import { createMutantLoader } from './load.ts'
import { findMutants, type Mutant } from './mutate.ts'
import { TARGETS, type Target } from './targets.ts'

const ROOT = resolve(import.meta.dirname, '../..')

export interface TargetReport {
  file: string
  mutants: number
  /** No vector fails without these checks. */
  unseen: Pick<Mutant, 'line' | 'check'>[]
  /** Of the target's list of equals, those that no mutant is, or that a vector sees. */
  stale: string[]
}

interface Task {
  name: string
  vector: VectorCase
}

export async function runTarget({ file, answers, vectors, equals = {}, ...choice }: Target): Promise<TargetReport> {
  const source = readFileSync(resolve(ROOT, file), 'utf8')
  const tasks = vectors.flatMap((name) => readVectors(name).cases.map((vector): Task => ({ name, vector })))
  using loader = createMutantLoader(`tools/vectors/answers/${answers}.ts`, file)
  const failing = await findFailing(await loader.load(source), tasks)
  if (failing !== undefined) throw new Error(`${file} as it is fails ${failing.vector.id}`)
  const mutants = findMutants(source, choice)
  const unseen: Mutant[] = []
  for (const mutant of mutants) {
    const failed = await loader.load<{ answers: Answers }>(mutant.source).then(
      (module) => findFailing(module, tasks),
      // What does not load is noticed.
      () => tasks[0],
    )
    if (failed === undefined) unseen.push(mutant)
    // What failed once is likely to fail again.
    else tasks.unshift(...tasks.splice(tasks.indexOf(failed), 1))
  }
  const checks = new Set(unseen.map(({ check }) => check))
  return {
    file,
    mutants: mutants.length,
    unseen: unseen.filter(({ check }) => !Object.hasOwn(equals, check)).map(({ line, check }) => ({ line, check })),
    stale: Object.keys(equals).filter((check) => !checks.has(check)),
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
  const [wanted = ''] = process.argv.slice(2)
  for (const target of TARGETS.filter(({ file }) => file.includes(wanted))) {
    const { file, mutants, unseen, stale } = await runTarget(target)
    console.log(`${file}: ${mutants} checks, ${unseen.length} that no vector sees`)
    for (const { line, check } of unseen) console.log(`  ${file}:${line}  ${check}`)
    for (const check of stale) console.log(`  in the list of equals, and is none: ${check}`)
    if (unseen.length + stale.length > 0) process.exitCode = 1
  }
}
