import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { CompactSign, calculateJwkThumbprint, compactVerify, importJWK } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyRecord } from '#client/verify/records.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { createSealer } from '#src/platform/crypto/seal.ts'
import {
  createSigningKeys,
  type PublishedKey,
  revocationOf,
  type SigningKeys,
} from '#src/platform/crypto/signing-keys.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { flipBit } from './seeded.ts'

const HOUR_MS = 3_600_000
const START = Date.parse('2026-11-20T12:00:00Z')
const masterKey = { id: 'k1', key: randomBytes(32) }
const payload = { risk_score: 70, factors: [{ code: 'signature_invalid', points: 70 }], a: 'ä' }

let database: TestDatabase
let time = START
const now = () => new Date(time)

beforeAll(async () => {
  database = await createTestDatabase()
})

afterAll(() => database?.close())

beforeEach(async () => {
  time = START
  await database.owner('DELETE FROM signing_keys')
})

describe('ensuring the signing keys', () => {
  it('creates one key for each environment and family, once', async () => {
    const keys = open()
    await keys.ensure()
    await keys.ensure()
    await open().ensure()
    const places = (await keys.jwks()).keys.map(({ env, family }) => `${env} ${family}`)
    expect(places.sort()).toEqual(['live record', 'live token', 'sandbox record', 'sandbox token'])
  })

  it('creates them once when ten processes boot concurrently', async () => {
    await Promise.all(Array.from({ length: 10 }, () => open().ensure()))
    expect(await database.owner('SELECT kid FROM signing_keys')).toHaveLength(4)
  })

  it('replaces a key that was retired without a successor', async () => {
    await open().ensure()
    await database.owner(`UPDATE signing_keys SET retired_at = $1 WHERE environment = 'live' AND family = 'record'`, [
      now(),
    ])
    await open().ensure()
    await expect(open().signRecord('live', 'attest-result+jwt', payload)).resolves.toBeTypeOf('string')
  })
})

describe('the key set', () => {
  it('has the public members and nothing else, under the RFC 7638 thumbprint', async () => {
    const keys = await ensured()
    for (const key of (await keys.jwks()).keys) {
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'env', 'family', 'kid', 'kty', 'use', 'x', 'y'])
      expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
      expect(key.kid).toBe(await calculateJwkThumbprint({ ...key }))
    }
  })

  it('is read at most once a second', async () => {
    let reads = 0
    const counting: TestDatabase['db'] = {
      ...database.db,
      system: (reason, work) => {
        reads += 1
        return database.db.system(reason, work)
      },
    }
    await open().ensure()
    const keys = createSigningKeys({ db: counting, sealer: createSealer({ current: masterKey }), now })
    await Promise.all([keys.jwks(), keys.jwks(), keys.signRecord('live', 'x', 1)])
    time += 999
    await keys.jwks()
    expect(reads).toBe(1)
    time += 1
    await keys.jwks()
    expect(reads).toBe(2)
  })

  it('is read again after a failure', async () => {
    await open().ensure()
    let isDown = true
    const flaky: TestDatabase['db'] = {
      ...database.db,
      system: (reason, work) => (isDown ? Promise.reject(new Error('down')) : database.db.system(reason, work)),
    }
    const keys = createSigningKeys({ db: flaky, sealer: createSealer({ current: masterKey }), now })
    await expect(keys.jwks()).rejects.toThrow('down')
    isDown = false
    expect((await keys.jwks()).keys).toHaveLength(4)
  })
})

