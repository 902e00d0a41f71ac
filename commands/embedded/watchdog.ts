// The watchdog: the parent process of an embedded server. It stops the server when no holder is left, however the
// holders ended, and restarts it when it crashed or froze while a holder is left. When the watchdog itself is killed or
// freezes, a holder starts another one, which adopts the running server (watchdog-monitor.ts).

import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isAlive, isHeld, isSuspended, whenUnheld } from './process-lock.ts'

export interface WatchdogOptions {
  command: string
  args: string[]
  identity: { uid: number; gid: number } | undefined
  /** The server's data, and its working directory. */
  directory: string
  holders: string
  /** Its time changes while the watchdog runs. */
  pulseFile: string
  /** A server that is suspended for this long is killed, and restarted. */
  silentAfterMs: number
  /** Folders to remove when the holders were killed: no other process would remove them. */
  transientFolders: string[]
  /** The pid of a server that still runs after its watchdog died. */
  adopted?: number
}

const CHECK_MS = 1_000
// Backends of a killed server hold its shared memory for a moment; until they are gone a restart fails.
const RESTART_MS = 500
const MAX_RESTARTS = 120
const ADOPTED_CHECK_MS = 250
// Within `silentAfterMs`.
const PULSES = 6

/** Starts the watchdog, which starts the server. `log` is a file descriptor for the output of both. */
export function spawnWatchdog(options: WatchdogOptions, log: number) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(options)], {
    // In its own process group: Ctrl-C must reach the workers first, so that they can still settle.
    detached: true,
    stdio: ['ignore', log, log],
  })
  child.unref()
  return child
}

if (import.meta.main) process.exit(await supervise(JSON.parse(process.argv[2] ?? '')))

async function supervise(options: WatchdogOptions): Promise<number> {
  let wasReady = false
  for (let restarts = 0; ; restarts += 1) {
    const server = restarts === 0 && options.adopted !== undefined ? adopt(options, options.adopted) : start(options)
    const { code, isAbandoned } = await untilEnded(server, options)
    // 0: a holder or an administrator stopped it.
    if (code === 0 && !isAbandoned) return 0
    if (isAbandoned || !(await hasHolder(options.holders))) {
      options.transientFolders.forEach(remove)
      return 0
    }
    // A server that never got ready can't run here, and the process that started it must be told.
    wasReady ||= wasReadyOnce(options.directory, server.pid)
    if (!wasReady || restarts === MAX_RESTARTS) return code
    await delay(RESTART_MS)
  }
}

interface Server {
  pid: number
  /** Its exit code. */
  ended: Promise<number>
  end(): void
  kill(): void
}

function start({ command, args, identity, directory }: WatchdogOptions): Server {
  const server = spawn(command, args, { ...identity, cwd: directory, stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = new Promise<number>((done) => {
    server.on('error', () => done(1))
    server.on('exit', (code) => done(code ?? 1))
  })
  // SIGINT is Postgres's fast shutdown: it rolls back open transactions, writes a checkpoint and ends.
  return { pid: server.pid ?? 0, ended, end: () => void server.kill('SIGINT'), kill: () => void server.kill('SIGKILL') }
}

// Only a parent can read an exit code. A server that stopped in order has removed its pid file.
function adopt({ directory }: WatchdogOptions, pid: number): Server {
  const ended = (async () => {
    while (await isAlive(pid, directory)) await delay(ADOPTED_CHECK_MS)
    return existsSync(join(directory, 'postmaster.pid')) ? 1 : 0
  })()
  const send = (signal: NodeJS.Signals) => {
    try {
      process.kill(pid, signal)
    } catch {
      // The server has already stopped.
    }
  }
  return { pid, ended, end: () => send('SIGINT'), kill: () => send('SIGKILL') }
}

/** Waits for the server's end, and stops it when no holder is left. */
async function untilEnded(
  server: Server,
  { holders, directory, pulseFile, silentAfterMs }: WatchdogOptions,
): Promise<{ code: number; isAbandoned: boolean }> {
  let isAbandoned = false
  const timer = setInterval(async () => {
    if (isAbandoned || (await hasHolder(holders))) return
    isAbandoned = true
    // The lock is held to the end, so that a concurrent start finds the server either running or gone.
    const hasEnded = await whenUnheld(holders, async () => {
      server.end()
      await server.ended
    }).catch(server.end)
    if (hasEnded === false) isAbandoned = false
  }, CHECK_MS)
  let suspended = 0
  const pulse = setInterval(async () => {
    touch(pulseFile)
    suspended = (await isSuspended(server.pid, directory)) ? suspended + 1 : 0
    if (suspended >= PULSES) server.kill()
  }, silentAfterMs / PULSES)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, server.end)
  const code = await server.ended
  clearInterval(timer)
  clearInterval(pulse)
  for (const signal of signals) process.removeListener(signal, server.end)
  return { code, isAbandoned }
}

// A crashed server leaves its pid file, which records the state that it had reached.
function wasReadyOnce(directory: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')
    return Number(lines[0]) === pid && lines.some((line) => line.startsWith('ready'))
  } catch {
    return false
  }
}

// Without the folder there is no holder either.
function hasHolder(holders: string): Promise<boolean> {
  return isHeld(holders).catch(() => false)
}

function touch(file: string): void {
  const now = new Date()
  try {
    utimesSync(file, now, now)
  } catch {
    // Its folder may be gone: then there is no holder that reads it either.
  }
}

// Processes that lost their parent may still write for a moment.
function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
}
