import { z } from 'zod'
import { product } from '#src/account/sessions/views.ts'
import { PLANS, type Plan } from '#src/catalogue/access.ts'
import { METERED_NAMES } from '#src/catalogue/metered.ts'
import { PLAN_LIMITS } from '#src/catalogue/plans.ts'
import { NOTICE_KINDS } from './fold-rows.ts'
import type { NoticeRow } from './notice-rows.ts'
import type { OwnAccountRow } from './rows.ts'
import type { MonthStatement, MonthUse } from './usage.ts'

export const planName = z.enum(PLANS).meta({ id: 'Plan' })
const environment = z.enum(['sandbox', 'live']).meta({ id: 'Environment' })
const month = z.string().describe('In UTC, such as 2026-11.')
const operation = z.enum(METERED_NAMES).meta({ id: 'MeteredOperation' })
const units = z.number().int().describe('Negative where more was given back than counted.')

const limits = z
  .object({
    rate_per_second: z.number(),
    burst: z.number().int(),
    monthly_operations: z.number().int().describe('Metered operations of the live environment in a month (UTC).'),
    is_hard_cap: z
      .boolean()
      .describe('Beyond them `monthly_cap_exceeded` is answered; otherwise there are notices only.'),
    retention_days: z.number().int(),
  })
  .meta({ id: 'PlanLimits' })

const notice = z
  .object({
    kind: z.enum(NOTICE_KINDS).describe('80 % or 100 % of the monthly operations were used.'),
    month,
    plan: planName,
    cap: z.number().int(),
    used: z.number().int(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'AccountNotice' })

export const accountView = z
  .object({
    account_id: z.string(),
    name: z.string(),
    plan: planName,
    products: z.array(product),
    created_at: z.iso.datetime(),
    closed_at: z.iso.datetime().nullable().describe('null: the account is open.'),
    erased_after: z.iso.datetime().nullable().describe('Of a closed account: until then the closure can be undone.'),
    environments: z.array(z.object({ environment, is_metered: z.boolean() })),
    limits,
    notices: z.array(notice).describe('Of this month, oldest first.'),
  })
  .meta({ id: 'Account' })

const monthUse = z.object({
  month,
  environment: z.literal('live').describe('The sandbox is not metered.'),
  resets_at: z.iso.datetime().describe('When the next month begins.'),
  used: units,
  cap: z.number().int().nullable().describe('Of the current plan; null for a month that has ended.'),
  is_hard_cap: z.boolean().nullable(),
  remaining: z.number().int().nullable(),
  percent: z.number().nullable(),
})

export const usageView = monthUse
  .extend({
    operations: z.array(
      z.object({
        operation,
        units,
        days: z.array(z.object({ day: z.string().describe('In UTC, such as 2026-11-20.'), units })),
      }),
    ),
  })
  .meta({ id: 'Usage' })

export const planView = z
  .object({
    plan: planName,
    limits,
    usage: monthUse.meta({ id: 'MonthUse' }),
    plans: z.array(
      z.object({
        plan: planName,
        limits,
        change: z
          .enum(['current', 'owner', 'operator'])
          .describe(
            'Who can change to it: the owner, to a smaller plan; the operator of the service, to a larger one.',
          ),
      }),
    ),
  })
  .meta({ id: 'AccountPlan' })

export const statementView = z
  .object({
    month,
    starts_at: z.iso.datetime(),
    ends_at: z.iso.datetime(),
    status: z.enum(['open', 'final']).describe('A statement no longer changes one hour after its month has ended.'),
    operations: z.array(z.object({ operation, units })),
    total_units: units,
    payment_processor: z.string().describe('`none`: nothing is collected.'),
    payment: z.object({ state: z.string(), url: z.url().nullable() }).nullable(),
  })
  .meta({ id: 'Statement' })

export function toAccountView({ account, notices }: { account: OwnAccountRow; notices: readonly NoticeRow[] }) {
  return {
    account_id: account.id,
    name: account.name,
    plan: account.plan,
    products: account.products,
    created_at: account.createdAt.toISOString(),
    closed_at: account.closedAt?.toISOString() ?? null,
    erased_after: account.erasedAfter?.toISOString() ?? null,
    environments: [
      { environment: 'sandbox' as const, is_metered: false },
      { environment: 'live' as const, is_metered: true },
    ],
    limits: limitsOf(account.plan),
    notices: notices.map(({ createdAt, ...row }) => ({ ...row, created_at: createdAt.toISOString() })),
  }
}

export function toUsageView(use: MonthUse) {
  return { ...toMonthUse(use), operations: use.operations }
}

export function toPlanView(current: Plan, use: MonthUse) {
  return {
    plan: current,
    limits: limitsOf(current),
    usage: toMonthUse(use),
    plans: PLANS.map((name) => ({ plan: name, limits: limitsOf(name), change: changeOf(current, name) })),
  }
}

export function toStatementView({ startsAt, endsAt, isFinal, processor, ...row }: MonthStatement) {
  return {
    month: row.month,
    starts_at: startsAt.toISOString(),
    ends_at: endsAt.toISOString(),
    status: isFinal ? ('final' as const) : ('open' as const),
    operations: row.operations,
    total_units: row.total,
    payment_processor: processor,
    payment: row.payment ?? null,
  }
}

function toMonthUse({ month: name, resetsAt, used, allowance }: MonthUse) {
  return {
    month: name,
    environment: 'live' as const,
    resets_at: resetsAt.toISOString(),
    used,
    cap: allowance?.cap ?? null,
    is_hard_cap: allowance?.isHardCap ?? null,
    remaining: allowance?.remaining ?? null,
    percent: allowance?.percent ?? null,
  }
}

function limitsOf(name: Plan) {
  const { rate, monthly, retentionDays } = PLAN_LIMITS[name]
  return {
    rate_per_second: rate.perSecond,
    burst: rate.burst,
    monthly_operations: monthly.operations,
    is_hard_cap: monthly.isHard,
    retention_days: retentionDays,
  }
}

function changeOf(current: Plan, other: Plan) {
  if (current === other) return 'current' as const
  return PLANS.indexOf(other) < PLANS.indexOf(current) ? ('owner' as const) : ('operator' as const)
}
