// SQL that counts claims and the ends of cases. Claims are counted by their ids, which say when they were made: an index
// has the ids by risk status, so that no row is read.

import type { Tx } from '#src/platform/db/database.ts'
import { daysOf, type Period } from '#src/platform/http/period.ts'
import type { Scope } from '#src/platform/ids.ts'

export const RISK_STATUSES = ['pending', 'passed', 'review', 'failed'] as const
export type CountedRisk = (typeof RISK_STATUSES)[number]

/** Each day of the period once, in order; `claims` has only what is not 0. */
export interface ClaimDayRow {
  day: string
  claims: Partial<Record<CountedRisk, number>>
}

/** @param most One claim more ends the count: the sum of all is then `most + 1`. */
export async function countClaimsByDay(
  tx: Tx,
  { environment }: Scope,
  period: Period,
  most: number,
): Promise<ClaimDayRow[]> {
  const { days, lowest, above } = daysOf(period, { type: 'clm', environment })
  return tx.query<ClaimDayRow>(
    `WITH counted AS MATERIALIZED (
       SELECT day, status, count(*)::int AS claims FROM (
         SELECT day, status FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS days (day, lowest, above, place)
         CROSS JOIN unnest($4::text[]) AS statuses (status)
         CROSS JOIN LATERAL (SELECT FROM claims
           WHERE risk_status = status AND id >= lowest COLLATE "C" AND id < above COLLATE "C" OFFSET 0) AS claim
         LIMIT $5) AS claim
       GROUP BY day, status)
     SELECT day, coalesce((SELECT jsonb_object_agg(status, claims) FROM counted WHERE counted.day = days.day), '{}') AS claims
     FROM unnest($1::text[]) WITH ORDINALITY AS days (day, place) ORDER BY place`,
    [days, lowest, above, RISK_STATUSES, most + 1],
  )
}

export const CASE_OUTCOMES = ['fraud', 'legitimate', 'other'] as const
export type CaseOutcome = (typeof CASE_OUTCOMES)[number]
export type OutcomeCounts = Record<CaseOutcome, number>

export interface FactorCounts {
  /** Of the cases that ended in the period. */
  cases: OutcomeCounts
  factors: (OutcomeCounts & { code: string })[]
}

// A denial says fraud where its reason does: other denials are for lack of evidence, or for what the note says.
const OUTCOME = `CASE WHEN state = 'approved' THEN 'legitimate'
  WHEN state = 'denied' AND reason_code IN ('suspected_fraud', 'signature_invalid') THEN 'fraud' ELSE 'other' END`
const SUMS = CASE_OUTCOMES.map((outcome) => `'${outcome}', count(*) FILTER (WHERE outcome = '${outcome}')`).join(', ')

/**
 * The cases that ended in a period, and how many of their claims have each factor or advisory code now.
 * @param most One case more is read: then the sum of all cases is `most + 1`.
 */
export async function countFactors(tx: Tx, { from, to }: Period, most: number): Promise<FactorCounts> {
  const [row] = await tx.query<FactorCounts>(
    `WITH ended AS MATERIALIZED (
       SELECT claim_id, ${OUTCOME} AS outcome FROM cases WHERE closed_at >= $1 AND closed_at < $2 LIMIT $3
     ), found AS (
       SELECT outcome, code FROM ended
       CROSS JOIN LATERAL (SELECT factor_codes || advisory_codes AS codes FROM claims WHERE id = claim_id LIMIT 1) AS claim
       CROSS JOIN LATERAL unnest(codes) AS code
     )
     SELECT (SELECT jsonb_build_object(${SUMS}) FROM ended) AS cases,
       (SELECT coalesce(jsonb_agg(counts), '[]') FROM (
          SELECT jsonb_build_object('code', code, ${SUMS}) AS counts FROM found GROUP BY code) AS factors) AS factors`,
    [from, to, most + 1],
  )
  if (row === undefined) throw new Error('a statement without FROM returned no row')
  return row
}
