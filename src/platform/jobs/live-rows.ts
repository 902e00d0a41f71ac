import type { QueueName } from '#src/catalogue/queues.ts'
import type { Database, Statement } from '#src/platform/db/database.ts'

// Three missed heartbeats of an idle worker. One that has ended without a word counts until then, so a few jobs may wait
// in the engine for the next one.
export const IDLE_HEARTBEAT_MS = 10_000
export const WORKER_ALIVE = `interval '30 seconds'`
// The same for processes without a queue, which record themselves every five seconds.
const PROCESS_ALIVE = `interval '15 seconds'`

export interface LiveWorker {
  id: string
  queue: QueueName
  /** Jobs at once. */
  concurrency: number
  /** It takes no more. */
  isLeaving: boolean
}

/** Records that a worker takes jobs, unless it is leaving. */
export function recordWorker({ id, queue, concurrency, isLeaving }: LiveWorker): Statement {
  return {
    text: `INSERT INTO workers (id, queue, concurrency) SELECT $1::uuid, $2::text, $3::int WHERE NOT $4::boolean
       ON CONFLICT (id) DO UPDATE SET heartbeat_at = now(), concurrency = excluded.concurrency`,
    values: [id, queue, concurrency, isLeaving],
  }
}

/** Records that a process without a queue is alive. Returns in `others` how many more of its kind are. */
export function recordProcess({ id, kind }: { id: string; kind: string }): Statement {
  return {
    text: `WITH mine AS (
         INSERT INTO workers (id, queue, concurrency) VALUES ($1, $2, 1)
         ON CONFLICT (id) DO UPDATE SET heartbeat_at = now()
       )
       SELECT count(*)::int AS others FROM workers
       WHERE queue = $2 AND id <> $1 AND heartbeat_at > now() - ${PROCESS_ALIVE}`,
    values: [id, kind],
  }
}

/** Removes a worker from the list, so that the dispatch window shrinks at once. */
export async function deregister(db: Pick<Database, 'system'>, workerId: string): Promise<void> {
  const { text, values } = removeProcess(workerId)
  await db.system('deregister', (tx) => tx.query(text, values))
}

export function removeProcess(id: string): Statement {
  return { text: 'DELETE FROM workers WHERE id = $1', values: [id] }
}
