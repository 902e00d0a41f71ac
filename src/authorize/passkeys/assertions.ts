// A person confirms one action with a passkey: the challenge that the authenticator signs is the hash of what is confirmed.
// An assertion is verified outside of any transaction, and counts in the transaction of what it confirms.

import { randomBytes } from 'node:crypto'
import { recordAudit } from '#src/account/audit/record.ts'
import type { BiometricClaim } from '#src/authorize/tokens/format.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type Acting, credentialOf } from '#src/platform/http/principal.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import type { PasskeyAssertion } from './bodies.ts'
import { verifyPasskeyAssertion } from './ceremony.ts'
import {
  consumeChallenge,
  findChallenge,
  insertChallenge,
  type PasskeyChallengeRow,
  selectChallenge,
} from './challenge-rows.ts'
import type { RelyingParty } from './config.ts'
import { generateRequestOptions, type RequestOptions } from './options.ts'
import { findPasskeysOf, notePasskeyUse, type PasskeyRow, selectByCredential } from './rows.ts'

export const CHALLENGE_SECONDS = 120

/** What is confirmed. Hashes are SHA-256 in base64url without padding, as tokens have them. */
export interface Bound {
  action_hash: string
  payload_hash: string
  agent_session_id: string | null
  device_id: string | null
  approval_id?: string | undefined
}

/** Names: as the request of a challenge answers them. */
export interface PasskeyChallenge {
  challenge_id: string
  /** base64url. */
  challenge: string
  expires_at: string
  options: RequestOptions
}

/** An assertion that holds, as far as it can be said outside of the transaction that consumes it. */
export interface CheckedAssertion {
  challengeId: string
  passkeyId: string
  userId: string
  counter: number
  isBackedUp: boolean
}

interface AssertionsDeps {
  db: Pick<Database, 'tenant' | 'readTenant'>
  rp: RelyingParty
}

export type Assertions = ReturnType<typeof createAssertions>

