import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCaptures } from '#src/attest/captures/captures.ts'
import { type CaptureSession, consumeNonces, findSessionsOf } from '#src/attest/captures/rows.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { AT, makeChain } from '../../platform/crypto/pki.ts'
import { type AttestApp, startAttestApp } from '../../support/attest.ts'
import type { TestCaller } from '../../support/callers.ts'

const { root, intermediate, leaf } = await makeChain()
const LATER = new Date(AT.getTime() + 60_000)
let app: AttestApp
let caller: TestCaller

beforeAll(async () => {
  app = await startAttestApp(AT)
})
afterAll(() => app.close())
beforeEach(async () => {
  app.clock.now = AT
  caller = await app.makeCaller()
})

interface Issued {
  capture_session_id: string
  session_nonce: string
  issued_at: string
  expires_at: string
}

describe('capture sessions', () => {
  it('live for ten minutes, each with 32 bytes of its own', async () => {
    const { status, json } = await open({ count: 3 })
    expect(status).toBe(200)
    const sessions = json.sessions as Issued[]
    expect(sessions).toHaveLength(3)
    for (const session of sessions) {
      expect(session).toEqual({
        capture_session_id: expect.stringMatching(/^cap_test_/),
        session_nonce: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        issued_at: AT.toISOString(),
        expires_at: '2026-11-20T12:10:00.000Z',
      })
      expect(Buffer.from(session.session_nonce, 'base64url')).toHaveLength(32)
    }
    expect(new Set(sessions.map(({ session_nonce: nonce }) => nonce)).size).toBe(3)
    expect(new Set(sessions.map(({ capture_session_id: id }) => id)).size).toBe(3)
  })

  it('have no chunk beyond the bound of the index, which the refusal names', async () => {
    const { json } = await open({ count: 1 })
    const [session] = json.sessions as Issued[]
    for (const index of ['10000', '-1', '01', 'x']) {
      const path = `/v1/claims/attest/sessions/${session?.capture_session_id}/chunks/${index}`
      const refused = await app.call(caller.key, path, { method: 'PUT', body: 'x' })
      expect(refused).toMatchObject({ status: 404, json: { detail: expect.stringContaining('0 to 9999') } })
    }
  })

  it('are listed without their nonces, by status, device and time', async () => {
    const deviceId = await enroll()
    const issued = async (body: Record<string, unknown>) =>
      ((await open({ count: 1, ...body })).json.sessions as Issued[])[0]?.capture_session_id
    const bound = await issued({ device_id: deviceId, claim_reference: 'CLM-1' })
    app.clock.now = new Date(AT.getTime() + 1_000)
    const used = await issued({})
    await app.test.owner(`UPDATE capture_sessions SET consumed_by = 'att', consumed_at = now() WHERE id = $1`, [used])
    const list = async (query: string, key = caller.key) =>
      (await app.call(key, `/v1/claims/attest/sessions?${query}`)).json
    const idsOf = async (query: string) =>
      ((await list(query)).data as Issued[]).map(({ capture_session_id: id }) => id)
    expect(await idsOf('')).toEqual([used, bound])
    expect(await idsOf('status=open')).toEqual([bound])
    expect(await idsOf('status=closed')).toEqual([used])
    expect(await idsOf('status=closed&status=open')).toEqual([used, bound])
    expect(await idsOf(`device_id=${deviceId}`)).toEqual([bound])
    expect(await idsOf('created_lt=2020-01-01T00:00:00Z')).toEqual([])
    const first = await list('limit=1&include=total_count')
    expect(first).toMatchObject({ has_more: true, total_count: 2, data: [{ attestation_id: 'att', status: 'closed' }] })
    expect(await idsOf(`limit=1&cursor=${first.next_cursor}`)).toEqual([bound])
    expect(JSON.stringify(await list(''))).not.toContain('nonce')
    expect((await list('device_id=x')).code).toBe('invalid_request')
    expect((await list(`device_id=${newId('dev', 'live')}`)).code).toBe('environment_mismatch')
    expect((await list('', (await app.makeCaller()).key)).data).toEqual([])
  })

  it('are issued up to a thousand at once', async () => {
    const { json } = await open({ count: 1000 })
    const nonces = (json.sessions as Issued[]).map(({ session_nonce: nonce }) => nonce)
    expect(new Set(nonces).size).toBe(1000)
    const rows = await app.test.owner('SELECT nonce FROM capture_sessions WHERE account_id = $1', [caller.accountId])
    expect(new Set(rows.map(({ nonce }) => nonce))).toEqual(new Set(nonces))
  })

  it('take their random bytes from the source that is passed in', async () => {
    const bytes = randomBytes(64)
    const captures = createCaptures({ db: app.test.db, now: () => AT, random: () => bytes })
    const { sessions } = await captures.issue(caller, { count: 2 })
    expect(sessions.map(({ session_nonce: nonce }) => nonce)).toEqual([
      bytes.subarray(0, 32).toString('base64url'),
      bytes.subarray(32).toString('base64url'),
    ])
  })

  it('belong to the device and the claim that were named', async () => {
    const deviceId = await enroll()
    const { json } = await open({ count: 1, device_id: deviceId, claim_reference: 'CLM-2026-1' })
    const [issued] = json.sessions as [Issued]
    expect(await find(issued.session_nonce)).toEqual({
      id: issued.capture_session_id,
      nonce: issued.session_nonce,
      deviceId,
      claimReference: 'CLM-2026-1',
      issuedAt: AT,
      expiresAt: new Date('2026-11-20T12:10:00Z'),
      consumedBy: null,
      consumedAt: null,
    })
  })

  it('are issued for an expired device, and not for a revoked one', async () => {
    const deviceId = await enroll()
    app.clock.now = new Date('2027-06-01T00:00:00Z')
    expect((await open({ count: 1, device_id: deviceId })).status).toBe(200)
    await app.devices.revoke(caller, deviceId, { reason: 'lost' })
    const { status, json } = await open({ count: 1, device_id: deviceId })
    expect({ status, code: json.code }).toEqual({ status: 409, code: 'device_revoked' })
    expect(json.errors).toMatchObject([{ pointer: '/device_id', code: 'device_revoked' }])
  })

  it.each([
    ['of the other environment', newId('dev', 'live'), 403, 'environment_mismatch'],
    ['that does not exist', newId('dev', 'sandbox'), 404, 'not_found'],
    ['that is no device', newId('med', 'sandbox'), 404, 'not_found'],
    ['that is no id', 'phone', 404, 'not_found'],
  ])('are refused for a device %s', async (_name, deviceId, status, code) => {
    const answer = await open({ count: 1, device_id: deviceId })
    expect({ status: answer.status, code: answer.json.code }).toEqual({ status, code })
    expect(await count()).toBe(0)
  })

  it('are refused for a device of another account', async () => {
    const deviceId = await enroll()
    const other = await app.makeCaller()
    expect((await open({ count: 1, device_id: deviceId }, other.key)).json.code).toBe('not_found')
  })

  it.each([
    ['none', { count: 0 }, '/count'],
    ['too many', { count: 1001 }, '/count'],
    ['half a one', { count: 1.5 }, '/count'],
    ['a count in words', { count: '3' }, '/count'],
    ['no count', {}, '/count'],
    ['an empty reference', { count: 1, claim_reference: '' }, '/claim_reference'],
    ['a long reference', { count: 1, claim_reference: 'r'.repeat(256) }, '/claim_reference'],
    ['a reference with U+0000', { count: 1, claim_reference: 'a\u0000' }, '/claim_reference'],
    ['a device that is a number', { count: 1, device_id: 7 }, '/device_id'],
    ['an unknown field', { count: 1, ttl: 9000 }, '/ttl'],
  ])('are refused: %s', async (_name, json, pointer) => {
    const answer = await open(json)
    expect({ status: answer.status, errors: answer.json.errors }).toMatchObject({ status: 400, errors: [{ pointer }] })
    expect(await count()).toBe(0)
  })
})

