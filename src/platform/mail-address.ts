// Addresses of mail as strangers type them. The normalized address is the one that is stored, compared and mailed to, so
// that two spellings never mean two mailboxes: a character that only becomes ASCII when it is lowered (U+212A) is
// refused in the local part, and mapped in the domain before anything is compared.

import { domainToASCII } from 'node:url'

// RFC 5321 4.5.3.1.
const MAX_LOCAL = 64
const MAX_LENGTH = 254
// RFC 5322 3.2.3 atext and dots. Quoted local parts, which may contain anything, are not accepted.
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+$/
const DOMAIN = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/

/** In lower case, with the domain in ASCII (IDNA). undefined when it is no address that this service can write to. */
export function normalizeAddress(text: string): string | undefined {
  const trimmed = text.trim()
  const at = trimmed.indexOf('@')
  if (at < 1 || at !== trimmed.lastIndexOf('@') || trimmed.length > 4 * MAX_LENGTH) return undefined
  const local = trimmed.slice(0, at)
  const given = trimmed.slice(at + 1)
  // The URL parser skips tabs and line breaks, and reads slashes, ports and percent signs as parts of an address.
  if (/[\s/\\?#:%@[\]<>"]|\p{Cc}/u.test(given)) return undefined
  const domain = domainToASCII(given)
  const address = `${local.toLowerCase()}@${domain}`
  const isSound = LOCAL.test(local) && local.length <= MAX_LOCAL && DOMAIN.test(domain) && !isNumeric(domain)
  return isSound && address.length <= MAX_LENGTH ? address : undefined
}

// 127.1 and 0x7f000001 are addresses of machines to the URL parser.
function isNumeric(domain: string): boolean {
  return /^\d+$/.test(domain.slice(domain.lastIndexOf('.') + 1))
}
