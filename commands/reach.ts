// Says in a sentence what is wrong with a database or a Redis that was named, before processes log it in their own way.

import pg from 'pg'
import type { Engine } from '#src/platform/jobs/bull.ts'
import { reasonOf } from './sentence.ts'

const PATIENCE_MS = 10_000

/** @throws {Error} naming `key`, where it points to, and why nobody could log in. */
export async function reachPostgres(key: string, url: string, hint = ''): Promise<void> {
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

/** @throws {Error} when Redis doesn't answer, or would lose jobs. */
export async function reachRedis(engine: Pick<Engine, 'check'>, url: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, fail) => {
    timer = setTimeout(
      () => fail(new Error(`REDIS_URL (${placeOf(url)}): no Redis answers there after ${PATIENCE_MS / 1_000} s.`)),
      PATIENCE_MS,
    )
  })
  try {
    await Promise.race([engine.check(), silence])
  } finally {
    clearTimeout(timer)
  }
}

// Never the password.
function placeOf(url: string): string {
  const { hostname, port, pathname, username } = new URL(url)
  return `${username && `${decodeURIComponent(username)}@`}${hostname}${port && `:${port}`}${pathname === '/' ? '' : pathname}`
}
