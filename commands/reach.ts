// Reports in one sentence what is wrong with a configured database or Redis, before processes log it in their own way.

import { Socket } from 'node:net'
import { Redis } from 'ioredis'
import pg from 'pg'
import type { Engine } from '#src/platform/jobs/bull.ts'
import { reasonOf } from './sentence.ts'
import type { Waits } from './waits.ts'

interface ReachOptions {
  waits: Waits
  /** What follows the reason where the login failed. */
  hint?: string
}

/**
 * Waits until the database answers, however long it takes: only the network says that it can't be reached.
 * @throws {Error} naming `key`, its address, and why the login failed.
 */
export async function reachPostgres(key: string, url: string, { waits, hint = '' }: ReachOptions): Promise<void> {
  requirePostgresUrl(key, url)
  const socket = new Socket()
  const client = new pg.Client({ connectionString: url, stream: () => socket })
  client.on('error', () => {})
  try {
    await waits.until(`${key} (${placeOf(url)})`, 'answered', () => client.connect())
    await client.end()
  } catch (error) {
    if (waits.signal?.aborted) throw error
    // 28P01, 28000: no such login, or not with this password.
    const isLogin = error instanceof pg.DatabaseError && error.code?.startsWith('28') === true
    throw new Error(`${key} (${placeOf(url)}): ${reasonOf(error)}${isLogin ? hint : ''}`, { cause: error })
  } finally {
    socket.destroy()
  }
}

/** @throws {Error} naming `key` when `url` is not an address of a Postgres. */
export function requirePostgresUrl(key: string, url: string): void {
  const isPostgres = /^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? '')
  if (!isPostgres) throw new Error(`${key}: must be postgres://user:password@host:port/database`)
}

/** Waits as `reachPostgres` does. @throws {Error} when Redis can't be reached, or would lose jobs. */
export async function reachRedis(engine: Pick<Engine, 'check'>, url: string, waits: Waits): Promise<void> {
  // A limit of 0 means no limit.
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 0, retryStrategy: () => null })
  let reason: unknown
  redis.on('error', (error) => {
    reason = error
  })
  const what = `REDIS_URL (${placeOf(url)})`
  try {
    await waits.until(what, 'answered', async () => {
      await redis.connect()
      await redis.ping()
    })
  } catch (error) {
    if (waits.signal?.aborted) throw error
    throw new Error(`${what}: ${reasonOf(reason ?? error)}`, { cause: error })
  } finally {
    redis.disconnect()
  }
  await waits.until(what, 'told how it keeps jobs', () => engine.check())
}

// Never contains the password.
function placeOf(url: string): string {
  const { hostname, port, pathname, username } = new URL(url)
  const path = pathname === '/' ? '' : pathname
  return `${username && `${decodeURIComponent(username)}@`}${hostname}${port && `:${port}`}${path}`
}
