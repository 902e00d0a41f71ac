// What a mandate, a schedule or an order says of the action of its token, as steps of the pipeline. Mandates and schedules compare the
// payload that is bound into the token; other members of requests may only agree with it.

import { type ActionAmounts, actionAmountsOf } from '#src/authorize/action-amounts.ts'
import { judgeMandate, type MandateDetail } from '#src/authorize/mandates/judge.ts'
import { judgeOrder, type OrderRefusal } from '#src/authorize/orders/judge.ts'
import { judgeSchedule } from '#src/authorize/schedules/judge.ts'
import type { TokenFacts, VerifyFacts } from './facts.ts'
import type { StepInput, StepRefusal } from './pipeline.ts'
import type { VerifyReason } from './reasons.ts'

export const MANDATE_REASONS = [
  'mandate_revoked',
  'mandate_expired',
  'mandate_heartbeat_lapsed',
  'mandate_constraint_violated',
  'mandate_budget_exceeded',
] as const satisfies readonly VerifyReason[]

/** What is compared, from where the mandate says that it stands. */
export function amountsOf({ authorized, request, mandate }: VerifyFacts): ActionAmounts {
  const named = {
    action_type: authorized.action_type,
    counterparty: request.counterparty,
    amounts: [authorized.context?.transaction_amount, request.context?.transaction_amount],
  }
  return actionAmountsOf(request.action_payload, mandate?.pointers, named)
}

/** Whether the request names another counterparty than the payload. */
export function isCounterpartyContradicted(facts: VerifyFacts): boolean {
  return facts.request.counterparty !== null && amountsOf(facts).contradicted.counterparty !== undefined
}

/** A mandate that is gone can't be shown to be in force. */
export function judgeBoundMandate({ facts, token }: StepInput): StepRefusal | undefined {
  const { mandate, execution } = facts
  if (token.mandate_id === null) return undefined
  if (mandate === null) return { reason: 'mandate_revoked' }
  // Once executed, a token spends nothing more: it was charged then, or its charge was released by its outcome.
  const options = { isCharged: execution !== null }
  const refusal = judgeMandate(mandate, amountsOf(facts), facts.at, options)
  const { agent_id: expected, mandate_id } = mandate
  // It may have been narrowed to one agent since.
  const isForeign = expected !== null && expected !== token.agent_id
  if (!isForeign || (refusal !== undefined && ENDED.has(refusal.reason))) return refusal
  const mandate_detail = {
    constraint: 'agent_id',
    expected,
    actual: token.agent_id,
    mandate_id,
  } satisfies MandateDetail
  return { reason: 'mandate_constraint_violated', mandate_detail }
}

const ENDED: ReadonlySet<string> = new Set(['mandate_revoked', 'mandate_expired', 'mandate_heartbeat_lapsed'])

/** A schedule that is gone has no more occurrences. */
export function judgeBoundSchedule({ facts, token }: StepInput): StepRefusal | undefined {
  const { schedule, execution } = facts
  if (token.schedule_id === null) return undefined
  if (schedule === null) return { reason: 'schedule_occurrences_exhausted' }
  const prior = execution === null ? 'none' : execution.is_retry ? 'same_attempt' : 'other_attempt'
  return judgeSchedule(schedule, amountsOf(facts), { at: facts.at, prior })
}

/** Why the order refuses; undefined where it does not, or where there is none. Facts that were recorded before orders have none. */
export function orderRefusalOf({ order = null, at }: VerifyFacts): OrderRefusal | undefined {
  return order === null ? undefined : judgeOrder(order.facts, at)
}

/** Rules that deny an order are judged with the policy: see `denialsOf`. */
export function judgeBoundOrder({ facts }: StepInput): StepRefusal | undefined {
  const refusal = orderRefusalOf(facts)
  return refusal?.reason === 'policy_denied' ? undefined : refusal
}

/**
 * Whether the order is another one than when the token was issued, or was signed with another payload than the token has. An order
 * that is gone has no content.
 */
export function isOrderChanged({ order = null }: VerifyFacts, token: TokenFacts): boolean {
  const { order_id: orderId = null, order_hash: hash, payload_hash: payload } = token
  if (orderId === null) return false
  return order === null || order.order_hash !== hash || (order.payload_hash !== null && order.payload_hash !== payload)
}

/** Whether the order was executed. */
export function isOrderExecuted({ order = null }: VerifyFacts): boolean {
  return order?.facts.status === 'executed'
}
