// All that a verification depends on, as plain JSON: what the request says, what the token says, and what was read. The
// same facts always have the same answer, so the ledger keeps them sealed and can repeat it.

import type { ApprovalFacts } from '#src/authorize/approvals/facts.ts'
import type { MandateFacts } from '#src/authorize/mandates/judge.ts'
import type { BoundOrder } from '#src/authorize/orders/judge.ts'
import type { PolicyAnswers, PolicyFacts } from '#src/authorize/policy/evaluate.ts'
import type { ScheduleFacts } from '#src/authorize/schedules/judge.ts'
import type { RevokedScope } from '#src/authorize/tokens/rows.ts'
import { parseAmount } from '#src/platform/amounts.ts'
import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'
import type { KillSwitchTrip } from '#src/trace/canaries/conditions.ts'

/** Hashes are SHA-256 in base64url without padding. */
export interface VerifyFacts {
  /** ISO 8601: when everything below was true. */
  at: string
  /** null: no token that this service issued for this account, exactly as presented. */
  token: TokenFacts | null
  /** Why there is no valid token, for people. */
  token_problem: string | null
  request: RequestFacts
  /** What authorize was told about the action besides its description and payload. */
  authorized: { action_type: string | null; context: JsonObject | null }
  stop: { reason: string; at: string } | null
  revocation: { scope: RevokedScope; at: string } | null
  lock: { lock_id: string } | null
  /** The registered agent; null where the token names none. */
  agent: AgentState | null
  device: PolicyFacts['device']
  session: JsonObject
  /** Hash of the reading that is stored now for the trace that the request or the token names. */
  reading_hash: string | null
  /** What counts of that trace's reading, for fields `canary.*` of the policy. */
  canary: JsonObject | null
  /** The trip by which the kill switch refuses: of the session, the agent, or the reading that the token is bound to. */
  canary_trip: KillSwitchTrip | null
  /** The first execution of the action. `is_retry`: the same principal repeats it with the same Idempotency-Key. */
  execution: { at: string; is_retry: boolean } | null
  /** What the token was issued under; null where it names none, or where it is gone. */
  mandate: MandateFacts | null
  schedule: ScheduleFacts | null
  order: BoundOrder | null
  /** Approvals that authorize and verify opened, at most one each. */
  approvals: readonly ApprovalFacts[]
  /** Outside answers, except approvals, which depend on the policy too. */
  answers: PolicyAnswers
}

/** What a decision depends on that other decisions change. */
export type StateFacts = Pick<VerifyFacts, 'mandate' | 'schedule' | 'order' | 'approvals'>

export const NO_STATE: StateFacts = { mandate: null, schedule: null, order: null, approvals: [] }

export interface TokenFacts extends TokenBindings {
  jti: string
  expires_at: string
}

/** What a token is bound to. Hashes are SHA-256 in base64url without padding. */
export interface TokenBindings {
  audience: string | null
  action_hash: string
  payload_hash: string
  context_hash: string | null
  trace_id: string | null
  reading_hash: string | null
  agent_id: string | null
  agent_session_id: string
  device_id: string
  mandate_id: string | null
  schedule_id: string | null
  order_id: string | null
  /** Content of the order when the token was issued. */
  order_hash: string | null
  biometric: boolean
  /** Executed once, whatever else binds it. */
  single_use: boolean
}

export interface RequestFacts {
  action_description: string
  action_payload: JsonObject
  action_hash: string
  payload_hash: string
  /** Hash of the evidence that the request brings. */
  context_hash: string | null
  context: JsonObject | null
  trace_id: string | null
  /** Compared with the token's where the request names them. */
  agent_session_id: string | null
  device_id: string | null
  audience: string | null
  /** May only agree with the one that is compared. */
  counterparty: string | null
  /** false: a check only. */
  execute: boolean
}

export interface AgentState {
  id: string
  status: 'active' | 'suspended' | 'missing'
  /** What rules of the policy see as `agent`. */
  attributes: JsonObject
}

/**
 * What policies are evaluated over: once with the context that authorize was given and once with that of verify, where
 * both exist, and once with each type of action, where authorize was told another one than the payload has. The amount and the wish for a biometric are those of all sources together, so that no choice of a field
 * lowers them.
 */
export function policyFactsOf(facts: VerifyFacts, token: TokenFacts): PolicyFacts[] {
  const { authorized, request } = facts
  const payload = request.action_payload
  const given = [authorized.context, request.context].filter((context) => context !== null)
  const contexts = given.length === 0 ? [{}] : isSame(given) ? given.slice(0, 1) : given
  const shared = {
    ...named(
      'transaction_amount',
      largestAmount([
        ...given.map((context) => context.transaction_amount),
        payload.transaction_amount,
        payload.amount,
      ]),
    ),
    ...named(
      'require_biometric',
      anyTrue([...given.map((context) => context.require_biometric), payload.require_biometric]),
    ),
  }
  const evaluated = actionTypesOf(facts).flatMap((type) => contexts.map((context) => ({ type, context })))
  return evaluated.map(({ type, context }) => ({
    action_type: type,
    action_description: request.action_description,
    action_payload: payload,
    context: { ...context, ...shared },
    agent: facts.agent?.attributes ?? null,
    device: facts.device,
    session: facts.session,
    mandate: facts.mandate?.attributes ?? null,
    schedule: facts.schedule?.attributes ?? null,
    canary: facts.canary,
    at: facts.at,
    token: { biometric: token.biometric },
  }))
}

function actionTypesOf({ authorized, request }: VerifyFacts): readonly (string | null)[] {
  const { action_type: named } = request.action_payload
  const types = [authorized.action_type, named].filter((type) => typeof type === 'string')
  return types.length === 0 ? [null] : [...new Set(types)]
}

// The comparison is of text: a context that differs only in the order of its members is evaluated twice, with the same
// result.
function isSame([first, second]: readonly JsonObject[]): boolean {
  return second === undefined || JSON.stringify(first) === JSON.stringify(second)
}

function named(name: string, value: Json | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value }
}

// Neither an amount nor a truth value: a rule that reads it has an error of type, and refuses.
const UNREADABLE = 'unreadable'

function largestAmount(sources: readonly (Json | undefined)[]): Json | undefined {
  let largest: { value: Json; units: bigint } | undefined
  for (const value of sources) {
    if (value === undefined || value === null) continue
    const units = parseAmount(value)
    if (units === undefined) return UNREADABLE
    if (largest === undefined || units > largest.units) largest = { value, units }
  }
  return largest?.value
}

function anyTrue(sources: readonly (Json | undefined)[]): Json | undefined {
  const given = sources.filter((value) => value !== undefined && value !== null)
  if (given.includes(true)) return true
  return given.every((value) => value === false) ? given[0] : UNREADABLE
}
