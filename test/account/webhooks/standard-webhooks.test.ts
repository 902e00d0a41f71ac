// Verifies with the library that receivers use: the official one of Standard Webhooks.

import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { newSecret } from '#src/account/webhooks/secret.ts'
import { signDelivery, verifyWebhookSignature } from '#src/account/webhooks/signature.ts'

const BODY = JSON.stringify({ event_id: 'evt_1', type: 'ping', data: { note: 'Zürich – 東京' } })
const deliver = (secrets: readonly string[], nowSeconds = Math.floor(Date.now() / 1_000)) =>
  signDelivery({ rawBody: Buffer.from(BODY), eventId: 'evt_1', secrets, nowSeconds })

describe('a new secret', () => {
  it('is 33 bytes in standard base64 without padding, after its prefix', () => {
    const secrets = Array.from({ length: 500 }, newSecret)
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{44}$/)
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(33)
    }
    // The characters that differ between base64 and base64url occur among them.
    expect(secrets.join('')).toMatch(/\+.*\/|\/.*\+/)
    expect(new Set(secrets).size).toBe(secrets.length)
  })

  it('signs hundreds of deliveries whose headers verify with the official library', () => {
    for (let count = 0; count < 300; count += 1) {
      const secret = newSecret()
      expect(new Webhook(secret).verify(BODY, deliver([secret]))).toEqual(JSON.parse(BODY))
    }
  })

  it('verifies beside an older one in base64url, which keeps working with Service-Signature', () => {
    const [fresh, older] = [newSecret(), `whsec_${Buffer.alloc(32, 0xfb).toString('base64url')}`]
    const headers = deliver([fresh, older])
    expect(new Webhook(fresh).verify(BODY, headers)).toEqual(JSON.parse(BODY))
    for (const secret of [fresh, older]) {
      const now = Number(headers['webhook-timestamp'])
      expect(verifyWebhookSignature({ rawBody: Buffer.from(BODY), headers }, [secret], now)).toEqual({ valid: true })
    }
  })
})

describe('the official Standard Webhooks library', () => {
  it('refuses another body, another secret, and an old timestamp', () => {
    const secret = newSecret()
    const headers = deliver([secret])
    expect(() => new Webhook(secret).verify(`${BODY} `, headers)).toThrow()
    expect(() => new Webhook(newSecret()).verify(BODY, headers)).toThrow()
    expect(() => new Webhook(secret).verify(BODY, deliver([secret], 1_700_000_000))).toThrow()
  })
})
