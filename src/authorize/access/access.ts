// The AuthZEN Authorization API 1.0 over verify: each evaluation is one verification that executes nothing, with its own
// decision in the ledger. A gateway that knows no more of an answer than `decision` must never let an action run twice, so
// what was executed before is denied here, but for a repeat by the principal and with the key that executed it.

import type { VerifyRequest } from '#src/authorize/intents/bodies.ts'
import { describeReason } from '#src/authorize/intents/reasons.ts'
import type { Verified } from '#src/authorize/intents/settling.ts'
import { toVerifyView } from '#src/authorize/intents/views.ts'
import { Failure } from '#src/failure.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import type { IdempotencyKey } from '#src/platform/http/idempotency.ts'
import { type AccessEvaluation, type AccessEvaluations, toVerification, withDefaults } from './mapping.ts'

export interface AccessDecision {
  decision: boolean
  context: Record<string, Json>
}

export interface AccessDeps {
  verify(
    caller: Caller,
    body: VerifyRequest,
    key: IdempotencyKey | undefined,
    signal: () => AbortSignal,
  ): Promise<Verified>
}

export type Access = ReturnType<typeof createAccess>

type Count = () => Promise<Failure | undefined>

/** Who asks, and until when. */
export interface AccessAsker {
  caller: Caller
  /** Tells a repeat of an execution from another attempt, as in verify. */
  key: IdempotencyKey | undefined
  signal: AbortSignal
}

// An account has three connections of a process at most.
const AT_ONCE = 3
const EXECUTED = 'token_already_executed'

export function createAccess({ verify }: AccessDeps) {
  async function decide({ caller, key, signal }: AccessAsker, evaluation: AccessEvaluation): Promise<AccessDecision> {
    const verified = await verify(caller, toVerification(evaluation), key, () => signal)
    const { valid, already_executed: isExecuted, ...rest } = toVerifyView(verified, undefined)
    if (!valid || isExecuted !== true) return { decision: valid, context: contextOf(rest) }
    if (verified.facts.execution?.is_retry === true) {
      return { decision: true, context: contextOf({ ...rest, already_executed: true }) }
    }
    return { decision: false, context: contextOf({ ...rest, reason: EXECUTED, detail: describeReason(EXECUTED) }) }
  }

  /** An evaluation that can't be made is denied and does not affect the others of its request. */
  async function decideOne(
    asker: AccessAsker,
    make: () => AccessEvaluation,
    count: Count | undefined,
  ): Promise<AccessDecision> {
    try {
      const evaluation = make()
      const refusal = await count?.()
      if (refusal !== undefined) throw refusal
      return await decide(asker, evaluation)
    } catch (error) {
      if (error instanceof Failure && error.status < 500) return denialOf(error)
      throw error
    }
  }

  return {
    /**
     * @throws {Failure} what verify throws, but for `invalid_request`: that an evaluation can't be put to a token is
     * a denial.
     */
    async evaluate(asker: AccessAsker, evaluation: AccessEvaluation): Promise<AccessDecision> {
      try {
        return await decide(asker, evaluation)
      } catch (error) {
        if (error instanceof Failure && error.code === 'invalid_request') return denialOf(error)
        throw error
      }
    },

    /**
     * Makes the evaluations in order, and stops after the one that ends a short-circuit semantic.
     * @param count Counts one evaluation against the rate limit. The request itself has been counted, for the first.
     */
    async evaluateAll(
      asker: AccessAsker,
      request: AccessEvaluations & { evaluations: NonNullable<AccessEvaluations['evaluations']> },
      count: Count,
    ): Promise<AccessDecision[]> {
      const { evaluations, options } = request
      const ending = ENDING[options?.evaluations_semantic ?? 'execute_all']
      const width = ending === undefined ? AT_ONCE : 1
      const decisions: AccessDecision[] = []
      for (let at = 0; at < evaluations.length; at += width) {
        const some = evaluations.slice(at, at + width)
        const made = some.map((own, index) => {
          return decideOne(asker, () => withDefaults(request, own), at + index === 0 ? undefined : count)
        })
        decisions.push(...(await Promise.all(made)))
        if (decisions.at(-1)?.decision === ending) break
      }
      return decisions
    },
  }
}

/** The decision after which no further evaluation is made. */
const ENDING = { execute_all: undefined, deny_on_first_deny: false, permit_on_first_permit: true } as const

function denialOf({ status, code, message, errors }: Failure): AccessDecision {
  const findings = errors?.map(({ pointer, code, detail }) => ({ pointer, code, detail }))
  return {
    decision: false,
    context: { error: { status, code, message, ...(findings !== undefined && { errors: findings }) } },
  }
}

// Its members are JSON, or are absent.
function contextOf(members: Record<string, unknown>): Record<string, Json> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Record<string, Json>
}
