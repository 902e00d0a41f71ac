import { z } from 'zod'
import { decimalOf, formatAmount } from '#src/platform/amounts.ts'
import { unitsOf } from './judge.ts'
import { budgetOf, type MandateRow } from './rows.ts'
import { MANDATE_STATUSES } from './state.ts'

const time = z.iso.datetime()
const decimal = z.string().describe('A decimal number.')
const date = z.iso.date()

export const mandateStatusView = z.enum(MANDATE_STATUSES).meta({ id: 'MandateStatus' })

export const budgetPeriodView = z.enum(['total', 'day', 'week', 'month', 'year']).meta({ id: 'BudgetPeriod' })

const windowView = z.object({
  weekdays: z.array(z.number().int()).optional(),
  from: z.string().optional(),
  to: z.string().optional(),
})
const budgetView = z
  .object({
    limit: decimal,
    currency: z.string(),
    period: budgetPeriodView,
    period_start: date.describe("The calendar date, in the mandate's time zone, on which the current period began."),
    period_end: date.nullable().describe('On which the next one begins; null of a total.'),
    spent: decimal,
    remaining: decimal,
    max_count: z.number().int().nullable().describe('Executions in one period; null: any number.'),
    count: z.number().int().describe('Executions in the current period, without those that were given back.'),
  })
  .meta({ id: 'MandateBudget' })
const heartbeatView = z
  .object({
    interval_seconds: z.number().int(),
    reactivation_window_seconds: z.number().int(),
    last_check_in_at: time,
    next_check_in_by: time.describe('After it the mandate is suspended.'),
    lapses_at: time.describe('After it no check-in makes it active again.'),
  })
  .meta({ id: 'MandateHeartbeat' })

export const mandateView = z
  .object({
    mandate_id: z.string(),
    parent_id: z.string().nullable(),
    ancestors: z.array(z.string()).describe('Root first.'),
    status: mandateStatusView.describe('With its ancestors: the worst of them counts for all of their children.'),
    status_of: z.string().describe('The mandate or the ancestor that has this status.'),
    principal: z.string(),
    agent_id: z.string().nullable(),
    description: z.string(),
    timezone: z.string(),
    constraints: z.object({
      min_amount: decimal.optional(),
      max_amount: decimal.optional(),
      currency: z.string().optional(),
      action_types: z.array(z.string()).optional(),
      counterparties: z.array(z.string()).optional(),
      window: windowView.optional(),
    }),
    payload_pointers: z.object({
      amount: z.string().optional(),
      currency: z.string().optional(),
      counterparty: z.string().optional(),
      action_type: z.string().optional(),
      instrument: z.string().optional(),
    }),
    budget: budgetView.nullable(),
    remaining: decimal
      .nullable()
      .describe('What the budgets of the mandate and of all ancestors leave; null without any.'),
    not_before: time.nullable(),
    instruments: z.array(z.string()).nullable().describe('null: any.'),
    expires_at: time,
    heartbeat: heartbeatView.nullable(),
    revoked_at: time.nullable(),
    revoked_by: z.string().nullable().describe('The API key or user.'),
    revoked_reason: z.string().nullable(),
    created_by: z.string().describe('The API key or user.'),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Mandate' })

export function toMandateView(row: MandateRow): z.input<typeof mandateView> {
  return {
    mandate_id: row.id,
    parent_id: row.parentId,
    ancestors: row.path.slice(0, -1),
    status: row.status,
    status_of: row.statusOf,
    principal: row.principal,
    agent_id: row.agentId,
    description: row.description,
    timezone: row.timezone,
    constraints: row.constraints,
    payload_pointers: row.pointers,
    budget: budgetViewOf(row),
    remaining: row.remaining === null ? null : decimalOf(row.remaining),
    not_before: row.notBefore?.toISOString() ?? null,
    instruments: row.instruments,
    expires_at: row.expiresAt.toISOString(),
    heartbeat: heartbeatOf(row),
    revoked_at: row.revokedAt?.toISOString() ?? null,
    revoked_by: row.revokedBy,
    revoked_reason: row.revokedReason,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

function budgetViewOf({ periodStart, periodEnd, spent, count, ...row }: MandateRow) {
  const budget = budgetOf(row)
  if (budget === null || periodStart === null) return null
  const { limit, currency, period, max_count = null } = budget
  const left = unitsOf(limit) - unitsOf(spent)
  return {
    limit,
    currency,
    period,
    period_start: periodStart,
    period_end: periodEnd,
    spent: decimalOf(spent),
    remaining: formatAmount(left < 0n ? 0n : left),
    max_count,
    count,
  }
}

function heartbeatOf({ intervalSeconds, windowSeconds, lastCheckInAt, missedAt, lapsesAt }: MandateRow) {
  if (intervalSeconds === null || windowSeconds === null || lastCheckInAt === null) return null
  return {
    interval_seconds: intervalSeconds,
    reactivation_window_seconds: windowSeconds,
    last_check_in_at: lastCheckInAt.toISOString(),
    next_check_in_by: (missedAt ?? lastCheckInAt).toISOString(),
    lapses_at: (lapsesAt ?? lastCheckInAt).toISOString(),
  }
}
