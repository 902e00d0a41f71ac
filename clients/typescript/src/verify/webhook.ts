// Checks the signature of a delivery over the raw body, before anything parses it.

import { concat, encodeHex, isEqual, utf8 } from './bytes.ts'

/** `request.headers` of node, a plain object or `Headers`; names in any case. */
export type DeliveryHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export type SignatureReason =
  | 'missing_header'
  | 'malformed_header'
  | 'no_v1_signature'
  | 'timestamp_out_of_tolerance'
  | 'signature_mismatch'
  | 'invalid_json'

export type SignatureVerdict = { valid: true } | { valid: false; reason: SignatureReason }

export const SIGNATURE_HEADER = 'service-signature'
/**
 * Signatures that are too old and too new are both refused: a receiver whose clock is behind must not accept replays for longer.
 */
export const TOLERANCE_SECONDS = 300

// Two secrets are valid during a rotation; ten signatures leave room for further schemes.
const MAX_HEADER_LENGTH = 1024
const MAX_TIMESTAMP_DIGITS = 12

export interface SignatureOptions {
  /** Unix seconds. That of this machine when absent. */
  now?: number
  /** A signature may be older or newer by as much, 300 when absent. */
  toleranceSeconds?: number
}

/**
 * Checks the header Service-Signature.
 * @param rawBody The bytes as they came: another JSON text of the same value has another signature.
 * @param secrets One, or both during a rotation.
 * @throws {TypeError} without a secret, or with an empty one: anyone could make a signature that it accepts.
 */
export async function verifyWebhookSignature(
  rawBody: Uint8Array | string,
  headers: DeliveryHeaders,
  secrets: string | readonly string[],
  { now = Date.now() / 1_000, toleranceSeconds = TOLERANCE_SECONDS }: SignatureOptions = {},
): Promise<SignatureVerdict> {
  const all = typeof secrets === 'string' ? [secrets] : secrets
  const body = typeof rawBody === 'string' ? utf8(rawBody) : rawBody
  const read = readSignature(headers, all, { now, toleranceSeconds })
  if ('valid' in read) return read
  const data = concat(utf8(read.prefix), body)
  return judgeSignature(read, await Promise.all(all.map((secret) => hmacHex(secret, data))), body)
}

export interface ReadSignature {
  /** What is signed before the body. */
  prefix: string
  /** Hexadecimal, each of 64 characters. */
  signatures: readonly string[]
}

/**
 * What the header says, or why that is enough to refuse.
 * @throws {TypeError} without a secret, or with an empty one.
 */
export function readSignature(
  headers: DeliveryHeaders,
  secrets: readonly string[],
  { now, toleranceSeconds }: Required<SignatureOptions>,
): ReadSignature | { valid: false; reason: SignatureReason } {
  if (secrets.length === 0 || secrets.includes('')) throw new TypeError('verifying needs at least one secret')
  const [text, ...more] = findHeader(headers)
  if (text === undefined) return invalid('missing_header')
  // With two headers, proxies and parsers disagree on which one counts.
  const parsed = more.length > 0 ? undefined : parseSignature(text)
  if (parsed === undefined) return invalid('malformed_header')
  if (parsed.signatures.length === 0) return invalid('no_v1_signature')
  if (Math.abs(now - Number(parsed.timestamp)) > toleranceSeconds) return invalid('timestamp_out_of_tolerance')
  return { prefix: `${parsed.timestamp}.`, signatures: parsed.signatures }
}

/** @param expected HMAC-SHA256 of prefix and body by each secret, in hexadecimal. */
export function judgeSignature(
  { signatures }: ReadSignature,
  expected: readonly string[],
  body: Uint8Array,
): SignatureVerdict {
  // Every pair is compared, so that the time does not reveal which of them matched.
  let isMatch = false
  for (const one of expected) {
    for (const signature of signatures) isMatch = isEqual(utf8(one), utf8(signature)) || isMatch
  }
  if (!isMatch) return invalid('signature_mismatch')
  return isJson(body) ? { valid: true } : invalid('invalid_json')
}

function findHeader(headers: DeliveryHeaders): string[] {
  if (headers instanceof Headers) {
    const value = headers.get(SIGNATURE_HEADER)
    return value === null ? [] : [value]
  }
  return Object.entries(headers).flatMap(([name, value = []]) => (name.toLowerCase() === SIGNATURE_HEADER ? value : []))
}

// Schemes other than v1 are skipped, so that a new scheme can be sent in addition.
function parseSignature(text: string): { timestamp: string; signatures: string[] } | undefined {
  if (text.length > MAX_HEADER_LENGTH) return undefined
  let timestamp: string | undefined
  const signatures: string[] = []
  for (const part of text.split(',')) {
    const match = /^([a-z][a-z0-9]*)=(\S+)$/.exec(part)
    if (match === null) return undefined
    const [, name, value = ''] = match
    if (name === 't') {
      if (timestamp !== undefined || value.length > MAX_TIMESTAMP_DIGITS || !/^[0-9]+$/.test(value)) return undefined
      timestamp = value
    } else if (name === 'v1') {
      if (!/^[0-9a-f]{64}$/.test(value)) return undefined
      signatures.push(value)
    }
  }
  return timestamp === undefined ? undefined : { timestamp, signatures }
}

async function hmacHex(secret: string, data: Uint8Array<ArrayBuffer>): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', utf8(secret), algorithm, false, ['sign'])
  return encodeHex(new Uint8Array(await crypto.subtle.sign(algorithm, key, data)))
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return true
  } catch {
    return false
  }
}

function invalid(reason: SignatureReason): { valid: false; reason: SignatureReason } {
  return { valid: false, reason }
}
