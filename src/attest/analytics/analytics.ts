// What adjusters and those who set the risk policy look at over time: claims by risk, and which factors stood at claims that
// turned out to be fraud. Every report reads a bounded number of rows.

import { invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type Period, periodOf } from '#src/platform/http/period.ts'
import type { Scope } from '#src/platform/ids.ts'
import { ADVISORIES, type AdvisoryCode, FACTOR_CODES, FACTORS, type FactorCode } from '../factors/table.ts'
import { type ClaimDayRow, countClaimsByDay, countFactors, type OutcomeCounts } from './rows.ts'

/** Claims of one report: they are counted in an index. */
export const MAX_CLAIMS = 500_000
/** Cases of one report: each claim is looked up. */
export const MAX_CASES = 10_000
// A report waits for no lock: only an overloaded machine takes this long.
const STATEMENT_TIMEOUT = '1s'

export interface PeriodQuery {
  from?: string | undefined
  to?: string | undefined
}

export interface FactorOutcome extends OutcomeCounts {
  code: FactorCode | AdvisoryCode
  /** null: an advisory code. */
  points: number | null
}

interface AnalyticsDeps {
  db: Pick<Database, 'tenant'>
  now: () => Date
  maxClaims?: number
  maxCases?: number
}

export type Analytics = ReturnType<typeof createAnalytics>

export function createAnalytics({ db, now, maxClaims = MAX_CLAIMS, maxCases = MAX_CASES }: AnalyticsDeps) {
  function read<R>(scope: Scope, work: (tx: Tx) => Promise<R>): Promise<R> {
    return db.tenant(
      scope,
      async (tx) => {
        // Sent together.
        const [, report] = await Promise.all([
          tx.query(`SELECT set_config('statement_timeout', $1, true)`, [STATEMENT_TIMEOUT]),
          work(tx),
        ])
        return report
      },
      { isSnapshot: true },
    )
  }

  return {
    /**
     * Every day of the period, oldest first.
     * @throws {Failure} `invalid_request` at `?from`.
     */
    async claims(scope: Scope, query: PeriodQuery): Promise<{ period: Period; days: ClaimDayRow[] }> {
      const period = periodOf(query, now())
      const days = await read(scope, (tx) => countClaimsByDay(tx, scope, period, maxClaims))
      const total = days.reduce((sum, { claims }) => sum + sumOf(Object.values(claims)), 0)
      if (total > maxClaims) throw tooMany('claims', maxClaims)
      return { period, days }
    },

    /**
     * Every code in the order of results, also those that no claim has.
     * @throws {Failure} `invalid_request` at `?from`.
     */
    async factors(
      scope: Scope,
      query: PeriodQuery,
    ): Promise<{ period: Period; cases: OutcomeCounts; factors: FactorOutcome[] }> {
      const period = periodOf(query, now())
      const { cases, factors } = await read(scope, (tx) => countFactors(tx, period, maxCases))
      if (sumOf(Object.values(cases)) > maxCases) throw tooMany('cases', maxCases)
      const countsOf = (code: string) => {
        const { fraud = 0, legitimate = 0, other = 0 } = factors.find((one) => one.code === code) ?? {}
        return { fraud, legitimate, other }
      }
      return {
        period,
        cases,
        factors: [
          ...FACTOR_CODES.map((code) => ({ code, points: FACTORS[code], ...countsOf(code) })),
          ...ADVISORIES.map((code) => ({ code, points: null, ...countsOf(code) })),
        ],
      }
    },
  }
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

function tooMany(what: string, most: number) {
  return invalidField('?from', 'range_too_large', `must leave at most ${most} ${what} until \`to\``)
}
