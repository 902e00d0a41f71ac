import pg from 'pg'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { collectEngine, collectPostgres } from '#src/platform/jobs/health-metrics.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

describe('the metrics that dispatch exports about Postgres and the engine', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database?.close())

  const readMetric = async (registry: Registry, name: string) => {
    const text = await registry.getSingleMetricAsString(name)
    const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]
    return value === undefined ? undefined : Number(value)
  }

  it('include the age of the oldest transaction, also of a login that is not ours', async () => {
    const other = new pg.Client({ connectionString: database.url })
    await other.connect()
    try {
      await other.query('BEGIN; SELECT 1')
      await until(async () => {
        const registry = new Registry()
        collectPostgres(registry, database.db)
        return ((await readMetric(registry, 'countersign_postgres_oldest_transaction_seconds')) ?? 0) > 0.5
      })
    } finally {
      await other.end()
    }
  })

  it('omit the age, rather than report a wrong one, when the role may not see other logins', async () => {
    const registry = new Registry()
    await database.owner('REVOKE pg_read_all_stats FROM countersign_system')
    try {
      collectPostgres(registry, database.db)
      expect(await readMetric(registry, 'countersign_postgres_oldest_transaction_seconds')).toBeUndefined()
      expect(await readMetric(registry, 'countersign_postgres_dead_rows')).toBeGreaterThanOrEqual(0)
    } finally {
      await database.owner('GRANT pg_read_all_stats TO countersign_system WITH INHERIT TRUE')
    }
  })

  it.each([
    ['answers', async () => 3, 1],
    ['refuses', async () => Promise.reject(new Error('away')), 0],
    ['never answers', () => new Promise<number>(() => {}), 0],
  ])('include whether the engine is up: it %s', async (_, waiting, expected) => {
    const registry = new Registry()
    const producer = { waiting, add: async () => ({ stored: new Set<string>() }), held: async () => new Set<string>() }
    collectEngine(registry, { producer: () => ({ ...producer, close: async () => {} }) })
    expect(await readMetric(registry, 'countersign_engine_up')).toBe(expected)
  })
})
