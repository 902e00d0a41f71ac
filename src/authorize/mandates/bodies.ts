// The bodies of requests about mandates. All of them are strict: a constraint that is not known is refused, and not forgotten.

import { z } from 'zod'
import { isPointer } from '#src/authorize/action-amounts.ts'
import { isTimezone } from '#src/authorize/policy/fields.ts'
import { amountRequest as amount, currencyRequest as currency } from '#src/platform/http/money.ts'
import { timestamp, visibleText } from '#src/platform/http/params.ts'
import type { MandateConstraints } from './judge.ts'
import type { MandateRequest } from './mandates.ts'
import { DEFAULT_WINDOW_SECONDS, type MandateNarrowing } from './terms.ts'

/** Each list is read by every decision, and answered where it refuses. */
const MAX_NAMES = 100

export const budgetPeriod = z.enum(['total', 'day', 'week', 'month', 'year']).meta({ id: 'BudgetPeriod' })
const names = z
  .array(z.string().min(1).max(200))
  .min(1)
  .max(MAX_NAMES)
  .transform((values) => [...new Set(values)])
const timeOfDay = (last: string) =>
  z.string().regex(new RegExp(`^(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]${last})$`), 'must be a time such as 09:30')

export const mandateWindow = z
  .strictObject({
    weekdays: z
      .array(z.number().int().min(1).max(7))
      .min(1)
      .max(7)
      .transform((days) => [...new Set(days)].toSorted())
      .optional()
      .describe('Weekdays of ISO 8601: 1 is Monday. Every day when absent.'),
    from: timeOfDay('').optional().describe('Start, inclusive.'),
    to: timeOfDay('|24:00').optional().describe('End, exclusive, and after `from`.'),
  })
  .refine(({ from = '00:00', to = '24:00' }) => from < to, { message: 'must be after from', path: ['to'] })
  .refine((value) => Object.values(value).some((one) => one !== undefined), 'must limit something')
  .meta({ id: 'MandateWindow' })

const constraints = z
  .strictObject({
    min_amount: amount.optional().describe('Least amount of one action.'),
    max_amount: amount.optional().describe('Greatest amount of one action.'),
    currency: currency.optional(),
    action_types: names.optional(),
    counterparties: names.optional(),
    window: mandateWindow.optional().describe("Times at which actions may run, in the mandate's time zone."),
  })
  .meta({ id: 'RequestedMandateConstraints' })
const interval = z
  .number()
  .int()
  .min(300)
  .max(2_592_000)
  .describe('Interval of check-ins. A check-in is missed 60 s after the interval.')
const heartbeat = z
  .strictObject({
    interval_seconds: interval,
    reactivation_window_seconds: z
      .number()
      .int()
      .min(0)
      .max(2_592_000)
      .optional()
      .describe(
        'Seconds after a missed check-in during which a check-in makes the mandate active again. When absent: ' +
          `${DEFAULT_WINDOW_SECONDS} in a new heartbeat, and as it is in a change.`,
      ),
  })
  .meta({ id: 'RequestedMandateHeartbeat' })
const maxCount = z.number().int().min(1).max(1_000_000_000).describe('Most executions in one period.')
const pointer = z.string().refine(isPointer, {
  message: 'must be an RFC 6901 JSON pointer of 1 to 10 segments',
  params: { code: 'invalid_pointer' },
})
export const payloadPointers = z
  .strictObject({
    amount: pointer.optional(),
    currency: pointer.optional(),
    counterparty: pointer.optional(),
    action_type: pointer.optional(),
    instrument: pointer.optional(),
  })
  .meta({ id: 'MandatePayloadPointers' })
const expiresAt = timestamp.describe('End of the mandate, in the future and at most 366 days from now.')
const agentId = z.string().max(64)
const id = z.string().max(64)

