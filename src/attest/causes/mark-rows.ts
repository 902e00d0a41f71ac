// Marks of attestations to re-evaluate: one per attestation and cause.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { reopenReevaluations } from './rows.ts'

export type MarkOutcome = 'changed' | 'unchanged' | 'failed' | 'skipped'

/** Marks attestations for a cause; returns those that it had not marked before. */
export async function insertMarks(
  tx: Tx,
  scope: Scope,
  reevaluationId: string,
  attestationIds: readonly string[],
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `INSERT INTO reevaluation_marks (account_id, environment, reevaluation_id, attestation_id)
     SELECT $1, $2, $3, unnest($4::text[])
     ON CONFLICT ON CONSTRAINT reevaluation_marks_pkey DO NOTHING RETURNING attestation_id AS id`,
    [scope.accountId, scope.environment, reevaluationId, attestationIds],
  )
  return rows.map(({ id }) => id)
}

/** The causes for which the attestation is not re-evaluated yet. */
export async function findPending(tx: Tx, attestationId: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT reevaluation_id AS id FROM reevaluation_marks WHERE attestation_id = $1 AND outcome IS NULL ORDER BY 1`,
    [attestationId],
  )
  return rows.map(({ id }) => id)
}

export async function settleMarks(
  tx: Tx,
  attestationId: string,
  reevaluationIds: readonly string[],
  outcome: MarkOutcome,
): Promise<void> {
  await tx.query(
    // The query searches by the attestation's index: a planner without statistics also uses the re-evaluation's, which
    // may hold all marks.
    `UPDATE reevaluation_marks SET outcome = $3
     WHERE attestation_id = $1 AND reevaluation_id || '' = ANY($2) AND outcome IS NULL`,
    [attestationId, reevaluationIds, outcome],
  )
}

export async function failMarks(tx: Tx, attestationId: string): Promise<void> {
  await tx.query(`UPDATE reevaluation_marks SET outcome = 'failed' WHERE attestation_id = $1 AND outcome IS NULL`, [
    attestationId,
  ])
}

/** A failed attestation is retried, so its re-evaluations have not ended. */
export async function reopenMarks(tx: Tx, scope: Scope, attestationId: string): Promise<void> {
  const rows = await tx.query<{ id: string }>(
    `UPDATE reevaluation_marks SET outcome = NULL WHERE attestation_id = $1 AND outcome = 'failed'
     RETURNING reevaluation_id AS id`,
    [attestationId],
  )
  await reopenReevaluations(
    tx,
    scope,
    rows.map(({ id }) => id),
  )
}

export type Counts = Record<MarkOutcome | 'pending', number>

export async function countMarks(tx: Tx, reevaluationId: string): Promise<Counts> {
  const rows = await tx.query<{ outcome: MarkOutcome | null; count: number }>(
    `SELECT outcome, count(*) AS count FROM reevaluation_marks WHERE reevaluation_id = $1 GROUP BY outcome`,
    [reevaluationId],
  )
  const counts: Counts = { pending: 0, changed: 0, unchanged: 0, failed: 0, skipped: 0 }
  for (const { outcome, count } of rows) counts[outcome ?? 'pending'] = count
  return counts
}

export async function hasPending(tx: Tx, reevaluationId: string): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 FROM reevaluation_marks WHERE reevaluation_id = $1 AND outcome IS NULL LIMIT 1`,
    [reevaluationId],
  )
  return rows.length > 0
}
