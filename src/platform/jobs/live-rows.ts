import type { Statement } from '#src/platform/db/database.ts'

// Three missed heartbeats, as for workers.
const ALIVE = `interval '15 seconds'`

/** Records that a process without a queue is alive. Returns in `others` how many more of its kind are. */
export function recordProcess({ id, kind }: { id: string; kind: string }): Statement {
  return {
    text: `WITH mine AS (
         INSERT INTO workers (id, queue, concurrency) VALUES ($1, $2, 1)
         ON CONFLICT (id) DO UPDATE SET heartbeat_at = now()
       )
       SELECT count(*)::int AS others FROM workers
       WHERE queue = $2 AND id <> $1 AND heartbeat_at > now() - ${ALIVE}`,
    values: [id, kind],
  }
}

export function removeProcess(id: string): Statement {
  return { text: 'DELETE FROM workers WHERE id = $1', values: [id] }
}
