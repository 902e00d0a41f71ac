// Metrics that dispatch reports of the engine and of Postgres, read when it is scraped.

import { Gauge, type Registry } from 'prom-client'
import { QUEUE_NAMES } from '#src/catalogue/queues.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Engine } from './bull.ts'

// Below Prometheus's default scrape timeout.
const ANSWER_WITHIN_MS = 2_000
const FRESH_MS = 5_000

/** Whether the engine answers. */
export function collectEngine(registry: Registry, engine: Pick<Engine, 'producer'>): void {
  const producer = engine.producer(QUEUE_NAMES[0] ?? 'attest')
  new Gauge({
    name: 'countersign_engine_up',
    help: '1 while the engine of the queues (Redis, or Postgres without one) answers.',
    registers: [registry],
    async collect() {
      const late = AbortSignal.timeout(ANSWER_WITHIN_MS)
      const gaveUp = new Promise<never>((_, reject) => late.addEventListener('abort', () => reject(new Error('late'))))
      this.set(
        await Promise.race([producer.waiting(), gaveUp]).then(
          () => 1,
          () => 0,
        ),
      )
    },
  })
}

/**
 * What slows the hot table down. Postgres shows the oldest transaction only to a role that may see those of other
 * roles.
 */
export function collectPostgres(registry: Registry, db: Pick<Database, 'system'>): void {
  let cached: { at: number; state: Promise<PostgresState> } | undefined
  const state = () => {
    if (cached === undefined || performance.now() - cached.at > FRESH_MS)
      cached = { at: performance.now(), state: readPostgres(db) }
    return cached.state
  }
  new Gauge({
    name: 'countersign_postgres_oldest_transaction_seconds',
    help: 'Age of the oldest transaction in this database.',
    registers: [registry],
    async collect() {
      const { oldestTransactionSeconds } = await state()
      if (oldestTransactionSeconds === null) this.remove()
      else this.set(oldestTransactionSeconds)
    },
  })
  new Gauge({
    name: 'countersign_postgres_dead_rows',
    help: 'Row versions of the table jobs that wait for a vacuum.',
    registers: [registry],
    async collect() {
      this.set((await state()).deadRows)
    },
  })
}

interface PostgresState {
  oldestTransactionSeconds: number | null
  deadRows: number
}

async function readPostgres(db: Pick<Database, 'system'>): Promise<PostgresState> {
  const [row] = await db.system('postgres metrics', (tx) =>
    tx.query<PostgresState>(
      `SELECT CASE WHEN pg_has_role(current_user, 'pg_read_all_stats', 'usage') THEN
         (SELECT greatest(0, coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0))::float8
          FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
            AND backend_type = 'client backend') END AS "oldestTransactionSeconds",
         coalesce((SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'jobs' AND schemaname = 'public'), 0)::int
           AS "deadRows"`,
    ),
  )
  return row ?? { oldestTransactionSeconds: null, deadRows: 0 }
}