describe('a rotation', () => {
  it('publishes the new key a day before it signs', async () => {
    const keys = await ensured()
    const old = kidOf(await keys.signRecord('live', 'x', payload))
    const kid = await keys.rotate('live', 'record')
    expect((await keys.jwks()).keys.map((key) => key.kid)).toContain(kid)
    time = START + 24 * HOUR_MS - 1
    expect(kidOf(await keys.signRecord('live', 'x', payload))).toBe(old)
    time = START + 24 * HOUR_MS
    expect(kidOf(await keys.signRecord('live', 'x', payload))).toBe(kid)
  })

  it('keeps a retired record key permanently, and a token key until its last token has long expired', async () => {
    const keys = await ensured()
    const before = (await keys.jwks()).keys.filter(({ env }) => env === 'live')
    await keys.rotate('live', 'record')
    await keys.rotate('live', 'token')
    const shown = async () => {
      const { keys: now } = await keys.jwks()
      return before
        .filter(({ kid }) => now.some((key) => key.kid === kid))
        .map(({ family }) => family)
        .sort()
    }
    time = START + (24 + 8 * 24 + 1) * HOUR_MS - 1
    expect(await shown()).toEqual(['record', 'token'])
    time += 1
    expect(await shown()).toEqual(['record'])
    time += 10 * 365 * 24 * HOUR_MS
    expect(await shown()).toEqual(['record'])
  })

  it('twice within a day never leaves a moment without a key', async () => {
    const keys = await ensured()
    await keys.rotate('sandbox', 'record')
    time += HOUR_MS
    await keys.rotate('sandbox', 'record')
    for (let hour = 0; hour < 60; hour += 1) {
      time = START + hour * HOUR_MS
      const verdict = await verifyRecord(await keys.signRecord('sandbox', 'x', payload), await keys.jwks())
      expect(verdict).toMatchObject({ isValid: true })
    }
  })
})

describe('a revocation', () => {
  const MINUTE_MS = 60_000
  const RECORD = { environment: 'live', family: 'record' } as const
  const TOKEN = { environment: 'live', family: 'token' } as const

  it('of a token key takes it out of the key set, and every process refuses it a second later', async () => {
    const [here, there] = [await ensured(), open()]
    const kid = await signingKid(here, 'token')
    expect(await there.findKey(TOKEN, kid)).toMatchObject({ kid })
    const successor = await here.revoke(kid, now())
    expect(await here.findKey(TOKEN, kid)).toBeUndefined()
    time += 1_000
    expect(await there.findKey(TOKEN, kid)).toBeUndefined()
    const shown = (await there.jwks()).keys.map((key) => key.kid)
    expect(shown).not.toContain(kid)
    expect(shown).toContain(successor)
    expect(await there.findKey(TOKEN, successor)).toMatchObject({ kid: successor })
  })

  it('of a record key marks it, in the key set and in what verifies with it, and another signs at once', async () => {
    const [here, there] = [await ensured(), open()]
    const jws = await there.signRecord('live', 'x', payload)
    const since = new Date(START - HOUR_MS)
    const successor = await here.revoke(kidOf(jws), since)
    time += 1_000
    expect(kidOf(await there.signRecord('live', 'x', payload))).toBe(successor)
    const revoked = { revoked_at: new Date(START).toISOString(), doubted_since: since.toISOString() }
    const set = await there.jwks()
    expect(set.keys.find(({ kid }) => kid === kidOf(jws))).toMatchObject({ revoked })
    expect(await verifyRecord(jws, set)).toMatchObject({ isValid: true, revoked })
    expect(revocationOf(jws, set)).toEqual(revoked)
    expect(revocationOf(await there.signRecord('live', 'x', payload), set)).toBeUndefined()
    expect(await there.findKey(RECORD, kidOf(jws))).toMatchObject({ revoked })
  })

  it('holds for a process whose clock lags behind', async () => {
    const keys = await ensured()
    time += 2 * HOUR_MS
    const successor = await keys.revoke(await signingKid(keys, 'record'), now())
    const token = await signingKid(keys, 'token')
    await keys.revoke(token, now())
    time -= HOUR_MS
    expect(kidOf(await open().signRecord('live', 'x', payload))).toBe(successor)
    expect(await open().findKey(TOKEN, token)).toBeUndefined()
  })

  it('lets the announced key take over, and keeps the old one when the announced one is revoked', async () => {
    const keys = await ensured()
    const first = await signingKid(keys, 'record')
    const announced = await keys.rotate('live', 'record')
    expect(await keys.revoke(announced, now())).toBe(first)
    time += 48 * HOUR_MS
    expect(kidOf(await keys.signRecord('live', 'x', payload))).toBe(first)

    const next = await keys.rotate('live', 'record')
    time += MINUTE_MS
    expect(await keys.revoke(first, now())).toBe(next)
    expect(kidOf(await keys.signRecord('live', 'x', payload))).toBe(next)
  })

  it('of a key that no longer signs changes nothing for the one that does', async () => {
    const keys = await ensured()
    const old = await signingKid(keys, 'record')
    const signing = await keys.rotate('live', 'record', { isImmediate: true })
    expect(await keys.revoke(old, now())).toBe(signing)
    expect((await keys.list()).filter(({ environment }) => environment === 'live')).toHaveLength(3)
  })

  it('can only be doubted from an earlier time afterwards, and never from a time to come', async () => {
    const keys = await ensured()
    const kid = await signingKid(keys, 'record')
    const successor = await keys.revoke(kid, now())
    await expect(keys.revoke(kid, now())).rejects.toMatchObject({ code: 'conflict' })
    time += HOUR_MS
    expect(await keys.revoke(kid, new Date(START - HOUR_MS))).toBe(successor)
    expect((await keys.list()).find((key) => key.kid === kid)).toMatchObject({
      revokedAt: new Date(START),
      doubtedSince: new Date(START - HOUR_MS),
    })
    await expect(keys.revoke(successor, new Date(time + 1))).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(keys.revoke('nobody', now())).rejects.toMatchObject({ code: 'not_found' })
  })

  it('ends with one key that signs when several processes revoke and rotate at once', async () => {
    const keys = await ensured()
    const kid = await signingKid(keys, 'record')
    const all = [() => open().revoke(kid, now()), () => open().rotate('live', 'record', { isImmediate: true })]
    await Promise.allSettled([...all, ...all].map((act) => act()))
    time += 1_000
    const live = (await keys.list()).filter((key) => key.family === 'record' && key.environment === 'live')
    expect(live.filter(({ state }) => state === 'active')).toHaveLength(1)
    expect(live.find((key) => key.kid === kid)).toMatchObject({ state: 'revoked' })
  })

  it('does not keep a process from a key that another one has just made', async () => {
    const [here, there] = [await ensured(), open()]
    await there.jwks()
    const kid = await here.rotate('live', 'token', { isImmediate: true })
    time += 100
    expect(await there.findKey(TOKEN, kid)).toMatchObject({ kid })
    expect(await there.findKey({ ...TOKEN, environment: 'sandbox' }, kid)).toBeUndefined()
    expect(await there.findKey(RECORD, kid)).toBeUndefined()
  })
})

