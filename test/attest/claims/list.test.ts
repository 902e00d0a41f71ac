import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { attestFixture, BARE_PHOTO, makePhone, type Phone, shoot } from './phone.ts'
import { expectRefusal } from './refusal.ts'
import type { Caller, Service } from './service.ts'

let service: Service
let caller: Caller
let phone: Phone
let other: Phone
const batchId = newId('bat', 'sandbox')
/** Claim ids, in the order in which they were created. */
const made: string[] = []

interface Listed {
  claim_id: string
  reference: string | null
}

const list = (query: string, key = caller) => service.call(key, `/v1/claims${query}`)
const found = async (query: string) => {
  const { status, json, text } = await list(query)
  expect(status, text).toBe(200)
  return (json.data as Listed[]).map(({ reference }) => reference)
}

// One claim each, created one after the other; their references describe them.
beforeAll(async () => {
  ;({ service, caller, phone } = await attestFixture())
  other = await makePhone(service, caller, { name: 'Other' })
  const far = { lat: 0, lng: 0 }
  const submissions: [reference: string, body: object][] = [
    ['honest', shoot(phone, { externalId: 'first' })],
    ['exchanged', shoot(phone, { bundle: (bundle) => ({ ...bundle, sensor_hash: '0'.repeat(64) }) })],
    ['ungated', shoot(other, { biometric: undefined })],
    ['bare', { media_type: 'image', media: shoot(phone).media }],
    ['far', shoot(other, { claim: { loss_location: far } })],
    ['label', shoot(phone, { photo: BARE_PHOTO })],
  ]
  for (const [reference, body] of submissions) {
    const claim = { ...('claim' in body ? (body.claim as object) : {}), reference }
    const json = await service.judge(caller, { ...body, claim })
    made.push(String(json.claim_id))
    // Ids of one millisecond have no order.
    await new Promise((done) => setTimeout(done, 2))
  }
  const { json } = await service.attest(caller, shoot(phone, { claim: { reference: 'waiting' } }))
  made.push(String(json.claim_id))
  await service.test.owner(
    'INSERT INTO batches (account_id, environment, id, accepted, rejected) VALUES ($1, $2, $3, 1, $4)',
    [caller.accountId, caller.environment, batchId, '[]'],
  )
  await service.test.owner('UPDATE attestations SET batch_id = $1, batch_line = 1 WHERE claim_id = $2', [
    batchId,
    made[2],
  ])
})
afterAll(() => service.close())

