import { z } from 'zod'
import { decimalOf, formatAmount } from '#src/platform/amounts.ts'
import { actorView } from '#src/platform/http/actor.ts'
import { rowVersion } from '#src/platform/http/versions.ts'
import { asWritten, timestampView as time } from '#src/platform/http/views.ts'
import { budgetPeriod, mandateWindow, payloadPointers } from './bodies.ts'
import { unitsOf } from './judge.ts'
import type { DailySpend, ShownMandate } from './mandates.ts'
import { budgetOf, type MandateRow } from './rows.ts'
import { MANDATE_STATUSES } from './state.ts'

const decimal = z.string().describe('A decimal number.')
const date = z.iso.date()

export const mandateStatusView = z.enum(MANDATE_STATUSES).meta({ id: 'MandateStatus' })

const constraintsView = z
  .object({
    min_amount: decimal.optional(),
    max_amount: decimal.optional(),
    currency: z.string().optional(),
    action_types: z.array(z.string()).optional(),
    counterparties: z.array(z.string()).optional(),
    window: asWritten(mandateWindow).optional(),
  })
  .meta({ id: 'MandateConstraints' })
const budgetView = z
  .object({
    limit: decimal,
    currency: z.string(),
    period: budgetPeriod,
    period_start: date.describe("The calendar date, in the mandate's time zone, on which the current period began."),
    period_end: date.nullable().describe('Date on which the next period begins; null for a total.'),
    spent: decimal,
    remaining: decimal,
    max_count: z.number().int().nullable().describe('Most executions in one period; null: any number.'),
    count: z.number().int().describe('Executions in the current period, except executions that were given back.'),
  })
  .meta({ id: 'MandateBudget' })
const heartbeatView = z
  .object({
    interval_seconds: z.number().int(),
    reactivation_window_seconds: z.number().int(),
    last_check_in_at: time,
    next_check_in_by: time.describe('Deadline of the next check-in; after it the mandate is suspended.'),
    lapses_at: time.describe('Deadline of the last possible check-in; after it the mandate stays lapsed.'),
  })
  .meta({ id: 'MandateHeartbeat' })

export const mandateView = z
  .object({
    mandate_id: z.string(),
    parent_id: z.string().nullable(),
    ancestors: z.array(z.string()).describe('Ancestors, root first.'),
    status: mandateStatusView.describe(
      'Status with the ancestors: the worst status of any ancestor applies to all descendants.',
    ),
    status_of: z.string().describe('The mandate or the ancestor that has this status.'),
    principal: z.string(),
    agent_id: z.string().nullable(),
    description: z.string(),
    timezone: z.string(),
    constraints: constraintsView,
    payload_pointers: asWritten(payloadPointers),
    budget: budgetView.nullable(),
    remaining: decimal
      .nullable()
      .describe('Remainder of the budgets of the mandate and of all ancestors; null without any budget.'),
    not_before: time.nullable(),
    instruments: z.array(z.string()).nullable().describe('Payment instruments; null: any.'),
    expires_at: time,
    heartbeat: heartbeatView.nullable(),
    revoked_at: time.nullable(),
    revoked_by: actorView.nullable(),
    revoked_reason: z.string().nullable(),
    version: rowVersion,
    created_by: actorView,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Mandate' })

const spendDayView = z
  .object({
    date: date.describe('Day in UTC.'),
    currency: z.string(),
    executions: z.number().int().describe('Number of executions, except executions that were given back.'),
    committed: decimal.describe(
      'Amount charged for actions that succeeded, or whose outcome can not be reported any more.',
    ),
    reserved: decimal.describe('Amount charged for actions whose outcome was not reported yet.'),
    released: decimal.describe('Amount given back because the action failed or did not run.'),
  })
  .meta({ id: 'MandateSpendDay' })

export const dailySpendView = z
  .object({
    mandate_id: z.string(),
    from: time,
    to: time,
    days: z.array(spendDayView).describe('Days with a charge, oldest first.'),
  })
  .meta({ id: 'MandateDailySpend' })

export function toDailySpendView({ id, from, to, days }: DailySpend): z.input<typeof dailySpendView> {
  return {
    mandate_id: id,
    from: from.toISOString(),
    to: to.toISOString(),
    days: days.map((day) => ({
      ...day,
      committed: decimalOf(day.committed),
      reserved: decimalOf(day.reserved),
      released: decimalOf(day.released),
    })),
  }
}

export function toMandateView(row: ShownMandate): z.input<typeof mandateView> {
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
    revoked_by: row.actors(row.revokedBy),
    revoked_reason: row.revokedReason,
    version: row.version,
    created_by: row.actors(row.createdBy),
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
