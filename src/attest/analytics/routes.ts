import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { periodQuery, periodView, toPeriodView } from '#src/platform/http/period.ts'
import { advisoryCodeView, factorCodeView } from '../judgement-views.ts'
import type { Analytics, FactorOutcome } from './analytics.ts'
import { type ClaimDayRow, RISK_STATUSES } from './rows.ts'

const common = { method: 'GET', effect: 'read', kind: 'call', needsAccountKey: true } as const
const count = z.number().int()

const claimDayView = z
  .object({
    day: z.iso.date().describe('Day in UTC.'),
    total: count,
    pending: count,
    passed: count,
    review: count,
    failed: count,
  })
  .meta({ id: 'ClaimDay' })
const claimAnalyticsView = z
  .object({ ...periodView, days: z.array(claimDayView).describe('Every day of the period, oldest first.') })
  .meta({ id: 'ClaimAnalytics' })

const outcomes = {
  fraud: count.describe('Denied with the reason `suspected_fraud` or `signature_invalid`.'),
  legitimate: count.describe('Approved.'),
  other: count.describe('Denied for another reason, withdrawn or closed undecided.'),
}
const caseOutcomesView = z.object(outcomes).meta({ id: 'CaseOutcomeCounts' })
const factorOutcomeView = z
  .object({
    code: z.union([factorCodeView, advisoryCodeView]),
    points: z.number().int().nullable().describe('Points of the code; null: an advisory code, which never counts.'),
    cases: caseOutcomesView.describe('Number of ended cases whose claim has the code.'),
  })
  .meta({ id: 'FactorOutcomes' })
const factorAnalyticsView = z
  .object({
    ...periodView,
    cases: caseOutcomesView.describe('All cases that ended in the period.'),
    factors: z.array(factorOutcomeView).describe('Every code, in the order of results.'),
  })
  .meta({ id: 'FactorAnalytics' })

export function analyticsRoutes(analytics: Analytics): Route[] {
  return [
    endpoint(
      {
        ...common,
        path: '/v1/analytics/claims',
        operationId: 'analyzeClaims',
        sdk: 'analytics.claims.retrieve',
        scope: 'verify',
        permission: 'claims.read',
        summary: 'Count claims by day and risk status',
        query: z.object(periodQuery),
        view: claimAnalyticsView,
        status: [200],
      },
      async ({ caller, query }) => {
        const { period, days } = await analytics.claims(caller, query)
        return { ...toPeriodView(period), days: days.map(toDayView) }
      },
    ),
    endpoint(
      {
        ...common,
        path: '/v1/analytics/factors',
        operationId: 'analyzeFactors',
        sdk: 'analytics.factors.retrieve',
        scope: 'escalate',
        permission: 'cases.read',
        summary: 'Count factors by the outcome of cases',
        query: z.object(periodQuery),
        view: factorAnalyticsView,
        status: [200],
      },
      async ({ caller, query }) => {
        const { period, cases, factors } = await analytics.factors(caller, query)
        return { ...toPeriodView(period), cases, factors: factors.map(toFactorView) }
      },
    ),
  ]
}

function toDayView({ day, claims }: ClaimDayRow): z.input<typeof claimDayView> {
  const [pending = 0, passed = 0, review = 0, failed = 0] = RISK_STATUSES.map((status) => claims[status] ?? 0)
  return { day, total: pending + passed + review + failed, pending, passed, review, failed }
}

function toFactorView({ code, points, ...cases }: FactorOutcome): z.input<typeof factorOutcomeView> {
  return { code, points, cases }
}
