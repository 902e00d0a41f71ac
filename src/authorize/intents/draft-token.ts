// A token before it is signed: what it is bound to follows from what is true of the policy, the schedule and the trace, which
// may change until the transaction that stores it. A draft of other terms is another token.

import { mergeRules } from '#src/authorize/approvals/facts.ts'
import type { CheckedAssertion } from '#src/authorize/passkeys/assertions.ts'
import type { CompiledRule } from '#src/authorize/policy/compile.ts'
import { NO_ANSWERS } from '#src/authorize/policy/evaluate.ts'
import type { IntentClaims } from '#src/authorize/tokens/format.ts'
import type { StatusPlace } from '#src/authorize/tokens/status-index.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { newId } from '#src/platform/ids.ts'
import { tokenFactsOf } from './action.ts'
import type { AuthorizeRequest } from './bodies.ts'
import type { RequestFacts, StateFacts, VerifyFacts } from './facts.ts'
import { storedAnswers } from './outside-answers.ts'
import { runPipeline, type VerifyOutcome } from './pipeline.ts'
import { type BoundState, factsPart } from './read-token-state.ts'

/** The action to authorize, and who authorizes it. */
export interface Drafting {
  caller: Caller
  body: AuthorizeRequest
  request: RequestFacts
  agentId: string | null
  assertion: CheckedAssertion | undefined
}

export interface Draft {
  claims: IntentClaims
  /** Rules that require an approval which is to be opened with the token; may be empty. */
  rules: readonly CompiledRule[]
  /** Until when the approval can be decided. */
  approvalExpiresAt: Date | undefined
  /** Two drafts of the same terms are the same token. */
  terms: string
  /** What verify would answer without the approval. */
  outcome: VerifyOutcome
}

/** Validity that remains after an approval at the last moment, even where `ttl_seconds` is longer. */
const AFTER_APPROVAL_SECONDS = 300

/** @param baseUrl Who issues it. */
export function draftToken(
  drafting: Drafting,
  bound: BoundState,
  state: StateFacts,
  { place, at, baseUrl }: { place: StatusPlace; at: Date; baseUrl: string },
): Draft {
  const { caller, body, request, agentId, assertion } = drafting
  const { accountId, environment } = caller
  const issuedAt = Math.floor(at.getTime() / 1_000)
  const plain: IntentClaims = {
    iss: baseUrl,
    sub: accountId,
    aud: body.audience ?? accountId,
    jti: newId('jti', environment, at.getTime()),
    iat: issuedAt,
    exp: issuedAt + body.ttl_seconds,
    env: environment,
    action_hash: request.action_hash,
    payload_hash: request.payload_hash,
    context_hash: request.context_hash ?? undefined,
    trace_id: body.trace_id,
    reading_hash: bound.reading_hash ?? undefined,
    agent_id: agentId ?? undefined,
    agent_session_id: body.agent_session_id,
    device_id: body.device_id,
    mandate_id: body.mandate_id,
    schedule_id: body.schedule_id,
    cycle: state.schedule?.cycle?.number,
    order_id: body.order_id,
    order_hash: state.order?.order_hash,
    biometric: assertion && { verified: true, credential: assertion.passkeyId, uv: true, at: issuedAt },
    single_use: body.single_use || undefined,
    policy_version: bound.policy.version,
    status: { status_list: place.reference },
  }
  const { compiled } = bound.policy
  const outcome = runPipeline(foreseenFacts(drafting, plain, bound, state), compiled)
  const opens = new Set(outcome.opens)
  const rules = opens.size === 0 ? [] : compiled.rules.filter(({ id }) => opens.has(id))
  const terms = JSON.stringify([
    bound.policy.version,
    bound.reading_hash,
    plain.cycle ?? null,
    plain.order_hash ?? null,
    rules.map(({ id, hash }) => [id, hash]),
  ])
  if (rules.length === 0) return { claims: plain, rules, approvalExpiresAt: undefined, terms, outcome }
  const exp = issuedAt + mergeRules(rules).ttl_seconds + AFTER_APPROVAL_SECONDS
  return {
    claims: { ...plain, exp, approval_id: newId('apr', environment, at.getTime()) },
    rules,
    approvalExpiresAt: new Date((exp - AFTER_APPROVAL_SECONDS) * 1_000),
    terms,
    outcome,
  }
}

/**
 * The verification that authorize foresees, of a request that names no other trace and brings no input. Webhooks are asked
 * at verify only.
 */
export function foreseenFacts(
  { body, request }: Pick<Drafting, 'body' | 'request'>,
  claims: IntentClaims,
  bound: BoundState,
  state: StateFacts,
): VerifyFacts {
  const facts = {
    ...factsPart(bound),
    ...state,
    token: tokenFactsOf(claims, body.audience ?? null),
    token_problem: null,
    request,
    authorized: { action_type: body.action_type ?? null, context: body.context ?? null },
    execution: null,
    answers: NO_ANSWERS,
  }
  const { compiled } = bound.policy
  if (!compiled.asksOutside) return facts
  return { ...facts, answers: storedAnswers(runPipeline(facts, compiled).needs, bound.canaries.readFor) }
}
