// For how long another process could have done something. A process that wants a processor and gets none is slow, however
// long it is silent; one that is suspended, sleeps or computes all the time while it is asked for an answer is hung.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

interface Reading {
  /** It wants a processor, or waits for a disk: how long that takes is not its own doing. */
  isHeldUp: boolean
  /** Processor time since its start. */
  processorMs: number
}

/** For how many of the milliseconds since the last call the process could have answered. */
export type UsableTime = (elapsedMs: number) => Promise<number>

export function createUsableTime(
  pidOf: () => number | undefined,
  read: (pid: number) => Promise<Reading | undefined> = readProcess,
): UsableTime {
  let last: { pid: number; processorMs: number } | undefined
  return async (elapsedMs) => {
    const pid = pidOf()
    const reading = pid === undefined ? undefined : await read(pid)
    // A process that can't be read has ended, which its owner notices by other means.
    if (pid === undefined || reading === undefined) return elapsedMs
    const { isHeldUp, processorMs } = reading
    const usedMs = processorMs - (last?.pid === pid ? last.processorMs : 0)
    last = { pid, processorMs }
    return isHeldUp ? Math.min(elapsedMs, usedMs) : elapsedMs
  }
}

export async function readProcess(pid: number): Promise<Reading | undefined> {
  try {
    return process.platform === 'linux' ? await readByProc(pid) : await readByPs(pid)
  } catch {
    return undefined
  }
}

// The kernel's USER_HZ, which is 100 on all platforms of Node.
const MS_PER_TICK = 10

// The main thread alone: the others may work while it gets no processor.
async function readByProc(pid: number): Promise<Reading> {
  const stat = await readFile(`/proc/${pid}/task/${pid}/stat`, 'utf8')
  // The name in brackets may contain anything; state, user and system time are the 1st, 12th and 13th word after it (proc(5)).
  const words = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const processorMs = (Number(words[11]) + Number(words[12])) * MS_PER_TICK
  return { isHeldUp: words[0] === 'R' || words[0] === 'D', processorMs }
}

// `R+    0:01.23`, or with hours `R   1:02:03.45`. U is what Linux calls D.
async function readByPs(pid: number): Promise<Reading> {
  const { stdout } = await promisify(execFile)('ps', ['-p', String(pid), '-o', 'stat=,time='])
  const [state = '', time = ''] = stdout.trim().split(/\s+/)
  const seconds = time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
  return { isHeldUp: /^[RU]/.test(state), processorMs: seconds * 1_000 }
}
