// Redis and Postgres of a fault run: servers of its own that may be killed, frozen, flushed and filled.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import pg from 'pg'
import { migrate } from '#src/platform/db/migrate.ts'
import { migrateEngine } from '#src/platform/jobs/bull.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../commands/embedded/postgres.ts'
import { freePort } from '../commands/ports.ts'

export interface RedisServer {
  port: number
  kill(): Promise<void>
  start(): Promise<void>
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  flush(): Promise<void>
  /** Refuses every write that needs memory. `isFull: false`: takes them again. */
  fill(isFull: boolean): Promise<void>
  stop(): void
}

export function hasRedis(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0
}

export async function startRedisServer(directory: string): Promise<RedisServer> {
  const port = await freePort()
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--maxmemory-policy', 'noeviction']
  let child: ChildProcess
  const ask = async <Answer>(question: (redis: Redis) => Promise<Answer>): Promise<Answer> => {
    const redis = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null, retryStrategy: () => 20 })
    redis.on('error', () => {})
    try {
      return await question(redis)
    } finally {
      redis.disconnect()
    }
  }
  const start = async () => {
    child = spawn('redis-server', flags, { cwd: directory, stdio: 'ignore' })
    await ask((redis) => redis.ping())
  }
  // No other process would end it when this process is stopped in the middle of a run.
  const end = () => void child.kill('SIGKILL')
  process.once('exit', end)
  await start()
  return {
    port,
    start,
    async kill() {
      const ended = new Promise((done) => child.once('exit', done))
      child.kill('SIGKILL')
      await ended
    },
    signal: (signal) => void child.kill(signal),
    flush: async () => void (await ask((redis) => redis.flushall())),
    fill: async (isFull) => void (await ask((redis) => redis.config('SET', 'maxmemory', isFull ? '1' : '0'))),
    stop() {
      process.removeListener('exit', end)
      end()
    },
  }
}

export interface PostgresServer {
  /** The superuser, past every relay. */
  ownerUrl(): string
  /** The service's login, through the relay on this port. */
  loginUrl(port: number): string
  port(): number
  /** SIGQUIT: backends end at once. Returns when it serves again, after its recovery; on another port. */
  restart(): Promise<void>
  /** Ends the service's connections and accepts no new ones. `false`: accepts them again. */
  exhaust(isExhausted: boolean): Promise<void>
  owner<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  stop(): Promise<void>
}

const LOGIN = 'countersign'

/** The server is as durable as in production: data lost here must be lost by the service. */
export async function startPostgresServer(directory: string): Promise<PostgresServer> {
  const start = () => startEmbeddedPostgres({ directory, database: 'countersign' })
  await keepCommitTimes(await start())
  const held: EmbeddedPostgres[] = [await start()]
  let ownerUrl = held[0]?.ownerUrl ?? ''
  await migrate({ ownerUrl, loginUrl: loginOf(ownerUrl), migrateEngine })
  let pool = ownerPool(ownerUrl)

  async function owner<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const { rows } = await pool.query<Row>(text, values)
    return rows
  }
  return {
    ownerUrl: () => ownerUrl,
    port: () => Number(new URL(ownerUrl).port),
    loginUrl: (port) => {
      const url = new URL(loginOf(ownerUrl))
      url.port = String(port)
      // Not by the server's Unix socket.
      url.search = ''
      return url.href
    },
    owner,
    async restart() {
      const [{ data_directory: data } = { data_directory: '' }] = await owner<{ data_directory: string }>(
        `SELECT current_setting('data_directory') AS data_directory`,
      )
      const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
      process.kill(pid, 'SIGQUIT')
      while (isRunning(pid)) await delay(5)
      held.push(await start())
      ownerUrl = held.at(-1)?.ownerUrl ?? ''
      const former = pool
      pool = ownerPool(ownerUrl)
      await former.end().catch(() => {})
    },
    async exhaust(isExhausted) {
      await owner(`ALTER ROLE ${LOGIN} CONNECTION LIMIT ${isExhausted ? 0 : -1}`)
      if (isExhausted) await owner(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${LOGIN}'`)
    },
    async stop() {
      await pool.end().catch(() => {})
      for (const one of held) await one.release()
    },
  }
}

// The trail reads them. Only a restart applies this setting.
async function keepCommitTimes({ ownerUrl, release }: EmbeddedPostgres): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  await client.query('ALTER SYSTEM SET track_commit_timestamp = on')
  await client.end()
  await release()
}

function ownerPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 3, application_name: 'faults' })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

function loginOf(ownerUrl: string): string {
  const url = new URL(ownerUrl)
  url.username = LOGIN
  url.password = 'faults'
  return url.href
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
