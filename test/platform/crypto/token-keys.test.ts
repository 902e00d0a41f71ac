import { randomBytes } from 'node:crypto'
import { compactVerify, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSealer } from '#src/platform/crypto/seal.ts'
import { createSigningKeys } from '#src/platform/crypto/signing-keys.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

const DAY_MS = 86_400_000
const START = Date.parse('2026-11-20T12:00:00Z')
const sealer = createSealer({ current: { id: 'k1', key: randomBytes(32) } })

let database: TestDatabase
let time = START
const open = () => createSigningKeys({ db: database.db, sealer, now: () => new Date(time) })

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.close())
beforeEach(async () => {
  time = START
  await database.owner('DELETE FROM signing_keys')
})

describe('a token', () => {
  it('is signed by the token key of its environment, with its members in their order', async () => {
    const keys = open()
    await keys.ensure()
    for (const environment of ['sandbox', 'live'] as const) {
      const token = await keys.signToken(environment, 'intent+jwt', { z: 1, a: 'ä', left: undefined })
      const { kid = '', ...header } = decodeProtectedHeader(token)
      expect(header).toEqual({ alg: 'ES256', typ: 'intent+jwt' })
      const key = await keys.findTokenKey(kid)
      expect(key).toMatchObject({ kid, environment })
      if (key === undefined) return
      const { payload } = await compactVerify(token, key.publicKey)
      expect(new TextDecoder().decode(payload)).toBe('{"z":1,"a":"ä"}')
      expect(await keys.findTokenKey(kid)).toBe(key)
    }
  })

  it('is not verified with a record key, an unknown key, or one that was revoked', async () => {
    const keys = open()
    await keys.ensure()
    const record = decodeProtectedHeader(await keys.signRecord('live', 'x', {})).kid ?? ''
    const token = decodeProtectedHeader(await keys.signToken('live', 'x', {})).kid ?? ''
    for (const kid of [record, 'unknown', '', '__proto__']) expect(await keys.findTokenKey(kid)).toBeUndefined()
    expect(await keys.findTokenKey(token)).toBeDefined()
    await keys.revoke(token, new Date(START))
    expect(await keys.findTokenKey(token)).toBeUndefined()
    expect(decodeProtectedHeader(await keys.signToken('live', 'x', {})).kid).not.toBe(token)
  })

  it('is verified with a retired key until the last one that it signed has expired', async () => {
    const keys = open()
    await keys.ensure()
    const kid = decodeProtectedHeader(await keys.signToken('live', 'x', {})).kid ?? ''
    await keys.rotate('live', 'token', { isImmediate: true })
    time += 8 * DAY_MS
    expect(await keys.findTokenKey(kid)).toBeDefined()
    time += DAY_MS
    expect(await keys.findTokenKey(kid)).toBeUndefined()
  })
})
