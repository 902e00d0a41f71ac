// What an execution uses up: the budget of its mandate and of all mandates above it, or the cycle of its schedule. An
// outcome that says that the action did not happen gives exactly that back.

import type { MandateFacts } from '#src/authorize/mandates/judge.ts'
import { remainingOf } from '#src/authorize/mandates/judge.ts'
import { chargeMandate, releaseMandate } from '#src/authorize/mandates/spend-rows.ts'
import { claimCycle, releaseCycle } from '#src/authorize/schedules/rows.ts'
import type { IntentRow } from '#src/authorize/tokens/rows.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { VerifyFacts } from './facts.ts'
import { amountsOf } from './limits-steps.ts'

export interface Charges {
  jti: string
  /** Decimal text. */
  amount: string | null
  currency: string | null
  mandate: MandateFacts | undefined
  cycle: { scheduleId: string; number: number } | undefined
  orderId: string | undefined
  approvalId: string | undefined
}

/** Returns what a valid verification that executes has to charge. */
export function chargesOf(facts: VerifyFacts): Charges {
  const { token, mandate, schedule, order, approvals } = facts
  if (token === null) throw new Error('only a token is executed')
  const { amount, currency } =
    mandate === null && schedule === null ? { amount: null, currency: null } : amountsOf(facts)
  const cycle = schedule?.cycle
  return {
    jti: token.jti,
    amount,
    currency,
    mandate: mandate ?? undefined,
    cycle: schedule && cycle ? { scheduleId: schedule.schedule_id, number: cycle.number } : undefined,
    orderId: order?.order_id,
    approvalId: approvals.at(-1)?.approval_id,
  }
}

/** @throws {Error} when something was not left that the judgement under the same locks had found: nothing may be kept. */
export async function spend(tx: Tx, scope: Scope, { jti, amount, mandate, cycle }: Charges): Promise<void> {
  const [isCharged, isClaimed] = await Promise.all([
    mandate === undefined ? true : chargeMandate(tx, scope, { jti, facts: mandate, amount }),
    cycle === undefined || amount === null
      ? cycle === undefined
      : claimCycle(tx, scope, { scheduleId: cycle.scheduleId, cycle: cycle.number, jti, amount }),
  ])
  if (!isCharged) throw new Error('a budget was used up while its mandate was locked')
  if (!isClaimed) throw new Error('a cycle was executed while its schedule was locked')
}

/** Returns the charges as inputs of a ledger entry, which reports add up. An execution without charges has none. */
export function inputsOfCharges({
  amount,
  currency,
  mandate,
  cycle,
  orderId,
  approvalId,
}: Charges): Record<string, string> {
  const own = mandate?.levels.at(-1)
  const amounts = { ...(amount !== null && { amount }), ...(currency !== null && { currency }) }
  return {
    ...(mandate !== undefined && { mandate_id: mandate.mandate_id, ...amounts }),
    ...(own?.period && { period_start: own.period.start }),
    ...(cycle !== undefined && { schedule_id: cycle.scheduleId, cycle: String(cycle.number), ...amounts }),
    ...(orderId !== undefined && { order_id: orderId }),
    ...(approvalId !== undefined && { approval_id: approvalId }),
  }
}

/** Gives back what the token used up. Returns it as entries of the ledger have it. */
export async function release(
  tx: Tx,
  scope: Scope,
  { jti, mandateId, scheduleId }: Pick<IntentRow, 'jti' | 'mandateId' | 'scheduleId'>,
): Promise<Record<string, string>> {
  const [charges, cycle] = await Promise.all([
    mandateId === null ? [] : releaseMandate(tx, scope, jti),
    scheduleId === null ? undefined : releaseCycle(tx, scope, jti),
  ])
  // All levels were charged the same. The mandate itself may have no budget of its own, and so no period.
  const [first] = charges
  const own = charges.find((charge) => charge.mandate_id === mandateId)
  return {
    ...(mandateId !== null && first && { mandate_id: mandateId, amount: first.amount, currency: first.currency }),
    ...own,
    ...(cycle !== undefined && { ...cycle, cycle: String(cycle.cycle) }),
  }
}

/** What is left after this decision, for its caller. */
export function leftOf(facts: VerifyFacts, isExecuted: boolean) {
  const { mandate, schedule } = facts
  const charged = isExecuted && mandate !== null ? amountsOf(facts).amount : null
  return {
    ...(mandate !== null && { mandate_remaining: remainingOf(mandate, charged) }),
    ...(schedule !== null && { schedule_cycle: schedule.cycle?.number ?? null }),
  }
}
