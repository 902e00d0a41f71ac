import { nextDelayMs, WAITS_MS } from '#src/account/webhooks/schedule.ts'
import { signDelivery, verifyWebhookSignature } from '#src/account/webhooks/signature.ts'
import { parseRetryAfter } from '#src/platform/net/exchange.ts'
import type { Answers } from '../answers.ts'

export interface SigningInput {
  body: string
  event_id: string
  secrets: string[]
  now: number
}

export interface SignatureInput {
  body?: string
  body_base64?: string
  headers: Record<string, string | string[]>
  secrets: string[]
  now: number
  tolerance?: number
}

interface DelayInput {
  attempt?: number
  random: number
  time_divisor: number
  retry_after_ms?: number
}

export const answers: Answers = {
  'webhooks/signing'({ body, event_id: eventId, secrets, now }: SigningInput) {
    return { headers: signDelivery({ rawBody: Buffer.from(body), eventId, secrets, nowSeconds: now }) }
  },

  'webhooks/signatures'({ body = '', body_base64, headers, secrets, now, tolerance }: SignatureInput) {
    const rawBody = body_base64 === undefined ? Buffer.from(body) : Buffer.from(body_base64, 'base64')
    try {
      const verdict = verifyWebhookSignature({ rawBody, headers }, secrets, now, tolerance)
      return { valid: verdict.valid, reason: verdict.valid ? null : verdict.reason }
    } catch (error) {
      if (error instanceof TypeError) return { error: 'no_secret' }
      throw error
    }
  },

  'webhooks/schedule'({ attempt, random, time_divisor: timeDivisor, retry_after_ms: retryAfterMs }: DelayInput) {
    if (attempt === undefined) {
      let at = 0
      return { attempt_at_seconds: WAITS_MS.map((wait) => (at += wait / 1_000)) }
    }
    return { delay_ms: nextDelayMs({ attempt, retryAfterMs, random: () => random, timeDivisor }) ?? null }
  },

  'webhooks/retry-after'({ value, now }: { value: string; now: string }) {
    return { delay_ms: parseRetryAfter(value, new Date(now)) ?? null }
  },
}
