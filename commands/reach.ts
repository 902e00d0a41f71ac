// Reports in one sentence what is wrong with a configured database or Redis, before processes log it in their own way.

import { Redis } from 'ioredis'
import pg from 'pg'
import type { Engine } from '#src/platform/jobs/bull.ts'
import { reasonOf } from './sentence.ts'

const PATIENCE_MS = 10_000

/** @throws {Error} naming `key`, its address, and why the login failed. */
export async function reachPostgres(key: string, url: string, hint = ''): Promise<void> {
  requirePostgresUrl(key, url)
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PATIENCE_MS })
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    // 28P01, 28000: no such login, or not with this password.
    const isLogin = error instanceof pg.DatabaseError && error.code?.startsWith('28') === true
    throw new Error(`${key} (${placeOf(url)}): ${reasonOf(error)}${isLogin ? hint : ''}`, { cause: error })
  } finally {
    await client.end().catch(() => {})
  }
}

/** @throws {Error} naming `key` when `url` is not an address of a Postgres. */
export function requirePostgresUrl(key: string, url: string): void {
  const isPostgres = /^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? '')
  if (!isPostgres) throw new Error(`${key}: must be postgres://user:password@host:port/database`)
}

/** @throws {Error} when Redis doesn't answer, or would lose jobs. */
export async function reachRedis(engine: Pick<Engine, 'check'>, url: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: PATIENCE_MS, retryStrategy: () => null })
  let reason: unknown
  redis.on('error', (error) => {
    reason = error
  })
  try {
    await redis.connect()
    await redis.ping()
  } catch (error) {
    throw new Error(`REDIS_URL (${placeOf(url)}): ${reasonOf(reason ?? error)}`, { cause: error })
  } finally {
    redis.disconnect()
  }
  await engine.check()
}

// Never contains the password.
function placeOf(url: string): string {
  const { hostname, port, pathname, username } = new URL(url)
  const path = pathname === '/' ? '' : pathname
  return `${username && `${decodeURIComponent(username)}@`}${hostname}${port && `:${port}`}${path}`
}
