// The processor's share of bulk work: on a machine that the processes share, work on jobs yields to what callers wait
// for. With idle processors the priority has no effect.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
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
  // On Linux a priority is that of a thread, and is inherited by those that it starts. V8 has started some already.
  for (const thread of threads()) setQuietly(thread, priority)
  setGroupQuietly(priority)
}

/** Undoes `lowerProcessPriority`, where the system lets it. On Linux that takes root or CAP_SYS_NICE. */
export function restoreProcessPriority(): void {
  if (initial === undefined) return
  for (const thread of threads()) setQuietly(thread, initial)
  setGroupQuietly(initial)
}

/** Lowers the priority of the worker thread that calls it. Only Linux has priorities of threads. */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setQuietly(0, Math.min(LOWEST, getPriority() + STEP))
}

function threads(): number[] {
  return process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid]
}

/**
 * Linux schedules each session as one group where no cgroups do (sched_autogroup of sched(7)), and between groups the
 * priorities of their threads count for nothing. A supervisor starts each process in a session of its own. A process that
 * does not lead its session leaves the group as it is: others are in it.
 */
function setGroupQuietly(priority: number): void {
  if (process.platform !== 'linux') return
  try {
    // Field 6 of proc_pid_stat(5); the second field may contain spaces.
    const [, , , session] = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    if (Number(session) === process.pid) writeFileSync('/proc/self/autogroup', String(priority))
  } catch {
    return
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
