import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SignatureVerdict } from '#client/verify/webhook.ts'
import { signDelivery, verifyWebhookSignature } from '#src/account/webhooks/signature.ts'

interface Vectors {
  sign: {
    name: string
    body: string
    event_id: string
    secrets: string[]
    now: number
    headers: Record<string, string>
  }[]
  verify: {
    name: string
    body?: string
    body_base64?: string
    headers: Record<string, string | string[]>
    secrets: string[]
    now: number
    tolerance?: number
    verdict: SignatureVerdict
  }[]
}
const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/webhooks/signatures.json', import.meta.url), 'utf8'),
)

describe('signing', () => {
  it.each(vectors.sign)('signs $name', ({ body, event_id: eventId, secrets, now, headers }) => {
    expect(signDelivery({ rawBody: Buffer.from(body), eventId, secrets, nowSeconds: now })).toEqual(headers)
  })
})

describe('verifying', () => {
  it.each(vectors.verify)('$name', ({ body, body_base64: base64, headers, secrets, now, tolerance, verdict }) => {
    const rawBody = base64 === undefined ? Buffer.from(body ?? '') : Buffer.from(base64, 'base64')
    expect(verifyWebhookSignature({ rawBody, headers }, secrets, now, tolerance)).toEqual(verdict)
  })

  it('refuses to verify with no secret or with an empty one', () => {
    for (const secrets of [[], [''], ['whsec_x', '']]) {
      expect(() => verifyWebhookSignature({ rawBody: Buffer.from('{}'), headers: {} }, secrets, 0)).toThrow(TypeError)
    }
  })

  it('accepts a message signed by any of the secrets, and none that differs in one byte', () => {
    const secret = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme-ascii' })
    const body = fc.json().map((text) => Buffer.from(text))
    fc.assert(
      fc.property(
        body,
        fc.tuple(secret, secret),
        fc.nat(2_000_000_000),
        fc.nat(),
        (rawBody, secrets, nowSeconds, at) => {
          const headers = signDelivery({ rawBody, eventId: 'evt', secrets, nowSeconds })
          expect(verifyWebhookSignature({ rawBody, headers }, [secrets[1]], nowSeconds)).toEqual({ valid: true })
          const changed = Buffer.from(rawBody)
          const index = at % changed.length
          changed[index] = (changed[index] ?? 0) ^ 1
          expect(verifyWebhookSignature({ rawBody: changed, headers }, secrets, nowSeconds)).toMatchObject({
            reason: 'signature_mismatch',
          })
        },
      ),
    )
  })

  it('returns a result for any header', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000 }), (text) => {
        const received = { rawBody: Buffer.from('{}'), headers: { 'Service-Signature': text } }
        const verdict = verifyWebhookSignature(received, ['whsec_a'], 1_000)
        expect(verdict.valid).toBe(false)
      }),
    )
  })
})
