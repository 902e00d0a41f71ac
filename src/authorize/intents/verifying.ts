// Answers whether an action may run now. In two phases over one pipeline: what must be asked outside is found and asked
// before the transaction; the transaction locks, reads everything again and decides with those answers. Nothing that a
// revocation, a suspension or a stop ended before the commit of this decision is answered valid.

import type { RootSemaphore } from '#src/authorize/mandates/root-semaphore.ts'
import { hashToken } from '#src/authorize/tokens/format.ts'
import { parseIntentToken } from '#src/authorize/tokens/parse.ts'
import { findExecuted, findVerified, lockVerified } from '#src/authorize/tokens/rows.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import type { IdempotencyKey } from '#src/platform/http/idempotency.ts'
import { actorOf } from '#src/platform/http/principal.ts'
import { type Environment, newId } from '#src/platform/ids.ts'
import type { CanaryPort } from '#src/trace/canaries/port.ts'
import { requestOfVerify } from './action.ts'
import { type Ask, answersUnder, createPolicyMemory, NOTHING_ASKED, type OutsideAnswers, withTrips } from './asking.ts'
import type { VerifyRequest } from './bodies.ts'
import { type BoundStateDeps, readBoundState, readTogether, subjectLocksOf, takeLocks } from './bound-state.ts'
import { checkKey, withKeyReuse } from './execution-keys.ts'
import { runPipeline, type VerifyOutcome } from './pipeline.ts'
import { type Presented, type PresentedToken, unknownFacts, verifyFactsOf, withClaims } from './presented.ts'
import { createSettle, type SettlingDeps, type Verified } from './settling.ts'
import { readState } from './state.ts'

export interface VerifyingDeps extends BoundStateDeps, SettlingDeps {
  db: Pick<Database, 'tenant' | 'readTenant'>
  signingKeys: Pick<SigningKeys, 'findTokenKey'>
  sealer: Sealer
  canaries: Pick<CanaryPort, 'readState' | 'tripAtVerify' | 'tripByKillSwitch'>
  semaphore: RootSemaphore
  ask: Ask
  now(): Date
}

