// Who asks for a disclosure, and what is mailed to them. The address and the purpose are personal: the row holds them under the
// master key. The code is short, so it is neither stored nor hashed by itself: it follows from a token of 256 bits, of which
// the row has the hash, and which only the master key makes again.

import type { Letter } from '#src/account/mail/letter.ts'
import { isEqualBytes, sha256 } from '#src/platform/crypto/digest.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'

export interface Person {
  /** Normalized. */
  email: string
  purpose: string
}

const useOf = (id = '') => `disclosure request ${id}`

export const SEALED_PERSON: SealedColumn = {
  table: 'disclosure_requests',
  column: 'sealed_person',
  of: 'environment',
  id: 'id',
  use: ({ id }) => useOf(id),
}

export function sealPerson(sealer: Sealer, id: string, { email, purpose }: Person): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify({ email, purpose })), useOf(id))
}

export function openPerson(sealer: Sealer, id: string, sealed: Buffer): Person {
  return JSON.parse(sealer.open(sealed, useOf(id)).toString())
}

export const CODE_DIGITS = 8

/** The code that is mailed for a token. */
export function mailedCodeOf(token: string): string {
  const number = sha256(`disclosure code ${token}`).readBigUInt64BE() % 10n ** BigInt(CODE_DIGITS)
  return number.toString().padStart(CODE_DIGITS, '0')
}

export function isCode(given: string, token: string): boolean {
  return isEqualBytes(Buffer.from(given), Buffer.from(mailedCodeOf(token)))
}

/** The token, or the id of a request, is in the fragment, which browsers send to no server. */
export function shareUrl(baseUrl: string, fragment: string): string {
  return `${baseUrl}/share#${fragment}`
}

// What the person wrote is in no mail: strangers could make a mail of ours say anything to anybody. The token of the
// share is not in the mail either: the service has only its hash, and the address may belong to another person. The id
// of the request opens nothing without it.
export function codeLetter(
  baseUrl: string,
  { requestId, code, minutes }: { requestId: string; code: string; minutes: number },
): Letter {
  return {
    subject: 'Your code to ask for masked neurons',
    paragraphs: [
      `Somebody asked at ${baseUrl} to see the masked neurons of a shared trace, with this address.`,
      `The code is ${code}. Enter it on the page where you asked. If you have closed it, open the page below: it asks for the link of the share.`,
    ],
    action: { label: 'Enter the code', url: shareUrl(baseUrl, requestId) },
    notes: [
      `The code works once, for ${minutes} minutes.`,
      'If you did not ask for it, do nothing: without the code nothing is requested.',
    ],
  }
}

export function grantLetter(baseUrl: string, token: string, endsAt: Date): Letter {
  const [day, time = ''] = endsAt.toISOString().split('T')
  return {
    subject: 'Your request to see masked neurons was granted',
    paragraphs: [`You may see the masked neurons of the trace that was shared with you at ${baseUrl}.`],
    action: { label: 'See the trace', url: shareUrl(baseUrl, token) },
    notes: [
      `The link works until ${day} at ${time.slice(0, 5)} UTC, unless the grant is revoked before.`,
      'It is yours alone: each view is recorded, and everybody who has the link sees what you see.',
    ],
  }
}