describe('the list of claims', () => {
  it('returns the newest first, each claim with its present state', async () => {
    const { json } = await list('')
    expect(json).toMatchObject({ object: 'list', has_more: false, next_cursor: null })
    expect(json).not.toHaveProperty('total_count')
    expect((json.data as Listed[]).map(({ claim_id }) => claim_id)).toEqual(made.toReversed())
    expect((json.data as Listed[]).at(-1)).toEqual({
      claim_id: made[0],
      reference: 'honest',
      line: null,
      loss_location: null,
      loss_at: null,
      risk_status: 'review',
      risk_score: 40,
      provenance_status: 'verified',
      factor_codes: ['hardware_backing_absent'],
      advisory_codes: ['c2pa_absent'],
      case_id: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      erased_at: null,
    })
  })

  it.each([
    ['reference=ungated', ['ungated']],
    ['reference=nobody', []],
    ['reference=', []],
    ['external_id=first', ['honest']],
    ['external_id=second', []],
    ['risk_status=pending', ['waiting']],
    ['risk_status=review', ['label', 'far', 'honest']],
    ['risk_status=failed', ['bare', 'ungated', 'exchanged']],
    ['risk_status=passed', []],
    ['provenance_status=broken', ['exchanged']],
    ['provenance_status=unattested', ['bare']],
    ['provenance_status=attested_unverified', []],
    ['factor=sensor_hash_mismatch', ['exchanged']],
    ['factor=hardware_backing_absent', ['label', 'far', 'ungated', 'exchanged', 'honest']],
    ['factor=geofence_mismatch', ['far']],
    ['factor=exif_missing', ['label']],
    ['factor=c2pa_absent', ['label', 'far', 'bare', 'ungated', 'exchanged', 'honest']],
    ['factor=c2pa_invalid', []],
    ['risk_status=pending&risk_status=failed', ['waiting', 'bare', 'ungated', 'exchanged']],
    ['provenance_status=broken&provenance_status=unattested', ['bare', 'exchanged']],
    ['risk_score_gte=60', ['bare', 'exchanged']],
    ['risk_score_gte=40&risk_score_lt=41', ['label', 'far', 'honest']],
    ['risk_score_lt=0', []],
    ['line=auto', []],
    ['has_case=false&risk_status=pending', ['waiting']],
    ['has_case=true', []],
    ['updated_gte=2999-01-01T00:00:00Z', []],
    ['updated_lt=2000-01-01T00:00:00Z', []],
    ['order=asc&risk_status=review', ['honest', 'far', 'label']],
    ['risk_status=review&factor=exif_missing', ['label']],
    ['risk_status=failed&factor=exif_missing', []],
    ['created_gte=2999-01-01T00:00:00Z', []],
    ['created_lt=2000-01-01T00:00:00%2B01:00', []],
    ['created_gte=0000-01-01T00:00:00Z&reference=bare', ['bare']],
    ['created_lt=9999-12-31T23:59:59-23:59&reference=bare', ['bare']],
    ['reference=%27%20OR%20true--', []],
  ])('is filtered by %s', async (query, expected) => {
    expect(await found(`?${query}`)).toEqual(expected)
    const { json } = await list(`?${query}&include=total_count&limit=1`)
    expect(json.total_count).toBe(expected.length)
  })

  it('is filtered by device, by batch and by time of creation', async () => {
    expect(await found(`?device_id=${other.id}`)).toEqual(['far', 'ungated'])
    expect(await found(`?device_id=${newId('dev', 'sandbox')}`)).toEqual([])
    expect(await found(`?batch_id=${batchId}`)).toEqual(['ungated'])
    expect(await found(`?batch_id=${batchId}&device_id=${phone.id}`)).toEqual([])
    const { json } = await service.call(caller, `/v1/claims/${made[3]}`)
    const at = encodeURIComponent(String(json.created_at))
    expect(await found(`?created_gte=${at}`)).toEqual(['waiting', 'label', 'far', 'bare'])
    expect(await found(`?created_lt=${at}`)).toEqual(['ungated', 'exchanged', 'honest'])
  })

  it('finds by device also the captures that it signed under the name of another, each claim once', async () => {
    const account = await service.makeCaller()
    const [signer, named] = [await makePhone(service, account), await makePhone(service, account, { name: 'Named' })]
    const judge = (by: Phone, reference: string) => service.judge(account, shoot(by, { claim: { reference } }))
    await judge({ ...signer, id: named.id }, 'twice')
    await judge(signer, 'twice')
    await judge({ ...signer, id: named.id }, 'disguised')
    for (const { id } of [signer, named]) {
      const { json } = await list(`?device_id=${id}&include=total_count`, account)
      expect(json).toMatchObject({ data: [{ reference: 'disguised' }, { reference: 'twice' }], total_count: 2 })
    }
  })

  it.each([1, 2, 3, 6, 7, 100])('comes in pages of %i that omit nothing, with a correct end', async (limit) => {
    const seen: string[] = []
    let cursor = ''
    for (let page = 1; ; page += 1) {
      const { json } = await list(`?limit=${limit}&include=total_count${cursor}`)
      const data = json.data as Listed[]
      seen.push(...data.map(({ claim_id }) => claim_id))
      expect(json.total_count).toBe(made.length)
      expect(json.has_more).toBe(page * limit < made.length)
      if (json.has_more !== true) break
      expect(data).toHaveLength(limit)
      cursor = `&cursor=${json.next_cursor}`
    }
    expect(seen).toEqual(made.toReversed())
  })

  it.each(['score', 'updated'])('by %s comes in pages that omit nothing, in both directions', async (by) => {
    const { json: all } = await list(`?order_by=${by}`)
    const whole = all.data as (Listed & { risk_score: number; updated_at: string })[]
    expect(whole).toHaveLength(by === 'score' ? made.length - 1 : made.length)
    const values = whole.map(({ risk_score, updated_at }) => (by === 'score' ? risk_score : Date.parse(updated_at)))
    expect(values).toEqual(values.toSorted((a, b) => b - a))
    for (const order of ['asc', 'desc']) {
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const { json } = await list(`?order_by=${by}&order=${order}&limit=2${cursor}`)
        seen.push(...(json.data as Listed[]).map(({ claim_id }) => claim_id))
        if (json.has_more !== true) break
        cursor = `&cursor=${json.next_cursor}`
      }
      const ids = whole.map(({ claim_id }) => claim_id)
      expect(seen).toEqual(order === 'desc' ? ids : ids.toReversed())
    }
  })

  it('is filtered by line and by an open case', async () => {
    const account = await service.makeCaller({ scopes: ['attest', 'verify', 'escalate'] })
    const theirs = await makePhone(service, account)
    const attest = async (reference: string, line: string) =>
      String((await service.attest(account, shoot(theirs, { claim: { reference, line } }))).json.claim_id)
    const claimId = await attest('a', 'marine')
    await attest('b', 'auto')
    await attest('c', 'home')
    const refs = async (query: string) =>
      ((await list(query, account)).json.data as Listed[]).map(({ reference }) => reference)
    expect((await refs('?line=marine&line=home')).sort()).toEqual(['a', 'c'])
    const opened = await service.call(account, '/v1/cases', { json: { claim_id: claimId, actor: 'a@example.com' } })
    expect(opened.status).toBe(200)
    expect(await refs('?has_case=true')).toEqual(['a'])
    expect((await refs('?has_case=false')).sort()).toEqual(['b', 'c'])
  })

  it('keeps its position when claims are created in between', async () => {
    const account = await service.makeCaller()
    const theirs = await makePhone(service, account)
    const ids: string[] = []
    for (let index = 0; index < 4; index += 1) {
      ids.unshift(String((await service.attest(account, shoot(theirs))).json.claim_id))
      await new Promise((done) => setTimeout(done, 2))
    }
    const first = await list('?limit=2', account)
    await service.attest(account, shoot(theirs))
    const second = await list(`?limit=2&cursor=${first.json.next_cursor}`, account)
    expect([first, second].flatMap(({ json }) => (json.data as Listed[]).map(({ claim_id }) => claim_id))).toEqual(ids)
  })

  it('refuses unknown parameters and values', async () => {
    const cursor = (await list('?limit=1')).json.next_cursor
    const account = await service.makeCaller()
    const cases: [query: string, pointer: string, finding?: string][] = [
      ['?status=failed', '?status', 'unknown_field'],
      ['?risk_status=bad', '?risk_status', 'invalid_value'],
      ['?provenance_status=', '?provenance_status', 'invalid_value'],
      ['?factor=hardware', '?factor', 'invalid_value'],
      ['?batch_id=x', '?batch_id', 'invalid_id'],
      [`?device_id=${batchId}`, '?device_id', 'invalid_id'],
      ['?device_id=', '?device_id', 'invalid_id'],
      ['?created_gte=yesterday', '?created_gte', 'invalid_format'],
      ['?limit=0', '?limit'],
      ['?limit=101', '?limit'],
      ['?include=everything', '?include', 'invalid_value'],
      ['?reference=a&reference=b', '?reference', 'duplicate'],
      ['?reference=%00', '?reference', 'invalid_character'],
      ['?reference=%ff', '?', 'invalid_encoding'],
      ['?cursor=x', '?cursor', 'invalid_cursor'],
      [`?cursor=${cursor}&risk_status=failed`, '?cursor', 'invalid_cursor'],
      [`?cursor=${cursor}&order_by=score`, '?cursor', 'invalid_cursor'],
      ['?order_by=reference', '?order_by', 'invalid_value'],
      ['?risk_score_gte=-1', '?risk_score_gte'],
      ['?has_case=yes', '?has_case', 'invalid_value'],
      [`?cursor=${cursor}&created_gte=2020-01-01T00:00:00Z`, '?cursor', 'invalid_cursor'],
    ]
    for (const [query, pointer, finding] of cases) {
      const refusal = { status: 400, code: 'invalid_request', pointer, ...(finding === undefined ? {} : { finding }) }
      await expectRefusal(service, () => list(query), refusal)
    }
    const elsewhere = { status: 400, code: 'invalid_request', pointer: '?cursor', finding: 'invalid_cursor' }
    await expectRefusal(service, () => list(`?cursor=${cursor}`, account), elsewhere)
    await expectRefusal(
      service,
      () => service.call(caller, `/v1/claims/${made[0]}/attestations?cursor=${cursor}`),
      elsewhere,
    )
    for (const query of [`?batch_id=${newId('bat', 'live')}`, `?device_id=${newId('dev', 'live')}`]) {
      await expectRefusal(service, () => list(query), { status: 403, code: 'environment_mismatch' })
    }
  })
})

