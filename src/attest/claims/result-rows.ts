// Replacing results: the old result is kept, and the new one becomes current.

import type { AttestationStanding, Judgement } from '#src/attest/factors/judge.ts'
import type { AdvisoryCode, FactorCode } from '#src/attest/factors/table.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { judgementValues, type NewResult } from './rows.ts'

/** The current result, with the facts it was evaluated on. */
export interface CurrentResult extends Judgement {
  evaluatedAt: Date
  /** As `encodeFacts` wrote it, parsed; null where it is erased. */
  facts: unknown
  isErased: boolean
  isMediaStored: boolean
}

export async function findResult(tx: Tx, id: string): Promise<CurrentResult | undefined> {
  const [row] = await tx.query<CurrentResult>(
    `SELECT a.evaluated_at AS "evaluatedAt", a.risk_status AS "riskStatus", a.risk_score AS "riskScore",
       a.provenance_status AS "provenanceStatus", a.hardware_tier AS "hardwareTier", a.rules_version AS "rulesVersion",
       a.factors, a.advisory_factors AS "advisoryFactors", a.observations, a.facts, a.erased_at IS NOT NULL AS "isErased",
       (SELECT state = 'stored' FROM media WHERE media.id = a.media_id) AS "isMediaStored"
     FROM attestations a WHERE a.id = $1 AND a.status = 'evaluated'`,
    [id],
  )
  return row
}

export type NewerResult = Pick<NewResult, 'id' | 'judgement' | 'evaluatedAt' | 'resultJws' | 'facts' | 'policyVersion'>

/**
 * Replaces the result last changed at `seenAt`; the old one is kept with its re-evaluation. False when that result is
 * no longer current, or the data of its claim are erased: then nothing is written.
 */
export async function replaceResult(
  tx: Tx,
  { id, judgement, evaluatedAt, resultJws, facts, policyVersion }: NewerResult,
  { seenAt, causes }: { seenAt: Date; causes: readonly string[] },
): Promise<boolean> {
  const rows = await tx.query(
    `WITH old AS (
       SELECT * FROM attestations WHERE id = $1 AND status = 'evaluated' AND erased_at IS NULL AND evaluated_at = $2
       FOR NO KEY UPDATE
     ), kept AS (
       INSERT INTO attestation_results (account_id, environment, attestation_id, seq, evaluated_at, replaced_for,
         risk_status, risk_score, provenance_status, hardware_tier, rules_version, policy_version, result_jws)
       SELECT account_id, environment, id,
         (SELECT count(*) + 1 FROM attestation_results kept WHERE kept.attestation_id = old.id), evaluated_at, $3,
         risk_status, risk_score, provenance_status, hardware_tier, rules_version, policy_version, result_jws FROM old
     )
     UPDATE attestations SET evaluated_at = $4, risk_status = $5, risk_score = $6, provenance_status = $7,
       hardware_tier = $8, rules_version = $9, factors = $10, advisory_factors = $11, observations = $12,
       result_jws = $13, facts = $14, policy_version = $15
     -- By the id itself: joined with old, a planner without statistics scans all rows of the account.
     WHERE id = $1 AND EXISTS (SELECT FROM old) RETURNING 1`,
    [id, seenAt, causes, evaluatedAt, ...judgementValues(judgement), resultJws, facts, policyVersion],
  )
  return rows.length === 1
}

/**
 * The distinct standings of the attestations of a claim: however many attestations there are, their scores and codes
 * are few. The caller holds the lock on the claim's row.
 */
export async function findStandings(tx: Tx, claimId: string): Promise<AttestationStanding[]> {
  const rows = await tx.query<Omit<AttestationStanding, 'factors' | 'advisoryFactors'> & Codes>(
    `SELECT risk_status AS "riskStatus", risk_score AS "riskScore", provenance_status AS "provenanceStatus",
       jsonb_path_query_array(factors, '$[*].code') AS "factorCodes",
       jsonb_path_query_array(advisory_factors, '$[*].code') AS "advisoryCodes"
     FROM attestations WHERE claim_id = $1 AND status = 'evaluated' GROUP BY 1, 2, 3, 4, 5`,
    [claimId],
  )
  return rows.map(({ factorCodes, advisoryCodes, ...standing }) => ({
    ...standing,
    factors: factorCodes.map((code) => ({ code })),
    advisoryFactors: advisoryCodes.map((code) => ({ code })),
  }))
}

interface Codes {
  factorCodes: FactorCode[]
  advisoryCodes: AdvisoryCode[]
}

export interface PastResult {
  seq: number
  evaluatedAt: Date
  replacedAt: Date
  replacedFor: string[]
  riskStatus: Judgement['riskStatus']
  riskScore: number
  provenanceStatus: Judgement['provenanceStatus']
  hardwareTier: Judgement['hardwareTier']
  rulesVersion: string
  policyVersion: number
  resultJws: string
}

/** The replaced results of an attestation, newest first. */
export async function findPastResults(
  tx: Tx,
  attestationId: string,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<PastResult[]> {
  return tx.query<PastResult>(
    `SELECT seq, evaluated_at AS "evaluatedAt", replaced_at AS "replacedAt", replaced_for AS "replacedFor",
       risk_status AS "riskStatus", risk_score AS "riskScore", provenance_status AS "provenanceStatus",
       hardware_tier AS "hardwareTier", rules_version AS "rulesVersion", policy_version AS "policyVersion",
       result_jws AS "resultJws"
     FROM attestation_results WHERE attestation_id = $1 AND ($2::int IS NULL OR seq < $2) ORDER BY seq DESC LIMIT $3`,
    [attestationId, before ?? null, limit],
  )
}
