// The request headers that need more than a comparison.

import { isIPv4, isIPv6 } from 'node:net'
import { invalidField } from '#src/failure.ts'

const MEMBER = /^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):$/
// RFC 8941 dictionaries are short here: an algorithm has at most 88 characters of base64.
const MAX_LENGTH = 1_000

/**
 * RFC 9530: the SHA-256 in a Content-Digest header, as 64 hexadecimal digits. It can only cause a refusal, never skip an
 * upload.
 * @throws {Failure} `invalid_request` when it is malformed or has no sha-256: a digest that is not compared is worse
 * than none.
 */
export function parseContentDigest(header: string): string {
  const members = header.length > MAX_LENGTH ? [] : header.split(',').map((member) => MEMBER.exec(member.trim()))
  const digest = members.findLast((member) => member?.[1] === 'sha-256')?.[2]
  const bytes = digest === undefined ? undefined : Buffer.from(digest, 'base64')
  if (members.includes(null) || bytes?.byteLength !== 32) {
    throw invalidField('Content-Digest', 'invalid_digest', 'must look like sha-256=:<base64 of 32 bytes>: (RFC 9530)')
  }
  return bytes.toString('hex')
}

export type RangeAnswer = { kind: 'whole' } | { kind: 'part'; first: number; last: number } | { kind: 'unsatisfiable' }

const RANGE = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i

/**
 * RFC 9110 section 14: one range of bytes. Multiple ranges, other units and invalid values are ignored, as the RFC allows.
 * @param size of the whole representation in bytes.
 */
export function parseByteRange(header: string | undefined, size: number): RangeAnswer {
  const [, from, to] = RANGE.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return { kind: 'whole' }
  if (from === '') {
    const suffix = Math.min(Number(to), size)
    return suffix === 0 ? { kind: 'unsatisfiable' } : { kind: 'part', first: size - suffix, last: size - 1 }
  }
  const first = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  // A last position before the first makes the header invalid, not unsatisfiable.
  if (to !== '' && Number(to) < first) return { kind: 'whole' }
  return first >= size ? { kind: 'unsatisfiable' } : { kind: 'part', first, last }
}

/**
 * RFC 9110 13.1.1: one ETag of a version or several, compared strongly. Undefined: no header, or `*`, which is any
 * version. Only the version of a tag with a digest (`replyVersioned`) counts.
 * @throws {Failure} `invalid_request`.
 */
export function parseIfMatch(header: string | undefined): number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  const tags = header.split(',').map((tag) => /^"([0-9]{1,9})(?:-[A-Za-z0-9_-]{1,43})?"$/.exec(tag.trim())?.[1])
  if (tags.includes(undefined)) {
    throw invalidField('If-Match', 'invalid_value', 'must be the ETag of a version, such as "3"')
  }
  return tags.map(Number)
}

/**
 * Whether Host is an address, localhost, or one of these names in lower case. In DNS rebinding, a web page's name is made to
 * point here, and its requests carry that name. An address can't be made to point elsewhere.
 */
export function isOwnHost(header: string | undefined, names: ReadonlySet<string>): boolean {
  const host = header?.toLowerCase().replace(/:\d{1,5}$/, '') ?? ''
  const name = host.replace(/\.$/, '')
  return (
    isIPv4(host) ||
    (/^\[.*\]$/.test(host) && isIPv6(host.slice(1, -1))) ||
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    names.has(name)
  )
}
