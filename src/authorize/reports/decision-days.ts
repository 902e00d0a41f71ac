// How many verifications were answered with each reason, by day. Their ids say when they were made and an index has the
// reason beside them, so that no entry is read.

import { z } from 'zod'
import { invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { daysOf, type Period, periodOf, periodQuery, periodView, toPeriodView } from '#src/platform/http/period.ts'
import type { Scope } from '#src/platform/ids.ts'

/** Decisions of one report: they are counted in an index. */
export const MAX_COUNTED = 500_000
// Rules of a policy may answer with a reason of their own for each action.
const MAX_REASONS = 20_000
// A report waits for no lock: only an overloaded machine takes this long.
const STATEMENT_TIMEOUT = '1s'

const KINDS = ['verify', 'execute'] as const

interface DecisionCount {
  day: string
  kind: (typeof KINDS)[number]
  /** null: the action may run. */
  reason: string | null
  decisions: number
}

const count = z.number().int()
const decisionCountView = z
  .object({
    day: z.iso.date().describe('Day in UTC.'),
    kind: z.enum(KINDS).meta({
      id: 'CountedDecisionKind',
      description: 'verify: a relying party asked whether an action may run; execute: a token was used for its action.',
    }),
    reason: z
      .string()
      .nullable()
      .describe('A reason of verify, or a policy rule’s own reason; null: the action may run.'),
    decisions: count,
  })
  .meta({ id: 'DecisionCount' })
const decisionAnalyticsView = z
  .object({
    ...periodView,
    total: count,
    counts: z
      .array(decisionCountView)
      .describe('Counts by day, oldest first, then by kind and number. Counts of 0 are left out.'),
  })
  .meta({ id: 'DecisionAnalytics' })

interface DecisionDaysDeps {
  db: Pick<Database, 'tenant'>
  now: () => Date
  maxCounted?: number
}

export function decisionDayRoutes({ db, now, maxCounted = MAX_COUNTED }: DecisionDaysDeps): Route[] {
  return [
    endpoint(
      {
        method: 'GET',
        path: '/v1/analytics/decisions',
        operationId: 'analyzeDecisions',
        sdk: 'analytics.decisions.retrieve',
        effect: 'read',
        kind: 'call',
        scope: 'admin',
        permission: 'decisions.read',
        needsAccountKey: true,
        summary: 'Count verifications by day and reason',
        query: z.object(periodQuery),
        view: decisionAnalyticsView,
        status: [200],
      },
      async ({ caller, query }) => {
        const period = periodOf(query, now())
        const counts = await db.tenant(caller, (tx) => countByReason(tx, caller, period, maxCounted), {
          isSnapshot: true,
        })
        const total = counts.reduce((sum, { decisions }) => sum + decisions, 0)
        if (total > maxCounted || counts.length > MAX_REASONS) {
          const most = total > maxCounted ? `${maxCounted} decisions` : `${MAX_REASONS} pairs of a day and a reason`
          throw invalidField('?from', 'range_too_large', `must leave at most ${most} until \`to\``)
        }
        return { ...toPeriodView(period), total, counts }
      },
    ),
  ]
}

/** @param most One decision more ends the count: the sum of all is then `most + 1`. */
export async function countByReason(
  tx: Tx,
  { environment }: Scope,
  period: Period,
  most: number,
): Promise<DecisionCount[]> {
  const { days, lowest, above } = daysOf(period, { type: 'dec', environment })
  const [, counts] = await Promise.all([
    tx.query(`SELECT set_config('statement_timeout', $1, true)`, [STATEMENT_TIMEOUT]),
    // Grouped by the places of days and kinds: a text is compared for each row, a number in a third of the time.
    tx.query<DecisionCount>(
      `SELECT ($1::text[])[day] AS day, ($4::text[])[kind] AS kind, reason, decisions FROM (
         SELECT day, kind, reason, count(*)::int AS decisions FROM (
           SELECT days.place AS day, kinds.place AS kind, decision.reason
           FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS days (lowest, above, place)
           CROSS JOIN unnest($4::text[]) WITH ORDINALITY AS kinds (kind, place)
           CROSS JOIN LATERAL (SELECT reason FROM decisions
             WHERE decisions.kind = kinds.kind AND id >= lowest COLLATE "C" AND id < above COLLATE "C" OFFSET 0) AS decision
           LIMIT $5) AS decision
         GROUP BY day, kind, reason ORDER BY day, kind, decisions DESC, reason LIMIT $6) AS counted`,
      [days, lowest, above, KINDS, most + 1, MAX_REASONS + 1],
    ),
  ])
  return counts
}
