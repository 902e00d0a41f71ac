// The processes that use an embedded server: one file per holder, named by its process, changed only under a lock. A
// killed process leaves its file behind. The file says when its process started, so that a later process with the same
// pid does not count as the holder.

import { execFile } from 'node:child_process'
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createWaits, type Waits } from '../waits.ts'

export interface Holder {
  unlock(): void
  /** Unregisters; runs `whenLast` under the lock when there is no other holder. */
  release(whenLast: () => Promise<void>): Promise<void>
}

// A holder that leaves waits no longer for another process's start: the watchdog stops the server in its place.
const LEAVE_MS = 20_000

let taken = 0

/**
 * Registers this process, and returns with the lock still held until `unlock`. Waits without a limit for a living process
 * that has the lock.
 */
export async function hold(directory: string, waits: Waits = createWaits()): Promise<Holder> {
  mkdirSync(directory, { recursive: true })
  taken += 1
  const own = join(directory, `${process.pid}-${taken}`)
  const self = await describeSelf()
  let unlockOnce: (() => void) | undefined = await lock(directory, waits)
  writeFileSync(own, self)

  const unlock = () => {
    unlockOnce?.()
    unlockOnce = undefined
  }
  return {
    unlock,
    async release(whenLast) {
      const signal = AbortSignal.timeout(LEAVE_MS)
      try {
        unlockOnce ??= await lock(directory, createWaits({ signal }))
      } catch (error) {
        rmSync(own, { force: true })
        if (signal.aborted) return
        throw error
      }
      try {
        rmSync(own, { force: true })
        if (!(await isHeld(directory))) await whenLast()
      } finally {
        unlock()
      }
    },
  }
}

/** Whether a living process is registered as a holder. */
export async function isHeld(directory: string): Promise<boolean> {
  for (const name of readdirSync(directory)) {
    if (!/^\d+-\d+$/.test(name)) continue
    if (await isSameProcess(readText(join(directory, name)))) return true
    rmSync(join(directory, name), { force: true })
  }
  return false
}

/** Runs `work` under the lock if there is no holder; false when there is one. */
export async function whenUnheld(directory: string, work: () => Promise<void>): Promise<boolean> {
  const unlock = await lock(directory)
  try {
    if (await isHeld(directory)) return false
    await work()
    return true
  } finally {
    unlock()
  }
}

/** Runs `work` while no other process starts or ends the server. `waits` names the process that does. */
export async function whileLocked<Result>(
  directory: string,
  work: () => Promise<Result>,
  waits?: Waits,
): Promise<Result> {
  const unlock = await lock(directory, waits)
  try {
    return await work()
  } finally {
    unlock()
  }
}

/** Whether `pid` runs; with `mention`, only when its command line contains that text (pids are reused). */
export async function isAlive(pid: number, mention?: string): Promise<boolean> {
  const found = await describe(pid)
  return (
    found !== undefined && (mention === undefined || found.command === undefined || found.command.includes(mention))
  )
}

/** Whether a signal such as SIGSTOP has suspended `pid`, whose command line contains `mention`. */
export async function isSuspended(pid: number, mention: string): Promise<boolean> {
  const found = await describe(pid)
  return found?.isSuspended === true && found.command?.includes(mention) === true
}

/** Whether any process has this pid. Cheaper than `isAlive`, and does not detect a reused pid. */
export function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function lock(directory: string, waits = createWaits()): Promise<() => void> {
  const file = join(directory, 'lock')
  // Written to a separate file and linked, so that a lock always names its owner.
  const claim = join(directory, `claim-${process.pid}-${Math.random().toString(36).slice(2)}`)
  writeFileSync(claim, await describeSelf())
  const owner = () => `process ${readText(file)?.split(' ')[0] ?? ''} (it starts or ends embedded Postgres)`
  const end = waits.begin(owner, `released ${file}`)
  try {
    for (; ; await delay(25)) {
      waits.signal?.throwIfAborted()
      try {
        linkSync(claim, file)
        return () => rmSync(file, { force: true })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      if (!(await isSameProcess(readText(file)))) await breakLock(file, claim)
    }
  } finally {
    end()
    rmSync(claim, { force: true })
  }
}

// When two processes find a dead owner, the slower one could delete the lock that the faster one has just taken. So one
// process breaks the lock at a time, and checks it again first. `claim` names this process, as the lock does.
async function breakLock(file: string, claim: string): Promise<void> {
  const breaking = `${file}-breaking`
  try {
    linkSync(claim, breaking)
  } catch {
    // A process that lives may take long, if it gets no processor.
    if (!(await isSameProcess(readText(breaking)))) rmSync(breaking, { force: true })
    return
  }
  try {
    const owner = readText(file)
    if (owner !== undefined && !(await isSameProcess(owner))) rmSync(file, { force: true })
  } finally {
    rmSync(breaking, { force: true })
  }
}

interface Found {
  /** Start time of the process, in the system's format. */
  started: string
  isSuspended: boolean
  command: string | undefined
}

async function describeSelf(): Promise<string> {
  return `${process.pid} ${(await describe(process.pid))?.started ?? ''}`
}

/** `text` is what `describeSelf` wrote; undefined when the file is gone, so its owner can't be checked. */
async function isSameProcess(text: string | undefined): Promise<boolean> {
  if (text === undefined) return true
  const [pid = '', ...started] = text.split(' ')
  const found = await describe(Number(pid))
  return found !== undefined && found.started === started.join(' ')
}

/** undefined when no such process runs; a zombie does not count as running. */
async function describe(pid: number): Promise<Found | undefined> {
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  if (process.platform === 'linux') return describeByProc(pid)
  try {
    const { stdout } = await promisify(execFile)('ps', ['-p', String(pid), '-o', 'stat=,lstart=,command='])
    // `Ss   Thu Nov 20 19:26:41 2025 node ...`
    const match = /^\s*(\S+)\s+((?:\S+\s+){4}\S+)\s*(.*)$/.exec(stdout)
    if (match?.[2] === undefined || match[1]?.startsWith('Z')) return undefined
    const isSuspended = match[1]?.startsWith('T') === true
    return { started: match[2].replaceAll(/\s+/g, ' '), isSuspended, command: match[3] }
  } catch {
    return undefined
  }
}

function describeByProc(pid: number): Found | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  // The name in brackets may contain anything; state and start time are the 1st and 20th word after it (proc(5)).
  const words = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state] = words ?? []
  if (words === undefined || state === 'Z' || state === 'X') return undefined
  const command = readText(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ')
  return { started: words[19] ?? '', isSuspended: state === 'T', command }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
