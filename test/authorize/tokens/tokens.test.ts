// The table of issued tokens, their places in the public lists, and the lists.

import { inflateSync } from 'node:zlib'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseIntentToken } from '#src/authorize/tokens/parse.ts'
import { findIntent, lockIntent, markExecuted, recordOutcome } from '#src/authorize/tokens/rows.ts'
import { openFacts, openToken } from '#src/authorize/tokens/sealed.ts'
import { createPermutation, createStatusIndexes, LIST_ENTRIES } from '#src/authorize/tokens/status-index.ts'
import { createStatusLists, encodeStatusList } from '#src/authorize/tokens/status-list.ts'
import type { TestCaller } from '../../support/callers.ts'
import { issueIntent } from '../../support/intents.ts'
import { startTestService, type TestService } from '../../support/service.ts'

let service: TestService
let caller: TestCaller

beforeAll(async () => {
  service = await startTestService()
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const tenant = <R>(work: Parameters<TestService['test']['db']['tenant']>[1]) =>
  service.test.db.tenant(caller, work) as Promise<R>

describe('an issued token', () => {
  it('is found as it was stored, with its facts and its string sealed', async () => {
    const { jti, token, claims, row } = await issueIntent(service.services, caller, { isSealed: true })
    const found = await service.test.db.tenant(caller, (tx) => findIntent(tx, jti))
    expect(found).toMatchObject({ ...row, actorKind: 'key', executedAt: null, outcome: null, revocationId: null })
    const { sealer, signingKeys } = service.services.platform
    expect(openFacts(sealer, jti, found?.sealedFacts ?? Buffer.alloc(0))).toEqual({ amount: '3' })
    expect(openToken(sealer, jti, found?.sealedToken ?? Buffer.alloc(0))).toBe(token)
    expect(() => openToken(sealer, `${jti}x`, found?.sealedToken ?? Buffer.alloc(0))).toThrow()
    expect(await parseIntentToken(token, signingKeys, caller)).toEqual({ isValid: true, claims })
    const stranger = await service.makeCaller()
    expect(await service.test.db.tenant(stranger, (tx) => findIntent(tx, jti))).toBeUndefined()
  })

  it('is executed once and gets one outcome, from the one that executed it', async () => {
    const { jti } = await issueIntent(service.services, caller)
    const outcome = (by: string) => tenant<boolean>((tx) => recordOutcome(tx, jti, { by, outcome: 'succeeded' }))
    expect(await outcome('key_1')).toBe(false)
    const executions = await Promise.all(
      ['key_1', 'key_1', 'key_1'].map((by) => tenant<boolean>((tx) => markExecuted(tx, jti, { by, key: 'k' }))),
    )
    expect(executions.toSorted()).toEqual([false, false, true])
    expect(await outcome('key_2')).toBe(false)
    expect((await Promise.all([outcome('key_1'), outcome('key_1')])).toSorted()).toEqual([false, true])
    expect(await service.test.db.tenant(caller, (tx) => lockIntent(tx, jti))).toMatchObject({
      executedBy: 'key_1',
      executionKey: 'k',
      outcome: 'succeeded',
    })
  })

  it('loses its sealed string when it expires, and its row a month later', async () => {
    const rules = service.services.authorize.tokens.feature.retention ?? []
    const purge = async (what: string, before: Date) => {
      const rule = rules.find((one) => one.what === what)
      return rule?.per === 'tenant' ? rule.purge(caller, before, new AbortController().signal) : undefined
    }
    const expired = await issueIntent(service.services, caller, { isSealed: true, lifetimeSeconds: -1 })
    const current = await issueIntent(service.services, caller, { isSealed: true })
    expect(await purge('sealed_tokens', new Date())).toBe(1)
    const sealedOf = async (jti: string) =>
      (await service.test.db.tenant(caller, (tx) => findIntent(tx, jti)))?.sealedToken ?? null
    expect(await sealedOf(expired.jti)).toBeNull()
    expect(await sealedOf(current.jti)).not.toBeNull()
    expect(await purge('intents', new Date())).toBe(1)
    expect(await service.test.db.tenant(caller, (tx) => findIntent(tx, expired.jti))).toBeUndefined()
  })
})

describe('a place in a status list', () => {
  it('belongs to one token, whatever number of processes draw them', async () => {
    const { platform } = service.services
    const processes = [createStatusIndexes(platform), createStatusIndexes(platform), createStatusIndexes(platform)]
    const drawn = await Promise.all(Array.from({ length: 1_500 }, (_, index) => processes[index % 3]?.next('sandbox')))
    expect(new Set(drawn.map((place) => `${place?.list} ${place?.index}`)).size).toBe(1_500)
    // Neighbours in time are strangers in the list.
    const first = drawn.slice(0, 9).map((place) => place?.index ?? 0)
    expect(Math.max(...first) - Math.min(...first)).toBeGreaterThan(1_000)
  })

  it('is a permutation of the list, another for each seed', () => {
    const permutations = [0, 1].map((fill) => createPermutation(Buffer.alloc(32, fill)))
    for (const permute of permutations) {
      const places = new Set(Array.from({ length: LIST_ENTRIES }, (_, slot) => permute(slot)))
      expect(places.size).toBe(LIST_ENTRIES)
      expect([...places].filter((place) => place < 0 || place >= LIST_ENTRIES)).toEqual([])
    }
    const same = Array.from({ length: 1_000 }, (_, slot) => slot).filter(
      (slot) => permutations[0]?.(slot) === permutations[1]?.(slot),
    )
    expect(same.length).toBeLessThan(10)
  })

  it('goes on in the next list when one is full', async () => {
    await service.test.owner("SELECT setval('status_blocks_live', 511)")
    const indexes = createStatusIndexes(service.services.platform)
    const { list, reference } = await indexes.next('live')
    expect(list).toBe(1)
    expect(reference.uri).toMatch(/\/v1\/intent\/status-lists\/live_1$/)
  })
})

describe('a status list', () => {
  const fetchList = (id: string, headers: Record<string, string> = {}) =>
    service.call({}, `/v1/intent/status-lists/${id}`, { headers })
  const bitsOf = (lst: string, index: number) => {
    const bytes = inflateSync(Buffer.from(lst, 'base64url'))
    return ((bytes[index >> 2] ?? 0) >> ((index & 3) * 2)) & 3
  }

  it('is encoded as the draft has it: two bits each, the first lowest, in ZLIB', async () => {
    // Section 4.1 of the draft has 1, 2, 0, 3, 0, 1, 0, 1, 1, 2, 3, 3 as c9 44 f9. Ours has 0 and 1 only.
    const bytes = inflateSync(Buffer.from(await encodeStatusList([0, 2, 5, 11], 16), 'base64url'))
    expect(bytes.toString('hex')).toBe('11044000')
    const full = inflateSync(Buffer.from(await encodeStatusList([LIST_ENTRIES - 1]), 'base64url'))
    expect([full.length, full.at(-1)]).toEqual([32_768, 0x40])
  })

  it('shows a revoked token within the time that it is kept, and no other, to everyone and signed', async () => {
    const { jti, claims } = await issueIntent(service.services, caller)
    const other = await issueIntent(service.services, caller)
    const { idx, uri } = claims.status.status_list
    const id = uri.split('/').at(-1) ?? ''
    const keys = createLocalJWKSet((await service.services.platform.signingKeys.jwks()) as JSONWebKeySet)
    const readList = async () => {
      const answer = await fetchList(id)
      expect(answer).toMatchObject({
        status: 200,
        headers: {
          'content-type': 'application/statuslist+jwt',
          'cache-control': 'public, max-age=20',
          'access-control-allow-origin': '*',
        },
      })
      const { payload, protectedHeader } = await jwtVerify<{ status_list: { bits: number; lst: string }; ttl: number }>(
        answer.text,
        keys,
        { typ: 'statuslist+jwt', algorithms: ['ES256'], currentDate: service.clock.now },
      )
      expect(payload).toMatchObject({ sub: uri, ttl: 60, exp: (payload.iat ?? 0) + 3_600, status_list: { bits: 2 } })
      expect(protectedHeader.kid).toBeTruthy()
      return payload.status_list.lst
    }

    const start = Date.now()
    service.clock.now = new Date(start)
    expect(bitsOf(await readList(), idx)).toBe(0)
    await service.call(caller, '/v1/intent/revocations', { json: { scope: 'token', jti, reason: 'r' } })
    service.clock.now = new Date(start + 10_001)
    const lst = await readList()
    expect([bitsOf(lst, idx), bitsOf(lst, other.claims.status.status_list.idx)]).toEqual([1, 0])
    service.clock.now = undefined
  })

  it('is kept by caches by its ETag, and built once for all who ask', async () => {
    const { claims } = await issueIntent(service.services, caller)
    const id = claims.status.status_list.uri.split('/').at(-1) ?? ''
    const start = Date.now() + 60_000
    service.clock.now = new Date(start)
    const [first, second] = await Promise.all([fetchList(id), fetchList(id)])
    expect(second?.text).toBe(first?.text)
    const unchanged = await fetchList(id, { 'If-None-Match': first?.headers.etag ?? '' })
    expect(unchanged.status).toBe(304)
    service.clock.now = undefined
  })

  it('exists only where a token was issued', async () => {
    for (const id of ['test_99999', 'live_77', 'sandbox_0', 'test_00', 'test_-1', 'test_1e3', 'test_', 'x']) {
      expect([id, (await fetchList(id)).json.code]).toEqual([id, 'not_found'])
    }
  })

  it('stays in the cache while hundreds ask for lists that do not exist', async () => {
    const { claims } = await issueIntent(service.services, caller)
    const id = claims.status.status_list.uri.split('/').at(-1) ?? ''
    const at = new Date()
    const lists = createStatusLists({ ...service.services.platform, now: () => at })
    const kept = await lists.get(id)
    const unknown = await Promise.allSettled(Array.from({ length: 300 }, (_, n) => lists.get(`live_${1_000 + n}`)))
    expect(unknown.every(({ status }) => status === 'rejected')).toBe(true)
    // Signed again, it would have another signature.
    expect(await lists.get(id)).toBe(kept)
  })

  it('forgets places a day after their tokens expired', async () => {
    await service.test.owner(
      `INSERT INTO status_bits (environment, list, index, expires_at)
       VALUES ('live', 9, 1, now() - interval '2 days'), ('live', 9, 2, now() - interval '2 hours')`,
    )
    const rule = service.services.authorize.tokens.feature.retention?.find(({ what }) => what === 'status_bits')
    if (rule?.per === 'deployment') await rule.purge()
    expect(await service.test.owner('SELECT index FROM status_bits WHERE list = 9')).toEqual([{ index: 2 }])
  })
})

it('the configuration names addresses that this service answers', async () => {
  const { json, headers } = await service.call({}, '/.well-known/svc-configuration')
  expect(headers['access-control-allow-origin']).toBe('*')
  const { baseUrl, signingKeys } = service.services.platform
  expect(json).toMatchObject({ issuer: baseUrl, token_signing_alg_values_supported: ['ES256'] })
  for (const member of ['jwks_uri', 'openapi_uri']) {
    expect((await service.call({}, String(json[member]).slice(baseUrl.length))).status).toBe(200)
  }
  expect((await service.call({}, '/v1/jwks')).json).toEqual(await signingKeys.jwks())
})
