// Answers whether an action may run now. In two phases over one pipeline: what must be asked outside is found and asked
// before the transaction; the transaction locks, reads everything again and decides with those answers. Nothing that a
// revocation, a suspension or a stop ended before the commit of this decision is answered valid.

import { countOperations } from '#src/account/usage/meter.ts'
import type { CompiledPolicy } from '#src/authorize/policy/compile.ts'
import type { CurrentCompiled } from '#src/authorize/policy/current.ts'
import { NO_ANSWERS } from '#src/authorize/policy/evaluate.ts'
import { hashToken, type IntentClaims } from '#src/authorize/tokens/format.ts'
import { parseIntentToken } from '#src/authorize/tokens/parse.ts'
import { findExecuted, findIntent, type IntentRow, lockIntent, markExecuted } from '#src/authorize/tokens/rows.ts'
import { openFacts } from '#src/authorize/tokens/sealed.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import { isEqualBytes } from '#src/platform/crypto/digest.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import type { IdempotencyKey } from '#src/platform/http/idempotency.ts'
import { actorOf } from '#src/platform/http/principal.ts'
import { type Environment, newId } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import type { CanaryPort } from '#src/trace/canaries/port.ts'
import { requestOfVerify, tokenFactsOf } from './action.ts'
import { type Ask, answersUnder, NOTHING_ASKED, type OutsideAnswers } from './asking.ts'
import type { VerifyRequest } from './bodies.ts'
import { checkKey, type Executor, withKeyReuse } from './execution-keys.ts'
import type { RequestFacts, VerifyFacts } from './facts.ts'
import { runPipeline, type VerifyOutcome } from './pipeline.ts'
import { decisionsOfVerify } from './record.ts'
import {
  factsPart,
  locksOf,
  readStanding,
  readTogether,
  type StandingDeps,
  type Subjects,
  type TokenStanding,
  takeLocks,
} from './standing.ts'

export interface Verified {
  decisionId: string
  facts: VerifyFacts
  outcome: VerifyOutcome
}

export interface VerifyingDeps extends StandingDeps {
  db: Pick<Database, 'tenant' | 'readTenant'>
  signingKeys: Pick<SigningKeys, 'findTokenKey'>
  sealer: Sealer
  ledger: Pick<Ledger, 'recordMany'>
  canaries: Pick<CanaryPort, 'readTrace' | 'tripAtVerify'>
  ask: Ask
  now(): Date
}

/** What a caller presents, as far as it is known without a database. */
interface Presented {
  caller: Caller
  body: VerifyRequest
  request: RequestFacts
  decisionId: string
  tokenSha256: Buffer
  execution: Executor
}

interface PresentedToken extends Presented {
  claims: IntentClaims
  subjects: Subjects
}

