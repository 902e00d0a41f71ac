// One Postgres, and one Redis where the machine has it, for the whole run; every test file gets a database of its own,
// cloned from a migrated template. The projects that need them share them.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type { TestProject } from 'vitest/node'
import { migrate } from '#src/platform/db/migrate.ts'
import { migrateEngine } from '#src/platform/jobs/bull.ts'
import { startEmbeddedPostgres } from '../../commands/embedded/postgres.ts'
import { freePort } from '../../commands/ports.ts'
import { LOGIN, loginUrl, TEMPLATE } from './database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
    redisUrl: string | null
  }
}

interface Cluster {
  postgresUrl: string
  redisUrl: string | null
  stop(): Promise<void>
}

// Each project loads this file for itself, so what they share can't stand in a variable of it.
const shared: typeof globalThis & { countersignCluster?: { users: number; started: Promise<Cluster> } } = globalThis

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.countersignCluster ??= { users: 0, started: start() }
  const cluster = shared.countersignCluster
  cluster.users += 1
  const { postgresUrl, redisUrl, stop } = await cluster.started
  project.provide('postgresUrl', postgresUrl)
  project.provide('redisUrl', redisUrl)
  return async () => {
    cluster.users -= 1
    if (cluster.users === 0) await stop()
  }
}

async function start(): Promise<Cluster> {
  const directory = mkdtempSync(join(quickFolder(), 'countersign-test-'))
  const postgres = await startEmbeddedPostgres({
    directory,
    database: TEMPLATE,
    isDurable: false,
    // Failed tests leave their data on purpose: KEEP=1 shows it.
    ...(process.env.KEEP ? {} : { transient: directory }),
  })
  await migrate({ ownerUrl: postgres.ownerUrl, loginUrl: loginUrl(postgres.ownerUrl, LOGIN), migrateEngine })
  const redis = await startRedis(directory)
  if (redis === undefined && process.env.CI)
    throw new Error('redis-server is missing: the Redis engine must be tested in CI')

  return {
    postgresUrl: postgres.ownerUrl,
    redisUrl: redis?.url ?? null,
    async stop() {
      redis?.child.kill('SIGKILL')
      await postgres.release()
    },
  }
}

const IN_MEMORY = '/dev/shm'
// Databases of 14 MB that are dropped with their files, and at most 1 GB of WAL.
const MIN_FREE_BYTES = 4 * 1024 ** 3

/** A file system in memory, where there is a large one: cloning a database there takes 16 ms instead of 270 on ext4. */
function quickFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    return bavail * bsize >= MIN_FREE_BYTES ? IN_MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

async function startRedis(directory: string): Promise<{ url: string; child: ChildProcess } | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined
  const port = await freePort()
  const child = spawn(
    'redis-server',
    [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--maxmemory-policy',
      'noeviction',
    ],
    { cwd: directory, stdio: 'ignore' },
  )
  const client = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null, retryStrategy: () => 50 })
  client.on('error', () => {})
  await client.ping()
  client.disconnect()
  return { url: `redis://127.0.0.1:${port}`, child }
}
