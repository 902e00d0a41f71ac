// Answers whether an action may run now. In two phases over one pipeline: what must be asked outside is found and asked
// before the transaction; the transaction locks, reads everything again and decides with those answers. Nothing that a
// revocation, a suspension or a stop ended before the commit of this decision is answered valid.

import type { RevocationSnapshot } from '#src/attest/hardware/revocations.ts'
import { createRootBatches, type Decided, type RootItem, Undone } from '#src/authorize/mandates/root-batches.ts'
import { hashToken, MAX_CLOCK_SKEW_SECONDS } from '#src/authorize/tokens/format.ts'
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
import type { VerifyRequest } from './bodies.ts'
import { checkKey, withKeyReuse } from './execution-keys.ts'
import {
  type Ask,
  answersUnder,
  createPolicyMemory,
  NOTHING_ASKED,
  type OutsideAnswers,
  withTrips,
} from './outside-answers.ts'
import { runPipeline, type VerifyOutcome } from './pipeline.ts'
import { lockStates, readState } from './read-limits.ts'
import { type BoundStateDeps, readBoundState, readTogether, subjectLocksOf, takeLocks } from './read-token-state.ts'
import { createSettle, type JudgedToken, type SettlingDeps, type Verified } from './settling.ts'
import { type Presented, type PresentedToken, unknownFacts, verifyFactsOf, withClaims } from './verify-input.ts'

export interface VerifyingDeps extends BoundStateDeps, SettlingDeps {
  db: Pick<Database, 'tenant' | 'readTenant'>
  signingKeys: Pick<SigningKeys, 'findTokenKey'>
  sealer: Sealer
  canaries: Pick<CanaryPort, 'readState' | 'tripAtVerify' | 'tripByKillSwitch'>
  ask: Ask
  now(): Date
  maxWaitMs?: number | undefined
}