export function createAssertions({ db, rp }: AssertionsDeps) {
  async function describe(
    tx: Tx,
    { accountId }: Scope,
    { id, challenge, userId, expiresAt }: Pick<PasskeyChallengeRow, 'id' | 'challenge' | 'userId' | 'expiresAt'>,
  ): Promise<PasskeyChallenge> {
    // Without a user, browsers offer the passkeys that they know: every registered passkey is discoverable.
    const passkeys = userId === null ? [] : await findPasskeysOf(tx, { accountId, userId })
    return {
      challenge_id: id,
      challenge: challenge.toString('base64url'),
      expires_at: expiresAt.toISOString(),
      options: generateRequestOptions({ rp, challenge, passkeys, timeoutMs: CHALLENGE_SECONDS * 1_000 }),
    }
  }

  return {
    /**
     * A session's challenge is for passkeys of its own user, a key's for those of every user of the account. Expires after
     * two minutes, and counts once.
     */
    async issueChallenge(tx: Tx, acting: Acting, bound: Bound): Promise<PasskeyChallenge> {
      const nonce = randomBytes(32)
      const row = {
        id: newId('pkc', acting.environment),
        challenge: challengeOf(bound, nonce),
        nonce,
        actionHash: bound.action_hash,
        payloadHash: bound.payload_hash,
        agentSessionId: bound.agent_session_id,
        deviceId: bound.device_id,
        approvalId: bound.approval_id ?? null,
        userId: acting.principal.kind === 'session' ? acting.principal.userId : null,
      }
      const expiresAt = await insertChallenge(tx, acting, row, CHALLENGE_SECONDS)
      return describe(tx, acting, { ...row, expiresAt })
    },

    /** What an earlier request made. @throws {Failure} `not_found` */
    async reissueChallenge(scope: Scope, id: string): Promise<PasskeyChallenge> {
      return db.tenant(scope, async (tx) => {
        const row = await findChallenge(tx, id)
        if (row === undefined)
          throw new Failure('not_found', 'The challenge of this Idempotency-Key is no longer stored.')
        return describe(tx, scope, row)
      })
    },

    /**
     * Outside of any transaction.
     * @throws {Failure} `invalid_request` with a pointer below `/passkey_assertion`; `environment_mismatch`, and `not_found`
     * for what is no id of a challenge.
     */
    async checkAssertion(
      caller: Acting,
      { challenge_id: id, response }: PasskeyAssertion,
      bound: Bound,
    ): Promise<CheckedAssertion> {
      checkId(id, 'pkc', caller.environment)
      const [[challenge], [passkey]] = await db.readTenant<[PasskeyChallengeRow, PasskeyRow]>(caller, [
        selectChallenge(id),
        selectByCredential(caller.accountId, Buffer.from(response.id, 'base64url')),
      ])
      checkChallenge(challenge, bound)
      const principal = credentialOf(caller.principal)
      const isOwn = (userId: string | null) =>
        principal.kind === 'key' || userId === null || userId === principal.userId
      if (!isOwn(challenge.userId)) throw unusable('mismatch', 'was issued to another user')
      // An unknown passkey, one of another account and one of another user have the same answer: it must not say which
      // ids exist.
      const isFitting =
        passkey !== undefined && isOwn(passkey.userId) && (challenge.userId ?? passkey.userId) === passkey.userId
      if (!isFitting)
        throw invalidField(`${RESPONSE}/id`, 'unknown_passkey', 'is not a passkey that can confirm this action')
      const handle = response.response.userHandle ?? undefined
      if (handle !== undefined && Buffer.from(handle, 'base64url').toString() !== passkey.userId) {
        throw invalidField(`${RESPONSE}/response/userHandle`, 'mismatch', 'must be the id of the passkey’s user')
      }
      const { counter, isBackedUp } = await verifyPasskeyAssertion(response, passkey, {
        rp,
        challenge: challenge.challenge,
        pointer: RESPONSE,
      })
      if (counter <= passkey.counter && (counter > 0 || passkey.counter > 0)) {
        await refuseCounter(caller, { challengeId: id, passkey, counter })
      }
      return { challengeId: id, passkeyId: passkey.id, userId: passkey.userId, counter, isBackedUp }
    },

    /**
     * In the transaction of what the person confirms: the challenge counts once, and the passkey may have been removed
     * meanwhile.
     * @throws {Failure} as `checkAssertion`.
     */
    async consumeAssertion(
      tx: Tx,
      { accountId }: Scope,
      { challengeId, passkeyId, userId, counter, isBackedUp }: CheckedAssertion,
    ): Promise<{ userId: string; biometric: BiometricClaim }> {
      const [at, isUsed] = await Promise.all([
        consumeChallenge(tx, challengeId),
        notePasskeyUse(tx, { accountId, userId }, { id: passkeyId, counter, isBackedUp }),
      ])
      if (at === undefined) throw unusable('used', 'was used before, or has expired')
      if (!isUsed) {
        // The answer does not say which of the two: only an attacker would learn from it.
        throw invalidField(`${RESPONSE}/id`, 'unknown_passkey', 'is a passkey that was removed or used meanwhile')
      }
      const biometric = { verified: true, credential: passkeyId, uv: true, at: Math.floor(at.getTime() / 1_000) }
      return { userId, biometric }
    },
  }

  // The signature is genuine: a copy of the key counts on its own. The challenge is spent, so that each makes one entry.
  async function refuseCounter(
    caller: Acting,
    { challengeId, passkey, counter }: { challengeId: string; passkey: PasskeyRow; counter: number },
  ): Promise<never> {
    await db.tenant(caller, async (tx) => {
      if ((await consumeChallenge(tx, challengeId)) === undefined) return
      await recordAudit(tx, caller, {
        action: 'passkey.counter_refused',
        subjectId: passkey.id,
        before: { counter: passkey.counter },
        after: { counter, user_id: passkey.userId },
      })
    })
    throw invalidField(
      `${RESPONSE}/response/authenticatorData`,
      'counter_went_back',
      'has a counter that is not above the last one: another device may have a copy of the key',
    )
  }
}

const RESPONSE = '/passkey_assertion/response'

/** Decisions: the hash of exactly what is confirmed, and a nonce. */
function challengeOf(bound: Bound, nonce: Buffer): Buffer {
  const { action_hash, payload_hash, agent_session_id, device_id, approval_id } = bound
  return sha256(
    canonicalize({
      action_hash,
      payload_hash,
      agent_session_id,
      device_id,
      ...(approval_id !== undefined && { approval_id }),
      nonce: nonce.toString('base64url'),
    }),
  )
}

function checkChallenge(row: PasskeyChallengeRow | undefined, bound: Bound): asserts row is PasskeyChallengeRow {
  if (row === undefined) throw unusable('unknown_challenge', 'is no challenge of this account')
  if (row.isConsumed) throw unusable('used', 'was used before')
  if (row.isExpired) throw unusable('expired', 'has expired: a challenge is valid for two minutes')
  // The hash covers every member; their names only help the caller.
  if (challengeOf(bound, row.nonce).equals(row.challenge)) return
  const differing = [
    ['action_description', row.actionHash === bound.action_hash],
    ['action_payload', row.payloadHash === bound.payload_hash],
    ['agent_session_id', row.agentSessionId === bound.agent_session_id],
    ['device_id', row.deviceId === bound.device_id],
    ['approval', row.approvalId === (bound.approval_id ?? null)],
  ].flatMap(([name, isSame]) => (isSame === true ? [] : [name]))
  throw unusable('mismatch', `was issued for another ${differing.join(' and another ')}`)
}

function unusable(code: FieldErrorCode, detail: string): Failure {
  return invalidField('/passkey_assertion/challenge_id', code, detail)
}
