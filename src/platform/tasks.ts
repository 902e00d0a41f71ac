// Runs the tasks that features declare for the process `clock`.

import type { Task } from './feature.ts'
import { every, type Loop } from './jobs/loops.ts'
import type { Log } from './log.ts'

/** Runs each task at its interval until closed; closing aborts their signal and waits for the runs in progress. */
export function runTasks(tasks: readonly Task[], log: Log): Loop {
  const controller = new AbortController()
  const loops = tasks.map(({ name, everyMs, start }) => {
    const run = start()
    return every(everyMs, () => run(controller.signal), log.child({ task: name }))
  })
  return {
    async close() {
      controller.abort()
      await Promise.all(loops.map((loop) => loop.close()))
    },
  }
}
