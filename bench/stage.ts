// The environment of a benchmark: a migrated database on embedded Postgres as durable as in production, an account with
// a key, and the settings with which processes of ours and of the floor are started.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { createKeys } from '#src/account/keys/keys.ts'
import type { QueueName } from '#src/catalogue/queues.ts'
import { createDatabase, type Database } from '#src/platform/db/database.ts'
import { migrate } from '#src/platform/db/migrate.ts'
import { newAccountId, type Scope } from '#src/platform/ids.ts'
import { migrateEngine } from '#src/platform/jobs/bull.ts'
import { startEmbeddedPostgres } from '../commands/embedded/postgres.ts'
import { print } from './harness.ts'
import { startRedis } from './redis.ts'

export interface Stage {
  directory: string
  db: Database
  url: string
  ownerUrl: string
  scope: Scope
  /** A raw key of `scope` with every scope. */
  key: string
  /** undefined where there is no redis-server, or where none was requested. */
  redisUrl: string | undefined
  /** The processes of Postgres and Redis, each with its descendants. */
  storePids: number[]
  /** For `startProcess`. */
  environment: Record<string, string>
  /** Runs one statement as the superuser, unknown to the service. */
  owner<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  addAccount(): Promise<Scope & { key: string }>
  /** Pauses a queue's dispatch, or resumes it. */
  pause(queue: QueueName): Promise<void>
  resume(queue: QueueName): Promise<void>
  close(): Promise<void>
}

export async function openStage({
  poolSize = 4,
  redis: wantsRedis = false,
}: {
  poolSize?: number
  redis?: boolean
} = {}): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
  const postgres = await startEmbeddedPostgres({ directory, database: 'countersign', transient: directory })
  const login = new URL(postgres.ownerUrl)
  login.username = 'countersign'
  await migrate({ ownerUrl: postgres.ownerUrl, loginUrl: login.href, migrateEngine })
  const redis = wantsRedis ? await startRedis(directory) : undefined
  // Also when the benchmark is aborted; Postgres and the folder have their own watchdog.
  process.once('exit', () => redis?.stop())
  if (wantsRedis && redis === undefined) print('there is no redis-server here: the queues are on Postgres')
  const db = createDatabase({ url: login.href, poolSize })
  const pool = new pg.Pool({ connectionString: postgres.ownerUrl, max: 2 })
  pool.on('error', () => {})

  const stage: Omit<Stage, 'scope' | 'key'> = {
    directory,
    db,
    url: login.href,
    ownerUrl: postgres.ownerUrl,
    redisUrl: redis?.url,
    storePids: [
      Number(readFileSync(join(directory, 'watchdog.pid'), 'utf8')),
      ...(redis === undefined ? [] : [redis.pid]),
    ],
    environment: {
      MODE: 'development',
      DATABASE_URL: login.href,
      REDIS_URL: redis?.url ?? '',
      QUEUE_PREFIX: 'bench',
      MASTER_KEY: randomBytes(32).toString('base64'),
      BLOB_STORE: `disk:${join(directory, 'blobs')}`,
      BASE_URL: 'http://127.0.0.1',
      PORT: '0',
      INTERNAL_PORT: '0',
      OUTBOUND_ALLOW: '127.0.0.1',
      // Counted as in production, and never reached.
      RATE_LIMIT_FACTOR: '10000',
      LOG_LEVEL: 'info',
    },
    async owner<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) {
      const { rows } = await pool.query<Row>(text, values)
      return rows
    },
    async addAccount() {
      const account = await createAccounts({ db }).create({
        id: newAccountId('acc'),
        name: 'Bench',
        plan: 'enterprise',
      })
      const scope: Scope = { accountId: account.id, environment: 'sandbox' }
      const { key } = await createKeys({ db }).create(scope, { name: 'bench', scopes: ['all'] })
      return { ...scope, key }
    },
    async pause(queue) {
      await pool.query(
        'INSERT INTO queues VALUES ($1, now()) ON CONFLICT (queue) DO UPDATE SET paused_at = excluded.paused_at',
        [queue],
      )
    },
    async resume(queue) {
      await pool.query('UPDATE queues SET paused_at = NULL WHERE queue = $1', [queue])
    },
    async close() {
      redis?.stop()
      await pool.end()
      await db.close()
      await postgres.release()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  const { key, ...scope } = await stage.addAccount()
  return { ...stage, scope, key }
}
