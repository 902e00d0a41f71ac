// The parent of an embedded server, a process of its own. It ends the server when nobody holds it any more, however the
// holders ended, and starts it again when it crashed under somebody who does.

import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isHeld, whenUnheld } from './holders.ts'

export interface Keeping {
  command: string
  args: string[]
  identity: { uid: number; gid: number } | undefined
  /** The server's data, and its working directory. */
  directory: string
  holders: string
  /** Folders that go when the holders were killed: nobody else would ever tidy them up. */
  leavings: string[]
}

const CHECK_MS = 1_000
// Backends of a killed server hold its shared memory for a moment, and it is refused a restart until they are gone.
const RESTART_MS = 500
const MAX_RESTARTS = 120

/** Starts the keeper, which starts the server. `log` is a file descriptor for what both say. */
export function spawnKeeper(keeping: Keeping, log: number) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(keeping)], {
    // Not of our group: Ctrl-C must reach the workers first, so that they can still settle.
    detached: true,
    stdio: ['ignore', log, log],
  })
  child.unref()
  return child
}

if (import.meta.main) process.exit(await keep(JSON.parse(process.argv[2] ?? '')))

async function keep(keeping: Keeping): Promise<number> {
  let wasReady = false
  for (let restarts = 0; ; restarts += 1) {
    const { pid, code, isAbandoned } = await serve(keeping)
    // 0: told to end by a holder or by an administrator.
    if (code === 0 && !isAbandoned) return 0
    if (isAbandoned || !(await isHeldSurely(keeping.holders))) {
      keeping.leavings.forEach(remove)
      return 0
    }
    // One that never got ready can't run here, and whoever started it must hear that.
    wasReady ||= isReadyNoted(keeping.directory, pid)
    if (!wasReady || restarts === MAX_RESTARTS) return code
    await new Promise((done) => setTimeout(done, RESTART_MS))
  }
}

/** Runs the server to its end. */
function serve(keeping: Keeping): Promise<{ pid: number; code: number; isAbandoned: boolean }> {
  const { command, args, identity, directory, holders } = keeping
  return new Promise((done) => {
    let isAbandoned = false
    const server = spawn(command, args, { ...identity, cwd: directory, stdio: ['ignore', 'inherit', 'inherit'] })
    // SIGINT is Postgres's fast shutdown: it rolls back what is open, writes a checkpoint and ends.
    const end = () => server.kill('SIGINT')
    const watch = setInterval(async () => {
      if (isAbandoned || (await isHeldSurely(holders))) return
      isAbandoned = true
      // The lock is held to the end, so that a start of this moment finds the server either running or gone.
      const finished = new Promise<void>((ended) => server.once('exit', () => ended()))
      const hasEnded = await whenUnheld(holders, () => {
        end()
        return finished
      }).catch(end)
      if (hasEnded === false) isAbandoned = false
    }, CHECK_MS)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)
    const finish = (code: number) => {
      clearInterval(watch)
      process.removeListener('SIGINT', end).removeListener('SIGTERM', end).removeListener('SIGHUP', end)
      done({ pid: server.pid ?? 0, code, isAbandoned })
    }
    server.on('error', () => finish(1))
    server.on('exit', (code) => finish(code ?? 1))
  })
}

// A crashed server leaves its file, and in it the state that it had reached.
function isReadyNoted(directory: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')
    return Number(lines[0]) === pid && lines.some((line) => line.startsWith('ready'))
  } catch {
    return false
  }
}

// Without the folder there is no holder either.
function isHeldSurely(holders: string): Promise<boolean> {
  return isHeld(holders).catch(() => false)
}

// Processes that lost their parent may still write for a moment.
function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
}
