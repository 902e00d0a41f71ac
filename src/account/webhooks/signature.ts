// Signs deliveries, and checks signatures as receivers do, by the rules of the client library without waiting. Pure: the time is an
// argument.

import { createHmac } from 'node:crypto'
import {
  type DeliveryHeaders,
  judgeSignature,
  readSignature,
  SIGNATURE_HEADER,
  type SignatureVerdict,
  TOLERANCE_SECONDS,
} from '#client/verify/webhook.ts'

export interface Delivery {
  /** The exact bytes that are sent. */
  rawBody: Uint8Array
  /** The same for every attempt of one event: receivers recognise repeats by it. */
  eventId: string
  /** Newest first. Each signs. */
  secrets: readonly string[]
  nowSeconds: number
}

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
  const read = readSignature(headers, secrets, { now: nowSeconds, toleranceSeconds })
  if ('valid' in read) return read
  const expected = secrets.map((secret) => hmac(secret, read.prefix, rawBody).toString('hex'))
  return judgeSignature(read, expected, rawBody)
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
