// The processor's share of bulk work: on a machine that the processes share, work on jobs yields to what callers wait
// for. With idle processors the priority has no effect.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { becomeIdle } from './idle-policy.ts'

/** Under contention a third of the share. With less, a valid file of 60 MB would outlast its time limit. */
const STEP = 5
const LOWEST = 19

const PERIOD_MS = 2_000
/** Of the time in which threads could have run. */
const STARVED_SHARE = 0.25
/** Threads that wait for less than this, all together, are not in need. */
const STARVED_WAIT = 0.75
const RELIEF_PERIODS = 5

// Before it was lowered.
let initial: number | undefined
let yielding: NodeJS.Timeout | undefined

/** Lowers the priority of this process, by `step` nice values. */
export function lowerProcessPriority(step = STEP): void {
  initial ??= getPriority()
  const priority = Math.min(LOWEST, initial + step)
  // On Linux a priority is that of a thread, and is inherited by those that it starts. V8 has started some already.
  for (const thread of threads()) setQuietly(thread, priority)
  setGroupQuietly(priority)
}

/**
 * Lowers the priority of this process by `step`, and that of its session, where it leads one, to the lowest: against
 * sessions of the default priority it has a seventieth of the share, and a processor that runs nothing else counts as
 * free. A process that gets next to nothing for two seconds has the share of `step` for the next ten: its jobs have leases
 * and time limits.
 */
export function yieldProcessors(step = STEP): void {
  lowerProcessPriority(step)
  const own = Math.min(LOWEST, (initial ?? getPriority()) + step)
  let before = readUse()
  if (before === undefined || !setGroupQuietly(LOWEST)) return
  becomeIdle()
  const nextPriority = createRelief({ own, lowest: LOWEST })
  yielding ??= setInterval(() => {
    const use = readUse()
    if (use === undefined || before === undefined) return
    setGroupQuietly(
      nextPriority({
        ranMs: use.ranMs - before.ranMs,
        waitedMs: use.waitedMs - before.waitedMs,
        elapsedMs: use.at - before.at,
      }),
    )
    before = use
  }, PERIOD_MS).unref()
}

/** How long all threads of a process ran, and waited for a processor, in a period. */
interface Use {
  ranMs: number
  waitedMs: number
  elapsedMs: number
}

/** Returns the session's priority for the next period. Pure but for what it counts. */
export function createRelief({ own, lowest }: { own: number; lowest: number }): (use: Use) => number {
  let left = 0
  return ({ ranMs, waitedMs, elapsedMs }) => {
    const isStarved = waitedMs > STARVED_WAIT * elapsedMs && ranMs < STARVED_SHARE * (ranMs + waitedMs)
    left = isStarved ? RELIEF_PERIODS : Math.max(0, left - 1)
    return left > 0 ? own : lowest
  }
}

/**
 * Undoes `lowerProcessPriority` and `yieldProcessors`, where the system lets it. On Linux that takes root or CAP_SYS_NICE. The policy
 * of the threads stays: it does not count between sessions.
 */
export function restoreProcessPriority(): void {
  if (initial === undefined) return
  clearInterval(yielding)
  for (const thread of threads()) setQuietly(thread, initial)
  setGroupQuietly(initial)
}

/** Lowers the priority of the worker thread that calls it. Only Linux has priorities of threads. */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux') setQuietly(0, Math.min(LOWEST, getPriority() + STEP))
}

/**
 * Linux schedules each session as one group where no cgroups do (sched_autogroup of sched(7)), and between groups the
 * priorities of their threads count for nothing. A supervisor starts each process in a session of its own. A process that
 * does not lead its session leaves the group as it is: others are in it.
 */
function setGroupQuietly(priority: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    // Field 6 of proc_pid_stat(5); the second field may contain spaces.
    const [, , , session] = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    if (Number(session) !== process.pid) return false
    writeFileSync('/proc/self/autogroup', String(priority))
    return true
  } catch (error) {
    // Without privileges the kernel takes one such change in 0.1 s, of all processes together.
    return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
  }
}

export interface ProcessorUse {
  ranMs: number
  waitedMs: number
  /** By `performance.now()`. */
  at: number
}

/**
 * How long the threads of this process have run, and waited for a processor, since they began. Undefined where the system
 * does not tell (CONFIG_SCHED_INFO of Linux).
 */
export function readUse(): ProcessorUse | undefined {
  if (process.platform !== 'linux') return undefined
  let [ranNs, waitedNs] = [0, 0]
  for (const thread of threads()) {
    const [ran, waited] = readQuietly(`/proc/self/task/${thread}/schedstat`).split(' ').map(Number)
    ranNs += ran || 0
    waitedNs += waited || 0
  }
  if (ranNs === 0) return undefined
  return { ranMs: ranNs / 1e6, waitedMs: waitedNs / 1e6, at: performance.now() }
}

// A thread may have ended.
function readQuietly(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
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