describe('a signed record', () => {
  it('is a compact ES256 JWS over the canonical payload, which any library verifies', async () => {
    const keys = await ensured()
    const jws = await keys.signRecord('sandbox', 'attest-result+jwt', payload)
    const { keys: set } = await keys.jwks()
    const key = set.find(({ kid }) => kid === kidOf(jws))
    expect(key).toMatchObject({ env: 'sandbox', family: 'record' })
    const verified = await compactVerify(jws, await importJWK({ ...key }, 'ES256'))
    expect(Buffer.from(verified.payload).toString()).toBe(canonicalize(payload))
    expect(verified.protectedHeader).toEqual({ alg: 'ES256', kid: key?.kid, typ: 'attest-result+jwt' })
  })

  it('verifies against the key set, also against that of later years', async () => {
    const keys = await ensured()
    const jws = await keys.signRecord('live', 'attest-result+jwt', payload)
    await keys.rotate('live', 'record')
    time += 10 * 365 * 24 * HOUR_MS
    expect(await verifyRecord(jws, await open().jwks())).toEqual({
      isValid: true,
      environment: 'live',
      typ: 'attest-result+jwt',
      kid: kidOf(jws),
      payload,
    })
  })

  it("is signed while this clock lags behind that of the key's creator", async () => {
    await open().ensure()
    time -= HOUR_MS
    await expect(open().signRecord('live', 'x', payload)).resolves.toBeTypeOf('string')
  })

  it('does not verify with any bit of payload or signature changed', async () => {
    const keys = await ensured()
    const [header, body = '', signature = ''] = (await keys.signRecord('live', 'x', { n: 1 })).split('.')
    const set = await keys.jwks()
    for (const [index, part] of [body, signature].entries()) {
      const bytes = Buffer.from(part, 'base64url')
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const changed = flipBit(bytes, bit).toString('base64url')
        const jws = index === 0 ? `${header}.${changed}.${signature}` : `${header}.${body}.${changed}`
        expect(await verifyRecord(jws, set)).toEqual({ isValid: false, reason: 'bad_signature' })
      }
    }
  })

  it('does not verify when it is malformed', async () => {
    const keys = await ensured()
    const set = await keys.jwks()
    const kid = kidOf(await keys.signRecord('live', 'x', payload))
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const forged = await new CompactSign(Buffer.from('{}'))
      .setProtectedHeader({ alg: 'ES256', typ: 'x', kid })
      .sign(stranger)
    const unsigned = `${base64url({ alg: 'none', typ: 'x', kid })}.${base64url({})}.`
    const confused = await new CompactSign(Buffer.from('{}'))
      .setProtectedHeader({ alg: 'HS256', typ: 'x', kid })
      .sign(Buffer.from(set.keys.find((key) => key.kid === kid)?.x ?? ''.padEnd(43)))
    const unknown = await new CompactSign(Buffer.from('{}'))
      .setProtectedHeader({ alg: 'ES256', typ: 'x', kid: 'k' })
      .sign(stranger)
    const nameless = await new CompactSign(Buffer.from('{}')).setProtectedHeader({ alg: 'ES256' }).sign(stranger)
    const reasons = await Promise.all(
      [forged, unsigned, confused, unknown, nameless, '', '..', 'a.b.c'].map((jws) => verifyRecord(jws, set)),
    )
    expect(reasons.map((verdict) => verdict.isValid || verdict.reason)).toEqual([
      'bad_signature',
      'bad_signature',
      'bad_signature',
      'unknown_key',
      'malformed',
      'malformed',
      'malformed',
      'malformed',
    ])
  })

  it('does not verify with a token key', async () => {
    const keys = await ensured()
    const jws = await keys.signRecord('live', 'x', payload)
    const asToken = (key: PublishedKey): PublishedKey => ({ ...key, family: 'token' })
    const { keys: set } = await keys.jwks()
    expect(await verifyRecord(jws, { keys: set.map(asToken) })).toEqual({ isValid: false, reason: 'unknown_key' })
  })
})

