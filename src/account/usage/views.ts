import { z } from 'zod'
import { accountBase, plan } from '#src/account/sessions/views.ts'
import { PLANS, type Plan } from '#src/catalogue/access.ts'
import { METERED_NAMES } from '#src/catalogue/metered.ts'
import { PLAN_LIMITS } from '#src/catalogue/plans.ts'
import { rowVersion } from '#src/platform/http/versions.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import { NOTICE_KINDS } from './fold-rows.ts'
import type { NoticeRow } from './notice-rows.ts'
import { PAYMENT_STATUSES } from './payments.ts'
import type { OwnAccountRow } from './rows.ts'
import type { MonthStatement, MonthUse } from './usage.ts'

/** The instance of the sign-in: one shape may not have two of one name. */
export const planName = plan
const environment = z.enum(['sandbox', 'live']).meta({ id: 'Environment' })
const month = z.string().describe('Month in UTC, such as 2026-11.')
const operation = z.enum(METERED_NAMES).meta({ id: 'MeteredOperation' })
const units = z.number().int().describe('Operations of the month; negative when more were given back than counted.')

const limits = z
  .object({
    rate_per_second: z.number(),
    burst: z.number().int(),
    monthly_operations: z.number().int().describe('Metered operations of the live environment in a month (UTC).'),
    is_hard_cap: z
      .boolean()
      .describe(
        'true: requests beyond the number are refused with `monthly_cap_exceeded`; false: there are notices only.',
      ),
    retention_days: z.number().int(),
  })
  .meta({ id: 'PlanLimits' })

const noticeKind = z.enum(NOTICE_KINDS).meta({ id: 'AccountNoticeKind' })
const notice = z
  .object({
    kind: noticeKind.describe('Threshold that was reached: 80 % or 100 % of the monthly operations.'),
    month,
    plan: planName,
    cap: z.number().int(),
    used: z.number().int(),
    created_at: timestampView,
  })
  .meta({ id: 'AccountNotice' })

const accountEnvironment = z.object({ environment, is_metered: z.boolean() }).meta({ id: 'AccountEnvironment' })

export const accountView = extended(
  accountBase,
  {
    created_at: timestampView,
    closed_at: timestampView.nullable().describe('null: the account is open.'),
    erased_after: timestampView.nullable().describe('Set on a closed account, whose closure can be undone until then.'),
    environments: z.array(accountEnvironment),
    limits,
    notices: z.array(notice).describe('Notices of this month, oldest first.'),
    version: rowVersion.describe('Counts the changes of name, plan and products. The `ETag` has it.'),
  },
  { id: 'Account' },
)

export const monthUse = z
  .object({
    month,
    environment: z.literal('live').describe('The sandbox is not metered.'),
    resets_at: timestampView.describe('When the next month begins.'),
    used: units,
    cap: z.number().int().nullable().describe('Cap of the current plan; null for a month that has ended.'),
    is_hard_cap: z.boolean().nullable(),
    remaining: z.number().int().nullable(),
    percent: z.number().nullable(),
  })
  .meta({ id: 'MonthUse' })

const dayUse = z.object({ day: z.string().describe('Day in UTC, such as 2026-11-20.'), units }).meta({ id: 'UsageDay' })
const operationUse = z.object({ operation, units, days: z.array(dayUse) }).meta({ id: 'OperationUse' })

export const usageView = extended(monthUse, { operations: z.array(operationUse) }, { id: 'Usage' })

const planChange = z.enum(['current', 'owner', 'operator']).meta({ id: 'PlanChange' })
const offeredPlan = z
  .object({
    plan: planName,
    limits,
    change: planChange.describe(
      'Who can change to this plan: the owner to a smaller plan, the operator of the service to a larger plan.',
    ),
  })
  .meta({ id: 'OfferedPlan' })

export const planView = z
  .object({ plan: planName, limits, usage: monthUse, plans: z.array(offeredPlan) })
  .meta({ id: 'AccountPlan' })

const payment = z
  .object({
    status: z.enum(PAYMENT_STATUSES).meta({ id: 'PaymentStatus' }),
    url: z.url().nullable().describe('Page where a person pays, or sees that the statement was paid.'),
  })
  .meta({ id: 'StatementPayment' })
const statementStatus = z.enum(['open', 'final']).meta({ id: 'StatementStatus' })
const statementLine = z.object({ operation, units }).meta({ id: 'StatementLine' })

export const statementView = z
  .object({
    month,
    from: timestampView,
    to: timestampView.describe('End, exclusive.'),
    status: statementStatus.describe('A statement no longer changes one hour after its month has ended.'),
    operations: z.array(statementLine),
    total_units: units,
    payment_processor: z.string().describe('`none`: no payment is collected.'),
    payment: payment.nullable(),
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
    version: account.version,
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
    from: startsAt.toISOString(),
    to: endsAt.toISOString(),
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
