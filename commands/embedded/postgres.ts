// Postgres for users who have only npm. Every process that uses the server of a folder registers as a holder. The last
// holder to leave stops the server; when the holders were killed, its watchdog does.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import pg from 'pg'
import { createUsableTime } from '../usable-time.ts'
import { createWaits, type Waits } from '../waits.ts'
import { type InstallLayout, prepareLayout, sharedFolderOf } from './install-layout.ts'
import { hold, whileLocked } from './process-lock.ts'
import {
  type Launch,
  launch,
  OWNER,
  pulseOf,
  restore,
  runningPort,
  socketUrl,
  stop,
  url,
  watchdogPid,
} from './server.ts'
import { monitorWatchdog, type WatchdogMonitor } from './watchdog-monitor.ts'

export interface EmbeddedPostgres {
  /** The superuser's connection: migrations only. */
  ownerUrl: string
  /** The data directory, for messages to people. */
  directory: string
  /** Whether another process had started the server. */
  isJoined: boolean
  /** Resolves with the reason, a sentence for people, when the server died and could not be brought back. */
  lost: Promise<Error>
  /** Unregisters this process; stops the server when there is no other holder. */
  release(): Promise<void>
}

interface EmbeddedOptions {
  directory: string
  /** Database to create when it does not exist. */
  database: string
  /** false: a crash of the machine may lose the data. For tests and throw-away runs. */
  isDurable?: boolean
  /** A folder that is removed with the server, when the last holder has left or was killed. */
  transient?: string
  /** The server or its watchdog is replaced when it is frozen for this long. */
  silentAfterMs?: number
  /** Names what the start waits for. Its signal aborts the start. */
  waits?: Waits
}

// Same time as in the supervisor of the service's own processes.
const SILENT_AFTER_MS = 60_000

/**
 * Starts the server of `directory`, or joins the one that already serves it. Waits for it without a limit.
 * @throws {Error} with a sentence for people when the platform has no binaries or the server does not come up.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const directory = resolve(options.directory)
  const { waits = createWaits() } = options
  const holders = join(directory, 'holders')
  const holder = await hold(holders, waits)
  let end = async () => {}
  let monitor: WatchdogMonitor | undefined
  const release = async () => {
    await monitor?.stop()
    await holder.release(() => end())
  }
  try {
    const layout = await prepareLayout(directory)
    const { transient } = options
    const transientFolders = transient === undefined ? [] : [transient, sharedFolderOf(layout) ?? transient]
    end = async () => {
      await stop(layout)
      for (const folder of transientFolders) rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    }
    const password = await initialize(layout, waits)
    const { isDurable = true, silentAfterMs = SILENT_AFTER_MS } = options
    const launching: Launch = { layout, password, isDurable, holders, transientFolders, silentAfterMs, waits }
    const running = await runningPort(launching)
    const port = running ?? (await launch(launching))
    await waits.until('embedded Postgres', 'made its database', () =>
      createDatabase(url(password, port, 'postgres'), options.database),
    )
    const ownerUrl = socketUrl(layout, url(password, port, options.database))
    monitor = monitorWatchdog({
      pulse: () => pulseOf(layout),
      // Other holders notice the loss at the same moment: the first one restores the server.
      restore: (last, signal) => {
        const restoring = waits.withSignal(signal)
        const restoreOnce = async () => {
          if (pulseOf(layout) === last) await restore({ ...launching, waits: restoring, port })
        }
        return whileLocked(holders, restoreOnce, restoring)
      },
      silentAfterMs,
      usableMs: createUsableTime(() => watchdogPid(layout)),
    })
    return { ownerUrl, directory: layout.directory, isJoined: running !== undefined, lost: monitor.lost, release }
  } catch (error) {
    await release()
    throw error
  } finally {
    holder.unlock()
  }
}

async function initialize(layout: InstallLayout, waits: Waits): Promise<string> {
  const passwordFile = join(dirname(layout.directory), 'postgres-password')
  const unfinished = join(dirname(layout.directory), 'initdb-password')
  if (existsSync(passwordFile)) return readFileSync(passwordFile, 'utf8')
  if (existsSync(join(layout.directory, 'PG_VERSION')) && !existsSync(unfinished)) {
    throw new Error(`${passwordFile} is missing: without it the data in ${layout.directory} can't be opened.`)
  }

  // The rest of an interrupted initdb is useless and would make the next one fail.
  rmSync(layout.directory, { recursive: true, force: true })
  mkdirSync(layout.directory, { recursive: true, mode: 0o700 })
  const password = randomBytes(24).toString('base64url')
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, password, { mode: 0o600 })
  if (layout.identity) {
    chownSync(layout.directory, layout.identity.uid, layout.identity.gid)
    chownSync(unfinished, layout.identity.uid, layout.identity.gid)
  }
  const flags = [
    `--pgdata=${layout.directory}`,
    '--auth=scram-sha-256',
    `--username=${OWNER}`,
    `--pwfile=${unfinished}`,
  ]
  flags.push('--encoding=UTF8', '--locale=C', '--no-instructions', '--no-sync')
  await runToEnd(layout, flags, waits)
  if (layout.identity) chownSync(unfinished, 0, 0)
  renameSync(unfinished, passwordFile)
  return password
}

// Waits for its end also when the signal aborts: it must not write on when this process is gone.
async function runToEnd(layout: InstallLayout, args: string[], { begin, signal }: Waits): Promise<void> {
  signal?.throwIfAborted()
  const child = spawn(layout.binaries.initdb, args, {
    ...layout.identity,
    cwd: layout.directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const abort = () => void child.kill('SIGTERM')
  signal?.addEventListener('abort', abort, { once: true })
  const end = begin('embedded Postgres', 'been set up')
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-2_000)
  })
  try {
    const [code, killer] = await once(child, 'close')
    signal?.throwIfAborted()
    if (code === 0) return
    throw new Error(`Embedded Postgres could not be set up (initdb ended with ${killer ?? code}): ${complaint}`)
  } finally {
    end()
    signal?.removeEventListener('abort', abort)
  }
}

async function createDatabase(connectionString: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  // Its server is stopped when the start is aborted.
  client.on('error', () => {})
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}
