// A person confirms one action with a passkey: the challenge that the authenticator signs is the hash of what is confirmed.

import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import type { BiometricClaim } from '#src/authorize/tokens/format.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { PasskeyAssertion } from './bodies.ts'

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
  options: PublicKeyCredentialRequestOptionsJSON
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
}

export type Assertions = ReturnType<typeof createAssertions>

export function createAssertions(_deps: AssertionsDeps) {
  return {
    /** A session's challenge is for passkeys of its own user, a key's for those of every user of the account. */
    async issueChallenge(_tx: Tx, _acting: Acting, _bound: Bound): Promise<PasskeyChallenge> {
      throw new Error('not yet')
    },

    /**
     * Outside of any transaction.
     * @throws {Failure} `invalid_request` with a pointer below `/passkey_assertion`; `environment_mismatch`.
     */
    async checkAssertion(_caller: Acting, _assertion: PasskeyAssertion, _bound: Bound): Promise<CheckedAssertion> {
      throw new Error('not yet')
    },

    /**
     * In the transaction of what the person confirms: the challenge counts once, and the passkey may have been removed
     * meanwhile.
     * @throws {Failure} as `checkAssertion`.
     */
    async consumeAssertion(
      _tx: Tx,
      _scope: Scope,
      _checked: CheckedAssertion,
    ): Promise<{ userId: string; biometric: BiometricClaim }> {
      throw new Error('not yet')
    },
  }
}
