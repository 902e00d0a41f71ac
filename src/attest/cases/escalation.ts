// What a claim's new standing does to its case, in the transaction that changes the standing: a claim that becomes
// failed gets a case, and a re-evaluation is recorded in the case that the claim has.

import type { ClaimStanding } from '#src/attest/factors/judge.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { type SlaSettings, startClock } from './sla.ts'

/**
 * Opens a case for the claim, whose row the transaction has locked, and returns the case's id. If the claim already has
 * a case, adds an entry to its history instead: to the open case, or to the last closed one, which stays closed and
 * records when its claim's standing changed: to reopen is an adjuster's decision.
 */
export type OpenCase = (tx: Tx, scope: Scope, claimId: string) => Promise<string>

export function createOpenCase({ now, settings }: { now: () => Date; settings: SlaSettings }): OpenCase {
  return async (tx, scope, claimId) => {
    const openedAt = now()
    const { reviewDueAt, decisionDueAt } = startClock(openedAt, settings)
    const id = newId('cas', scope.environment, openedAt.getTime())
    // One statement, because every result that fails a claim runs it.
    const [entry] = await tx.query<{ caseId: string }>(
      `WITH known AS MATERIALIZED (
         SELECT id FROM cases WHERE claim_id = $3 ORDER BY closed_at IS NULL DESC, id DESC LIMIT 1
       ), noted AS (
         UPDATE cases SET version = version + 1, updated_at = $5,
           claim_changed_at = CASE WHEN closed_at IS NOT NULL THEN $5::timestamptz END
         WHERE id = (SELECT id FROM known) RETURNING id, version
       ), opened AS (
         INSERT INTO cases (account_id, environment, id, claim_id, review_due_at, decision_due_at, due_at, created_at, updated_at)
         SELECT $1, $2, $4, $3, $6, $7, $6, $5, $5 WHERE NOT EXISTS (SELECT FROM known)
         RETURNING id, version
       )
       INSERT INTO case_entries (account_id, environment, case_id, seq, kind, to_state, at)
       SELECT $1, $2, id, version, 'opened', 'open', clock_timestamp() FROM opened
       UNION ALL SELECT $1, $2, id, version, 'escalated', NULL, clock_timestamp() FROM noted
       RETURNING case_id AS "caseId"`,
      [scope.accountId, scope.environment, claimId, id, openedAt, reviewDueAt, decisionDueAt],
    )
    if (entry === undefined) throw new Error('a claim that escalates has no case')
    return entry.caseId
  }
}

/** A claim as it was before the change. */
export interface ClaimBefore {
  id: string
  riskStatus: string
  riskScore: number | null
  provenanceStatus: string | null
}

/**
 * Records in a claim's case, the open one or the last closed one, that the claim's standing has changed. The case keeps
 * its state: to reopen is an adjuster's decision. The caller holds the lock on the claim's row.
 */
export async function noteChange(tx: Tx, scope: Scope, before: ClaimBefore, after: ClaimStanding): Promise<void> {
  const changes = [
    { field: 'risk_status', from: before.riskStatus, to: after.riskStatus },
    { field: 'risk_score', from: textOf(before.riskScore), to: textOf(after.riskScore) },
    { field: 'provenance_status', from: before.provenanceStatus, to: after.provenanceStatus },
  ].filter(({ from, to }) => from !== to)
  await tx.query(
    `WITH noted AS (
       UPDATE cases SET version = version + 1, updated_at = now(),
         claim_changed_at = CASE WHEN closed_at IS NOT NULL THEN now() END
       WHERE id = (SELECT id FROM cases WHERE claim_id = $3 ORDER BY closed_at IS NULL DESC, id DESC LIMIT 1)
       RETURNING id, version
     )
     INSERT INTO case_entries (account_id, environment, case_id, seq, kind, changes, at)
     SELECT $1, $2, id, version, 'changed', $4, clock_timestamp() FROM noted`,
    [scope.accountId, scope.environment, before.id, JSON.stringify(changes)],
  )
}

function textOf(score: number | null): string | null {
  return score === null ? null : String(score)
}
