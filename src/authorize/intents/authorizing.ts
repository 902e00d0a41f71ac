// Issues tokens. The token is signed before the transaction that stores it, from a first reading; the transaction reads
// again under the locks, and what changed meanwhile refuses or signs anew. So no token is issued for what a revocation,
// a suspension or a stop had ended before its commit.

import { countOperations } from '#src/account/usage/meter.ts'
import { checkSessionName } from '#src/agents/registry/session-rows.ts'
import { NO_ANSWERS } from '#src/authorize/policy/evaluate.ts'
import { hashToken, type IntentClaims, signIntentToken } from '#src/authorize/tokens/format.ts'
import { findIntent, type IntentRow, insertIntent } from '#src/authorize/tokens/rows.ts'
import { openFacts, openToken, sealFacts, sealToken } from '#src/authorize/tokens/sealed.ts'
import type { StatusIndexes, StatusPlace } from '#src/authorize/tokens/status-index.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { checkId, newId } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { requestOfAuthorize, tokenFactsOf } from './action.ts'
import type { AuthorizeRequest } from './bodies.ts'
import type { RequestFacts, VerifyFacts } from './facts.ts'
import { runPipeline, type VerifyOutcome } from './pipeline.ts'
import { decisionOfAuthorize } from './record.ts'
import {
  factsPart,
  isOwnId,
  locksOf,
  readStanding,
  readTogether,
  type StandingDeps,
  type Subjects,
  type TokenStanding,
  takeLocks,
} from './standing.ts'

export interface Authorization {
  jti: string
  expiresAt: Date
  /** null: of a replay after the token's expiry. */
  token: string | null
  bindings: Bindings
  preflight: Preflight
}

/** What the token is bound to, as callers see it. Hashes are SHA-256 in base64url without padding. */
export interface Bindings {
  action_hash: string
  payload_hash: string
  context_hash: string | null
  trace_id: string | null
  reading_hash: string | null
  agent_id: string | null
  agent_session_id: string
  device_id: string
  audience: string | null
  policy_version: number
}

/** What a verification of the same action would answer now. */
export interface Preflight {
  would_be_valid: boolean
  reason: string | null
}

export interface AuthorizingDeps extends StandingDeps {
  db: Pick<Database, 'tenant' | 'readTenant'>
  signingKeys: Pick<SigningKeys, 'signToken'>
  sealer: Sealer
  ledger: Pick<Ledger, 'record'>
  statusIndexes: StatusIndexes
  baseUrl: string
  now(): Date
}

// The policy or the reading of the trace changed while the token was signed: more often than this in a row never happens.
const MAX_TRIES = 4

export function createAuthorizing(deps: AuthorizingDeps) {
  const { db, signingKeys, sealer, ledger, statusIndexes, baseUrl, now, trust } = deps

  async function sign(
    caller: Caller,
    body: AuthorizeRequest,
    standing: TokenStanding,
    subjects: Subjects,
  ): Promise<Signed> {
    const { accountId, environment } = caller
    const request = requestOfAuthorize(body)
    const at = now()
    const place = await statusIndexes.next(environment)
    const issuedAt = Math.floor(at.getTime() / 1_000)
    const claims: IntentClaims = {
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
      reading_hash: standing.reading_hash ?? undefined,
      agent_id: subjects.agentId ?? undefined,
      agent_session_id: body.agent_session_id,
      device_id: body.device_id,
      policy_version: standing.policy.version,
      status: { status_list: place.reference },
    }
    return { claims, request, place, token: await signIntentToken(signingKeys, claims) }
  }

  async function store(
    tx: Tx,
    caller: Caller,
    body: AuthorizeRequest,
    standing: TokenStanding,
    signed: Signed,
    mayReplay: boolean,
  ) {
    const { claims, place, token } = signed
    const { jti } = claims
    const audience = body.audience ?? null
    const authorized = { action_type: body.action_type ?? null, context: body.context ?? null }
    const facts: VerifyFacts = {
      ...factsPart(standing),
      token: tokenFactsOf(claims, audience),
      token_problem: null,
      request: signed.request,
      authorized,
      execution: null,
      answers: NO_ANSWERS,
    }
    const outcome = runPipeline(facts, standing.policy.compiled)
    const preflight = preflightOf(outcome)
    const tokenSha256 = hashToken(token)
    const expiresAt = new Date(claims.exp * 1_000)
    const decision = decisionOfAuthorize(
      {
        id: newId('dec', caller.environment, Date.parse(facts.at)),
        principal: caller.principal,
        facts,
        outcome,
        policy: standing.policy,
        tokenSha256: tokenSha256.toString('base64url'),
      },
      preflight,
    )
    const kept = { ...authorized, metadata: body.metadata ?? null, preflight: { ...preflight } }
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
        mandateId: null,
        scheduleId: null,
        audience,
        biometric: null,
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
    return { bindings: bindingsOf(claims, audience), expiresAt, jti, token, preflight }
  }

  return {
    /**
     * Issues a token for one action.
     * @throws {Failure} `environment_mismatch`; `not_found` for the agent, the session or the trace; `invalid_request`;
     * `session_revoked`, `device_revoked`, `account_stopped`, `agent_suspended`, `session_canary_locked`.
     */
    async authorize(caller: Caller, body: AuthorizeRequest, key?: IdempotencyKey): Promise<Authorization> {
      checkIds(caller, body)
      const given: Omit<Subjects, 'agentId'> = {
        jti: undefined,
        agentSessionId: body.agent_session_id,
        deviceId: body.device_id,
        traceId: body.trace_id ?? null,
      }
      let agentId = body.agent_id ?? null
      for (let tries = 1; ; tries += 1) {
        const revocations = await trust.revocations()
        const seen = await readTogether(db, caller, (tx) => readStanding(tx, deps, { ...given, agentId }, revocations))
        if (agentId === null && seen.sessionAgentId !== null) {
          // A registered session is its agent's, whether or not the caller names the agent.
          agentId = seen.sessionAgentId
          continue
        }
        const subjects = { ...given, agentId }
        refuse(seen, subjects)
        const signed = await sign(caller, body, seen, subjects)
        note({ intent: signed.claims.jti })
        const issue = async (tx: Tx) => {
          const standing = await readStanding(tx, deps, subjects, revocations)
          refuse(standing, subjects)
          if (!isSigned(signed, standing)) throw CHANGED
          return store(tx, caller, body, standing, signed, key !== undefined)
        }
        try {
          return await db.tenant(caller, async (tx) => {
            // Sent together: what follows the locks waits for them in Postgres.
            const [, made] = await Promise.all([
              takeLocks(tx, locksOf(caller, subjects)),
              once(tx, key, issue, ({ jti }) => jti),
            ])
            return made
          })
        } catch (error) {
          if (error !== CHANGED) throw error
          if (tries === MAX_TRIES) throw new Failure('service_unavailable', 'The policy changes too often: try again.')
        }
      }
    },

    /** What an earlier request with the same Idempotency-Key made. */
    async replay(caller: Caller, jti: string): Promise<Authorization> {
      const row = await db.tenant(caller, (tx) => findIntent(tx, jti))
      if (row === undefined) throw new Failure('not_found', 'The token of this Idempotency-Key is not kept any more.')
      return replayOf(sealer, row, now())
    },
  }
}

