// What a caller of verify presents, and the facts that follow from it and from what was read.

import { NO_ANSWERS } from '#src/authorize/policy/evaluate.ts'
import type { IntentClaims } from '#src/authorize/tokens/format.ts'
import type { VerifiedIntent } from '#src/authorize/tokens/rows.ts'
import { openFacts } from '#src/authorize/tokens/sealed.ts'
import { isEqualBytes } from '#src/platform/crypto/digest.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { tokenFactsOf } from './action.ts'
import type { VerifyRequest } from './bodies.ts'
import { type Executor, isRetry } from './execution-keys.ts'
import { NO_STATE, type RequestFacts, type VerifyFacts } from './facts.ts'
import type { OutsideAnswers } from './outside-answers.ts'
import { type StateRows, stateFactsOf, type Under } from './read-limits.ts'
import { type BoundState, factsPart, type Subjects } from './read-token-state.ts'

/** What is known of a presented token without a database. */
export interface Presented {
  caller: Caller
  body: VerifyRequest
  request: RequestFacts
  decisionId: string
  tokenSha256: Buffer
  execution: Executor
}

export interface PresentedToken extends Presented {
  claims: IntentClaims
  subjects: Subjects & { jti: string }
  under: Under
}

export function withClaims(presented: Presented, claims: IntentClaims): PresentedToken {
  return {
    ...presented,
    claims,
    subjects: {
      jti: claims.jti,
      agentId: claims.agent_id ?? null,
      agentSessionId: claims.agent_session_id,
      deviceId: claims.device_id,
      traceId: presented.request.trace_id ?? claims.trace_id ?? null,
      isTraceBound: isBoundTrace(presented.request.trace_id, claims.trace_id),
    },
    under: {
      mandateId: claims.mandate_id ?? null,
      scheduleId: claims.schedule_id ?? null,
      orderId: claims.order_id ?? null,
    },
  }
}

// Another trace than the token's is only presented: beside a bound one it is a mismatch.
function isBoundTrace(presented: string | null, bound: string | undefined): boolean {
  return bound !== undefined && (presented === null || presented === bound)
}

export interface ReadForToken {
  row: VerifiedIntent | undefined
  bound: BoundState
  state: StateRows
}

export function verifyFactsOf(
  sealer: Sealer,
  { request, claims, tokenSha256, execution }: PresentedToken,
  { row, bound, state }: ReadForToken,
  { answers }: OutsideAnswers,
): VerifyFacts {
  // Another encoding of a valid signature is another string, and not the token that was issued.
  if (row === undefined || !isEqualBytes(row.tokenSha256, tokenSha256)) {
    return unknownFacts(request, bound.at, row === undefined ? 'unknown' : 'another_string')
  }
  const { action_type, context } = openFacts(sealer, row.jti, row.sealedFacts) as unknown as VerifyFacts['authorized']
  return {
    ...factsPart(bound),
    ...stateFactsOf(state, bound.at),
    token: tokenFactsOf(claims, row.audience),
    token_problem: null,
    request,
    authorized: { action_type, context },
    execution: row.executedAt === null ? null : { at: row.executedAt.toISOString(), is_retry: isRetry(row, execution) },
    answers,
  }
}

// What a stranger presents is kept by its hashes alone: its size is theirs to choose.
export function unknownFacts(request: RequestFacts, at: string, problem: string): VerifyFacts {
  return {
    at,
    token: null,
    token_problem: problem,
    request: { ...request, action_description: '', action_payload: {}, context: null },
    authorized: { action_type: null, context: null },
    stop: null,
    revocation: null,
    lock: null,
    agent: null,
    device: { id: '', tier: 'none', enrolled: false },
    session: {},
    reading_hash: null,
    canary: null,
    canary_trip: null,
    execution: null,
    ...NO_STATE,
    answers: NO_ANSWERS,
  }
}
