// Processor time of a whole deployment: its processes, Redis and all of Postgres. Unlike a rate it hardly depends on
// what else the machine does. Read from /proc, so on Linux only.

import { readdirSync, readFileSync } from 'node:fs'

// Unit of the times in proc_pid_stat(5), on every platform that Node runs on.
const TICK_MS = 10

/**
 * Milliseconds that these processes and their descendants have used so far, those that have ended included;
 * undefined where the system does not report it.
 */
export function processorMsOf(roots: readonly number[]): number | undefined {
  if (process.platform !== 'linux') return undefined
  return [...new Set(roots.flatMap(withDescendants))].reduce((sum, pid) => sum + spentMs(pid), 0)
}

/** The process and its children, theirs included. */
export function withDescendants(pid: number): number[] {
  const children = threadsOf(pid).flatMap((thread) =>
    readProc(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(withDescendants)]
}

// A child that has ended counts for its parent: a backend of Postgres, or a worker of autovacuum.
function spentMs(pid: number): number {
  const stat = readProc(`/proc/${pid}/stat`)
  if (stat === '') return 0
  // Fields 14 to 17; the second may contain spaces.
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = stat
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11, 15)
    .map(Number)
  const [thread, ...more] = threadsOf(pid)
  // Exact, but only of threads that still run: ticks would round each of Postgres's many processes.
  const isExact = thread !== undefined && more.length === 0
  const own = isExact ? Number(readProc(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]) / 1e6 : Number.NaN
  return (Number.isFinite(own) ? own : (user + system) * TICK_MS) + (endedUser + endedSystem) * TICK_MS
}

/** Empty when the process has ended. */
export function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Empty when the process has ended. */
export function readProc(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
