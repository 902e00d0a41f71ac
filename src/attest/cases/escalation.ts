// What a claim's new standing does to its case, in the transaction that changes the standing: a claim that becomes
// failed gets a case, and other changes are recorded in the case that the claim has.

import type { ClaimStanding } from '#src/attest/factors/judge.ts'
import type { ClaimBefore } from '#src/attest/factors/standing.ts'
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

/** Most claims have none: this look-up costs a tenth of `noteChanges`. */
export async function findClaimsWithCase(tx: Tx, claimIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>('SELECT claim_id AS id FROM cases WHERE claim_id = ANY($1)', [claimIds])
  return new Set(rows.map(({ id }) => id))
}

export interface StandingChange {
  before: Pick<ClaimBefore, 'id' | 'riskStatus' | 'riskScore' | 'provenanceStatus'>
  after: ClaimStanding
}

/**
 * Records in the cases of claims, the open one of each or the last closed one, that their standings have changed. The case
 * keeps its state: to reopen is an adjuster's decision. The caller holds the locks on the claims' rows. A claim may occur
 * more than once: its changes are recorded in their order.
 */
export async function noteChanges(tx: Tx, scope: Scope, all: readonly StandingChange[]): Promise<void> {
  if (all.length === 0) return
  const changes = all.map(({ before, after }) => ({
    claimId: before.id,
    changes: JSON.stringify(changesOf(before, after)),
  }))
  await tx.query(
    `WITH change AS (
       SELECT claim_id, changes, place, count(*) OVER (PARTITION BY claim_id) AS changes_of_claim,
         row_number() OVER (PARTITION BY claim_id ORDER BY place) AS number
       FROM unnest($3::text[], $4::jsonb[]) WITH ORDINALITY AS given (claim_id, changes, place)
     ), known AS (
       SELECT DISTINCT ON (claim_id) id, claim_id FROM cases WHERE claim_id = ANY($3)
       ORDER BY claim_id, closed_at IS NULL DESC, id DESC
     ), noted AS (
       UPDATE cases SET updated_at = now(), claim_changed_at = CASE WHEN closed_at IS NOT NULL THEN now() END,
         version = version + (SELECT max(changes_of_claim)::int FROM change WHERE change.claim_id = cases.claim_id)
       WHERE id = ANY(ARRAY(SELECT id FROM known)) RETURNING id, claim_id, version
     )
     INSERT INTO case_entries (account_id, environment, case_id, seq, kind, changes, at)
     SELECT $1, $2, noted.id, version - changes_of_claim + number, 'changed', changes, clock_timestamp()
     FROM noted JOIN change USING (claim_id)`,
    [scope.accountId, scope.environment, changes.map(({ claimId }) => claimId), changes.map((one) => one.changes)],
  )
}

function changesOf(before: StandingChange['before'], after: ClaimStanding) {
  return [
    { field: 'risk_status', from: before.riskStatus, to: after.riskStatus },
    { field: 'risk_score', from: textOf(before.riskScore), to: textOf(after.riskScore) },
    { field: 'provenance_status', from: before.provenanceStatus, to: after.provenanceStatus },
  ].filter(({ from, to }) => from !== to)
}

function textOf(score: number | null): string | null {
  return score === null ? null : String(score)
}
