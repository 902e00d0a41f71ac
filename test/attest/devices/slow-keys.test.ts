// Keys that cost their verifier too much, on every route that accepts certificates.

import { decode, encode } from 'cborg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { batchLine, checkSubmission } from '#src/attest/claims/submission.ts'
import { enrollmentHash } from '#src/attest/hardware/apple.ts'
import { readVendorRoots } from '#src/attest/hardware/roots.ts'
import { readCaCertificate } from '#src/attest/trust/certificates.ts'
import { newId } from '#src/platform/ids.ts'
import { AT, type Issued, make, makeChain, makeDer, makeSlowRsa, P521, rsa } from '../../platform/crypto/pki.ts'
import { type AttestApp, startAttestApp } from '../../support/attest.ts'
import type { TestCaller } from '../../support/callers.ts'
import { CHALLENGE, key as phoneKey, spki, vendor, verifyAndroid, verifyApple } from '../hardware/simulated.ts'

const { root } = await makeChain()
const keys = await makeSlowRsa()
const slow = await makeDer({ name: 'Slow', isCa: true, keys, algorithm: rsa(3072), issuer: root })
const signedSlowly = await makeDer({ name: 'Device', issuer: slow })
const chain = [signedSlowly.der, slow.der]
const refusal = (pointer: string) => ({
  code: 'invalid_request',
  errors: [{ pointer, code: 'unsupported_key', detail: expect.stringContaining('public exponent') }],
})

let app: AttestApp
let admin: TestCaller

beforeAll(async () => {
  app = await startAttestApp(AT)
})
afterAll(() => app.close())
beforeEach(async () => {
  admin = await app.makeCaller()
  await app.rootCas.register(admin, { name: 'Root', certificate: base64(root.der) })
})

describe('a certificate whose RSA exponent is as long as its modulus is refused with its position', () => {
  it('when a device is enrolled', async () => {
    const { status, json } = await send('/v1/admin/devices', { certificate_chain: chain.map(base64) })
    expect([status, json]).toMatchObject([400, refusal('/certificate_chain/1')])
  })

  it('in a line of an import, which does not affect the other lines', async () => {
    const lines = [{ certificate_chain: chain.map(base64) }, { certificate_chain: [base64(await device('Good'))] }]
    const { json } = await importLines(lines)
    expect(json).toMatchObject({
      accepted: 1,
      rejected: [{ line: 1, errors: refusal('/certificate_chain/1').errors }],
    })
  })

  it('as a root CA, and as an anchor of C2PA signers', async () => {
    const { status, json } = await send('/v1/admin/root-cas', { name: 'Slow', certificate: base64(slow.der) })
    expect([status, json]).toMatchObject([400, refusal('/certificate')])
    expect(() => readCaCertificate(base64(slow.der), AT)).toThrow(
      expect.objectContaining({ code: 'invalid_request', errors: refusal('/certificate').errors }),
    )
  })

  it('with a capture', () => {
    const body = batchLine.parse({
      media_type: 'image',
      media: { media_id: newId('med', 'sandbox') },
      certificate_chain: chain.map(base64),
    })
    expect(checkSubmission(body, 'sandbox', AT.getTime())).toMatchObject(refusal('/certificate_chain/1').errors)
  })

  it('in the chains of Android and of App Attest', async () => {
    const [first, , ...rest] = await vendor.attestAndroid({ publicKey: phoneKey.publicKey, challenge: CHALLENGE })
    const android = verifyAndroid([first ?? Buffer.alloc(0), slow.der, ...rest])
    expect(android).toMatchObject({
      tier: 'none',
      reasons: [{ code: 'malformed', detail: expect.stringMatching(/^certificate 1 .*exponent/) }],
    })
    const { object } = await vendor.attestApple({ clientDataHash: enrollmentHash(spki, CHALLENGE) })
    const parts = decode(object)
    parts.attStmt.x5c[1] = new Uint8Array(slow.der)
    expect(verifyApple(encode(parts))).toMatchObject({
      tier: 'none',
      reasons: [{ code: 'malformed', detail: expect.stringMatching(/^certificate 1 .*exponent/) }],
    })
  })

  it('among the roots of the configuration', async () => {
    const { KeyObject } = await import('node:crypto')
    const named = KeyObject.from(keys.publicKey).export({ format: 'der', type: 'spki' })
    expect(() => readVendorRoots([`apple:${base64(named)}`])).toThrow(/public exponent/)
  })
})

describe('a root CA that was registered under wider limits', () => {
  beforeEach(async () => {
    await app.test.owner(
      `INSERT INTO root_cas (id, account_id, environment, name, certificate, fingerprint, subject, not_before, not_after, created_at)
       VALUES ($1, $2, $3, 'Old', $4::bytea, sha256($4::bytea), 'CN=Slow', $5::timestamptz, $6, $5)`,
      [newId('rca', admin.environment), admin.accountId, admin.environment, slow.der, AT, new Date('2027-01-01')],
    )
  })

  it('is still returned, and can be deleted', async () => {
    const { status, json } = await app.call(admin.key, '/v1/admin/root-cas')
    const [old] = (json.data as { root_ca_id: string; name: string }[]).filter(({ name }) => name === 'Old')
    expect([status, old]).toMatchObject([200, { certificate: { subject: 'CN=Slow' } }])
    expect((await app.call(admin.key, `/v1/admin/root-cas/${old?.root_ca_id}`, { method: 'DELETE' })).status).toBe(200)
  })

  it('anchors no chain, and does not slow the other roots', async () => {
    const good = await send('/v1/admin/devices', { certificate_chain: [base64(await device('Phone'))] })
    expect(good.status).toBe(200)
    const { json } = await send('/v1/admin/devices', { certificate_chain: [base64(signedSlowly.der)] })
    expect(json).toMatchObject({ errors: [{ pointer: '/certificate_chain', code: 'unknown_ca' }] })
  })
})

describe('an import of honest chains that are slow to verify', () => {
  it('does not block other requests between its lines', async () => {
    const lines: { certificate_chain: string[] }[] = []
    for (let line = 0; line < 24; line += 1) {
      const issued: Issued[] = [await make({ name: `CA ${line}`, isCa: true, algorithm: P521, issuer: root })]
      for (let level = 1; level < 7; level += 1) {
        const issuer = issued[0]
        issued.unshift(
          await make({ name: `CA ${line}.${level}`, isCa: true, algorithm: P521, ...(issuer && { issuer }) }),
        )
      }
      const [issuer] = issued
      const { der } = await make({ name: `Phone ${line}`, ...(issuer && { issuer }) })
      lines.push({ certificate_chain: [der, ...issued.map((one) => one.der)].map(base64) })
    }
    const importing = importLines(lines)
    let isDone = false
    void importing.finally(() => {
      isDone = true
    })
    let longestMs = 0
    while (!isDone) {
      const since = process.threadCpuUsage()
      await new Promise((resolve) => setImmediate(resolve))
      const { user, system } = process.threadCpuUsage(since)
      longestMs = Math.max(longestMs, (user + system) / 1_000)
    }
    expect((await importing).json).toMatchObject({ accepted: 24 })
    // All of them in one piece take 350 ms.
    expect(longestMs).toBeLessThan(150)
  })
})

async function device(name: string): Promise<Buffer> {
  return (await makeDer({ name, issuer: root })).der
}

function send(path: string, json: object) {
  return app.call(admin.key, path, { json })
}

function importLines(lines: readonly object[]) {
  return app.call(admin.key, '/v1/admin/devices/batches', {
    method: 'POST',
    body: Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')),
    headers: { 'content-type': 'application/x-ndjson' },
  })
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