export function createVerifying(deps: VerifyingDeps) {
  const { db, signingKeys, sealer, ask, now, trust } = deps
  const settle = createSettle(deps)
  const remembered = createPolicyMemory()
  const batches = createRootBatches<UnderMandate, Verified>({ decideAll, maxWaitMs: deps.maxWaitMs })

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
      throw new Failure('environment_mismatch', 'The token and this key are of different environments.')
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
    // A clock that was ahead made it: its lifetime would end as much later as the clock was wrong.
    const isAhead = claims.iat > now().getTime() / 1_000 + MAX_CLOCK_SKEW_SECONDS
    if (isAhead) return refuseUnknown(presented, 'not_yet_valid')
    note({ intent: claims.jti })
    return verifyToken(withClaims(presented, claims), signal)
  }

  async function verifyToken(presented: PresentedToken, signal: () => AbortSignal): Promise<Verified> {
    // Most policies ask nothing outside: then the transaction alone decides. Should the policy have changed, it says so.
    let asked = remembered.asksNothing(presented.caller) ? undefined : await prepare(presented, signal)
    for (let left = MOST_ASKED; ; left -= 1) {
      try {
        return await decide({ presented, asked, isLast: left === 0 }, signal)
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
        readState(tx, caller, { ...under, jti }, 'none'),
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

  /** Phase 2. Executions under one root mandate share a transaction where they wait for each other. */
  async function decide(question: Question, signal: () => AbortSignal): Promise<Verified> {
    const { caller, request, under } = question.presented
    const { mandateId } = under
    try {
      if (mandateId !== null && request.execute) {
        return await batches.decide({ ...question, scope: caller, mandateId, signal: signal() })
      }
      const revocations = await trust.revocations()
      return await db.tenant(caller, async (tx) => {
        const judged = await judge(tx, question, { revocations, isLocked: false })
        return settle(tx, question.presented, judged)
      })
    } catch (error) {
      throw withKeyReuse(error)
    }
  }

  /**
   * Each item is read and judged after the one before it was settled, so it finds what that one has spent. What refuses an
   * item as a `Failure`, or asks for phase 1, has written nothing.
   */
  async function decideAll(
    first: UnderMandate,
    take: () => readonly UnderMandate[],
  ): Promise<readonly Decided<Verified>[]> {
    const revocations = await trust.revocations()
    return db.tenant(first.scope, async (tx) => {
      const items = take()
      const isLocked = items.length > 1
      const decided: Decided<Verified>[] = []
      try {
        if (isLocked) await lockTogether(tx, items)
        for (const item of items) {
          const judged = await judge(tx, item, { revocations, isLocked }).catch((error: unknown) => {
            if (error instanceof Failure || error === UNASKED) return { error }
            throw error
          })
          decided.push('error' in judged ? judged : { result: await settle(tx, item.presented, judged) })
        }
      } catch (error) {
        throw new Undone(error, items.length)
      }
      return decided
    })
  }

  /**
   * Reads and judges, and writes nothing.
   * @param isLocked Whether `lockTogether` holds the rows.
   * @throws UNASKED if phase 1 was left out and was needed, or where the action would pass for want of a reading that
   * nobody asked for.
   */
  async function judge(
    tx: Tx,
    { presented, asked, isLast }: Question,
    { revocations, isLocked }: { revocations: RevocationSnapshot; isLocked: boolean },
  ): Promise<JudgedToken> {
    const { caller, request, subjects, under, execution } = presented
    const { jti } = subjects
    const lock = isLocked ? 'none' : request.execute ? 'update' : 'share'
    // Sent together. Postgres runs them in this order: all locks, then all that is read.
    const [, row, state, executed, bound] = await Promise.all([
      isLocked ? undefined : takeLocks(tx, subjectLocksOf(caller, subjects), asked?.hasTripped ?? false),
      isLocked ? findVerified(tx, jti) : lockVerified(tx, jti),
      readState(tx, caller, { ...under, jti }, lock),
      findExecuted(tx, execution.key),
      readBoundState(tx, deps, subjects, revocations),
    ])
    checkKey(actionOf(presented), executed)
    const { policy } = bound
    remembered.keep(caller, policy.compiled)
    const [root] = state.mandate?.levels ?? []
    if (under.mandateId !== null && root !== undefined) batches.learn(under.mandateId, root.mandate_id)
    // A trip that came while the policy asked outside counts as well.
    const current = answersUnder(policy.compiled, asked ?? NOTHING_ASKED)
    const answered = withTrips(policy.compiled, current, bound.canaries.tripFor)
    const facts = verifyFactsOf(sealer, presented, { row, bound, state }, answered)
    const outcome = runPipeline(facts, policy.compiled)
    // What phase 1 asked for has an answer, so these needs are new. Webhooks without an answer refuse.
    const isUnasked = outcome.needs.length > 0 && (asked === undefined || (outcome.valid && !isLast))
    if (isUnasked) throw UNASKED
    return { facts, outcome, policy, asked: answered, row }
  }

  /** Refuses a token with no matching row. */
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

/** What phase 2 decides. */
interface Question {
  presented: PresentedToken
  /** undefined: phase 1 was left out. */
  asked: OutsideAnswers | undefined
  /** There is no time to ask again. */
  isLast: boolean
}

interface UnderMandate extends Question, RootItem {}

/** The locks of all items, in the order of those of one. */
async function lockTogether(tx: Tx, items: readonly UnderMandate[]): Promise<void> {
  const locks = items.flatMap(({ scope, presented }) => subjectLocksOf(scope, presented.subjects))
  const hasTripped = items.some(({ asked }) => asked?.hasTripped === true)
  await Promise.all([
    takeLocks(tx, [...new Set(locks)], hasTripped),
    lockStates(
      tx,
      items.map(({ presented, mandateId }) => ({ jti: presented.subjects.jti, mandateId })),
    ),
  ])
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
  throw new Failure('environment_mismatch', `The id ${id} and this key are of different environments.`)
}
