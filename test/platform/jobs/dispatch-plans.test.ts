// Dispatch chooses some hundred jobs of a table that holds millions, as the gauges look for the oldest, and each of its statements is planned once for all
// values: the statistics of a deep backlog must not lead to a plan that reads the whole table.

import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '#src/platform/db/database.ts'
import { createDispatcher } from '#src/platform/jobs/dispatch.ts'
import { readQueues } from '#src/platform/jobs/metrics.ts'
import { type Dispatching, startDispatching } from '../../support/engines.ts'
import { countingRows } from '../../support/rows-read.ts'

const SETTLED = 8_000
const QUEUED = 4_000
const CONCURRENCY = 50

let on: Dispatching
beforeAll(async () => {
  on = await startDispatching('postgres')
})
afterAll(() => on?.close())

it.each([1, 40])(
  'choosing jobs of a deep backlog in %i lanes, or their age, reads little besides them',
  async (lanes) => {
    await on.database.owner('TRUNCATE jobs, workers, queues, job_lanes CASCADE')
    await on.database.owner(`INSERT INTO workers (id, queue, concurrency) VALUES ($1, 'attest', $2)`, [
      randomUUID(),
      CONCURRENCY,
    ])
    await on.database.owner(
      `INSERT INTO jobs (id, queue, lane, priority, account_id, environment, payload, state, settled_at)
     SELECT gen_random_uuid(), 'attest', 'lane ' || n % $3::int, n % 2, $4, $5, '{"attestationId": "none"}',
       CASE WHEN n <= $1::int THEN 'succeeded' ELSE 'queued' END, CASE WHEN n <= $1::int THEN now() END
     FROM generate_series(1, $1::int + $2::int) AS n`,
      [SETTLED, QUEUED, lanes, on.scope.accountId, on.scope.environment],
    )
    await on.database.owner('VACUUM ANALYZE jobs')
    const counter = countingRows('jobs')
    const system: Database['system'] = (reason, work, options) =>
      // Which is read in a hundredth of the time.
      on.database.db.system(reason, (tx) => work(reason === 'count jobs' ? tx : counter.watch(tx)), options)
    const readSystem: Database['readSystem'] = (reason, statement) =>
      system(reason, (tx) => tx.query(statement().text, statement().values))
    const db: Database = { ...on.database.db, system, readSystem, writeSystem: readSystem }
    const dispatcher = createDispatcher({ db, engine: on.engine, log: pino({ level: 'silent' }) })
    try {
      expect((await dispatcher.dispatch('attest')).count).toBeGreaterThan(0)
      expect(await dispatcher.findDue(['attest'])).toEqual(['attest'])
      expect(await dispatcher.findInFlight()).toEqual(['attest'])
      await readQueues(db)
      await on.database.owner(`UPDATE jobs SET dispatched_at = now() - interval '1 minute' WHERE state = 'dispatched'`)
      await dispatcher.reconcile('attest')
      // A window is twice the concurrency. Of both priorities as many are looked at, and one of each lane to find it.
      expect(counter.most()).toBeLessThanOrEqual(2 * (2 * 2 * CONCURRENCY + lanes))
    } finally {
      await dispatcher.close()
    }
  },
)
