import { z } from 'zod'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listQuery } from '#src/platform/http/page.ts'
import { timestamp } from '#src/platform/http/params.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { checkName } from '#src/platform/ids.ts'
import type { ApprovalStatus } from '../approvals/facts.ts'
import { AGE_CLASSES, DEFAULT_DAYS, MAX_DAYS, type Ranged, type Reports } from './reports.ts'
import type { ApprovalAges, SpendRow, UnexecutedRow } from './rows.ts'

const common = {
  method: 'GET',
  scope: 'verify',
  permission: 'decisions.read',
  needsAccountKey: true,
} as const
const PATH = '/v1/analytics'

const range = {
  from: timestamp
    .optional()
    .describe(`At or after; ${DEFAULT_DAYS} days before \`to\` when absent, at most ${MAX_DAYS}.`),
  to: timestamp.optional().describe('Before; now when absent.'),
}
const page = { limit: listQuery.limit, cursor: listQuery.cursor }
const amount = z.string().describe('A decimal, exact.')

const spendView = z
  .object({
    mandate_id: z.string(),
    period_start: z
      .string()
      .meta({ format: 'date' })
      .nullable()
      .describe('Of the budget; null where the mandate has none.'),
    currency: z.string().nullable(),
    executions: z.number().int(),
    charged: amount,
    released: amount.describe('Given back, as the action failed or did not run.'),
    spent: amount.describe('`charged` less `released`.'),
  })
  .meta({ id: 'MandateSpend' })

const count = z.number().int()
const ageView = z
  .object({
    from_seconds: count,
    to_seconds: count.nullable().describe('null: without an end.'),
    total: count,
    by_status: z
      .object({ pending: count, approved: count, denied: count, expired: count, cancelled: count })
      .meta({ id: 'ApprovalCounts' }),
  })
  .meta({ id: 'ApprovalAgeClass' })
const approvalsView = z
  .object({
    from: timestampView.describe('Of the approvals that were counted.'),
    to: timestampView.describe('Exclusive.'),
    age_classes: z.array(ageView),
    seconds_to_decide: z
      .object({ p50: z.number().nullable(), p95: z.number().nullable() })
      .meta({ id: 'ApprovalSeconds' })
      .describe('Of what people approved or denied.'),
    oldest_pending: z
      .object({ approval_id: z.string(), asked_at: timestampView })
      .meta({ id: 'OldestApproval' })
      .nullable(),
  })
  .meta({ id: 'ApprovalReport' })

const unexecutedView = z
  .object({
    jti: z.string(),
    decision_id: z.string().describe('Of the authorization.'),
    authorized_at: timestampView,
    preflight_reason: z.string().nullable().describe('Why a verification at that time would have refused.'),
    agent_id: z.string().nullable(),
    agent_session_id: z.string().nullable(),
    device_id: z.string().nullable(),
    mandate_id: z.string().nullable(),
    schedule_id: z.string().nullable(),
    approval_id: z.string().nullable(),
    last_verification: z
      .object({
        decision_id: z.string(),
        at: timestampView,
        valid: z.boolean().describe('true: it only checked.'),
        reason: z.string().nullable(),
      })
      .meta({ id: 'LastVerification' })
      .nullable()
      .describe('null: nobody ever presented the token.'),
  })
  .meta({ id: 'UnexecutedIntent' })

export function reportRoutes(reports: Reports): Route[] {
  return [
    listEndpoint(
      {
        ...common,
        path: `${PATH}/mandate-spend`,
        operationId: 'reportMandateSpend',
        sdk: 'analytics.mandateSpend.list',
        summary: 'What was spent under mandates, by period of their budgets',
        query: { ...page, ...range, mandate_id: z.string().min(1).max(64).optional() },
        item: spendView,
      },
      ({ caller, query }) => {
        if (query.mandate_id !== undefined) checkName(query.mandate_id, caller.environment)
        return reports.spend(caller, query)
      },
      toSpendView,
    ),
    endpoint(
      {
        ...common,
        path: `${PATH}/approvals`,
        operationId: 'reportApprovals',
        sdk: 'analytics.approvals.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Approvals by their age, and how long people took',
        query: z.object(range),
        view: approvalsView,
        status: [200],
      },
      async ({ caller, query }) => {
        return toApprovalsView(await reports.approvals(caller, query))
      },
    ),
    listEndpoint(
      {
        ...common,
        path: `${PATH}/unexecuted`,
        operationId: 'reportUnexecuted',
        sdk: 'analytics.unexecuted.list',
        summary: 'Tokens that were issued and never executed, newest first',
        query: { ...page, ...range },
        item: unexecutedView,
      },
      ({ caller, query }) => reports.unexecuted(caller, query),
      toUnexecutedView,
    ),
  ]
}

function toSpendView({ mandateId, periodStart, currency, executions, charged, released, spent }: SpendRow) {
  return {
    mandate_id: mandateId,
    period_start: periodStart === '' ? null : periodStart,
    currency: currency === '' ? null : currency,
    executions,
    charged,
    released,
    spent,
  }
}

// Every class, also an empty one.
function toApprovalsView({ range: { from, to }, ...ages }: Ranged<ApprovalAges>): z.input<typeof approvalsView> {
  const { counts, medianSeconds, p95Seconds, oldestPending } = ages
  const classes = AGE_CLASSES.map((seconds, index) => {
    const own = counts.filter(({ ageClass }) => ageClass === index)
    const countOf = (status: ApprovalStatus) => own.find((one) => one.status === status)?.count ?? 0
    return {
      from_seconds: seconds,
      to_seconds: AGE_CLASSES[index + 1] ?? null,
      total: own.reduce((sum, { count }) => sum + count, 0),
      by_status: {
        pending: countOf('pending'),
        approved: countOf('approved'),
        denied: countOf('denied'),
        expired: countOf('expired'),
        cancelled: countOf('cancelled'),
      },
    }
  })
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    age_classes: classes,
    seconds_to_decide: { p50: medianSeconds, p95: p95Seconds },
    oldest_pending: oldestPending && {
      approval_id: oldestPending.approvalId,
      asked_at: oldestPending.askedAt.toISOString(),
    },
  }
}

function toUnexecutedView({ entry, last }: UnexecutedRow): z.input<typeof unexecutedView> {
  const { inputs } = entry
  return {
    jti: entry.subject_id ?? '',
    decision_id: entry.decision_id,
    authorized_at: entry.at,
    preflight_reason: entry.reason,
    agent_id: inputs.agent_id ?? null,
    agent_session_id: inputs.agent_session_id ?? null,
    device_id: inputs.device_id ?? null,
    mandate_id: inputs.mandate_id ?? null,
    schedule_id: inputs.schedule_id ?? null,
    approval_id: inputs.approval_id ?? null,
    last_verification: last && {
      decision_id: last.decision_id,
      at: last.at,
      valid: last.valid === true,
      reason: last.reason,
    },
  }
}
