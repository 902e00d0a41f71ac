// The shapes of schedules in requests and answers. Requests are strict: a limit that this version does not know is refused
// and never ignored.

import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { amountRequest, currencyRequest } from '#src/platform/http/money.ts'
import { timestamp } from '#src/platform/http/params.ts'
import { extended, timestampView as time } from '#src/platform/http/views.ts'
import { CYCLE_STATUSES, type DueCycle } from './cycles.ts'
import { MAX_FREQUENCY_LENGTH } from './frequency.ts'
import { type ScheduleCycle, statusOf } from './judge.ts'
import type { Schedule, ScheduleRequest, ShownSchedule } from './schedules.ts'

const MAX_OCCURRENCES = 1_000
const DAY_SECONDS = 86_400
// Seconds of the longest year.
const MAX_WINDOW_SECONDS = 366 * DAY_SECONDS
const MIN_WINDOW_SECONDS = 60

const amountType = z.enum(['fixed', 'max']).meta({ id: 'ScheduleAmountType' })
const frequency = 'One of `daily`, `weekly`, `monthly`, `quarterly` and `yearly`, or a recurrence rule of RFC 5545.'

export const scheduleStatusView = z.enum(['active', 'paused', 'exhausted', 'cancelled']).meta({ id: 'ScheduleStatus' })

export const scheduleRequest = z.strictObject({
  counterparty: z.string().min(1).max(200).describe('Compared exactly with the counterparty of an action.'),
  amount: z
    .strictObject({
      type: amountType.describe('`fixed`: exactly this amount. `max`: at most this amount.'),
      value: amountRequest,
      currency: currencyRequest,
    })
    .meta({ id: 'RequestedScheduleAmount' }),
  frequency: z.string().min(1).max(MAX_FREQUENCY_LENGTH).describe(frequency),
  anchor_at: timestamp.describe('The first occurrence: its date and time of day in `timezone`.'),
  timezone: z.string().max(64).describe('A zone of the IANA database, such as Europe/Berlin.'),
  window_seconds: z
    .number()
    .int()
    .min(MIN_WINDOW_SECONDS)
    .max(MAX_WINDOW_SECONDS)
    .default(DAY_SECONDS)
    .describe('Seconds after its beginning during which a cycle can be executed; at most until the next cycle begins.'),
  occurrences: z.number().int().min(1).max(MAX_OCCURRENCES).describe('How many cycles can be executed.'),
  consume_missed: z
    .boolean()
    .default(false)
    .describe('Whether a cycle that was not executed counts as one of the occurrences.'),
})

const cycleView = z
  .object({
    cycle: z.number().int().describe('Number of the cycle; 1 is the first.'),
    opens_at: time,
    closes_at: time.describe('The cycle can be executed before this time.'),
  })
  .meta({ id: 'ScheduleCycle' })

const currentCycleView = extended(
  cycleView,
  { jti: z.string().nullable().describe('Token that executed the cycle; null: none has.') },
  { id: 'CurrentScheduleCycle' },
)

const executionView = z
  .object({ cycle: z.number().int(), jti: z.string(), executed_at: time })
  .meta({ id: 'ScheduleExecution' })

export const scheduleView = z
  .object({
    schedule_id: z.string(),
    status: scheduleStatusView,
    counterparty: z.string(),
    amount: z
      .object({ type: amountType, value: z.string().describe('Decimal amount.'), currency: z.string() })
      .meta({ id: 'ScheduleAmount' }),
    frequency: z.string().describe(frequency),
    anchor_at: time,
    timezone: z.string(),
    window_seconds: z.number().int(),
    occurrences: z.number().int(),
    consume_missed: z.boolean(),
    used: z
      .number()
      .int()
      .describe('Number of used occurrences; with `consume_missed`, missed occurrences are included.'),
    remaining: z.number().int(),
    current_cycle: currentCycleView
      .nullable()
      .describe('Current cycle, whose window may have closed; null: the first cycle has not begun.'),
    next_cycle: cycleView
      .nullable()
      .describe('First cycle that can be executed, now or later, unless the schedule stays paused; null: none.'),
    last_execution: executionView.nullable(),
    created_by: actorView,
    created_at: time,
    status_changed_by: actorView.nullable().describe('Who last paused, resumed or cancelled the schedule.'),
    status_changed_at: time.nullable(),
  })
  .meta({ id: 'Schedule' })

