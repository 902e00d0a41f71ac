import type { Letter } from '#src/account/mail/letter.ts'
import type { LinkTokens } from '#src/platform/crypto/link-token.ts'
import { newAccountId } from '#src/platform/ids.ts'
import type { LinkRow } from './rows.ts'

export const LINK_MINUTES = 10

interface NewLink {
  email: string
  at: Date
  method: LinkRow['method']
  isEchoed?: boolean
  /** User whom the link signs in, where that is decided already. */
  member?: { accountId: string; userId: string }
  minutes?: number
}

export function newLink(
  tokens: LinkTokens,
  { email, at, method, isEchoed = false, member, minutes = LINK_MINUTES }: NewLink,
): { row: LinkRow; token: string } {
  const id = newAccountId('lnk')
  const { token, nonce, tokenHash } = tokens.make(id)
  const expiresAt = new Date(at.getTime() + minutes * 60_000)
  const { accountId = null, userId = null } = member ?? {}
  return { token, row: { id, email, method, accountId, userId, nonce, tokenHash, isEchoed, createdAt: at, expiresAt } }
}

/** The token is in the fragment, which browsers send to no server: no log on the way has it. */
export function loginUrl(baseUrl: string, token: string): string {
  return `${baseUrl}/login/link#${token}`
}

export function letterOf(baseUrl: string, token: string): Letter {
  return {
    subject: 'Your link to sign in to Countersign',
    paragraphs: [`This link signs you in to Countersign at ${baseUrl}.`],
    action: { label: 'Sign in', url: loginUrl(baseUrl, token) },
    notes: [
      `The link works once, for ${LINK_MINUTES} minutes after it was requested. Signing in with it ends all other links.`,
      'If you did not ask for it, do nothing: without the link nobody signs in.',
    ],
  }
}
