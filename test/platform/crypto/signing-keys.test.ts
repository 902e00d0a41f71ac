import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { CompactSign, calculateJwkThumbprint, compactVerify, importJWK } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { createSealer } from '#src/platform/crypto/seal.ts'
import { createSigningKeys, type PublishedKey, verifyRecord } from '#src/platform/crypto/signing-keys.ts'
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

  it('is read at most once a minute', async () => {
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
    time += 59_999
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

function kidOf(jws: string): string {
  return JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString()).kid
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
