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
import { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../ports.ts'
import type { Waits } from '../waits.ts'
import type { InstallLayout } from './install-layout.ts'
import { isAlive, isRunning, isSuspended } from './process-lock.ts'
import { spawnWatchdog, type WatchdogOptions } from './watchdog.ts'

export interface Launch {
  layout: InstallLayout
  password: string
  isDurable: boolean
  holders: string
  transientFolders: string[]
  /** After how long without a sign of life the server or its watchdog counts as frozen. */
  silentAfterMs: number
  /** Names a server that is slow. Its signal aborts the wait for it. */
  waits: Waits
  /** undefined: a free one. */
  port?: number
}

/** The superuser. */
export const OWNER = 'postgres'
// A process has 4 connections for tenants, 2 for the system and 2 to 3 for BullMQ, few of them busy at once; there are
// eight kinds of processes, some scaled, and two deployments may share one server.
const MAX_CONNECTIONS = 200
// Another process takes a free port before Postgres, which is tried at the next one.
const PORT_TRIES = 20
const MAX_LOG_BYTES = 20_000_000
// sockaddr_un of the platform, without the NUL at the end of the path.
const MAX_SOCKET_PATH = process.platform === 'linux' ? 107 : 103

/**
 * The port of the live server; waits while it still recovers, which may take minutes after a crash. undefined when there is
 * none, and no watchdog that starts it again.
 */
export async function runningPort(launching: Launch): Promise<number | undefined> {
  const { layout, password, waits } = launching
  const pidFile = join(layout.directory, 'postmaster.pid')
  const end = waits.begin('embedded Postgres', 'accepted connections')
  try {
    for (; ; await delay(50)) {
      waits.signal?.throwIfAborted()
      if (await isSuspended(watchdogPid(layout), layout.directory)) await killWatchdog(layout)
      const isWatched = await isAlive(watchdogPid(layout), layout.directory)
      const pid = postmasterPid(layout)
      if (!(await isAlive(pid, layout.directory))) {
        if (isWatched) continue
        rmSync(pidFile, { force: true })
        return undefined
      }
      const port = Number(readText(pidFile)?.split('\n')[3])
      // Its starter may have been killed before it wrote the port.
      if (!(port > 0)) continue
      // A server that is frozen would never answer: its watchdog replaces it.
      if (!isWatched) adopt(launching, port)
      const hasEnded = () => !isRunning(pid) || postmasterPid(layout) !== pid
      if (await untilReady(url(password, port, 'postgres'), hasEnded, waits)) return port
    }
  } finally {
    end()
  }
}

/**
 * Starts another watchdog in place of one that is frozen or gone, and the server if it is gone: at its old port, which
 * its holders' connection addresses contain.
 */
export async function restore(launching: Launch & { port: number }): Promise<void> {
  await killWatchdog(launching.layout)
  if ((await runningPort(launching)) === undefined) await launch(launching)
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
  const { layout, waits } = launching
  const file = logFile(layout)
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(file, `${file}.1`)
  removeSockets(layout)
  const end = waits.begin('embedded Postgres', 'accepted connections')
  try {
    for (let tries = 1; ; await delay(250)) {
      const port = launching.port ?? (await freePort())
      const reason = await launchAt(launching, port, file)
      if (reason === undefined) return port
      // Backends of a killed server hold its memory until they end, which they do by themselves.
      if (/shared memory block/i.test(reason)) continue
      const isTaken = /address already in use|could not create any TCP\/IP sockets/i.test(reason)
      if (!isTaken || tries === PORT_TRIES) {
        throw new Error(`Embedded Postgres did not start${reason && `: ${reason}`} (its log: ${file})`)
      }
      tries += 1
    }
  } finally {
    end()
  }
}

/** @returns why the server ended; undefined when it is ready. */
async function launchAt(launching: Launch, port: number, file: string): Promise<string | undefined> {
  const { layout, password, waits } = launching
  const log = openSync(file, 'a+', 0o600)
  try {
    const spoken = statSync(file).size
    let isEnded = false
    const watchdog = startWatchdog(watchdogOptions(launching, port), layout, log)
    for (const event of ['error', 'exit']) {
      watchdog.on(event, () => {
        isEnded = true
      })
    }
    const isReady = await untilReady(url(password, port, 'postgres'), () => isEnded, waits)
    return isReady ? undefined : lastReason(log, spoken)
  } finally {
    closeSync(log)
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

/** false when the server has ended. */
async function untilReady(connectionString: string, hasEnded: () => boolean, { signal }: Waits): Promise<boolean> {
  for (; !hasEnded(); await delay(50)) {
    signal?.throwIfAborted()
    if (await canConnect(connectionString, () => hasEnded() || signal?.aborted === true)) return true
  }
  return false
}

// However long the answer takes: a server that gets no processor is slow for the next connection, too.
async function canConnect(connectionString: string, isOver: () => boolean): Promise<boolean> {
  const socket = new Socket()
  const client = new pg.Client({ connectionString, stream: () => socket })
  client.on('error', () => {})
  const check = setInterval(() => isOver() && socket.destroy(), 50)
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    // It still replays its log (57P03), or does not listen yet.
    return false
  } finally {
    clearInterval(check)
    socket.destroy()
  }
}

export async function stop(layout: InstallLayout): Promise<void> {
  const pidFile = join(layout.directory, 'postmaster.pid')
  const pid = postmasterPid(layout)
  const watchdog = watchdogPid(layout)
  const isWatched = await isAlive(watchdog, layout.directory)
  // A suspended process acts on no other signal, and does not notice that its child has ended.
  for (const one of [pid, watchdog]) if (await isAlive(one, layout.directory)) sendSignal(one, 'SIGCONT')
  // A server that has just been started has no file yet: its watchdog knows it, and passes the signal on.
  if (isWatched && !(await isAlive(pid, layout.directory))) sendSignal(watchdog, 'SIGINT')
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
  // A process that is exiting has no command line any more, by which it was recognized.
  for (const deadline = Date.now() + 20_000; isWatched && Date.now() < deadline && (await isAlive(watchdog)); ) {
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

export function watchdogPid(layout: InstallLayout): number {
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
 * by TCP. A server whose directory has a long path has none.
 */
export function socketUrl({ directory }: InstallLayout, tcpUrl: string): string {
  const { port } = new URL(tcpUrl)
  return existsSync(join(directory, `.s.PGSQL.${port}`)) ? `${tcpUrl}?host=${encodeURIComponent(directory)}` : tcpUrl
}
