import type { ClaimStanding } from '#src/attest/factors/judge.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

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
