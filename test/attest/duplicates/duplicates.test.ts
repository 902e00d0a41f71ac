import { randomUUID } from 'node:crypto'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CompareDeps, createCompare } from '#src/attest/duplicates/compare.ts'
import { createHasher } from '#src/attest/duplicates/hasher.ts'
import { distanceOf } from '#src/attest/duplicates/phash.ts'
import { MAX_NAMED, RADIUS_BITS } from '#src/attest/duplicates/search.ts'
import { newId } from '#src/platform/ids.ts'
import { createJobs, type Jobs } from '../../support/jobs.ts'
import { attestFixture, makePhone, type Phone, shoot } from '../claims/phone.ts'
import { type Caller, type Service, startService } from '../claims/service.ts'
import { drawPicture, markPicture, recompress } from './pictures.ts'

interface Found {
  code: string
  evidence: {
    distance_bits?: number
    others?: { claim_id: string; attestation_id: string }[]
    more?: number
    why?: string
  }
}

let service: Service
let caller: Caller
let phone: Phone
let jobs: Jobs<'compare'>
const makeCompare = (deps: Partial<CompareDeps> = {}) => {
  const { platform, attest } = service.services
  return createCompare({ ...platform, hasher: createHasher(attest.media.decoder), ...deps })
}

beforeAll(async () => {
  service = await startService()
  jobs = createJobs(service.test, 'compare')
  ;({ caller, phone } = await attestFixture({ service }))
})
afterAll(() => service?.close())

let taken = 0
function takePhoto(): Promise<Buffer> {
  taken += 1
  return drawPicture(taken)
}

/** A capture of a claim of its own, evaluated. */
async function submit(photo: Buffer, { as = caller, by = phone, reference = String(randomUUID()) } = {}) {
  const json = await service.judge(as, { ...shoot(by, { photo }), claim: { reference } })
  return json as { attestation_id: string; claim_id: string; media_id: string; result_jws: string }
}

async function settle(work = makeCompare()) {
  await jobs.hurry()
  await jobs.drain(work)
}

async function erase(claimId = ''): Promise<void> {
  await service.services.attest.erasure.erasure.erase(caller, claimId, { requestId: 'r' })
}

async function findingsOf({ claim_id: id }: { claim_id: string }, as = caller): Promise<Found[]> {
  const { json } = await service.call(as, `/v1/claims/${id}/attestations`)
  const { data } = json as unknown as { data: { observations: Found[] }[] }
  return data.flatMap(({ observations }) => observations)
}

