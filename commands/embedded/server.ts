// The processes of one embedded server: check it, start it under a watchdog, restore it, stop it.

import type { ChildProcess } from 'node:child_process'
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../ports.ts'
import type { InstallLayout } from './install-layout.ts'
import { isAlive, isRunning } from './process-lock.ts'
import { spawnWatchdog, type WatchdogOptions } from './watchdog.ts'

export interface Launch {
  layout: InstallLayout
  password: string
  isDurable: boolean
  holders: string
  transientFolders: string[]
  /** After how long without a sign of life the server or its watchdog counts as frozen. */
  silentAfterMs: number
  /** undefined: a free one. */
  port?: number
}

/** The superuser. */
export const OWNER = 'postgres'
// A process has 4 connections for tenants, 2 for the system and 2 to 3 for BullMQ, few of them busy at once; there are
// eight kinds of processes, some scaled, and two deployments may share one server.
const MAX_CONNECTIONS = 200
// Counted from the last sign of progress: replaying a long log after a crash may take minutes.
const SILENCE_DEADLINE_MS = 60_000
const TRANSIENT_REFUSAL_MS = 30_000
const MAX_LOG_BYTES = 20_000_000
// sockaddr_un of the platform, without the NUL at the end of the path.
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103

/** The port of the live server; waits while it still recovers. undefined when a dead server left its file behind. */
export async function runningPort(layout: InstallLayout, password: string): Promise<number | undefined> {
  const pidFile = join(layout.directory, 'postmaster.pid')
  while (existsSync(pidFile)) {
    const [pidLine, , , portLine] = readFileSync(pidFile, 'utf8').split('\n')
    const pid = Number(pidLine)
    if (!(await isAlive(pid, layout.directory))) {
      rmSync(pidFile, { force: true })
      return undefined
    }
    const port = Number(portLine)
    // Its starter may have been killed before it wrote the port.
    if (port > 0) {
      if (await untilReady(url(password, port, 'postgres'), () => !existsSync(pidFile))) return port
      if (existsSync(pidFile))
        throw new Error(`The Postgres of ${layout.directory} (process ${pid}) does not answer: end it.`)
    }
    await delay(50)
  }
  return undefined
}

/**
 * Starts another watchdog in place of one that is frozen or gone, and the server if it is gone: at its old port, which
 * its holders' connection addresses contain.
 */
export async function restore(launching: Launch & { port: number }): Promise<void> {
  const { layout, password } = launching
  await killWatchdog(layout)
  const running = await runningPort(layout, password)
  if (running === undefined) await launch(launching)
  else adopt(launching, running)
}

function adopt(launching: Launch, port: number): void {
  const { layout } = launching
  const log = openSync(logFile(layout), 'a', 0o600)
  try {
    startWatchdog({ ...watchdogOptions(launching, port), adopted: postmasterPid(layout) }, layout, log)
  } finally {
    closeSync(log)
  }
}

function startWatchdog(options: WatchdogOptions, layout: InstallLayout, log: number): ChildProcess {
  const watchdog = spawnWatchdog(options, log)
  writeFileSync(watchdogFile(layout), String(watchdog.pid))
  return watchdog
}

// Another process may have its pid by now.
async function killWatchdog(layout: InstallLayout): Promise<void> {
  const pid = watchdogPid(layout)
  while (await isAlive(pid, layout.directory)) {
    sendSignal(pid, 'SIGKILL')
    await delay(10)
  }
}

function watchdogOptions(launching: Launch, port: number): WatchdogOptions {
  const { layout, isDurable, holders, transientFolders, silentAfterMs } = launching
  const { identity, directory, binaries } = layout
  const args = ['-D', directory, '-p', String(port), ...settings(isDurable, socketFolder(layout))]
  const pulseFile = watchdogFile(layout)
  return { command: binaries.postgres, args, identity, directory, holders, pulseFile, silentAfterMs, transientFolders }
}

/**
 * Starts the server under a watchdog, and returns its port.
 * @throws {Error} with a sentence for people when the server does not start.
 */
export async function launch(launching: Launch): Promise<number> {
  const { layout, password } = launching
  const file = logFile(layout)
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(file, `${file}.1`)
  removeSockets(layout)
  for (const deadline = Date.now() + TRANSIENT_REFUSAL_MS; ; await delay(250)) {
    const port = launching.port ?? (await freePort())
    const log = openSync(file, 'a+', 0o600)
    try {
      const spoken = statSync(file).size
      let hasEnded = false
      const watchdog = startWatchdog(watchdogOptions(launching, port), layout, log)
      for (const event of ['error', 'exit']) {
        watchdog.on(event, () => {
          hasEnded = true
        })
      }
      if (await untilReady(url(password, port, 'postgres'), () => hasEnded)) return port
      const reason = lastReason(log, spoken)
      // Backends of a killed server hold its memory for a moment, and another process may take the port before
      // Postgres.
      const isPassing = /shared memory block|address already in use|could not create any TCP\/IP sockets/i.test(reason)
      if (!isPassing || Date.now() > deadline) {
        throw new Error(`Embedded Postgres did not start${reason && `: ${reason}`} (its log: ${file})`)
      }
    } finally {
      closeSync(log)
    }
  }
}

