// Postgres for whoever has only npm. Whoever uses the server of a folder holds it; the last holder to leave stops it, and
// its keeper does when the holders were killed.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { hold, isAlive } from './holders.ts'
import { spawnKeeper } from './keeper.ts'
import { folderApart, type Place, settlePlace } from './place.ts'

export interface EmbeddedPostgres {
  /** The superuser's connection: migrations only. */
  ownerUrl: string
  /** Where the data is, for people. */
  directory: string
  /** Whether somebody else had started it. */
  isJoined: boolean
  /** Lets go; stops the server when nobody else holds it. */
  release(): Promise<void>
}

interface EmbeddedOptions {
  directory: string
  /** Database to make when there is none. */
  database: string
  /** false: a crash of the machine may lose the data. For tests and throw-away runs. */
  isDurable?: boolean
  /** A folder that goes with the server: it is removed when the last holder has left, also when that one was killed. */
  transient?: string
}

const OWNER = 'postgres'
// A process has 4 connections for tenants, 2 for the system and BullMQ's 2 to 3, few of them busy at once; eight kinds of
// processes, some scaled, two deployments sharing one server.
const MAX_CONNECTIONS = 200
// Counted from the last sign of life: replaying a long log after a crash may take minutes.
const SILENCE_DEADLINE_MS = 60_000
const TRANSIENT_REFUSAL_MS = 30_000
const MAX_LOG_BYTES = 20_000_000

/**
 * Starts the server of `directory`, or joins the one that already serves it.
 * @throws {Error} with a sentence for people when the platform has no binaries or the server does not come up.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const directory = resolve(options.directory)
  const holders = join(directory, 'holders')
  const holder = await hold(holders)
  let end = async () => {}
  const release = () => holder.release(() => end())
  try {
    const place = await settlePlace(directory)
    const { transient } = options
    const leavings = transient === undefined ? [] : [transient, folderApart(place) ?? transient]
    end = async () => {
      await stop(place)
      for (const folder of leavings) rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    }
    const password = await initialize(place)
    const running = await runningPort(place, password)
    const port = running ?? (await launch({ place, password, isDurable: options.isDurable ?? true, holders, leavings }))
    await createDatabase(url(password, port, 'postgres'), options.database)
    const ownerUrl = url(password, port, options.database)
    return { ownerUrl, directory: place.directory, isJoined: running !== undefined, release }
  } catch (error) {
    await release()
    throw error
  } finally {
    holder.unlock()
  }
}

async function initialize(place: Place): Promise<string> {
  const passwordFile = join(dirname(place.directory), 'postgres-password')
  const unfinished = join(dirname(place.directory), 'initdb-password')
  if (existsSync(passwordFile)) return readFileSync(passwordFile, 'utf8')
  if (existsSync(join(place.directory, 'PG_VERSION')) && !existsSync(unfinished)) {
    throw new Error(`${passwordFile} is missing: without it the data in ${place.directory} can't be opened.`)
  }

  // What an interrupted initdb left is worth nothing and would make the next one refuse.
  rmSync(place.directory, { recursive: true, force: true })
  mkdirSync(place.directory, { recursive: true, mode: 0o700 })
  const password = randomBytes(24).toString('base64url')
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, password, { mode: 0o600 })
  if (place.identity) {
    chownSync(place.directory, place.identity.uid, place.identity.gid)
    chownSync(unfinished, place.identity.uid, place.identity.gid)
  }
  const flags = [`--pgdata=${place.directory}`, '--auth=scram-sha-256', `--username=${OWNER}`, `--pwfile=${unfinished}`]
  flags.push('--encoding=UTF8', '--locale=C', '--no-instructions', '--no-sync')
  await runToEnd(place, place.binaries.initdb, flags)
  if (place.identity) chownSync(unfinished, 0, 0)
  renameSync(unfinished, passwordFile)
  return password
}

function runToEnd(place: Place, command: string, args: string[]): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { ...place.identity, cwd: place.directory, stdio: ['ignore', 'ignore', 'pipe'] })
    let complaint = ''
    child.stderr.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(-2_000)
    })
    child.on('error', fail)
    child.on('close', (code, signal) => {
      if (code === 0) done()
      else fail(new Error(`Embedded Postgres could not be set up (initdb ended with ${signal ?? code}): ${complaint}`))
    })
  })
}

/** The port of the live server, waiting while it still recovers; undefined when a dead one left its file behind. */
async function runningPort(place: Place, password: string): Promise<number | undefined> {
  const pidFile = join(place.directory, 'postmaster.pid')
  while (existsSync(pidFile)) {
    const [pidLine, , , portLine] = readFileSync(pidFile, 'utf8').split('\n')
    const pid = Number(pidLine)
    if (!(await isAlive(pid, place.directory))) {
      rmSync(pidFile, { force: true })
      return undefined
    }
    const port = Number(portLine)
    // Its starter may have been killed before it had written the port.
    if (port > 0) {
      if (await untilReady(url(password, port, 'postgres'), () => !existsSync(pidFile))) return port
      if (existsSync(pidFile))
        throw new Error(`The Postgres of ${place.directory} (process ${pid}) does not answer: end it.`)
    }
    await delay(50)
  }
  return undefined
}