describe('a nonce', () => {
  it('is consumed once', async () => {
    const [nonce] = await issue(1)
    const [first, second] = [newId('att', 'sandbox'), newId('att', 'sandbox')]
    expect(await consume([{ nonce, attestationId: first }])).toMatchObject([
      { nonce, consumedBy: first, consumedAt: LATER, issuedAt: AT, deviceId: null },
    ])
    expect(await consume([{ nonce, attestationId: second }])).toEqual([])
    expect(await consume([{ nonce, attestationId: first }])).toEqual([])
    expect(await find(nonce)).toMatchObject({ consumedBy: first })
  })

  it('is consumed also outside of its validity', async () => {
    const [nonce] = await issue(1)
    const late = new Date('2026-12-24T00:00:00Z')
    const consumed = await app.test.db.tenant(caller, (tx) =>
      consumeNonces(tx, [{ nonce, attestationId: 'att_late' }], late),
    )
    expect(consumed).toMatchObject([{ consumedBy: 'att_late', consumedAt: late }])
  })

  it('is given to the first of the lines that carry it', async () => {
    const [one, two, three] = await issue(3)
    const consumed = await consume([
      { nonce: two, attestationId: 'b' },
      { nonce: one, attestationId: 'z' },
      { nonce: one, attestationId: 'a' },
      { nonce: two, attestationId: 'a' },
      { nonce: randomBytes(32).toString('base64url'), attestationId: 'x' },
      { nonce: three, attestationId: 'c' },
    ])
    expect(byNonce(consumed)).toEqual({ [one]: 'z', [two]: 'b', [three]: 'c' })
  })

  it.each([
    ['empty', ''],
    ['with U+0000', `${'A'.repeat(42)}\u0000`],
    ['with a lone surrogate', `${'A'.repeat(42)}\ud800`],
    ['in another alphabet', `${'A'.repeat(42)}+`],
    ['with a line end', `${'A'.repeat(43)}\n`],
    ['as long as a body', 'A'.repeat(1024 * 1024)],
    ['for a statement', `'; DROP TABLE capture_sessions; --`],
  ])('that is %s counts as never issued', async (_name, nonce) => {
    expect(await find(nonce)).toBeUndefined()
    expect(await consume([{ nonce, attestationId: 'x' }])).toEqual([])
  })

  it('of another account or environment counts as unknown', async () => {
    const [nonce] = await issue(1)
    const other = await app.makeCaller()
    for (const scope of [other, { ...caller, environment: 'live' as const }]) {
      expect(await find(nonce, scope)).toBeUndefined()
      expect(await consume([{ nonce, attestationId: 'x' }], scope)).toEqual([])
    }
    expect(await find(nonce)).toMatchObject({ consumedBy: null })
  })

  it('is consumed by one of many concurrent callers', async () => {
    const [nonce] = await issue(1)
    const attempts = Array.from({ length: 16 }, () => randomUUID())
    const wins = await Promise.all(attempts.map((attestationId) => consume([{ nonce, attestationId }])))
    const winners = wins.flat()
    expect(winners).toHaveLength(1)
    expect(await find(nonce)).toMatchObject({ consumedBy: winners[0]?.consumedBy })
  })

  it('is consumed once by concurrent batches that share a thousand of them in different orders', async () => {
    const nonces = await issue(1000)
    const orders = [nonces, nonces.toReversed(), [...nonces.slice(500), ...nonces.slice(0, 500)], nonces.toSorted()]
    const consumed = await Promise.all(
      orders.map((order, batch) => consume(order.map((nonce) => ({ nonce, attestationId: `att_${batch}` })))),
    )
    expect(consumed.flat()).toHaveLength(1000)
    expect(new Set(consumed.flat().map(({ nonce }) => nonce)).size).toBe(1000)
  })

  it('is free again when the consuming transaction fails', async () => {
    const [nonce] = await issue(1)
    const failing = app.test.db.tenant(caller, async (tx) => {
      await consumeNonces(tx, [{ nonce, attestationId: 'x' }], LATER)
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await consume([{ nonce, attestationId: 'y' }])).toMatchObject([{ consumedBy: 'y' }])
  })
})

function open(json: unknown, key = caller.key) {
  return app.call(key, '/v1/claims/attest/sessions', { json })
}

async function issue<Count extends number>(
  wanted: Count,
): Promise<Count extends 1 ? [string] : [string, string, string]> {
  const { sessions } = await app.captures.issue(caller, { count: wanted })
  return sessions.map(({ session_nonce: nonce }) => nonce) as Count extends 1 ? [string] : [string, string, string]
}

function consume(uses: { nonce: string; attestationId: string }[], scope: Scope = caller): Promise<CaptureSession[]> {
  return app.test.db.tenant(scope, (tx) => consumeNonces(tx, uses, LATER))
}

async function find(nonce: string, scope: Scope = caller): Promise<CaptureSession | undefined> {
  const [session] = await app.test.db.tenant(scope, (tx) => findSessionsOf(tx, [nonce]))
  return session
}

async function enroll(): Promise<string> {
  await app.rootCas.register(caller, { name: 'Root', certificate: root.der.toString('base64') })
  const chain = [leaf, intermediate].map(({ der }) => der.toString('base64'))
  return (await app.devices.enroll(caller, { certificate_chain: chain })).id
}

async function count(): Promise<number> {
  const rows = await app.test.owner('SELECT id FROM capture_sessions WHERE account_id = $1', [caller.accountId])
  return rows.length
}

function byNonce(sessions: CaptureSession[]): Record<string, string | null> {
  return Object.fromEntries(sessions.map(({ nonce, consumedBy }) => [nonce, consumedBy]))
}