interface Signed {
  claims: IntentClaims
  request: RequestFacts
  place: StatusPlace
  token: string
}

// Thrown to undo a transaction that found another policy or reading than was signed.
const CHANGED = new Error('what the token is bound to changed while it was signed')

function isSigned({ claims }: Signed, { policy, reading_hash }: TokenStanding): boolean {
  return claims.policy_version === policy.version && (claims.reading_hash ?? null) === reading_hash
}

function checkIds(caller: Caller, body: AuthorizeRequest): void {
  const { environment } = caller
  checkSessionName(body.agent_session_id, environment)
  if (isOwnId(body.device_id, 'dev')) checkId(body.device_id, 'dev', environment)
  if (body.agent_id !== undefined) checkId(body.agent_id, 'agt', environment)
  if (body.trace_id !== undefined) checkId(body.trace_id, 'trc', environment)
}

/** Refuses what no verification could accept any more. */
function refuse(standing: TokenStanding, { agentId, agentSessionId, traceId }: Subjects): void {
  const { agent, revocation, stop, lock, sessionAgentId } = standing
  if (agent?.status === 'missing') throw new Failure('not_found', `There is no agent ${agentId}.`)
  if (!standing.isSessionKnown) throw new Failure('not_found', `There is no agent session ${agentSessionId}.`)
  if (traceId !== null && standing.reading_hash === null)
    throw new Failure('not_found', `There is no trace ${traceId}.`)
  if (sessionAgentId !== null && sessionAgentId !== agentId) {
    throw invalidField('/agent_session_id', 'mismatch', 'is a session of another agent')
  }
  if (stop !== null) {
    throw new Failure('account_stopped', `Stopped at ${stop.at}: ${stop.reason}. POST /v1/intent/resume ends that.`)
  }
  if (revocation !== null) {
    const code = revocation.scope === 'device' ? 'device_revoked' : 'session_revoked'
    throw new Failure(code, `The ${revocation.scope} was revoked at ${revocation.at}.`)
  }
  if (standing.isSessionEnded) throw new Failure('conflict', `The session ${agentSessionId} has ended: open another.`)
  if (lock !== null) {
    throw new Failure('session_canary_locked', {
      detail: `The agent session or the agent is locked after a canary trip: a person has to clear ${lock.lock_id}.`,
      members: { lock_id: lock.lock_id },
    })
  }
  if (agent?.status === 'suspended') throw new Failure('agent_suspended', `The agent ${agentId} is suspended.`)
}

function preflightOf({ valid, reason, pending }: VerifyOutcome): Preflight {
  return { would_be_valid: valid, reason: pending === 'webhook' ? 'policy_webhook_pending' : reason }
}

function bindingsOf(claims: IntentClaims, audience: string | null): Bindings {
  return {
    action_hash: claims.action_hash,
    payload_hash: claims.payload_hash,
    context_hash: claims.context_hash ?? null,
    trace_id: claims.trace_id ?? null,
    reading_hash: claims.reading_hash ?? null,
    agent_id: claims.agent_id ?? null,
    agent_session_id: claims.agent_session_id,
    device_id: claims.device_id,
    audience,
    policy_version: claims.policy_version,
  }
}

function replayOf(sealer: Sealer, row: IntentRow, now: Date): Authorization {
  const { jti, sealedToken, expiresAt } = row
  const { preflight } = openFacts(sealer, jti, row.sealedFacts) as unknown as { preflight: Preflight }
  return {
    jti,
    expiresAt,
    token: sealedToken === null || now >= expiresAt ? null : openToken(sealer, jti, sealedToken),
    bindings: {
      action_hash: row.actionHash,
      payload_hash: row.payloadHash,
      context_hash: row.contextHash,
      trace_id: row.traceId,
      reading_hash: row.readingHash,
      agent_id: row.agentId,
      agent_session_id: row.agentSessionId,
      device_id: row.deviceId,
      audience: row.audience,
      policy_version: row.policyVersion,
    },
    preflight,
  }
}
