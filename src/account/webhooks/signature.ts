// Signs deliveries, and checks signatures for receivers. Pure: the time is an argument.

import { createHmac, timingSafeEqual } from 'node:crypto'

export const SIGNATURE_HEADER = 'service-signature'

/**
 * Signatures that are too old and too new are both refused: a receiver whose clock is behind must not accept replays
 * for longer.
 */
export const TOLERANCE_SECONDS = 300

// Two secrets are valid during a rotation; ten signatures leave room for future schemes.
const MAX_HEADER_LENGTH = 1024
const MAX_TIMESTAMP_DIGITS = 12

export interface Delivery {
  /** The exact bytes that are sent. */
  rawBody: Uint8Array
  /** The same for every attempt of one event: receivers recognise repeats by it. */
  eventId: string
  /** Newest first. Each signs. */
  secrets: readonly string[]
  nowSeconds: number
}

export type SignatureReason =
  | 'missing_header'
  | 'malformed_header'
  | 'no_v1_signature'
  | 'timestamp_out_of_tolerance'
  | 'signature_mismatch'
  | 'invalid_json'

export type SignatureVerdict = { valid: true } | { valid: false; reason: SignatureReason }

/**
 * The headers that authenticate a delivery: `Service-Signature: t=<unix seconds>,v1=<hex>[,v1=<hex>]`, HMAC-SHA256 over
 * `<t>.<raw body>` keyed with the ASCII bytes of the whole secret (specification, Signature). Besides it the three
 * headers of Standard Webhooks, over `<id>.<t>.<raw body>` keyed with the bytes whose base64 follows `whsec_`.
 */
export function signDelivery({ rawBody, eventId, secrets, nowSeconds }: Delivery): Record<string, string> {
  const standardPrefix = `${eventId}.${nowSeconds}.`
  const hex = secrets.map((secret) => `v1=${hmac(secret, `${nowSeconds}.`, rawBody).toString('hex')}`)
  const base64 = secrets.map((secret) => `v1,${standardHmac(secret, standardPrefix, rawBody).toString('base64')}`)
  return {
    [SIGNATURE_HEADER]: [`t=${nowSeconds}`, ...hex].join(','),
    'webhook-id': eventId,
    'webhook-timestamp': String(nowSeconds),
    'webhook-signature': base64.join(' '),
  }
}

type DeliveryHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface ReceivedDelivery {
  rawBody: Uint8Array
  /** Names in any case, as in node's `request.headers` or a plain object. */
  headers: DeliveryHeaders
}

/**
 * Checks `Service-Signature` of a delivery over the raw body, before anything parses it.
 * @param secrets One, or both during a rotation. An empty one throws: anyone could make a signature that it accepts.
 * @param nowSeconds Unix seconds. The signature may be `toleranceSeconds` older or newer, not more.
 */
export function verifyWebhookSignature(
  { rawBody, headers }: ReceivedDelivery,
  secrets: readonly string[],
  nowSeconds: number,
  toleranceSeconds: number = TOLERANCE_SECONDS,
): SignatureVerdict {
  if (secrets.length === 0 || secrets.includes('')) throw new TypeError('verifying needs at least one secret')
  const given = findHeader(headers)
  if (given === undefined || given.length === 0) return invalid('missing_header')
  const [text, ...more] = given
  // With two headers, proxies and parsers disagree on which one counts.
  const parsed = text === undefined || more.length > 0 ? undefined : parseSignature(text)
  if (parsed === undefined) return invalid('malformed_header')
  if (parsed.signatures.length === 0) return invalid('no_v1_signature')
  if (Math.abs(nowSeconds - Number(parsed.timestamp)) > toleranceSeconds) return invalid('timestamp_out_of_tolerance')

  // Every pair is compared, so that the time does not reveal which of them matched.
  let isMatch = false
  for (const secret of secrets) {
    const expected = hmac(secret, `${parsed.timestamp}.`, rawBody)
    for (const signature of parsed.signatures) isMatch = timingSafeEqual(expected, signature) || isMatch
  }
  if (!isMatch) return invalid('signature_mismatch')
  return isJson(rawBody) ? { valid: true } : invalid('invalid_json')
}

function findHeader(headers: DeliveryHeaders): string[] | undefined {
  const values: string[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && name.toLowerCase() === SIGNATURE_HEADER) values.push(...[value].flat())
  }
  return values.length === 0 ? undefined : values
}

// Schemes other than v1 are skipped, so that a new scheme can be sent in addition.
function parseSignature(text: string): { timestamp: string; signatures: Buffer[] } | undefined {
  if (text.length > MAX_HEADER_LENGTH) return undefined
  let timestamp: string | undefined
  const signatures: Buffer[] = []
  for (const part of text.split(',')) {
    const [, name, value] = /^([a-z][a-z0-9]*)=(\S+)$/.exec(part) ?? []
    if (name === undefined || value === undefined) return undefined
    if (name === 't') {
      if (timestamp !== undefined || value.length > MAX_TIMESTAMP_DIGITS || !/^[0-9]+$/.test(value)) return undefined
      timestamp = value
    } else if (name === 'v1') {
      if (!/^[0-9a-f]{64}$/.test(value)) return undefined
      signatures.push(Buffer.from(value, 'hex'))
    }
  }
  return timestamp === undefined ? undefined : { timestamp, signatures }
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return true
  } catch {
    return false
  }
}

function hmac(key: string, prefix: string, body: Uint8Array): Buffer {
  return createHmac('sha256', key).update(prefix).update(body).digest()
}

// Node's decoder accepts both alphabets, with and without padding: older secrets are base64url. A key as a string takes
// a quarter of the time of one in a Buffer, 4 instead of 18 us (Node 24).
function standardHmac(secret: string, prefix: string, body: Uint8Array): Buffer {
  const key = secret.replace(/^whsec_/, '')
  return createHmac('sha256', key, { encoding: 'base64' }).update(prefix).update(body).digest()
}

function invalid(reason: SignatureReason): SignatureVerdict {
  return { valid: false, reason }
}