describe('duplicates', () => {
  it('are reported on the later claim, with the distance and the earlier claim', async () => {
    const photo = await takePhoto()
    const first = await submit(photo)
    const same = await submit(photo)
    const alike = await submit(await recompress(photo))
    const other = await submit(await takePhoto())
    expect(await findingsOf(same)).toEqual([])
    await settle()
    expect(await findingsOf(first)).toEqual([])
    expect(await findingsOf(other)).toEqual([])
    expect(await findingsOf(same)).toMatchObject([
      {
        code: 'duplicate_media',
        evidence: {
          distance_bits: 0,
          others: [{ claim_id: first.claim_id, attestation_id: first.attestation_id }],
          more: 0,
        },
      },
    ])
    const [similar, ...more] = await findingsOf(alike)
    expect(more).toEqual([])
    expect(similar?.code).toBe('similar_media')
    expect(similar?.evidence.distance_bits).toBeLessThanOrEqual(6)
    expect(similar?.evidence.others?.map(({ claim_id }) => claim_id)).toEqual([first.claim_id, same.claim_id])
  })

  it('are not pictures that are alike at a glance only', async () => {
    const photo = await takePhoto()
    const marked = await markPicture(photo)
    const first = await submit(photo)
    const other = await submit(marked)
    const copy = await submit(await recompress(marked))
    await settle()
    const hashes = await service.test.owner<{ hash: string }>(
      `SELECT lpad(to_hex(hash), 16, '0') AS hash FROM pictures WHERE media_id = ANY($1)`,
      [[first.media_id, other.media_id]],
    )
    const [one = '', two = ''] = hashes.map(({ hash }) => hash)
    expect(distanceOf(one, two)).toBeLessThanOrEqual(RADIUS_BITS)
    expect(await findingsOf(other)).toEqual([])
    expect((await findingsOf(copy)).flatMap(({ evidence }) => evidence.others?.map(({ claim_id: id }) => id))).toEqual([
      other.claim_id,
    ])
  })

  it('leave the signed result unchanged, and are shown on the attestation too', async () => {
    const photo = await takePhoto()
    await submit(photo)
    const later = await submit(photo)
    await settle()
    const { json } = await service.call(caller, `/v1/attestations/${later.attestation_id}`)
    expect((json.observations as Found[]).map(({ code }) => code)).toEqual(['duplicate_media'])
    expect(json.result_jws).toBe(later.result_jws)
  })

  it('are not reported within one claim, across accounts, or across environments', async () => {
    const photo = await takePhoto()
    const copy = await recompress(photo)
    await submit(photo, { reference: 'one claim' })
    const again = await submit(copy, { reference: 'one claim' })
    const stranger = await service.makeCaller()
    const theirs = await submit(copy, { as: stranger, by: await makePhone(service, stranger) })
    const key = service.addKey({ accountId: caller.accountId, environment: 'live' })
    const live: Caller = { ...caller, environment: 'live', key }
    const ours = await submit(photo, { as: live, by: await makePhone(service, live) })
    await settle()
    expect(await findingsOf(again)).toEqual([])
    expect(await findingsOf(theirs, stranger)).toEqual([])
    expect(await findingsOf(ours, live)).toEqual([])
  })

  it('are reported once, on the later claim, in any order of hashing', async () => {
    const photo = await takePhoto()
    const bodies = [photo, await recompress(photo), photo, await recompress(photo, 45), photo]
    const sent = await Promise.all(bodies.map((one) => submit(one)))
    const byId = sent.toSorted((a, b) => (a.attestation_id < b.attestation_id ? -1 : 1))
    // Two workers, and two jobs of each attestation.
    const [one, other] = [makeCompare(), makeCompare()]
    const compareOne = (id: string, work = one) => jobs.runNew(caller, { attestationId: id }, work)
    // The youngest first, then all others together.
    for (const { attestation_id } of byId.toReversed().slice(0, 2)) await compareOne(attestation_id)
    await Promise.all(sent.flatMap(({ attestation_id: id }) => [compareOne(id), compareOne(id, other)]))
    await settle()
    for (const [index, one] of byId.entries()) {
      const others = (await findingsOf(one)).flatMap(({ evidence }) => evidence.others ?? [])
      expect(others.map(({ claim_id }) => claim_id).sort(), `the ${index}th`).toEqual(
        byId
          .slice(0, index)
          .map(({ claim_id }) => claim_id)
          .sort(),
      )
    }
  })

  it('name ten other claims and count the others', async () => {
    const photo = await takePhoto()
    const sent = []
    for (let index = 0; index < MAX_NAMED + 3; index += 1) sent.push(await submit(photo))
    await settle()
    const last = sent.at(-1) ?? expect.fail()
    const [found] = await findingsOf(last)
    expect(found?.evidence.others?.map(({ claim_id }) => claim_id)).toEqual(
      sent.slice(0, MAX_NAMED).map(({ claim_id }) => claim_id),
    )
    expect(found?.evidence.more).toBe(2)
  })
})

describe('a photo that can’t be compared', () => {
  it('is reported as uniform', async () => {
    const black = (grey: number) =>
      sharp({ create: { width: 64, height: 64, channels: 3, background: { r: grey, g: grey, b: grey } } })
        .jpeg()
        .toBuffer()
    const first = await submit(await black(0))
    const second = await submit(await black(3))
    const third = await submit(await black(0))
    await settle()
    const flat = { code: 'not_comparable', evidence: { why: 'flat' } }
    expect(await findingsOf(first)).toMatchObject([flat])
    expect(await findingsOf(second)).toMatchObject([flat])
    // The same bytes are still reported as the same bytes.
    expect(await findingsOf(third)).toMatchObject([{ code: 'duplicate_media' }, flat])
  })

  it('is reported as damaged, or as stopping its decoder twice', async () => {
    const photo = await takePhoto()
    const cut = await submit(photo.subarray(0, photo.length / 2))
    await settle()
    expect(await findingsOf(cut)).toMatchObject([{ code: 'not_comparable', evidence: { why: 'unreadable' } }])

    const stuck = await submit(await takePhoto())
    const slow = makeCompare({ hasher: { hash: async () => ({ ok: false, code: 'timeout', detail: 'too slow' }) } })
    await settle(slow)
    expect(await findingsOf(stuck)).toEqual([])
    await jobs.hurry()
    await settle(slow)
    expect(await findingsOf(stuck)).toMatchObject([{ code: 'not_comparable', evidence: { why: 'timeout' } }])
  })
})

