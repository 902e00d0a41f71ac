// Who uses an embedded server: one file per process, named by its pid, under a lock file. A process that was killed
// leaves its file behind; the pid is dead then, and the file counts for nothing.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

export interface Holder {
  unlock(): void
  /** Lets go; runs `whenLast` under the lock when nobody else holds. */
  release(whenLast: () => Promise<void>): Promise<void>
}

const LOCK_DEADLINE_MS = 90_000

/** Registers this process and answers with the lock still held, until `unlock`. */
export async function hold(directory: string): Promise<Holder> {
  mkdirSync(directory, { recursive: true })
  const own = join(directory, String(process.pid))
  let isLocked: boolean = await lock(directory)
  writeFileSync(own, '')

  const unlock = () => {
    if (isLocked) rmSync(join(directory, 'lock'), { force: true })
    isLocked = false
  }
  return {
    unlock,
    async release(whenLast) {
      if (!isLocked) isLocked = await lock(directory)
      try {
        rmSync(own, { force: true })
        if ((await liveHolders(directory)).length === 0) await whenLast()
      } finally {
        unlock()
      }
    },
  }
}

/** Whether `pid` runs; with `mention`, only when its command line holds that text (pids are used again). */
export async function isAlive(pid: number, mention?: string): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  if (mention === undefined) return true
  const command = await commandLine(pid)
  return command === undefined || command.includes(mention)
}

async function lock(directory: string): Promise<true> {
  const file = join(directory, 'lock')
  for (const deadline = Date.now() + LOCK_DEADLINE_MS; Date.now() < deadline; await delay(50)) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const owner = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
    if (owner > 0 && !(await isAlive(owner))) rmSync(file, { force: true })
  }
  throw new Error(`${file} has been held for ${LOCK_DEADLINE_MS / 1000} s: end the process named in it, or delete it.`)
}

async function liveHolders(directory: string): Promise<number[]> {
  const live: number[] = []
  for (const name of readdirSync(directory)) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    if (await isAlive(pid)) live.push(pid)
    else rmSync(join(directory, name), { force: true })
  }
  return live
}

async function commandLine(pid: number): Promise<string | undefined> {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    // No /proc: other systems have ps.
  }
  try {
    const { stdout } = await promisify(execFile)('ps', ['-p', String(pid), '-o', 'command='])
    return stdout
  } catch {
    return undefined
  }
}
