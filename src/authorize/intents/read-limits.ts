// What other decisions change: the mandate, the schedule or the order of a token, and its approvals. Read under row locks, always
// in this order: the token, its approvals, the mandates from the root down, the schedule, the order, its clinicians. So no two
// decisions wait for each other in a circle.

import { approvalFactsOf } from '#src/authorize/approvals/facts.ts'
import { type ApprovalRow, lockApprovals, readApprovals } from '#src/authorize/approvals/rows.ts'
import { lockMandates, readMandateFacts } from '#src/authorize/mandates/facts-rows.ts'
import type { MandateFacts } from '#src/authorize/mandates/judge.ts'
import { type BoundOrderRow, boundOrderOf, readBoundOrder } from '#src/authorize/orders/bound-order.ts'
import { scheduleFactsOf } from '#src/authorize/schedules/judge.ts'
import { readScheduleRow, type ScheduleRow } from '#src/authorize/schedules/rows.ts'
import { lockIntents } from '#src/authorize/tokens/rows.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { StateFacts } from './facts.ts'

/** What a token is issued under. */
export interface Under {
  mandateId: string | null
  scheduleId: string | null
  orderId: string | null
}

/**
 * `share`: a check, after which nothing changes; what ends a mandate waits for it all the same. An order is not held by a check. `update`: an execution.
 * `none`: what is read may have changed already.
 */
export type StateLock = 'none' | 'share' | 'update'

export interface StateRows {
  approvals: readonly ApprovalRow[]
  mandate: MandateFacts | undefined
  schedule: ScheduleRow | undefined
  order: BoundOrderRow | undefined
}

/** @param jti undefined: no token yet. */
export async function readState(
  tx: Tx,
  scope: Scope,
  { jti, mandateId, scheduleId, orderId }: Under & { jti: string | undefined },
  lock: StateLock,
): Promise<StateRows> {
  const [approvals, mandate, schedule, order] = await Promise.all([
    jti === undefined ? [] : readApprovals(tx, jti, lock !== 'none'),
    mandateId === null ? undefined : readMandateFacts(tx, mandateId, lock),
    scheduleId === null ? undefined : readScheduleRow(tx, scheduleId, lock),
    orderId === null ? undefined : readBoundOrder(tx, scope, orderId, lock === 'update'),
  ])
  return { approvals, mandate, schedule, order }
}

/**
 * The locks of an execution for several tokens under mandates, after which each is read with `none`: a transaction that took
 * them for one token after the other could wait in a circle with another one.
 */
export async function lockStates(tx: Tx, tokens: readonly { jti: string; mandateId: string }[]): Promise<void> {
  const jtis = tokens.map(({ jti }) => jti)
  await Promise.all([
    lockIntents(tx, jtis),
    lockApprovals(tx, jtis),
    lockMandates(
      tx,
      tokens.map(({ mandateId }) => mandateId),
    ),
  ])
}

/** @param at The time of the decision, after the last lock. */
export function stateFactsOf({ approvals, mandate, schedule, order }: StateRows, at: string): StateFacts {
  const time = new Date(at)
  return {
    approvals: approvals.map((row) => approvalFactsOf(row, time)),
    mandate: mandate ?? null,
    schedule: schedule === undefined ? null : scheduleFactsOf(schedule, time),
    order: order === undefined ? null : boundOrderOf(order, time),
  }
}
