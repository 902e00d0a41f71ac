// The parent of an embedded server, a process of its own. It ends the server when nobody holds it any more, however the
// holders ended, and starts it again when it crashed under somebody who does. When the keeper itself is killed, a holder
// starts another one, which adopts the running server (guard.ts).

import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isAlive, isHeld, whenUnheld } from './holders.ts'

export interface Keeping {
  command: string
  args: string[]
  identity: { uid: number; gid: number } | undefined
  /** The server's data, and its working directory. */
  directory: string
  holders: string
  /** Folders that go when the holders were killed: nobody else would ever tidy them up. */
  leavings: string[]
  /** The pid of a server that runs already, whose keeper is gone. */
  adopted?: number
}

const CHECK_MS = 1_000
// Backends of a killed server hold its shared memory for a moment, and it is refused a restart until they are gone.
const RESTART_MS = 500
const MAX_RESTARTS = 120
const ADOPTED_CHECK_MS = 250

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
    const server = restarts === 0 && keeping.adopted !== undefined ? adopt(keeping, keeping.adopted) : start(keeping)
    const { code, isAbandoned } = await watch(server, keeping)
    // 0: told to end by a holder or by an administrator.
    if (code === 0 && !isAbandoned) return 0
    if (isAbandoned || !(await isHeldSurely(keeping.holders))) {
      keeping.leavings.forEach(remove)
      return 0
    }
    // One that never got ready can't run here, and whoever started it must hear that.
    wasReady ||= isReadyNoted(keeping.directory, server.pid)
    if (!wasReady || restarts === MAX_RESTARTS) return code
    await delay(RESTART_MS)
  }
}

interface Server {
  pid: number
  /** Its exit code. */
  ended: Promise<number>
  end(): void
}

function start({ command, args, identity, directory }: Keeping): Server {
  const server = spawn(command, args, { ...identity, cwd: directory, stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = new Promise<number>((done) => {
    server.on('error', () => done(1))
    server.on('exit', (code) => done(code ?? 1))
  })
  // SIGINT is Postgres's fast shutdown: it rolls back what is open, writes a checkpoint and ends.
  return { pid: server.pid ?? 0, ended, end: () => void server.kill('SIGINT') }
}

// The exit code of a process that is no child can't be had: one that ended in order has removed its file.
function adopt({ directory }: Keeping, pid: number): Server {
  const ended = (async () => {
    while (await isAlive(pid, directory)) await delay(ADOPTED_CHECK_MS)
    return existsSync(join(directory, 'postmaster.pid')) ? 1 : 0
  })()
  const end = () => {
    try {
      process.kill(pid, 'SIGINT')
    } catch {
      // It has ended by itself.
    }
  }
  return { pid, ended, end }
}

/** Waits for the server's end, and brings it about when nobody holds the server any more. */
async function watch(server: Server, { holders }: Keeping): Promise<{ code: number; isAbandoned: boolean }> {
  let isAbandoned = false
  const timer = setInterval(async () => {
    if (isAbandoned || (await isHeldSurely(holders))) return
    isAbandoned = true
    // The lock is held to the end, so that a start of this moment finds the server either running or gone.
    const hasEnded = await whenUnheld(holders, async () => {
      server.end()
      await server.ended
    }).catch(server.end)
    if (hasEnded === false) isAbandoned = false
  }, CHECK_MS)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, server.end)
  const code = await server.ended
  clearInterval(timer)
  for (const signal of signals) process.removeListener(signal, server.end)
  return { code, isAbandoned }
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
