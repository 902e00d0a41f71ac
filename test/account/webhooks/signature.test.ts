import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { signDelivery, verifyWebhookSignature } from '#src/account/webhooks/signature.ts'

describe('verifying', () => {
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
