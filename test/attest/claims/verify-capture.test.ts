// The facts about a signer, from rows alone: no service and no database.

import { describe, expect, it } from 'vitest'
import { toSubmission } from '#src/attest/claims/submission.ts'
import { type CaptureContext, chainAt, markCounterReused, verifyCapture } from '#src/attest/claims/verify-capture.ts'
import type { Facts } from '#src/attest/factors/facts.ts'
import { lookUpRevocation } from '#src/attest/hardware/revocations.ts'
import { type Certificate, parseCertificate, parseChain } from '#src/platform/crypto/x509.ts'
import { createAuthority } from '../../../capture-kit/authority.ts'
import { createDevice } from '../../../capture-kit/device.ts'
import { shoot } from './phone.ts'

const now = new Date()
const authority = await createAuthority({ name: 'Test Phones', now: () => now })
const device = await createDevice({ authority, name: 'Phone', now: () => now })
const KNOWN = { revocations: 'never_fetched', now } as const

const sent = certificatesOf(parseChain(device.chain.map((der) => Buffer.from(der))))
const root = parseCertificate(Buffer.from(authority.rootDer))
const anchors = root.ok ? [root.certificate] : []

function certificatesOf(chain: ReturnType<typeof parseChain>): Certificate[] {
  return chain.ok ? chain.certificates : []
}

const context = (more: Partial<CaptureContext> = {}): CaptureContext => ({
  keyOwnerId: null,
  device: null,
  sent,
  named: undefined,
  signing: undefined,
  session: undefined,
  anchors,
  ...more,
})
const submitted = (change: Parameters<typeof shoot>[1] = {}) => {
  const { media: _, ...body } = shoot({ device, id: undefined }, change)
  return { id: 'att_1', submission: toSubmission({ ...body, media: { media_id: 'med_1' } }) }
}

describe('verifying a capture', () => {
  it('gives the same facts for the same rows', async () => {
    const one = submitted()
    const first = await verifyCapture(one, context(), KNOWN)
    expect(first.facts).toMatchObject({
      signature: { isValid: true, code: 'valid', keySource: 'certificate' },
      chain: { isTrusted: true },
      session: null,
    })
    expect(first.counterUse).toBeUndefined()
    expect(await verifyCapture(one, context(), KNOWN)).toEqual(first)
  })

  it('trusts only the anchors that it is given', async () => {
    const { facts } = await verifyCapture(submitted(), context({ anchors: [] }), KNOWN)
    expect(facts).toMatchObject({ signature: { isValid: true }, chain: { isTrusted: false, code: 'unknown_ca' } })
  })

  it('finds a bundle that differs from the signed one', async () => {
    const one = submitted()
    const { bundle } = one.submission
    if (bundle === undefined) throw new Error('the capture has no bundle')
    const changed = { ...one, submission: { ...one.submission, bundle: { ...bundle, sensor_hash: 'f'.repeat(64) } } }
    const { facts } = await verifyCapture(changed, context(), KNOWN)
    expect(facts.signature).toMatchObject({ isValid: false, code: 'mismatch' })
  })

  it('calls a nonce accepted only for the attestation that consumed it', async () => {
    const one = submitted({ sessionNonce: 'n-1' })
    const session = {
      id: 'ses_1',
      nonce: 'n-1',
      deviceId: null,
      claimReference: null,
      issuedAt: now,
      expiresAt: now,
      consumedAt: now,
    }
    const stateOf = async (consumedBy: string) =>
      (await verifyCapture(one, context({ session: { ...session, consumedBy } }), KNOWN)).facts.session?.state
    expect([await stateOf('att_1'), await stateOf('att_2')]).toEqual(['accepted', 'reused'])
  })

  it('has no facts of a capture without a bundle', async () => {
    const { bundle: _bundle, signature: _signature, ...submission } = submitted().submission
    const { facts } = await verifyCapture({ id: 'att_1', submission }, context(), KNOWN)
    expect(facts).toEqual({ bundle: null, signature: null, chain: null, device: null, session: null })
  })
})

describe('the chain of a device', () => {
  const issue = async (notBefore: string, notAfter: string) => {
    const chain = await authority.issue({
      publicKey: device.publicKey,
      subject: 'Phone',
      notBefore: new Date(notBefore),
      notAfter: new Date(notAfter),
    })
    return chain.map((der) => Buffer.from(der))
  }
  const textOf = (chain: Buffer[]) => chain.map((der) => der.toString('base64')).join(',')

  it('is the one that was valid at the time of the capture, else the present one', async () => {
    const [first, second, third] = await Promise.all([
      issue('2024-01-01', '2025-01-01'),
      issue('2025-01-01', '2026-01-01'),
      issue('2026-06-01', '2027-01-01'),
    ])
    const renewed = { certificateChain: third, formerChains: [textOf(second), textOf(first)] }
    const leafAt = (at: string) => chainAt(renewed, new Date(at))[0]?.der
    expect(leafAt('2026-07-01')).toEqual(third[0])
    expect(leafAt('2025-07-01')).toEqual(second[0])
    expect(leafAt('2024-07-01')).toEqual(first[0])
    expect(leafAt('2026-03-01')).toEqual(third[0])
    expect(chainAt({ certificateChain: first, formerChains: [] }, new Date('2030-01-01'))[0]?.der).toEqual(first[0])
  })
})

describe('a counter that another attestation took', () => {
  it('changes the assertion, and nothing where there is none', async () => {
    const { facts } = await verifyCapture(submitted(), context(), KNOWN)
    expect(markCounterReused(facts, 'att_2')).toEqual(facts)
    const device: Facts['device'] = {
      id: 'dev_1',
      state: 'enrolled',
      why: 'enrolled',
      revokedAt: null,
      revokeEffectiveAt: null,
      hardwareTier: 'none',
      hardware: {
        reasons: [],
        revocation: lookUpRevocation([], 'never_fetched', now),
        userGate: null,
        authTimeoutSeconds: null,
        assertion: { state: 'valid', counter: 7, usedBy: null },
      },
    }
    const asserted = { ...facts, device }
    expect(markCounterReused(asserted, 'att_2').device?.hardware?.assertion).toEqual({
      state: 'counter_reused',
      counter: 7,
      usedBy: 'att_2',
    })
  })
})
