import { idsBefore } from '#src/platform/ids.ts'
import { deleteRows, type Step } from '#src/platform/retention.ts'

/** Events, but those that somebody still waits for. */
export const forgetEvents: Step = async (tx, { environment }, { before, limit }) =>
  deleteRows(
    tx,
    'events',
    await tx.query(
      `SELECT id FROM events WHERE id < $1 AND created_at < $2
         AND NOT EXISTS (SELECT FROM deliveries
           WHERE deliveries.event_id = events.id AND deliveries.status = 'pending' OFFSET 0)
       ORDER BY id LIMIT $3`,
      [idsBefore('evt', environment, before), before, limit],
    ),
  )

/** Deliveries that have ended, with the log of their attempts. */
export const forgetDeliveries: Step = async (tx, { environment }, { before, limit }) => {
  const old = await tx.query<{ id: string }>(
    `SELECT id FROM deliveries WHERE id < $1 AND created_at < $2 AND status <> 'pending' ORDER BY id LIMIT $3 FOR UPDATE`,
    [idsBefore('whd', environment, before), before, limit],
  )
  await tx.query('DELETE FROM delivery_attempts WHERE delivery_id = ANY($1)', [old.map(({ id }) => id)])
  return deleteRows(tx, 'deliveries', old)
}
