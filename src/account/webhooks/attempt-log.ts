// What the log keeps of an attempt besides its times: what was sent, and what came back, bounded.

import { LRUCache } from 'lru-cache'
import { redactSecrets } from '#src/platform/log.ts'
import type { OutboundAnswer, Timing } from '#src/platform/net/outbound.ts'

/** The column `detail`. Without the bodies: the one sent is the event's, the other has a column of its own. */
export interface AttemptDetail {
  url: string
  /** Headers that depend on the time and the secrets; `requestHeaders` has the others. */
  signed_headers: Record<string, string>
  /** Why there was no answer, or why it ended early: the refused address, the problem of the certificate. */
  error_detail: string | null
  address: string | null
  response_headers: Record<string, string> | null
  /** Headers or a part of the body were left out. */
  is_truncated: boolean
  timing: { dns_ms: number | null; connect_ms: number | null; tls_ms: number | null; first_byte_ms: number | null }
}

export interface AttemptLog {
  detail: AttemptDetail
  /** null: empty, or no answer. */
  responseBody: Buffer | null
}

const MAX_HEADERS = 32
const MAX_HEADER_CHARACTERS = 4_096
const MAX_DETAIL_CHARACTERS = 500

interface Sent {
  eventId: string
  eventType: string
  deliveryId: string
  attempt: number
}

/** The headers of an attempt, all of them but `host`, `connection` and `content-length`. */
export function requestHeaders(
  { eventId, eventType, deliveryId, attempt }: Sent,
  signed: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'Countersign-Webhooks/1',
    'service-event-id': eventId,
    'service-event-type': eventType,
    'service-delivery-id': deliveryId,
    'service-delivery-attempt': String(attempt),
    ...signed,
  }
}

/** @param sent Its URL, and the headers that `signDelivery` made. */
export function logOf(
  answer: OutboundAnswer,
  sent: { url: string; signedHeaders: Record<string, string> },
): AttemptLog {
  const received = answer.ok ? answer : answer.partial
  const kept = received === undefined ? undefined : keepHeaders(received.headers)
  return {
    detail: {
      url: sent.url,
      signed_headers: sent.signedHeaders,
      error_detail: answer.ok ? null : cleanText(answer.detail).slice(0, MAX_DETAIL_CHARACTERS),
      address: answer.address ?? null,
      response_headers: kept === undefined ? null : kept.headers,
      is_truncated: (answer.ok && answer.isTruncated) || kept?.isTruncated === true,
      timing: timingOf(answer.timing),
    },
    responseBody: received === undefined || received.body.length === 0 ? null : redactBody(received.body),
  }
}

// A receiver may quote what it was sent, or its own configuration: the signing secret, keys. The log is read by more people.
function redactBody(body: Buffer): Buffer {
  // Latin1 has one character for each byte, so that bytes of any encoding stay as they are.
  return Buffer.from(redactSecrets(body.toString('latin1')), 'latin1')
}

function timingOf(timing: Timing | undefined): AttemptDetail['timing'] {
  return {
    dns_ms: timing?.dnsMs ?? null,
    connect_ms: timing?.connectMs ?? null,
    tls_ms: timing?.tlsMs ?? null,
    first_byte_ms: timing?.firstByteMs ?? null,
  }
}

function keepHeaders(given: ReadonlyMap<string, string>): { headers: Record<string, string>; isTruncated: boolean } {
  const headers: [string, string][] = []
  let left = MAX_HEADER_CHARACTERS
  for (const [name, value] of given) {
    left -= name.length + value.length
    if (left < 0 || headers.length === MAX_HEADERS) return { headers: Object.fromEntries(headers), isTruncated: true }
    headers.push([cleanHeader(name), cleanHeader(value)])
  }
  return { headers: Object.fromEntries(headers), isTruncated: false }
}

// A receiver answers with nearly the same headers each time, and to search them for secrets takes longer than all the rest
// of the log.
const MAX_KNOWN_CHARACTERS = 100
const known = new LRUCache<string, string>({ max: 2_000 })

function cleanHeader(text: string): string {
  const cleaned = known.get(text) ?? cleanText(redactSecrets(text))
  if (text.length <= MAX_KNOWN_CHARACTERS) known.set(text, cleaned)
  return cleaned
}

// Postgres stores no NUL in JSON, and no half of a surrogate pair.
function cleanText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}
