// For accounts whose keys are published: elsewhere a screening lives as long as its account, for results stand on it. It
// holds scores and a hash, and no media.

import { idsBefore } from '#src/platform/ids.ts'
import { deleteRows, type Step } from '#src/platform/retention.ts'

/** Screenings with their calls. */
export const forgetScreenings: Step = async (tx, { environment }, { before, limit }) =>
  deleteRows(
    tx,
    'screenings',
    await tx.query(`SELECT id FROM screenings WHERE id < $1 AND created_at < $2 ORDER BY id LIMIT $3`, [
      idsBefore('scr', environment, before),
      before,
      limit,
    ]),
  )

/** Batches of which no screening is left. */
export const forgetScreeningBatches: Step = async (tx, { environment }, { before, limit }) =>
  deleteRows(
    tx,
    'screening_batches',
    await tx.query(
      `SELECT id FROM screening_batches WHERE id < $1 AND created_at < $2
         AND NOT EXISTS (SELECT FROM screenings WHERE screenings.batch_id = screening_batches.id OFFSET 0)
       ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED`,
      [idsBefore('bat', environment, before), before, limit],
    ),
  )

/** What an account has set. */
export const forgetScreeningSettings: Step = async (tx, _scope, { before }) =>
  (await tx.query('DELETE FROM screening_settings WHERE updated_at < $1 RETURNING 1', [before])).length
