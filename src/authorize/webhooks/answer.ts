// What a policy webhook answered. Everything but an exact answer is no answer, and a rule without an answer denies: so a
// receiver that breaks never allows anything.

import { Failure } from '#src/failure.ts'
import { type Json, parseJson } from '#src/platform/crypto/canonical.ts'
import { redactTokens } from '#src/platform/log.ts'
import type { OutboundAnswer } from '#src/platform/net/outbound.ts'

export interface PolicyWebhookAnswer {
  decision: 'allow' | 'deny'
  reason?: string
}

/** Why a question has no answer. */
export const UNAVAILABLE_CAUSES = [
  /** The account has no signing secret yet. */
  'no_secret',
  /** The account has too many questions in flight. */
  'busy',
  'status_2xx',
  'status_3xx',
  'status_4xx',
  'status_5xx',
  /** 200, with a body that is no answer. */
  'malformed',
  /** While the question was open, the policy changed what the rule of this id asks. */
  'policy_changed',
  'invalid_url',
  'refused_address',
  'dns_failed',
  'connect_failed',
  'tls_failed',
  'timeout',
  'reset',
  'invalid_response',
  'response_too_large',
  'aborted',
] as const

export type UnavailableCause = (typeof UNAVAILABLE_CAUSES)[number]

export type ReadAnswer = { answer: PolicyWebhookAnswer } | { cause: UnavailableCause; detail: string }

export const MAX_ANSWER_BYTES = 64 * 1024
const MAX_REASON_CHARACTERS = 200
// Members that we don't know are ignored, and may be objects.
const MAX_DEPTH = 16
// Controls, and the invisible characters that reorder what a reader of the ledger sees.
const UNFIT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

export function readAnswer(received: OutboundAnswer): ReadAnswer {
  if (!received.ok) return { cause: received.code, detail: received.detail }
  const { status, body, isTruncated } = received
  if (status !== 200) return { cause: causeOf(status), detail: `status ${status}` }
  if (isTruncated) return { cause: 'response_too_large', detail: `more than ${MAX_ANSWER_BYTES} bytes` }
  try {
    return judgeBody(parseJson(body, { maxBytes: MAX_ANSWER_BYTES, maxDepth: MAX_DEPTH }))
  } catch (error) {
    if (error instanceof Failure) return malformed(error.message)
    throw error
  }
}

function judgeBody(body: Json): ReadAnswer {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return malformed('not a JSON object')
  const { decision, reason } = body
  if (decision !== 'allow' && decision !== 'deny') return malformed('decision: must be "allow" or "deny"')
  if (reason === undefined) return { answer: { decision } }
  if (typeof reason !== 'string') return malformed('reason: must be a string')
  if ([...reason].length > MAX_REASON_CHARACTERS) {
    return malformed(`reason: must have at most ${MAX_REASON_CHARACTERS} characters`)
  }
  if (UNFIT.test(reason)) return malformed('reason: must not contain control or invisible characters')
  // The caller of verify sees it, who is not always the one who has the receiver's secret.
  return { answer: { decision, ...(reason !== '' && { reason: redactTokens(reason) }) } }
}

// A redirect is not followed: it is a status like any other.
function causeOf(status: number): UnavailableCause {
  if (status < 300) return 'status_2xx'
  if (status < 400) return 'status_3xx'
  return status < 500 ? 'status_4xx' : 'status_5xx'
}

function malformed(detail: string): ReadAnswer {
  return { cause: 'malformed', detail }
}
