// Issues tokens. The token is signed before the transaction that stores it, from a first reading; the transaction reads
// again under the locks, and what changed meanwhile refuses or signs anew. So no token is issued for what a revocation,
// a suspension or a stop had ended before its commit.

import { countOperations } from '#src/account/usage/meter.ts'
import type { RevocationSnapshot } from '#src/attest/hardware/revocations.ts'
import { approvalFactsOf } from '#src/authorize/approvals/facts.ts'
import type { ApprovalsFeature } from '#src/authorize/approvals/feature.ts'
import { readApprovals } from '#src/authorize/approvals/rows.ts'
import type { Assertions } from '#src/authorize/passkeys/assertions.ts'
import { hashToken, signIntentToken } from '#src/authorize/tokens/format.ts'
import { findIntent, insertIntent } from '#src/authorize/tokens/rows.ts'
import { sealFacts, sealToken } from '#src/authorize/tokens/sealed.ts'
import type { StatusIndexes, StatusPlace } from '#src/authorize/tokens/status-index.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { type IdempotencyKey, once, refuseRepeat } from '#src/platform/http/idempotency.ts'
import { newId } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import type { InferenceInput } from '#src/trace/canaries/input.ts'
import type { CanaryPort } from '#src/trace/canaries/port.ts'
import { requestOfAuthorize } from './action.ts'
import { type Authorization, bindingsOf, preflightOf, replayOf } from './authorization.ts'
import type { AuthorizeRequest } from './bodies.ts'
import { type Draft, type Drafting, draftToken, foreseenFacts } from './draft-token.ts'
import { runPipeline } from './pipeline.ts'
import { readState, stateFactsOf, type Under } from './read-limits.ts'
import {
  type BoundStateDeps,
  readBoundState,
  readTogether,
  type Subjects,
  subjectLocksOf,
  takeLocks,
} from './read-token-state.ts'
import { decisionOfAuthorize, decisionOfRefusal } from './record.ts'
import { checkIds, refuse, type Seen, trippedFailure } from './refusals.ts'

export interface AuthorizingDeps extends BoundStateDeps {
  db: Pick<Database, 'tenant' | 'readTenant'>
  signingKeys: Pick<SigningKeys, 'signToken'>
  sealer: Sealer
  ledger: Pick<Ledger, 'record'>
  statusIndexes: StatusIndexes
  assertions: Pick<Assertions, 'checkAssertion' | 'consumeAssertion'>
  openApproval: ApprovalsFeature['openApproval']
  canaries: Pick<CanaryPort, 'readState' | 'takeReading' | 'tripByKillSwitch'>
  baseUrl: string
  now(): Date
}

export interface AuthorizeOptions {
  key?: IdempotencyKey | undefined
  /** Returns the request's signal; called only where an input is read. */
  signal(): AbortSignal
}

// The policy or the reading of the trace changed while the token was signed: more often than this in a row never happens.
const MAX_TRIES = 4