function lastReason(log: number, from: number): string {
  const text = Buffer.alloc(20_000)
  const length = readSync(log, text, 0, text.length, from)
  const said = text.toString('utf8', 0, length).trim().split('\n')
  return (said.findLast((line) => /FATAL|PANIC/.test(line)) ?? said.at(-1) ?? '').replace(/^.*?(?:FATAL|PANIC):\s*/, '')
}

// Of a server that was killed: nothing else would remove them.
function removeSockets({ directory }: InstallLayout): void {
  for (const name of readdirSync(directory)) if (name.startsWith('.s.PGSQL.')) rmSync(join(directory, name))
}

// The data directory, which only the server's user can enter, and root. Empty where the path would be too long or would
// have to be quoted: then there is TCP alone.
function socketFolder({ directory }: InstallLayout): string {
  const isShort = Buffer.byteLength(join(directory, '.s.PGSQL.65535')) <= MAX_SOCKET_PATH
  return isShort && !/[",]/.test(directory) ? directory : ''
}

function settings(isDurable: boolean, sockets: string): string[] {
  const options: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: sockets,
    max_connections: String(MAX_CONNECTIONS),
    shared_buffers: '128MB',
    // Bulk settles write whole pages after each checkpoint: fewer, larger checkpoints write less.
    max_wal_size: '2GB',
    // Files of the log that a checkpoint keeps for reuse. A new one is filled with zeros first, and for 40 ms no transaction can
    // commit: with the default of 80 MB, six times while a batch of 10,000 lines is stored.
    min_wal_size: '512MB',
    log_min_messages: 'warning',
    // The server is idle most of the time: with the defaults two of its processes would wake up five times a second.
    wal_writer_delay: '1s',
    bgwriter_delay: '1s',
  }
  if (!isDurable) Object.assign(options, { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' })
  return Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

async function untilReady(connectionString: string, hasEnded: () => boolean): Promise<boolean> {
  for (let deadline = Date.now() + SILENCE_DEADLINE_MS; Date.now() < deadline && !hasEnded(); await delay(50)) {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      return true
    } catch (error) {
      // 57P03: it still replays its log. Anything else: not listening yet.
      if (error instanceof pg.DatabaseError && error.code === '57P03') deadline = Date.now() + SILENCE_DEADLINE_MS
    } finally {
      await client.end().catch(() => {})
    }
  }
  return false
}

export async function stop(layout: InstallLayout): Promise<void> {
  const pidFile = join(layout.directory, 'postmaster.pid')
  const pid = postmasterPid(layout)
  const watchdog = watchdogPid(layout)
  // A suspended process acts on no other signal, and does not notice that its child has ended.
  for (const one of [pid, watchdog]) if (await isAlive(one, layout.directory)) sendSignal(one, 'SIGCONT')
  // SIGINT is Postgres's fast shutdown: roll back open transactions, write a checkpoint, end. SIGQUIT after that loses
  // nothing committed either, but the next start replays the log.
  for (const [signal, patienceMs] of [
    ['SIGINT', 20_000],
    ['SIGQUIT', 5_000],
  ] as const) {
    if (!(await isAlive(pid, layout.directory))) break
    if (!sendSignal(pid, signal)) break
    for (const deadline = Date.now() + patienceMs; Date.now() < deadline && existsSync(pidFile); ) await delay(25)
  }
  for (const deadline = Date.now() + 5_000; Date.now() < deadline && (await isAlive(watchdog, layout.directory)); ) {
    await delay(10)
  }
  rmSync(watchdogFile(layout), { force: true })
}

/** @returns false where the process ended since it was looked at. */
function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}

function postmasterPid(layout: InstallLayout): number {
  return Number(readText(join(layout.directory, 'postmaster.pid'))?.split('\n')[0])
}

function logFile(layout: InstallLayout): string {
  return join(dirname(layout.directory), 'postgres.log')
}

/** When its watchdog last touched its file; undefined when the watchdog is gone. */
export function pulseOf(layout: InstallLayout): number | undefined {
  return isRunning(watchdogPid(layout)) ? statSync(watchdogFile(layout), { throwIfNoEntry: false })?.mtimeMs : undefined
}

function watchdogPid(layout: InstallLayout): number {
  return Number(readText(watchdogFile(layout)))
}

function watchdogFile(layout: InstallLayout): string {
  return join(dirname(layout.directory), 'watchdog.pid')
}

function readText(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

export function url(password: string, port: number, database: string): string {
  return `postgres://${OWNER}:${password}@127.0.0.1:${port}/${database}`
}

/**
 * The same by way of the server's Unix socket, where it has one: a round trip takes a fifth less of the processors than
 * by TCP. A server that an earlier release started has none.
 */
export function socketUrl({ directory }: InstallLayout, tcpUrl: string): string {
  const { port } = new URL(tcpUrl)
  return existsSync(join(directory, `.s.PGSQL.${port}`)) ? `${tcpUrl}?host=${encodeURIComponent(directory)}` : tcpUrl
}
