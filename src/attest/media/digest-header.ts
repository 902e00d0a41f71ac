// RFC 9530: a client may send the digest of the bytes. It can only cause a refusal, never skip an upload.

import { invalidField } from '#src/failure.ts'

const MEMBER = /^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):$/
// RFC 8941 dictionaries are short here: an algorithm has at most 88 characters of base64.
const MAX_LENGTH = 1_000

/**
 * The SHA-256 in a Content-Digest header, as 64 hexadecimal digits.
 * @throws {Failure} `invalid_request` when it is malformed or has no sha-256: a digest that is not compared is worse
 * than none.
 */
export function parseContentDigest(header: string): string {
  const members = header.length > MAX_LENGTH ? [] : header.split(',').map((member) => MEMBER.exec(member.trim()))
  const digest = members.findLast((member) => member?.[1] === 'sha-256')?.[2]
  const bytes = digest === undefined ? undefined : Buffer.from(digest, 'base64')
  if (members.includes(null) || bytes?.byteLength !== 32) {
    throw invalidField('Content-Digest', 'invalid_digest', 'must look like sha-256=:<base64 of 32 bytes>: (RFC 9530).')
  }
  return bytes.toString('hex')
}