export function createAuthorizing(deps: AuthorizingDeps) {
  const { db, signingKeys, sealer, ledger, statusIndexes, assertions, openApproval, canaries, baseUrl, now, trust } =
    deps

  /** What of the decision is true now. No lock is needed on what verify will read again. */
  async function read(
    tx: Tx,
    caller: Caller,
    { subjects, under }: { subjects: Subjects; under: Under },
    revocations: RevocationSnapshot,
  ): Promise<Seen> {
    const [rows, bound] = await Promise.all([
      readState(tx, caller, { ...under, jti: undefined }, 'none'),
      readBoundState(tx, deps, subjects, revocations),
    ])
    return { bound, state: stateFactsOf(rows, bound.at) }
  }

  /** Outside of any transaction. @throws {Failure} where the model has no reading: a token without one was not asked for. */
  async function takeReading(
    caller: Caller,
    {
      inferenceInput,
      agentId,
      agentSessionId,
    }: Pick<Subjects, 'agentId' | 'agentSessionId'> & { inferenceInput: InferenceInput },
    { key, signal }: AuthorizeOptions,
  ): Promise<string> {
    if (key !== undefined) await db.tenant(caller, (tx) => refuseRepeat(tx, key))
    const taken = await canaries.takeReading(caller, { inferenceInput, agentId, agentSessionId }, signal())
    if ('unread' in taken) throw taken.unread.failure
    return taken.traceId
  }

  /**
   * Does what a check of the trip does, on the ledger, and issues nothing. undefined: it refuses no more.
   * The locks are shared, as those of any decision: the index makes one lock of several.
   */
  async function refuseTripped(
    drafting: Drafting,
    subjects: Subjects,
    under: Under,
    revocations: RevocationSnapshot,
  ): Promise<Failure | undefined> {
    const { caller } = drafting
    const { agentId, agentSessionId } = subjects
    return db.tenant(caller, async (tx) => {
      await takeLocks(tx, subjectLocksOf(caller, subjects))
      const current = await read(tx, caller, { subjects, under }, revocations)
      refuse(current, subjects, under)
      const { bound, state } = current
      const { canary_trip: refusal } = bound
      if (refusal === null) return undefined
      const { claims, outcome } = draftToken(drafting, bound, state, { place: NO_PLACE, at: now(), baseUrl })
      const trip = { agentId, agentSessionId, refusal, jti: null, at: bound.at }
      const { lockId } = await canaries.tripByKillSwitch(tx, caller, trip)
      const facts = foreseenFacts(drafting, claims, bound, state)
      const id = newId('dec', caller.environment, Date.parse(facts.at))
      const judged = { id, principal: caller.principal, facts, outcome, policy: bound.policy, tokenSha256: null }
      await ledger.record(tx, caller, decisionOfRefusal(judged, lockId))
      return trippedFailure(refusal, lockId)
    })
  }

  async function sign(drafting: Drafting, { bound, state }: Seen): Promise<Signed> {
    const at = now()
    const place = await statusIndexes.next(drafting.caller.environment)
    const draft = draftToken(drafting, bound, state, { place, at, baseUrl })
    return { ...draft, place, token: await signIntentToken(signingKeys, draft.claims) }
  }

  async function store(
    tx: Tx,
    drafting: Drafting,
    { bound, state, outcome: foreseen }: Seen & Pick<Draft, 'outcome'>,
    signed: Signed & { mayReplay: boolean },
  ) {
    const { caller, body, assertion } = drafting
    const { claims, place, token, mayReplay } = signed
    const { jti } = claims
    const audience = body.audience ?? null
    const confirmed = assertion && (await assertions.consumeAssertion(tx, caller, assertion))
    const requesterUserId = confirmed?.userId ?? null
    const approval = await open(tx, drafting, signed, requesterUserId)
    const approvals = approval === undefined ? [] : [approvalFactsOf(approval, new Date(bound.at))]
    const facts = foreseenFacts(drafting, claims, bound, { ...state, approvals })
    const outcome = approval === undefined ? foreseen : runPipeline(facts, bound.policy.compiled)
    const preflight = preflightOf(outcome)
    const tokenSha256 = hashToken(token)
    const expiresAt = new Date(claims.exp * 1_000)
    const decision = decisionOfAuthorize(
      {
        id: newId('dec', caller.environment, Date.parse(facts.at)),
        principal: caller.principal,
        facts,
        outcome,
        policy: bound.policy,
        tokenSha256: tokenSha256.toString('base64url'),
      },
      preflight,
    )
    const { metadata = null, single_use } = body
    const kept = { ...facts.authorized, metadata, single_use, preflight: { ...preflight } }
    await Promise.all([
      insertIntent(tx, caller, {
        jti,
        tokenSha256,
        actionHash: claims.action_hash,
        payloadHash: claims.payload_hash,
        contextHash: claims.context_hash ?? null,
        traceId: claims.trace_id ?? null,
        readingHash: claims.reading_hash ?? null,
        agentId: claims.agent_id ?? null,
        agentSessionId: claims.agent_session_id,
        deviceId: claims.device_id,
        mandateId: claims.mandate_id ?? null,
        scheduleId: claims.schedule_id ?? null,
        orderId: claims.order_id ?? null,
        orderHash: claims.order_hash ?? null,
        audience,
        biometric: claims.biometric ?? null,
        passkeyUserId: requesterUserId,
        policyVersion: claims.policy_version,
        statusList: place.list,
        statusIndex: place.index,
        expiresAt,
        sealedFacts: sealFacts(sealer, jti, kept),
        sealedToken: mayReplay ? sealToken(sealer, jti, token) : null,
      }),
      ledger.record(tx, caller, decision),
      countOperations(tx, caller, 'authorize', [jti]),
    ])
    return { bindings: bindingsOf(claims, audience), expiresAt, jti, token, preflight, approval }
  }

  async function open(
    tx: Tx,
    { caller, body, request, agentId }: Drafting,
    { claims, rules, approvalExpiresAt }: Signed,
    requesterUserId: string | null,
  ) {
    const { approval_id: id } = claims
    if (id === undefined || approvalExpiresAt === undefined) return undefined
    return openApproval(tx, caller, {
      id,
      jti: claims.jti,
      origin: 'authorize',
      rules,
      action_description: request.action_description,
      action_payload: request.action_payload,
      action_hash: request.action_hash,
      payload_hash: request.payload_hash,
      agentId,
      agentSessionId: body.agent_session_id,
      deviceId: body.device_id,
      requesterUserId,
      tokenTtlSeconds: body.ttl_seconds,
      latestExpiry: approvalExpiresAt,
      mandateId: body.mandate_id ?? null,
      scheduleId: body.schedule_id ?? null,
      orderId: body.order_id ?? null,
    })
  }

  return {
    /**
     * Issues a token for one action.
     * @throws {Failure} `environment_mismatch`; `not_found` for the agent, the session, the trace, the mandate, the schedule or the order;
     * `invalid_request`; `backend_capability_missing` and `service_unavailable` of an input that no model reads; `agent_session_revoked`, `device_revoked`, `account_stopped`, `agent_suspended`,
     * `session_canary_locked`, `canary_tripped`.
     */
    async authorize(caller: Caller, given: AuthorizeRequest, options: AuthorizeOptions): Promise<Authorization> {
      checkIds(caller, given)
      const { key } = options
      let body = given
      let request = requestOfAuthorize(body)
      const { agent_session_id: agentSessionId, device_id: deviceId } = body
      const assertion =
        body.passkey_assertion &&
        (await assertions.checkAssertion(caller, body.passkey_assertion, {
          action_hash: request.action_hash,
          payload_hash: request.payload_hash,
          agent_session_id: agentSessionId,
          device_id: deviceId,
        }))
      const { mandate_id: mandateId = null, schedule_id: scheduleId = null, order_id: orderId = null } = body
      const under = { mandateId, scheduleId, orderId }
      let agentId = body.agent_id ?? null
      for (let tries = 1; ; tries += 1) {
        const revocations = await trust.revocations()
        const bindsTrace = { traceId: body.trace_id ?? null, isTraceBound: body.trace_id !== undefined }
        const subjects = { jti: undefined, agentId, agentSessionId, deviceId, ...bindsTrace }
        const seen = await readTogether(db, caller, (tx) => read(tx, caller, { subjects, under }, revocations))
        if (agentId === null && seen.bound.sessionAgentId !== null) {
          // A registered session is its agent's, whether or not the caller names the agent.
          agentId = seen.bound.sessionAgentId
          continue
        }
        refuse(seen, subjects, under)
        if (seen.bound.canary_trip !== null) {
          const refusal = await refuseTripped(
            { caller, body, request, agentId, assertion },
            subjects,
            under,
            revocations,
          )
          if (refusal !== undefined) throw refusal
          if (tries === MAX_TRIES) throw changesTooOften()
          continue
        }
        if (body.inference_input !== undefined && body.trace_id === undefined) {
          // Read once, for the agent and after every refusal: the token is bound to a reading of its own.
          const trace_id = await takeReading(caller, { ...subjects, inferenceInput: body.inference_input }, options)
          body = { ...body, trace_id }
          request = requestOfAuthorize(body)
          continue
        }
        const drafting = { caller, body, request, agentId, assertion }
        const signed = await sign(drafting, seen)
        note({ intent: signed.claims.jti })
        const issue = async (tx: Tx) => {
          const current = await read(tx, caller, { subjects, under }, revocations)
          refuse(current, subjects, under)
          const { bound, state } = current
          if (bound.canary_trip !== null) throw CHANGED
          const { terms, outcome } = draftToken(drafting, bound, state, { place: signed.place, at: now(), baseUrl })
          if (terms !== signed.terms) throw CHANGED
          return store(tx, drafting, { ...current, outcome }, { ...signed, mayReplay: key !== undefined })
        }
        try {
          return await db.tenant(caller, async (tx) => {
            // Sent together: what follows the locks waits for them in Postgres.
            const [, made] = await Promise.all([
              takeLocks(tx, subjectLocksOf(caller, subjects)),
              once(tx, key, issue, ({ jti }) => jti),
            ])
            return made
          })
        } catch (error) {
          if (error !== CHANGED) throw error
          if (tries === MAX_TRIES) throw changesTooOften()
        }
      }
    },

    /** What an earlier request with the same Idempotency-Key made. */
    async replay(caller: Caller, jti: string): Promise<Authorization> {
      const [row, approvals] = await db.tenant(caller, (tx) =>
        Promise.all([findIntent(tx, jti), readApprovals(tx, jti, false)]),
      )
      if (row === undefined) throw new Failure('not_found', 'The token of this Idempotency-Key is no longer stored.')
      return replayOf(sealer, { row, approvals }, now())
    },
  }
}

// A token that is not issued has no place in a status list.
const NO_PLACE: StatusPlace = { list: 0, index: 0, reference: { idx: 0, uri: '' } }

interface Signed extends Draft {
  place: StatusPlace
  token: string
}

// Thrown to undo a transaction that found other terms than were signed.
const CHANGED = new Error('what the token is bound to changed while it was signed')

const changesTooOften = () => new Failure('service_unavailable', 'The policy changes too often: try again.')