describe('the stored private key', () => {
  it('is sealed, and opens only in its own row', async () => {
    await open().ensure()
    const rows = await database.owner<{ sealed_private_key: Buffer; public_jwk: object }>('SELECT * FROM signing_keys')
    for (const row of rows) expect(Object.keys(row.public_jwk).sort()).toEqual(['crv', 'kty', 'x', 'y'])
    await database.owner(
      `UPDATE signing_keys SET environment = CASE environment WHEN 'live' THEN 'sandbox' ELSE 'live' END`,
    )
    await expect(open().signRecord('live', 'x', payload)).rejects.toThrow(Error)
  })

  it('does not open under another master key', async () => {
    await open().ensure()
    const sealer = createSealer({ current: { id: 'k1', key: randomBytes(32) } })
    await expect(createSigningKeys({ db: database.db, sealer, now }).signRecord('live', 'x', payload)).rejects.toThrow(
      Error,
    )
  })
})

function open() {
  return createSigningKeys({ db: database.db, sealer: createSealer({ current: masterKey }), now })
}

async function ensured() {
  const keys = open()
  await keys.ensure()
  return keys
}

async function signingKid(keys: SigningKeys, family: 'token' | 'record'): Promise<string> {
  const key = (await keys.list()).find((one) => one.environment === 'live' && one.family === family)
  if (key?.state !== 'active') throw new Error('there is no key')
  return key.kid
}

function kidOf(jws: string): string {
  return JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString()).kid
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