export const mandateRequest = z.strictObject({
  principal: visibleText(254).describe('Party for whom the agent acts: a person, a team, an id.'),
  agent_id: agentId.optional().describe('Only tokens of this agent may name the mandate. When absent, any agent may.'),
  description: visibleText(2_000),
  timezone: z
    .string()
    .max(64)
    // Abbreviations and offsets mean one thing to some readers and another to others.
    .refine((zone) => (zone === 'UTC' || /^[A-Za-z]+\//.test(zone)) && isTimezone(zone), {
      message: 'must be an IANA time zone, such as Europe/Berlin, or UTC',
      params: { code: 'unknown_timezone' },
    })
    .default('UTC')
    .describe('Time zone of the periods of the budget and of the window.'),
  constraints: constraints.default({}),
  budget: z
    .strictObject({ limit: amount, currency, period: budgetPeriod, max_count: maxCount.optional() })
    .meta({ id: 'RequestedMandateBudget' })
    .optional(),
  not_before: timestamp
    .optional()
    .describe('No action may run before this time; when absent, actions may run from the grant on.'),
  instruments: names.optional().describe('Payment instruments that actions may name; any when absent.'),
  payload_pointers: payloadPointers
    .optional()
    .describe(
      'Pointers to the compared values in `action_payload`. Without a pointer, the member of the same name is ' +
        'compared.',
    ),
  expires_at: expiresAt,
  heartbeat: heartbeat.optional(),
  parent_id: id.optional().describe('The mandate within which it is granted.'),
})

export const narrowingRequest = z
  .strictObject({
    agent_id: agentId.optional(),
    constraints: constraints.optional().describe('Members that are absent keep their values.'),
    budget: z
      .strictObject({
        limit: amount,
        currency: currency.optional(),
        period: budgetPeriod.optional(),
        max_count: maxCount.optional(),
      })
      .meta({ id: 'RequestedBudgetChange' })
      .optional()
      .describe('`currency` and `period` are required where the mandate has no budget yet.'),
    not_before: timestamp.optional(),
    instruments: names.optional(),
    expires_at: timestamp.optional(),
    heartbeat: heartbeat.optional(),
  })
  .refine((request) => Object.values(request).some((value) => value !== undefined), 'must change something')

export function toMandateRequest(body: z.output<typeof mandateRequest>): MandateRequest {
  return {
    principal: body.principal,
    agentId: body.agent_id ?? null,
    description: body.description,
    timezone: body.timezone,
    constraints: constraintsOf(body.constraints),
    budget: body.budget === undefined ? null : definedOf(body.budget),
    notBefore: body.not_before === undefined ? null : new Date(body.not_before),
    instruments: body.instruments ?? null,
    pointers: definedOf(body.payload_pointers ?? {}),
    expiresAt: new Date(body.expires_at),
    heartbeat: body.heartbeat === undefined ? null : heartbeatOf(body.heartbeat),
    parentId: body.parent_id ?? null,
  }
}

export function toNarrowing(body: z.output<typeof narrowingRequest>): MandateNarrowing {
  return {
    agentId: body.agent_id,
    constraints: body.constraints === undefined ? undefined : constraintsOf(body.constraints),
    budget: body.budget,
    notBefore: body.not_before === undefined ? undefined : new Date(body.not_before),
    instruments: body.instruments,
    expiresAt: body.expires_at === undefined ? undefined : new Date(body.expires_at),
    heartbeat: body.heartbeat && {
      intervalSeconds: body.heartbeat.interval_seconds,
      windowSeconds: body.heartbeat.reactivation_window_seconds,
    },
  }
}

function heartbeatOf(given: z.output<typeof heartbeat>) {
  return {
    intervalSeconds: given.interval_seconds,
    windowSeconds: given.reactivation_window_seconds ?? DEFAULT_WINDOW_SECONDS,
  }
}

function constraintsOf({ window: given, ...rest }: z.output<typeof constraints>): MandateConstraints {
  return { ...definedOf(rest), ...(given !== undefined && { window: definedOf(given) }) }
}

type Defined<T> = { [Name in keyof T]: Exclude<T[Name], undefined> }

function definedOf<T extends object>(given: T): Defined<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<T>
}