interface Launch {
  place: Place
  password: string
  isDurable: boolean
  holders: string
  leavings: string[]
}

async function launch({ place, password, isDurable, holders, leavings }: Launch): Promise<number> {
  const logFile = join(dirname(place.directory), 'postgres.log')
  if ((statSync(logFile, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(logFile, `${logFile}.1`)
  for (const deadline = Date.now() + TRANSIENT_REFUSAL_MS; ; await delay(250)) {
    const port = await freePort()
    const log = openSync(logFile, 'a+', 0o600)
    try {
      const spoken = statSync(logFile).size
      let hasEnded = false
      const args = ['-D', place.directory, '-p', String(port), ...settings(isDurable)]
      const { identity, directory, binaries } = place
      const keeper = spawnKeeper({ command: binaries.postgres, args, identity, directory, holders, leavings }, log)
      for (const event of ['error', 'exit']) {
        keeper.on(event, () => {
          hasEnded = true
        })
      }
      writeFileSync(keeperFile(place), String(keeper.pid))
      if (await untilReady(url(password, port, 'postgres'), () => hasEnded)) return port
      const reason = lastReason(log, spoken)
      // Backends of a killed server hold its memory for a moment, and a port may be taken before Postgres gets it.
      const isPassing = /shared memory block|address already in use|could not create any TCP\/IP sockets/i.test(reason)
      if (!isPassing || Date.now() > deadline) {
        throw new Error(`Embedded Postgres did not start${reason && `: ${reason}`} (its log: ${logFile})`)
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

function settings(isDurable: boolean): string[] {
  const options: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: String(MAX_CONNECTIONS),
    shared_buffers: '128MB',
    // Bulk settles write whole pages after each checkpoint: fewer, larger checkpoints write less.
    max_wal_size: '2GB',
    log_min_messages: 'warning',
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

async function createDatabase(connectionString: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}

async function stop(place: Place): Promise<void> {
  const pidFile = join(place.directory, 'postmaster.pid')
  const pid = Number(readText(pidFile)?.split('\n')[0])
  // SIGINT is Postgres's fast shutdown: roll back what is open, write a checkpoint, end. SIGQUIT after that loses nothing
  // committed either, but the next start replays the log.
  for (const [signal, patienceMs] of [
    ['SIGINT', 20_000],
    ['SIGQUIT', 5_000],
  ] as const) {
    if (!(await isAlive(pid, place.directory))) break
    process.kill(pid, signal)
    for (const deadline = Date.now() + patienceMs; Date.now() < deadline && existsSync(pidFile); ) await delay(25)
  }
  const keeper = Number(readText(keeperFile(place)))
  for (const deadline = Date.now() + 5_000; Date.now() < deadline && (await isAlive(keeper, place.directory)); ) {
    await delay(10)
  }
  rmSync(keeperFile(place), { force: true })
}

function keeperFile(place: Place): string {
  return join(dirname(place.directory), 'keeper')
}

function readText(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer()
    server.on('error', fail)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => (address && typeof address === 'object' ? done(address.port) : fail(new Error('no port'))))
    })
  })
}

function url(password: string, port: number, database: string): string {
  return `postgres://${OWNER}:${password}@127.0.0.1:${port}/${database}`
}
