// A person approves or denies. Decisions about one approval run one after the other, by the lock on its row, and the clock is
// read after the lock: each person counts once, the first end is the only one, and nothing is decided after the expiry.

import { emit } from '#src/account/webhooks/emit.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { readClock } from '#src/platform/db/clock.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, getOwned } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { normalizeAddress } from '#src/platform/mail-address.ts'
import type { Assertions, CheckedAssertion } from '../passkeys/assertions.ts'
import type { PasskeyAssertion } from '../passkeys/bodies.ts'
import type { PolicyReader } from '../policy/current.ts'
import { type CountedVote, countedVotes, missingVotes, requiresHumanSession } from './facts.ts'
import { resolvedEvent } from './resolutions.ts'
import { type ApprovalRow, findApproval, lockApproval, settleApproval } from './rows.ts'
import {
  type Approver,
  findCreator,
  findKeyOrigins,
  findKeyRoots,
  findVotes,
  insertVote,
  lockApprover,
  readLiveVotes,
  type VoteDecision,
  type VoteVia,
} from './vote-rows.ts'

export interface Decision {
  decision: VoteDecision
  /** For people. */
  comment: string | null
  assertion?: PasskeyAssertion | undefined
  /** Member for whom a key decides; a session decides for its user. */
  approverEmail?: string | undefined
}

export interface DecidingDeps {
  db: Pick<Database, 'tenant'>
  ledger: Pick<Ledger, 'record'>
  readPolicy: PolicyReader['readPolicy']
  assertions: Pick<Assertions, 'checkAssertion' | 'consumeAssertion'>
}

export type Deciding = ReturnType<typeof createDeciding>

export function createDeciding({ db, ledger, readPolicy, assertions }: DecidingDeps) {
  async function decideLocked(
    tx: Tx,
    acting: Acting,
    id: string,
    given: Decision & { checked: CheckedAssertion | undefined },
  ): Promise<void> {
    const row = await getOwned(lockApproval(tx, id), id)
    const { principal } = acting
    const { decision, comment, checked } = given
    const keyId = principal.kind === 'key' ? principal.keyId : undefined
    const [policy, approver, cast, roots, origins, creator, at] = await Promise.all([
      readPolicy(tx),
      lockApprover(tx, acting, approverOf(acting, given)),
      readLiveVotes(tx, id),
      keyId === undefined ? undefined : findKeyRoots(tx, [keyId, row.actorId]),
      keyId === undefined ? [] : findKeyOrigins(tx, [keyId, row.actorId], id),
      keyId === undefined ? null : findCreator(tx, keyId),
      readClock(tx),
    ])
    const { approvals: settings } = policy.compiled.document
    const isLive = acting.environment === 'live'
    const isHumanOnly = requiresHumanSession(policy.compiled.document, acting.environment)
    const live = countedVotes(cast, isHumanOnly)
    // In sandbox one person tries out everything, with keys that one key has made.
    const isStrict = row.hasSeparation && (settings?.separation_of_duties ?? isLive)
    const kin = isStrict && keyId !== undefined ? kinOf(keyId, origins) : new Set<string>()
    if (keyId !== undefined) {
      const isOwn = roots?.get(keyId) === roots?.get(row.actorId) || kin.has(row.actorId)
      checkKey(row, { isHumanOnly, isOwn })
      if (isStrict && creator !== null && row.excludedIds.includes(creator)) throw separated()
    }
    checkApprover(row, approver)
    if (decision === 'approve' && row.requiresPasskey && checked === undefined) {
      throw invalidField(
        '/passkey_assertion',
        'required',
        'is required: the rule demands that people sign with a passkey',
      )
    }
    if (checked !== undefined && checked.userId !== approver.id) {
      throw invalidField('/passkey_assertion', 'mismatch', 'belongs to another person than the one who decides')
    }
    if (row.outcome !== null || at >= row.expiresAt) throw alreadyDecided(row)
    const keyRootId = keyId === undefined ? null : (roots?.get(keyId) ?? keyId)
    if (origins.some(({ id: voter, isVoter }) => isVoter && kin.has(voter))) throw votedBefore(row)
    if (live.some((vote) => vote.userId === approver.id)) {
      throw alreadyDecided(row, 'This person has already decided: each person counts once.')
    }
    if (checked !== undefined) await assertions.consumeAssertion(tx, acting, checked)
    const via: VoteVia = keyId !== undefined ? 'api_key' : checked !== undefined ? 'passkey' : 'session'
    const isNew = await insertVote(tx, acting, {
      approvalId: id,
      userId: approver.id,
      decision,
      via,
      actorId: actorOf(principal).id,
      keyRootId,
      passkeyId: checked?.passkeyId ?? null,
      comment,
      decidedAt: at,
    })
    if (!isNew) throw votedBefore(row)
    const votes: CountedVote[] = [
      ...live.filter((vote) => vote.decision === 'approve'),
      { userId: approver.id, role: approver.role },
    ]
    const isApproved = decision === 'approve' && missingVotes(row, votes).length === 0
    const outcome = decision === 'deny' ? 'denied' : isApproved ? 'approved' : undefined
    await Promise.all([
      outcome === undefined ? undefined : settle(tx, acting, row, { outcome, at }),
      ledger.record(tx, acting, {
        kind: 'approval_decision',
        at,
        actor: actorOf(principal, approver.id),
        subject: id,
        reason: outcome === undefined ? 'approval_vote' : `approval_${outcome}`,
        valid: outcome === undefined ? null : outcome === 'approved',
        inputs: {
          approval_id: id,
          jti: row.jti,
          decision,
          via,
          status: outcome ?? 'pending',
          resolution: outcome === undefined ? null : 'human',
          action_hash: row.actionHash,
          payload_hash: row.payloadHash,
          passkey_id: checked?.passkeyId ?? null,
        },
        facts: { comment, role: approver.role },
      }),
    ])
  }

  async function settle(
    tx: Tx,
    acting: Acting,
    row: ApprovalRow,
    { outcome, at }: { outcome: 'approved' | 'denied'; at: Date },
  ): Promise<void> {
    const settled = await settleApproval(tx, row.id, outcome, at)
    // It expired while the vote was written: nothing of this transaction is kept.
    if (settled === undefined) throw alreadyDecided(row)
    const votes = await findVotes(tx, [row.id])
    await emit(tx, acting, resolvedEvent({ id: row.id, jti: row.jti, status: outcome, endedAt: at }, votes))
  }

  return {
    /**
     * @throws {Failure} `environment_mismatch`, `not_found`; `session_required` for a key where people decide themselves;
     * `approver_not_eligible`; `invalid_request` at `/approver` and `/passkey_assertion`; `approval_already_decided`.
     */
    async decide(acting: Acting, id: string, given: Decision, key?: IdempotencyKey): Promise<void> {
      checkId(id, 'apr', acting.environment)
      const { assertion } = given
      if (assertion !== undefined) checkId(assertion.challenge_id, 'pkc', acting.environment)
      let checked: CheckedAssertion | undefined
      if (assertion !== undefined) {
        const row = await db.tenant(acting, (tx) => getOwned(findApproval(tx, id), id))
        checked = await assertions.checkAssertion(acting, assertion, boundOf(row))
      }
      await db.tenant(acting, (tx) =>
        once(
          tx,
          key,
          () => decideLocked(tx, acting, id, { ...given, checked }),
          () => id,
        ),
      )
    },
  }
}