export function createVerifying(deps: VerifyingDeps) {
  const { db, signingKeys, sealer, ledger, canaries, ask, now, trust } = deps
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
    return verifyToken({ ...presented, claims, subjects: subjectsOf(claims, request) }, signal)
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
    const { caller, claims, subjects, decisionId, body, execution } = presented
    const revocations = await trust.revocations()
    const [row, executed, standing] = await readTogether(db, caller, (tx) =>
      Promise.all([
        findIntent(tx, claims.jti),
        findExecuted(tx, execution.key),
        readStanding(tx, deps, subjects, revocations),
      ]),
    )
    checkKey(actionOf(presented), executed)
    const facts = factsOf(presented, row, standing, NOTHING_ASKED)
    if (facts.token === null) return NOTHING_ASKED
    const { needs } = runPipeline(facts, standing.policy.compiled)
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
    const { caller, claims, subjects, execution } = presented
    const revocations = await trust.revocations()
    const judge = async (tx: Tx) => {
      // Sent together. Postgres runs them in this order: the locks, then the row, then all that is read.
      const [, row, executed, standing] = await Promise.all([
        takeLocks(tx, locksOf(caller, subjects), asked?.hasTripped ?? false),
        lockIntent(tx, claims.jti),
        findExecuted(tx, execution.key),
        readStanding(tx, deps, subjects, revocations),
      ])
      checkKey(actionOf(presented), executed)
      remembered.keep(caller, standing.policy.compiled)
      const answered = answersUnder(standing.policy.compiled, asked ?? NOTHING_ASKED)
      const facts = factsOf(presented, row, standing, answered)
      const outcome = runPipeline(facts, standing.policy.compiled)
      // What phase 1 asked for has an answer, so these needs are new. Webhooks without an answer refuse.
      const isUnasked = outcome.needs.length > 0 && (asked === undefined || (outcome.valid && !isLast))
      if (isUnasked) throw UNASKED
      return settle(tx, presented, { facts, outcome, policy: standing.policy, asked: answered })
    }
    try {
      return await db.tenant(caller, judge)
    } catch (error) {
      throw withKeyReuse(error)
    }
  }

  async function settle(tx: Tx, presented: Presented, { facts, outcome, policy, asked }: Judged): Promise<Verified> {
    const { caller, request, decisionId, tokenSha256, execution } = presented
    const jti = facts.token?.jti
    const isExecuted = jti !== undefined && outcome.valid && request.execute && facts.execution === null
    const lockId = await trip(tx, caller, { facts, outcome, asked })
    const final = lockId === undefined ? outcome : { ...outcome, lock_id: lockId }
    const judged = {
      id: decisionId,
      principal: caller.principal,
      facts,
      outcome: final,
      policy,
      tokenSha256: tokenSha256.toString('base64url'),
    }
    const [isMarked] = await Promise.all([
      isExecuted ? markExecuted(tx, jti, execution) : undefined,
      ledger.recordMany(tx, caller, decisionsOfVerify(judged, { isExecuted, causes: asked?.causes })),
      countOperations(tx, caller, 'verify', [decisionId]),
    ])
    if (isMarked === false) throw new Error('a token was executed while its row was locked')
    return { decisionId, facts, outcome: final }
  }

  /** A condition that tripped locks the session or the agent where the kill switch says so. Returns the lock. */
  async function trip(
    tx: Tx,
    caller: Caller,
    { facts: { token }, outcome, asked }: Pick<Judged, 'facts' | 'outcome' | 'asked'>,
  ): Promise<string | undefined> {
    const ruleId = outcome.canary_readings === undefined ? undefined : outcome.matched_rule_id
    const reading = ruleId === undefined ? undefined : asked?.readings.get(ruleId)
    if (token === null || ruleId === undefined || reading === undefined) return undefined
    const { jti, agent_id: agentId, agent_session_id: agentSessionId } = token
    const { lockId } = await canaries.tripAtVerify(tx, caller, {
      jti,
      matchedRuleId: ruleId,
      reading,
      agentId,
      agentSessionId,
    })
    return lockId
  }

  /** A token that is none of ours, as far as can be told without its row. */
  function refuseUnknown(presented: Presented, problem: string): Promise<Verified> {
    const facts = unknownFacts(presented.request, now().toISOString(), problem)
    const outcome: VerifyOutcome = { ...INVALID }
    return db.tenant(presented.caller, (tx) =>
      settle(tx, presented, { facts, outcome, policy: null, asked: undefined }),
    )
  }

  function factsOf(
    { request, claims, tokenSha256, execution }: PresentedToken,
    row: IntentRow | undefined,
    standing: TokenStanding,
    { answers }: OutsideAnswers,
  ): VerifyFacts {
    // Another encoding of a valid signature is another string, and not the token that was issued.
    if (row === undefined || !isEqualBytes(row.tokenSha256, tokenSha256)) {
      return unknownFacts(request, standing.at, row === undefined ? 'unknown' : 'another_string')
    }
    const { action_type, context } = openFacts(sealer, row.jti, row.sealedFacts) as unknown as VerifyFacts['authorized']
    const isSameCaller = row.executedBy === execution.by && row.executionKey === execution.key
    return {
      ...factsPart(standing),
      token: tokenFactsOf(claims, row.audience),
      token_problem: null,
      request,
      authorized: { action_type, context },
      execution: row.executedAt === null ? null : { at: row.executedAt.toISOString(), is_same_caller: isSameCaller },
      answers,
    }
  }

  return { verify }
}

interface Judged {
  facts: VerifyFacts
  outcome: VerifyOutcome
  policy: CurrentCompiled | null
  asked: OutsideAnswers | undefined
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

/** Accounts whose policy this process has seen last; further ones are asked about as if they were new. */
const MAX_REMEMBERED = 10_000

/** Remembers which policies ask nothing outside. Out of date it costs a second transaction and no wrong answer. */
function createPolicyMemory() {
  const known = new Map<string, boolean>()
  const nameOf = ({ accountId, environment }: Caller) => `${accountId} ${environment}`
  return {
    asksNothing: (caller: Caller) => known.get(nameOf(caller)) === true,
    keep(caller: Caller, { rules }: CompiledPolicy) {
      if (known.size >= MAX_REMEMBERED) known.clear()
      const asks = rules.some(({ requirements }) => requirements.some(({ kind }) => OUTSIDE.has(kind)))
      known.set(nameOf(caller), !asks)
    },
  }
}

const OUTSIDE: ReadonlySet<string> = new Set(['webhook', 'canary'])

function actionOf({ claims, request }: PresentedToken) {
  return { jti: claims.jti, actionHash: request.action_hash, payloadHash: request.payload_hash }
}

function subjectsOf(claims: IntentClaims, request: RequestFacts): Subjects {
  return {
    jti: claims.jti,
    agentId: claims.agent_id ?? null,
    agentSessionId: claims.agent_session_id,
    deviceId: claims.device_id,
    traceId: request.trace_id ?? claims.trace_id ?? null,
  }
}

// What a stranger presents is kept by its hashes alone: its size is theirs to choose.
function unknownFacts(request: RequestFacts, at: string, problem: string): VerifyFacts {
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
    execution: null,
    answers: NO_ANSWERS,
  }
}

// An id of the other environment is refused, whether it exists or not (specification, API keys 7).
function checkEnvironment(id: string | undefined, environment: Environment): void {
  const word = id === undefined ? undefined : /^(?:ses|dev|trc)_(test|live)_/.exec(id)?.[1]
  if (word === undefined || (word === 'live') === (environment === 'live')) return
  throw new Failure('environment_mismatch', `The id ${id} is of the other environment than this key.`)
}
