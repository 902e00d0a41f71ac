// Nice values: on a machine that processes share, callers are answered before background work. With idle processors, in
// containers, and where the kernel groups processes by session (sched_autogroup), they have no effect, and nothing depends
// on them. A lower share than this one starves workers: docs/decisions/0013.

import { readdirSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** Under contention a third of the share. With less, a valid file of 60 MB would outlast its time limit. */
const STEP = 5
const LOWEST = 19

// Before it was lowered.
let initial: number | undefined

/** Lowers the priority of this process, by `step` nice values. */
export function lowerProcessPriority(step = STEP): void {
  initial ??= getPriority()
  const priority = Math.min(LOWEST, initial + step)
  // On Linux a priority is that of a thread, and is inherited by those that it starts. V8 and libuv have started some already.
  for (const thread of threads()) setQuietly(thread, priority)
}

/** Undoes `lowerProcessPriority`, where the system lets it. On Linux that takes root or CAP_SYS_NICE. */
export function restoreProcessPriority(): void {
  if (initial === undefined) return
  for (const thread of threads()) setQuietly(thread, initial)
}

/** Lowers the priority of the worker thread that calls it. Only Linux has priorities of threads. */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setQuietly(0, Math.min(LOWEST, getPriority() + STEP))
}

function threads(): number[] {
  if (process.platform !== 'linux') return [process.pid]
  try {
    return readdirSync('/proc/self/task').map(Number)
  } catch {
    // Out of descriptors, or no /proc: a priority is only a preference.
    return []
  }
}

// A thread may have ended, and a sandbox may refuse the call: the priority is only a preference.
function setQuietly(id: number, priority: number): void {
  try {
    setPriority(id, priority)
  } catch {
    return
  }
}