/** What a passkey signs who approves: the very approval, beside the action. */
export function boundOf(row: Pick<ApprovalRow, 'id' | 'actionHash' | 'payloadHash' | 'agentSessionId' | 'deviceId'>) {
  return {
    action_hash: row.actionHash,
    payload_hash: row.payloadHash,
    agent_session_id: row.agentSessionId,
    device_id: row.deviceId,
    approval_id: row.id,
  }
}

/** @throws {Failure} `invalid_request` at `/approver`. */
function approverOf({ principal }: Acting, { approverEmail }: Decision): { userId: string } | { email: string } {
  if (principal.kind === 'session') {
    if (approverEmail === undefined) return { userId: principal.userId }
    throw invalidField('/approver', 'unknown_field', 'is for API keys: a session decides for its own user')
  }
  if (approverEmail === undefined) throw invalidField('/approver', 'required', 'is required with an API key')
  const email = normalizeAddress(approverEmail)
  if (email === undefined) throw invalidField('/approver/email', 'invalid_format', 'must be an e-mail address')
  return { email }
}

function checkKey({ actorKind }: ApprovalRow, { isHumanOnly, isOwn }: { isHumanOnly: boolean; isOwn: boolean }): void {
  if (isHumanOnly) {
    throw new Failure(
      'session_required',
      'Approvals are decided by people who are signed in: the policy has `approvals.require_human_session`, on in live by default.',
    )
  }
  if (actorKind === 'key' && isOwn) {
    throw notEligible(
      'same_key',
      'An API key does not decide what it authorized itself: let a signed-in person or another key decide.',
    )
  }
}

function checkApprover(row: ApprovalRow, approver: Approver | undefined): asserts approver is Approver {
  if (approver === undefined) throw notEligible('not_a_member', 'The approver is no active member of the account.')
  if (!row.roles.some((role) => role === approver.role)) {
    throw notEligible('role', `This approval is for people with the role ${row.roles.join(', ')}.`)
  }
  if (row.excludedIds.includes(approver.id)) throw separated()
}

/** Keys of an approval that were made by what a key was made by, or by one another. */
function kinOf(keyId: string, all: Awaited<ReturnType<typeof findKeyOrigins>>): Set<string> {
  const own = new Set(all.find(({ id }) => id === keyId)?.origins)
  return new Set(all.filter(({ origins }) => origins.some((one) => own.has(one))).map(({ id }) => id))
}

function separated(): Failure {
  return notEligible(
    'separation_of_duties',
    'The person who asked for the action, or answers for its agent, may not decide it, also not by an API key: duties ' +
      'are separated.',
  )
}

function votedBefore(row: ApprovalRow): Failure {
  return alreadyDecided(row, 'This API key has already voted: each key has one vote for an approval.')
}

function notEligible(cause: string, detail: string): Failure {
  return new Failure('approver_not_eligible', { detail, members: { cause } })
}

function alreadyDecided({ id, outcome, expiresAt }: ApprovalRow, why?: string): Failure {
  const status = outcome ?? (why === undefined ? 'expired' : 'pending')
  const detail =
    why ?? `${id} is ${status}${outcome === null ? ` since ${expiresAt.toISOString()}` : ''}: it is decided once.`
  return new Failure('approval_already_decided', { detail, members: { approval_status: status } })
}
