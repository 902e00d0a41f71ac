// Verifies with code that is not ours: the libraries that receivers use. `Service-Signature` has the scheme of Stripe's header
// under another name; the three `webhook-` headers are those of Standard Webhooks and Svix.

import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOLERANCE_SECONDS } from '#client/verify/webhook.ts'
import { newSecret } from '#src/account/webhooks/secret.ts'
import { signDelivery } from '#src/account/webhooks/signature.ts'
import { actingIn } from '../../support/callers.ts'
import { createFixture, escalated, type Fixture, type Received } from './fixture.ts'

const stripe = new Stripe('sk_test_of_nobody')
const BODY = JSON.stringify({ event_id: 'evt_1', type: 'ping', data: { note: 'Zürich – 東京 – 😀' } })
const now = () => Math.floor(Date.now() / 1_000)
const sign = (secrets: readonly string[], nowSeconds = now()) =>
  signDelivery({ rawBody: Buffer.from(BODY), eventId: 'evt_1', secrets, nowSeconds })

type Headers = Record<string, string>
const VERIFIERS = {
  stripe: (body: string | Buffer, headers: Headers, secret: string) =>
    stripe.webhooks.constructEvent(body, headers['service-signature'] ?? '', secret, TOLERANCE_SECONDS),
  standardwebhooks: (body: string | Buffer, headers: Headers, secret: string) =>
    new StandardWebhook(secret).verify(body.toString(), headers),
  svix: (body: string | Buffer, headers: Headers, secret: string) => new SvixWebhook(secret).verify(body, headers),
}

describe.each(Object.entries(VERIFIERS))('%s', (_name, verify) => {
  it('accepts what we sign, with either secret of a rotation, and no other secret', () => {
    for (let count = 0; count < 100; count += 1) {
      const [fresh, previous, other] = [newSecret(), newSecret(), newSecret()]
      expect(verify(BODY, sign([fresh]), fresh)).toEqual(JSON.parse(BODY))
      expect(verify(BODY, sign([fresh, previous]), fresh)).toEqual(JSON.parse(BODY))
      expect(verify(BODY, sign([fresh, previous]), previous)).toEqual(JSON.parse(BODY))
      expect(() => verify(BODY, sign([fresh, previous]), other)).toThrow()
    }
  })

  it('refuses a body that was parsed and written again, and a time beyond the tolerance', () => {
    const secret = newSecret()
    for (const changed of [`${BODY} `, JSON.stringify(JSON.parse(BODY), null, 2), BODY.replace('東', '\\u6771')]) {
      expect(() => verify(changed, sign([secret]), secret)).toThrow()
    }
    expect(() => verify(BODY, sign([secret], now() - TOLERANCE_SECONDS - 5), secret)).toThrow()
  })
})

describe('a delivery during a rotation', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await createFixture()
  })
  afterAll(() => fixture.close())

  it('is accepted by all of them as it arrives over HTTP, with both secrets', async () => {
    const { received, url } = await fixture.receiver()
    const { id, secret: previous } = await fixture.makeEndpoint(url)
    const { secret: fresh } = await fixture.changes.rotateSecret(actingIn(fixture.scope), id, { graceSeconds: 60 })
    const [emitted] = await fixture.emit([escalated('clm_test_a')])
    await fixture.runOnce(emitted?.deliveryIds[0] ?? '')
    const { body, headers } = received[0] as Received
    for (const [name, verify] of Object.entries(VERIFIERS)) {
      for (const secret of [fresh, previous]) {
        expect(verify(body, headers as Headers, secret), name).toMatchObject({ event_id: emitted?.eventId })
      }
    }
  })
})