describe('one claim', () => {
  const evidence = (page: Record<string, unknown>) =>
    page.data as { attestation_id: string; submission: Record<string, unknown> }[]

  it('shows what was submitted, as it was sent, beside what was found', async () => {
    const body = { ...shoot(phone, { claim: { reference: 'shown' } }), assertion: 'QUJD' }
    const { claim_id, ...result } = await service.judge(caller, body)
    const { status, json } = await service.call(caller, `/v1/claims/${claim_id}/attestations`)
    expect(status).toBe(200)
    const { media_type, claim, bundle, signature, certificate_chain, assertion } = body
    expect(evidence(json)).toEqual([
      {
        ...result,
        claim_id,
        submission: { media_type, claim, bundle, signature, certificate_chain, assertion },
        certificates: certificate_chain?.map((der) => {
          const { subject, serialNumber, validFrom, validTo, fingerprint256 } = new X509Certificate(
            Buffer.from(der, 'base64'),
          )
          return {
            subject: expect.stringContaining(subject.split('=').at(-1) ?? ''),
            serial: expect.stringMatching(new RegExp(`^0*${serialNumber}$`, 'i')),
            not_before: new Date(validFrom).toISOString(),
            not_after: new Date(validTo).toISOString(),
            fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
          }
        }),
      },
    ])
  })

  it('has its attestations in pages, newest first', async () => {
    const ids: string[] = []
    let claimId = ''
    for (let index = 0; index < 5; index += 1) {
      const { json } = await service.attest(caller, shoot(phone, { claim: { reference: 'paged' } }))
      ids.unshift(String(json.attestation_id))
      claimId = String(json.claim_id)
      await new Promise((done) => setTimeout(done, 2))
    }
    const seen: string[] = []
    let cursor = ''
    do {
      const { json } = await service.call(caller, `/v1/claims/${claimId}/attestations?limit=2${cursor}`)
      seen.push(...evidence(json).map(({ attestation_id }) => attestation_id))
      const next = json.next_cursor as string | null
      cursor = next === null ? '' : `&cursor=${next}`
    } while (cursor !== '')
    expect(seen).toEqual(ids)

    const { json } = await service.call(caller, `/v1/claims/${claimId}/attestations?limit=2`)
    const borrowed = json.next_cursor as string
    const refusal = { status: 400, code: 'invalid_request', pointer: '?cursor', finding: 'invalid_cursor' }
    await expectRefusal(
      service,
      () => service.call(caller, `/v1/claims/${made[0]}/attestations?cursor=${borrowed}`),
      refusal,
    )
    const unknown = { status: 400, code: 'invalid_request', pointer: '?factor', finding: 'unknown_field' }
    await expectRefusal(service, () => service.call(caller, `/v1/claims/${made[0]}/attestations?factor=x`), unknown)
  })
})