describe('duplicates of an erased claim', () => {
  it('lose their place in a finding to the next claim', async () => {
    const photo = await takePhoto()
    const sent = []
    for (let index = 0; index < MAX_NAMED + 2; index += 1) sent.push(await submit(photo))
    await settle()
    await erase(sent[0]?.claim_id)
    await settle()
    const [found] = await findingsOf(sent.at(-1) ?? expect.fail())
    expect(found?.evidence.others?.map(({ claim_id }) => claim_id)).toEqual(
      sent.slice(1, -1).map(({ claim_id }) => claim_id),
    )
    expect(found?.evidence.more).toBe(0)
  })

  it('disappear from every finding at once, and its own are empty', async () => {
    const photo = await takePhoto()
    const [first, second, third] = [await submit(photo), await submit(await recompress(photo)), await submit(photo)]
    await settle()
    await erase(first.claim_id)
    for (const round of ['at once', 'when it was compared again']) {
      expect(await findingsOf(second), round).toEqual([])
      const [found, ...more] = await findingsOf(third)
      expect(found, round).toMatchObject({ code: 'similar_media', evidence: { more: 0 } })
      expect(found?.evidence.others?.map(({ claim_id }) => claim_id)).toEqual([second.claim_id])
      expect(more).toEqual([])
      await settle()
    }
    await erase(third.claim_id)
    expect(await findingsOf(third)).toEqual([])
    const [row] = await service.test.owner<{ count: number }>(
      'SELECT count(*)::int AS count FROM fingerprints WHERE claim_id = ANY($1)',
      [[first.claim_id, third.claim_id]],
    )
    expect(row?.count).toBe(0)
  })
})

describe('GET /v1/claims/:id/duplicates', () => {
  const keys: Record<string, string> = {}
  beforeAll(() => {
    const { accountId, environment } = caller
    keys.ours = service.addKey({ accountId, environment, scopes: ['verify'] })
    keys.attest = service.addKey({ accountId, environment, scopes: ['attest', 'escalate', 'admin'] })
    keys.live = service.addKey({ accountId, environment: 'live' })
    keys.stranger = service.addKey({})
  })
  const list = (id: string, query = '', key = 'ours') =>
    service.call({ key: keys[key] ?? key }, `/v1/claims/${id}/duplicates${query}`)

  it('lists both directions, page by page, and counts photos not yet compared', async () => {
    const photo = await takePhoto()
    const first = await submit(photo)
    const later = await submit(photo)
    const alike = await submit(await recompress(photo), { reference: 'two captures' })
    await settle()
    const waiting = await submit(await takePhoto(), { reference: 'two captures' })
    const nothing = { not_comparable: null, earlier_more: 0, later: [] }
    const named = ({ claim_id, attestation_id, media_id }: typeof first, distance = 0) => ({
      claim_id,
      attestation_id,
      media_id,
      kind: distance === 0 ? 'duplicate_media' : 'similar_media',
      distance_bits: distance,
    })
    const one = await list(alike.claim_id, '?limit=1')
    expect(one.json.data).toEqual([
      {
        ...nothing,
        attestation_id: waiting.attestation_id,
        media_id: waiting.media_id,
        status: 'pending',
        earlier: [],
      },
    ])
    const next = await list(alike.claim_id, `?limit=1&cursor=${one.json.next_cursor}`)
    expect(next.json).toMatchObject({ has_more: false, next_cursor: null })
    const [{ earlier }] = next.json.data as [{ earlier: { claim_id: string; distance_bits: number }[] }]
    expect(earlier.map(({ claim_id }) => claim_id)).toEqual([first.claim_id, later.claim_id])
    const distance = earlier[0]?.distance_bits ?? expect.fail()
    expect((await list(first.claim_id)).json.data).toEqual([
      {
        ...nothing,
        attestation_id: first.attestation_id,
        media_id: first.media_id,
        status: 'compared',
        earlier: [],
        later: [named(later), { ...named(alike, 1), distance_bits: distance }],
      },
    ])
    expect((await list(later.claim_id)).json.data).toMatchObject([{ earlier: [named(first)], earlier_more: 0 }])
  })

  it('refuses an invalid key, scope, id or query', async () => {
    const { claim_id: id } = await submit(await takePhoto())
    const cases: [number, string, Parameters<typeof list>][] = [
      [401, 'invalid_api_key', [id, '', 'nobody']],
      [403, 'insufficient_scope', [id, '', 'attest']],
      [403, 'environment_mismatch', [id, '', 'live']],
      [404, 'not_found', [id, '', 'stranger']],
      [404, 'not_found', [newId('clm', 'sandbox')]],
      [404, 'not_found', ['clm_test_no']],
      [400, 'invalid_request', [id, '?limit=101']],
      [400, 'invalid_request', [id, '?cursor=abc']],
      [400, 'invalid_request', [id, '?unknown=1']],
    ]
    for (const [status, code, asked] of cases) {
      const answer = await list(...asked)
      expect(`${answer.status} ${answer.json.code}`, asked.join(' ')).toBe(`${status} ${code}`)
    }
    expect((await service.call({}, `/v1/claims/${id}/duplicates`)).json.code).toBe('authentication_required')
  })
})
