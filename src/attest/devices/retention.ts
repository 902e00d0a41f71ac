// For accounts whose keys are published: in others a device is known for ever, or a revoked key could come back.

import { idsBefore } from '#src/platform/ids.ts'
import { deleteRows, type Step } from '#src/platform/retention.ts'

export const forgetDevices: Step = async (tx, { environment }, { before, limit }) =>
  deleteRows(
    tx,
    'devices',
    await tx.query(
      `SELECT id FROM devices WHERE id < $1 AND enrolled_at < $2
         AND NOT EXISTS (SELECT FROM capture_sessions WHERE capture_sessions.device_id = devices.id OFFSET 0)
       ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED`,
      [idsBefore('dev', environment, before), before, limit],
    ),
  )

export const forgetRootCas: Step = async (tx, { environment }, { before, limit }) =>
  deleteRows(
    tx,
    'root_cas',
    await tx.query(`SELECT id FROM root_cas WHERE id < $1 AND created_at < $2 ORDER BY id LIMIT $3`, [
      idsBefore('rca', environment, before),
      before,
      limit,
    ]),
  )

/** Challenges that expired before then, used or not: what they proved stands with the device. */
export const forgetChallenges: Step = async (tx, { environment }, { before, limit }) =>
  deleteRows(
    tx,
    'device_challenges',
    await tx.query(`SELECT id FROM device_challenges WHERE id < $1 AND expires_at < $2 ORDER BY id LIMIT $3`, [
      idsBefore('chl', environment, before),
      before,
      limit,
    ]),
  )
