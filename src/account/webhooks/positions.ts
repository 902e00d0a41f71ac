// Gives events their position after their commit, in the process `sequence`: a reader that has seen a position has seen
// every event before it. Ids are no such order: an event with an older id may commit later.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { idsBefore } from '#src/platform/ids.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import { deleteRows, type PurgeStep } from '#src/platform/retention.ts'
import { distinctScopes, type Sequence } from '#src/platform/sequence.ts'

export const EVENT_SEQUENCE: Sequence = {
  name: 'events',
  findScopes: (after, limit) => distinctScopes('events', 'position IS NULL', after, limit),
  append: positionEvents,
  findOldest: () => ({
    text: `SELECT extract(epoch FROM clock_timestamp() - min(created_at))::float8 AS seconds FROM events
      WHERE position IS NULL`,
    values: [],
  }),
}

// The counter is a row of its own: retention deletes events, and no position is given twice.
async function positionEvents(tx: Tx, scopes: readonly Scope[], maxRows: number): Promise<number[]> {
  const share = Math.max(1, Math.floor(maxRows / scopes.length))
  const rows = await tx.query<{ seconds: number }>(
    `WITH due AS MATERIALIZED (
       SELECT scope.account_id, scope.environment, event.id, event.place
       FROM unnest($1::text[], $2::text[]) AS scope (account_id, environment)
       CROSS JOIN LATERAL (
         SELECT id, row_number() OVER (ORDER BY id) AS place FROM (
           SELECT id FROM events WHERE events.account_id = scope.account_id AND events.environment = scope.environment
             AND position IS NULL ORDER BY id LIMIT $3) oldest) event
     ), head AS (
       INSERT INTO event_heads AS head (account_id, environment, position)
       SELECT account_id, environment, count(*) FROM due GROUP BY 1, 2
       ON CONFLICT (account_id, environment) DO UPDATE SET position = head.position + excluded.position
       RETURNING account_id, environment, position
     ), counted AS (
       SELECT account_id, environment, count(*) AS places FROM due GROUP BY 1, 2
     )
     UPDATE events SET position = head.position - counted.places + due.place
     FROM due JOIN head USING (account_id, environment) JOIN counted USING (account_id, environment)
     WHERE events.account_id = due.account_id AND events.environment = due.environment AND events.id = due.id
       AND events.position IS NULL
     RETURNING extract(epoch FROM clock_timestamp() - events.created_at)::float8 AS seconds`,
    [scopes.map(({ accountId }) => accountId), scopes.map(({ environment }) => environment), share],
  )
  failpoint('sequence:positioning')
  return rows.map(({ seconds }) => seconds)
}

/**
 * Deletes old events, and notes in the same transaction how far: a reader that has not come so far is told so. Events that still
 * have to be delivered stay.
 */
export const purgeEvents: PurgeStep = async (tx, { environment }, { before, limit }) => {
  // OFFSET 0 keeps NOT EXISTS one look-up per row: as a join it would read all deliveries of the account in each step.
  const old = await tx.query<{ id: string; position: number | null }>(
    `SELECT id, position FROM events WHERE id < $1 AND created_at < $2
       AND NOT EXISTS (SELECT FROM deliveries WHERE deliveries.event_id = events.id AND deliveries.status = 'pending' OFFSET 0)
     ORDER BY id LIMIT $3`,
    [idsBefore('evt', environment, before), before, limit],
  )
  if (old.length === 0) return 0
  const last = Math.max(0, ...old.map(({ position }) => position ?? 0))
  if (last > 0) await tx.query('UPDATE event_heads SET purged_position = greatest(purged_position, $1)', [last])
  return deleteRows(tx, 'events', old)
}