const cycleStatusView = z
  .enum(CYCLE_STATUSES)
  .meta({ id: 'ScheduleCycleStatus' })
  .describe(
    'missed: the window has closed. open: the cycle can be executed now, unless the schedule is paused. cancelled: ' +
      'the schedule was cancelled before the window closed.',
  )

export const dueCycleView = extended(
  cycleView,
  {
    schedule_id: z.string(),
    counterparty: z.string(),
    status: cycleStatusView,
    jti: z.string().nullable().describe('Token that executed the cycle.'),
    amount: z.string().nullable().describe('Decimal amount of the execution.'),
    currency: z.string(),
    executed_at: time.nullable(),
  },
  { id: 'DueScheduleCycle' },
)

export const previewView = z
  .object({
    schedule_id: z.string(),
    status: scheduleStatusView,
    cycles: z.array(cycleView).describe('Cycles: at most 24, and at most the remaining ones.'),
  })
  .meta({ id: 'SchedulePreview' })

export function toRequest(body: z.output<typeof scheduleRequest>): ScheduleRequest {
  const { counterparty, amount, frequency: text, timezone, occurrences } = body
  return {
    counterparty,
    amountType: amount.type,
    amount: amount.value,
    currency: amount.currency,
    frequency: text,
    anchorAt: new Date(body.anchor_at).toISOString(),
    timezone,
    windowSeconds: body.window_seconds,
    occurrences,
    consumeMissed: body.consume_missed,
  }
}

export function toScheduleView({ row, facts, next, actors }: ShownSchedule): z.input<typeof scheduleView> {
  const { cycle } = facts
  return {
    schedule_id: row.id,
    status: statusOf(row, facts.used),
    counterparty: row.counterparty,
    amount: facts.amount,
    frequency: row.frequency,
    anchor_at: row.anchorAt,
    timezone: row.timezone,
    window_seconds: row.windowSeconds,
    occurrences: row.occurrences,
    consume_missed: row.consumeMissed,
    used: Math.min(facts.used, row.occurrences),
    remaining: Math.max(0, row.occurrences - facts.used),
    current_cycle: cycle === null ? null : { ...toCycleView(cycle), jti: facts.executed_by },
    next_cycle: next === null ? null : toCycleView(next),
    last_execution:
      row.last === null
        ? null
        : { cycle: row.last.cycle, jti: row.last.jti, executed_at: new Date(row.last.at).toISOString() },
    created_by: actors(row.createdBy),
    created_at: row.createdAt.toISOString(),
    status_changed_by: actors(row.changedBy),
    status_changed_at: row.changedAt?.toISOString() ?? null,
  }
}

export function toDueCycleView(due: DueCycle): z.input<typeof dueCycleView> {
  const { schedule, number, opensAt, closesAt, status, executed } = due
  return {
    cycle: number,
    opens_at: opensAt,
    closes_at: closesAt,
    schedule_id: schedule.id,
    counterparty: schedule.counterparty,
    status,
    jti: executed?.jti ?? null,
    amount: executed?.amount ?? null,
    currency: schedule.currency,
    executed_at: executed?.executedAt.toISOString() ?? null,
  }
}

export function toPreviewView(schedule: Schedule & { cycles: ScheduleCycle[] }): z.input<typeof previewView> {
  const { row, facts, cycles } = schedule
  return { schedule_id: row.id, status: statusOf(row, facts.used), cycles: cycles.map(toCycleView) }
}

function toCycleView({ number, opens_at, closes_at }: ScheduleCycle): z.input<typeof cycleView> {
  return { cycle: number, opens_at, closes_at }
}