export function createVerifying(deps: VerifyingDeps) {
  const { db, signingKeys, sealer, semaphore, ask, now, trust } = deps
  const settle = createSettle(deps)
  const remembered = createPolicyMemory()

  async function verify(
    caller: Caller,
    body: VerifyRequest,
    key: IdempotencyKey | undefined,
    signal: () => AbortSignal,
  ): Promise<Verified> {
    const request = requestOfVerify(body)
    for (const id of [body.trace_id, body.agent_session_id, body.device_id]) checkEnvironment(id, caller.environment)
    const parsed = await parseIntentToken(body.intent_token, signingKeys, caller)
    if (!parsed.isValid && parsed.reason === 'environment_mismatch') {
      throw new Failure('environment_mismatch', 'The token was issued in the other environment than that of this key.')
    }
    const presented: Presented = {
      caller,
      body,
      request,
      decisionId: newId('dec', caller.environment, now().getTime()),
      tokenSha256: hashToken(body.intent_token),
      execution: { by: actorOf(caller.principal).id, key: key?.digest.toString('hex') ?? null },
    }
    if (!parsed.isValid) return refuseUnknown(presented, parsed.problem)
    const { claims } = parsed
    if (claims.sub !== caller.accountId) return refuseUnknown(presented, 'account')
    note({ intent: claims.jti })
    return verifyToken(withClaims(presented, claims), signal)
  }

  async function verifyToken(presented: PresentedToken, signal: () => AbortSignal): Promise<Verified> {
    // Most policies ask nothing outside: then the transaction alone decides. Should the policy have changed, it says so.
    let asked = remembered.asksNothing(presented.caller) ? undefined : await prepare(presented, signal)
    for (let left = MOST_ASKED; ; left -= 1) {
      try {
        return await decide(presented, asked, left === 0)
      } catch (error) {
        if (error !== UNASKED) throw error
      }
      asked = await prepare(presented, signal)
    }
  }

  /** Phase 1: finds what must be asked outside, and asks it. */
  async function prepare(presented: PresentedToken, signal: () => AbortSignal): Promise<OutsideAnswers> {
    const { caller, subjects, under, decisionId, body, execution } = presented
    const { jti } = subjects
    const revocations = await trust.revocations()
    const [row, state, executed, bound] = await readTogether(db, caller, (tx) =>
      Promise.all([
        findVerified(tx, jti),
        readState(tx, { ...under, jti }, 'none'),
        findExecuted(tx, execution.key),
        readBoundState(tx, deps, subjects, revocations),
      ]),
    )
    checkKey(actionOf(presented), executed)
    const known = withTrips(bound.policy.compiled, NOTHING_ASKED, bound.canaries.tripFor)
    const facts = verifyFactsOf(sealer, presented, { row, bound, state }, known)
    if (facts.token === null) return NOTHING_ASKED
    const { needs } = runPipeline(facts, bound.policy.compiled)
    if (needs.length === 0) return NOTHING_ASKED
    const evaluation = { decisionId, facts, token: facts.token, needs, inferenceInput: body.inference_input }
    return ask(caller, evaluation, signal())
  }

  /**
   * Phase 2.
   * @param asked undefined: phase 1 was left out; throws UNASKED if it was needed.
   * @param isLast Otherwise it throws UNASKED, too, where the action would pass for want of a reading that nobody asked for.
   */
  async function decide(presented: PresentedToken, asked: OutsideAnswers | undefined, isLast: boolean) {
    const { caller, request, subjects, under, execution } = presented
    const { jti } = subjects
    const { mandateId } = under
    const revocations = await trust.revocations()
    const judge = async (tx: Tx) => {
      // Sent together. Postgres runs them in this order: all locks, then all that is read.
      const [, row, state, executed, bound] = await Promise.all([
        takeLocks(tx, subjectLocksOf(caller, subjects), asked?.hasTripped ?? false),
        lockVerified(tx, jti),
        readState(tx, { ...under, jti }, request.execute ? 'update' : 'share'),
        findExecuted(tx, execution.key),
        readBoundState(tx, deps, subjects, revocations),
      ])
      checkKey(actionOf(presented), executed)
      const { policy } = bound
      remembered.keep(caller, policy.compiled)
      const [root] = state.mandate?.levels ?? []
      if (mandateId !== null && root !== undefined) semaphore.learn(mandateId, root.mandate_id)
      // A trip that came while the policy asked outside counts as well.
      const current = answersUnder(policy.compiled, asked ?? NOTHING_ASKED)
      const answered = withTrips(policy.compiled, current, bound.canaries.tripFor)
      const facts = verifyFactsOf(sealer, presented, { row, bound, state }, answered)
      const outcome = runPipeline(facts, policy.compiled)
      // What phase 1 asked for has an answer, so these needs are new. Webhooks without an answer refuse.
      const isUnasked = outcome.needs.length > 0 && (asked === undefined || (outcome.valid && !isLast))
      if (isUnasked) throw UNASKED
      return settle(tx, presented, { facts, outcome, policy, asked: answered, row })
    }
    const work = () => db.tenant(caller, judge)
    try {
      return await (mandateId !== null && request.execute ? semaphore.withSlot(mandateId, work) : work())
    } catch (error) {
      throw withKeyReuse(error)
    }
  }

  /** A token that is none of ours, as far as can be told without its row. */
  function refuseUnknown(presented: Presented, problem: string): Promise<Verified> {
    const facts = unknownFacts(presented.request, now().toISOString(), problem)
    const outcome: VerifyOutcome = { ...INVALID }
    return db.tenant(presented.caller, async (tx) => {
      checkKey(undefined, await findExecuted(tx, presented.execution.key))
      return settle(tx, presented, { facts, outcome, policy: null, asked: undefined, row: undefined })
    })
  }

  return { verify }
}

// Thrown to undo a transaction that found a question which must not be asked inside of it.
const UNASKED = new Error('the policy asks outside, and phase 1 was left out')
// Policies and facts that change each time while they are asked about: then what is missing is unavailable.
const MOST_ASKED = 2

const INVALID: VerifyOutcome = {
  valid: false,
  reason: 'invalid_token',
  already_executed: false,
  results: [],
  shadow: [],
  needs: [],
}

function actionOf({ claims, request }: PresentedToken) {
  return { jti: claims.jti, actionHash: request.action_hash, payloadHash: request.payload_hash }
}

// An id of the other environment is refused, whether it exists or not (specification, API keys 7).
function checkEnvironment(id: string | undefined, environment: Environment): void {
  const word = id === undefined ? undefined : /^(?:ses|dev|trc)_(test|live)_/.exec(id)?.[1]
  if (word === undefined || (word === 'live') === (environment === 'live')) return
  throw new Failure('environment_mismatch', `The id ${id} is of the other environment than this key.`)
}
