// Runs the vectors with each mutant of a file, in a thread of its own: a mutant may loop without end, and only a thread can be ended
// then. Posts an answer for each mutant, in their order.

import { parentPort, workerData } from 'node:worker_threads'
import { type Answers, isAnswered } from '../vectors/answers.ts'
import { readVectors, type VectorCase } from '../vectors/file.ts'
import { createMutantLoader } from './load.ts'
import type { Target } from './targets.ts'

export interface Work {
  target: Pick<Target, 'file' | 'answers' | 'vectors'>
  /** The text of the file as it is: all vectors must accept it. */
  source: string
  mutants: string[]
}

/** `ready` once the vectors accept the file as it is. */
export type Report = 'ready' | 'seen' | 'unseen'

interface Task {
  name: string
  vector: VectorCase
}

// undefined where a test imports the types.
if (parentPort !== null) await judge(workerData as Work, (report) => parentPort?.postMessage(report))

async function judge({ target, source, mutants }: Work, post: (report: Report) => void): Promise<void> {
  const tasks = target.vectors.flatMap((name) => readVectors(name).cases.map((vector): Task => ({ name, vector })))
  using loader = createMutantLoader(`tools/vectors/answers/${target.answers}.ts`, target.file)
  const failing = await findFailing(await loader.load(source), tasks)
  if (failing !== undefined) throw new Error(`${target.file} as it is fails ${failing.vector.id}`)
  post('ready')
  for (const mutant of mutants) {
    const failed = await loader.load<{ answers: Answers }>(mutant).then(
      (module) => findFailing(module, tasks),
      // What does not load is noticed.
      () => tasks[0],
    )
    post(failed === undefined ? 'unseen' : 'seen')
    // What failed once is likely to fail again.
    if (failed !== undefined) tasks.unshift(...tasks.splice(tasks.indexOf(failed), 1))
  }
}

async function findFailing({ answers }: { answers: Answers }, tasks: readonly Task[]): Promise<Task | undefined> {
  for (const task of tasks) {
    const answer = answers[task.name]
    if (answer === undefined || !(await isAnswered(answer, task.vector))) return task
  }
  return undefined
}
