// A login that has begun: state, nonce and PKCE verifier. The database knows the SHA-256 of the state and of the browser's
// cookie; nonce and verifier are sealed until the login comes back.

import { randomBytes } from 'node:crypto'
import { isToken } from '#src/account/login/token-door.ts'
import { sha256, sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'
import { newAccountId } from '#src/platform/ids.ts'
import type { SsoConfig, SsoStart } from './rows.ts'

export const START_SECONDS = 10 * 60

export const SEALED_START: SealedColumn = {
  table: 'sso_starts',
  column: 'sealed_secrets',
  of: 'account',
  id: 'id',
  use: ({ id = '' }) => useOf(id),
}

function useOf(id: string): string {
  return `sso start ${id}`
}

export interface NewStart {
  row: SsoStart
  /** For the cookie. */
  browser: string
  state: string
  nonce: string
  /** PKCE S256. */
  challenge: string
}

export interface StartedLogin extends NewStart {
  authorizeUrl: string
}

/** @param browser The secret that the browser has: logins in several tabs share it. */
export function newStart(
  sealer: Sealer,
  { accountId, generation }: Pick<SsoConfig, 'accountId' | 'generation'>,
  { browser: given, at, sessionId = null }: { browser: string | undefined; at: Date; sessionId?: string | null },
): NewStart {
  const id = newAccountId('sso')
  const [state, nonce, verifier] = [newSecret(), newSecret(), newSecret()]
  const browser = given !== undefined && isToken(given) ? given : newSecret()
  const row = {
    accountId,
    id,
    stateHash: sha256(state),
    browserHash: sha256(browser),
    sealedSecrets: sealer.seal(Buffer.from(JSON.stringify({ nonce, verifier })), useOf(id)),
    generation,
    sessionId,
    expiresAt: new Date(at.getTime() + START_SECONDS * 1_000),
  }
  return { row, browser, state, nonce, challenge: sha256Base64url(verifier) }
}

export function openSecrets(
  sealer: Sealer,
  { id, sealedSecrets }: Pick<SsoStart, 'id' | 'sealedSecrets'>,
): { nonce: string; verifier: string } {
  return JSON.parse(sealer.open(sealedSecrets, useOf(id)).toString())
}

function newSecret(): string {
  return randomBytes(32).toString('base64url')
}
