// Everything that a system has stored, as text to search.

import { Redis } from 'ioredis'
import { inject } from 'vitest'
import type { TestDatabase } from './database.ts'

/** All rows of all tables, by table. Bytes are hexadecimal. */
export async function readTables({ owner }: Pick<TestDatabase, 'owner'>): Promise<Map<string, string>> {
  const tables = await owner<{ name: string }>(
    `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  )
  const stored = new Map<string, string>()
  for (const { name } of tables) {
    const rows = await owner<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} AS t`)
    stored.set(name, rows.map(({ row }) => row).join('\n'))
  }
  return stored
}

/** All keys and values of the Redis of this run; empty without one. */
export async function readRedis(): Promise<string> {
  const url = inject('redisUrl')
  if (url === null) return ''
  const redis = new Redis(url)
  try {
    const texts: string[] = []
    for (const key of await redis.keys('*')) texts.push(key, JSON.stringify(await readValue(redis, key)))
    return texts.join('\n')
  } finally {
    redis.disconnect()
  }
}

// A key of another test may go meanwhile, or become one of another type.
async function readValue(redis: Redis, key: string): Promise<unknown> {
  const readers: Record<string, () => Promise<unknown>> = {
    string: () => redis.get(key),
    hash: () => redis.hgetall(key),
    list: () => redis.lrange(key, 0, '-1'),
    set: () => redis.smembers(key),
    zset: () => redis.zrange(key, 0, '-1'),
    stream: () => redis.xrange(key, '-', '+'),
  }
  return readers[await redis.type(key)]?.().catch(() => null)
}
