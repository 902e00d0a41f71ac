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

/**
 * Each range of the index is counted by itself, up to what the ones before it left: a row that passes no other step costs
 * half.
 * @param most One claim more ends the count: the sum of all is then `most + 1`.
 */
export async function countClaimsByDay(
  tx: Tx,
  { environment }: Scope,
  period: Period,
  most: number,
): Promise<ClaimDayRow[]> {
  const { days, lowest, above } = daysOf(period, { type: 'clm', environment })
  return tx.query<ClaimDayRow>(
    `WITH RECURSIVE ranges AS MATERIALIZED (
       SELECT row_number() OVER () AS place, day, lowest, above, status
       FROM unnest($1::text[], $2::text[], $3::text[]) AS days (day, lowest, above)
       CROSS JOIN unnest($4::text[]) AS statuses (status)
     ), counted (place, claims, remaining) AS (
       SELECT 0::bigint, 0, $5::int
       UNION ALL
       SELECT ranges.place, found.claims, remaining - found.claims
       FROM counted JOIN ranges ON ranges.place = counted.place + 1
       CROSS JOIN LATERAL (SELECT count(*)::int AS claims FROM (SELECT FROM claims
         WHERE risk_status = status AND id >= lowest COLLATE "C" AND id < above COLLATE "C" LIMIT remaining) AS claim) AS found
       WHERE remaining > 0
     )
     SELECT day, coalesce(jsonb_object_agg(status, claims) FILTER (WHERE claims > 0), '{}') AS claims
     FROM ranges LEFT JOIN counted USING (place) GROUP BY day ORDER BY day`,
    [days, lowest, above, RISK_STATUSES, most + 1],
  )
}

export const CASE_OUTCOMES = ['fraud', 'legitimate', 'other'] as const
export type CaseOutcome = (typeof CASE_OUTCOMES)[number]
export type OutcomeCounts = Record<CaseOutcome, number>

export interface FactorCounts {
  /** Cases that ended in the period. */
  cases: OutcomeCounts
  factors: (OutcomeCounts & { code: string })[]
}

// A denial says fraud where its reason does: other denials are for lack of evidence, or for what the note says.
const OUTCOME = `CASE WHEN state = 'approved' THEN 'legitimate'
  WHEN state = 'denied' AND reason_code IN ('suspected_fraud', 'signature_invalid') THEN 'fraud' ELSE 'other' END`
const SUMS = CASE_OUTCOMES.map((outcome) => `'${outcome}', count(*) FILTER (WHERE outcome = '${outcome}')`).join(', ')

/**
 * The cases that ended in a period, and how many of their claims have each factor or advisory code now.
 * @param most One case more is read: then the sum of all cases is `most + 1`, and no claim is read.
 */
export async function countFactors(tx: Tx, { from, to }: Period, most: number): Promise<FactorCounts> {
  const [row] = await tx.query<FactorCounts>(
    `WITH ended AS MATERIALIZED (
       SELECT claim_id, ${OUTCOME} AS outcome FROM cases WHERE closed_at >= $1 AND closed_at < $2 LIMIT $3
     ), found AS (
       SELECT outcome, code FROM ended
       CROSS JOIN LATERAL (SELECT factor_codes || advisory_codes AS codes FROM claims WHERE id = claim_id LIMIT 1) AS claim
       CROSS JOIN LATERAL unnest(codes) AS code
       WHERE (SELECT count(*) FROM ended) < $3
     )
     SELECT (SELECT jsonb_build_object(${SUMS}) FROM ended) AS cases,
       (SELECT coalesce(jsonb_agg(counts), '[]') FROM (
          SELECT jsonb_build_object('code', code, ${SUMS}) AS counts FROM found GROUP BY code) AS factors) AS factors`,
    [from, to, most + 1],
  )
  if (row === undefined) throw new Error('a statement without FROM returned no row')
  return row
}
