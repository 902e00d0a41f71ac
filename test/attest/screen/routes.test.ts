// Screenings over HTTP: what is accepted, what is refused, lists, batches, and what an erasure deletes.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClaimErasure } from '#src/attest/erasure/erase.ts'
import { newId } from '#src/platform/ids.ts'
import { makeServices } from '../../support/services.ts'
import { type Caller, type ScreenService, startScreening } from './service.ts'

let service: ScreenService
let caller: Caller
let mediaId: string
beforeAll(async () => {
  service = await startScreening()
  caller = await service.makeCaller()
  mediaId = (await service.makeImage(caller)).id
})
afterAll(() => service?.close())

const count = async (table: string) =>
  Number((await service.test.owner<{ count: string }>(`SELECT count(*) FROM ${table}`))[0]?.count)
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('POST /v1/media/screen', () => {
  it('waits while the queue works, and answers 200; else 202 with the address to poll', async () => {
    const { status, headers, json } = await service.screen(caller, { media: { media_id: mediaId } })
    expect(status).toBe(202)
    expect(headers.location).toBe(`/v1/media/screenings/${json.screening_id}`)
    expect(headers['retry-after']).toBe('1')
    expect(headers['preference-applied']).toBe('wait=0')
    expect(json).toMatchObject({ status: 'queued', genai_score: null, detector: null, media_id: mediaId })
    const waiting = service.call(caller, `/v1/media/screenings/${json.screening_id}?wait=20`)
    await service.run(json.screening_id)
    expect(await waiting).toMatchObject({ status: 200, json: { status: 'succeeded' } })
    const queued = await service.screen(caller, { media: { media_id: mediaId } })
    const path = `/v1/media/screenings/${queued.json.screening_id}`
    expect(await service.call(caller, path)).toMatchObject({ status: 200, json: { status: 'queued' } })
  })

  it('accepts inline images, and the same bytes are the same media', async () => {
    const body = { media: { content_type: 'image/png', data: PNG.toString('base64') } }
    const [one, two] = [await service.screen(caller, body), await service.screen(caller, body)]
    expect([one.status, two.status]).toEqual([202, 202])
    expect(one.json.media_id).toBe(two.json.media_id)
    expect(one.json.screening_id).not.toBe(two.json.screening_id)
  })

  it('screens once for an Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'k-1', Prefer: 'wait=0' }
    const body = { media: { media_id: mediaId } }
    const first = await service.screen(caller, body, headers)
    const again = await service.screen(caller, body, headers)
    expect(again.json.screening_id).toBe(first.json.screening_id)
    expect(again.headers['idempotent-replayed']).toBe('true')
    const other = await service.screen(caller, { media: { media_id: newId('med', 'sandbox') } }, headers)
    expect(other.json.code).toBe('idempotency_key_reused')
  })

  it('refuses invalid requests with the reason, and stores nothing', async () => {
    const stranger = await service.makeCaller()
    const theirs = (await service.makeImage(stranger)).id
    const theirClaim = await service.makeClaim(stranger)
    const erased = await service.makeClaim(caller, { erasing_since: new Date() })
    const media = { media_id: mediaId }
    const cases: [string, unknown, string, string, string?][] = [
      ['no body', {}, 'invalid_request', '/media'],
      [
        'an address',
        { media: { url: 'http://169.254.169.254/x.jpg' } },
        'invalid_request',
        '/media/url',
        'remote_media_refused',
      ],
      ['an address beside', { media: { ...media, url: 'https://a.example/' } }, 'invalid_request', '/media/url'],
      ['an unknown member', { media, model: 'genai' }, 'invalid_request', '/model'],
      ['no base64', { media: { content_type: 'image/png', data: '!!' } }, 'invalid_request', '/media/data'],
      [
        'another type',
        { media: { content_type: 'image/jpeg', data: PNG.toString('base64') } },
        'invalid_request',
        '/media/data',
      ],
      [
        'no image',
        { media: { content_type: 'text/html', data: 'AAAA' } },
        'unsupported_media_type',
        '/media/content_type',
      ],
      ['no id', { media: { media_id: 'x' } }, 'not_found', '/media/media_id'],
      ['unknown media', { media: { media_id: newId('med', 'sandbox') } }, 'not_found', '/media/media_id'],
      ['media of another account', { media: { media_id: theirs } }, 'not_found', '/media/media_id'],
      ['media of live', { media: { media_id: newId('med', 'live') } }, 'environment_mismatch', '/media/media_id'],
      ['a claim of another account', { media, claim_id: theirClaim }, 'not_found', '/claim_id'],
      ['a claim of live', { media, claim_id: newId('clm', 'live') }, 'environment_mismatch', '/claim_id'],
      ['an erased claim', { media, claim_id: erased }, 'claim_erased', '/claim_id'],
    ]
    const before = [await count('screenings'), await count('jobs')]
    for (const [what, body, code, pointer, finding] of cases) {
      const { json, text } = await service.screen(caller, body)
      expect(json.code, `${what}: ${text}`).toBe(code)
      expect(
        json.errors?.map((error) => error.pointer),
        what,
      ).toContain(pointer)
      if (finding !== undefined)
        expect(
          json.errors?.map((error) => error.code),
          what,
        ).toContain(finding)
    }
    expect([await count('screenings'), await count('jobs')]).toEqual(before)
  })

  it('needs a key with its scope, and shows only the account’s own screenings', async () => {
    const { json } = await service.screen(caller, { media: { media_id: mediaId } })
    const path = `/v1/media/screenings/${json.screening_id}`
    const stranger = await service.makeCaller()
    const live = { key: service.addKey({ ...caller, environment: 'live' }) }
    const weak = { key: service.addKey({ ...caller, scopes: ['attest', 'verify', 'escalate', 'admin', 'intent'] }) }
    const codes = async (who: { key: string | undefined }, at: string) => (await service.call(who, at)).json.code
    expect(await codes({ key: undefined }, path)).toBe('authentication_required')
    expect(await codes(stranger, path)).toBe('not_found')
    expect(await codes(live, path)).toBe('environment_mismatch')
    for (const at of [path, '/v1/media/screenings', `/v1/media/screenings/batches/${newId('bat', 'sandbox')}`]) {
      expect(await codes(weak, at), at).toBe('insufficient_scope')
    }
    expect((await service.screen(weak, { media: { media_id: mediaId } })).json.code).toBe('insufficient_scope')
    expect((await service.call(stranger, '/v1/media/screenings')).json.data).toEqual([])
    expect(await codes(caller, '/v1/media/screenings/nonsense')).toBe('not_found')
    expect(await codes(caller, `${path}?wait=31`)).toBe('invalid_request')
  })

  it('lists the newest first, filtered, page by page', async () => {
    const who = await service.makeCaller()
    const claimId = await service.makeClaim(who)
    const images = [await service.makeImage(who), await service.makeImage(who), await service.makeImage(who)]
    service.server.answer = { json: { genai_score: 0.9, deepfake_score: 0.1 } }
    const ids: string[] = []
    for (const [index, { id }] of images.entries()) {
      service.clock.now = new Date(Date.now() + index)
      const more = index === 0 ? { claim_id: claimId } : {}
      ids.push(String((await service.screen(who, { media: { media_id: id }, ...more })).json.screening_id))
    }
    await service.run(ids[0])
    const idsOf = async (query: string) => {
      const { json } = await service.call(who, `/v1/media/screenings?${query}`)
      return (json.data as { screening_id: string }[]).map((one) => one.screening_id)
    }
    expect(await idsOf('')).toEqual([...ids].reverse())
    expect(await idsOf(`claim_id=${claimId}`)).toEqual([ids[0]])
    expect(await idsOf(`media_id=${images[1]?.id}`)).toEqual([ids[1]])
    expect(await idsOf('status=succeeded')).toEqual([ids[0]])
    expect(await idsOf('status=failed')).toEqual([])
    expect(await idsOf('factor=ai_generated_likely')).toEqual([ids[0]])
    expect(await idsOf('factor=deepfake_likely')).toEqual([])
    expect(await idsOf('created_lt=2020-01-01T00:00:00Z')).toEqual([])
    const first = await service.call(who, '/v1/media/screenings?limit=2&include=total_count')
    expect(first.json).toMatchObject({ has_more: true, total_count: 3 })
    expect(await idsOf(`limit=2&cursor=${first.json.next_cursor}`)).toEqual([ids[0]])
    for (const query of [
      'status=done',
      'screening_batch_id=x',
      'colour=red',
      `cursor=${first.json.next_cursor}&status=succeeded`,
    ]) {
      expect((await service.call(who, `/v1/media/screenings?${query}`)).json.code, query).toBe('invalid_request')
    }
  })
})

describe('batches of screenings', () => {
  const post = (who: Caller, body: string, headers: Record<string, string> = {}) =>
    service.call(who, '/v1/media/screenings/batches', {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/x-ndjson', ...headers },
    })

  it('accept the valid lines and report the invalid ones', async () => {
    const who = await service.makeCaller()
    const claimId = await service.makeClaim(who)
    const [one, two] = [await service.makeImage(who), await service.makeImage(who)]
    const lines = [
      JSON.stringify({ media_id: one.id, claim_id: claimId }),
      JSON.stringify({ media_id: newId('med', 'sandbox') }),
      '{"media_id":',
      JSON.stringify({ media_id: two.id, url: 'https://a.example/' }),
      '',
      JSON.stringify({ media_id: two.id }),
      JSON.stringify({ media_id: newId('med', 'live') }),
      `{"media_id":"${'x'.repeat(2_000)}"}`,
    ]
    const headers = { 'Idempotency-Key': 'batch-1' }
    const { status, json, headers: sent } = await post(who, lines.join('\n'), headers)
    expect(status).toBe(202)
    expect(json).toMatchObject({ accepted: 2, counts: { queued: 2, succeeded: 0 } })
    const rejected = json.rejected as { line: number; errors: { code: string }[] }[]
    expect(rejected.map(({ line, errors }) => [line, errors[0]?.code])).toEqual([
      [2, 'not_found'],
      [3, 'malformed'],
      [4, 'unknown_field'],
      [7, 'environment_mismatch'],
      [8, 'too_long'],
    ])
    expect((await post(who, lines.join('\n'), headers)).json.screening_batch_id).toBe(json.screening_batch_id)
    const list = await service.call(who, `/v1/media/screenings?screening_batch_id=${json.screening_batch_id}`)
    const data = list.json.data as { screening_id: string; batch_line: number }[]
    expect(data.map(({ batch_line }) => batch_line).sort()).toEqual([1, 6])
    const jobs = await service.test.owner("SELECT priority FROM jobs WHERE account_id = $1 AND queue = 'screen'", [
      who.accountId,
    ])
    expect(jobs).toEqual([{ priority: 1 }, { priority: 1 }])
    for (const { screening_id: id } of data) await service.run(id)
    const found = await service.call(who, String(sent.location))
    expect(found.json.counts).toEqual({ queued: 0, running: 0, succeeded: 2, failed: 0, cancelled: 0 })
    expect((await service.call(caller, String(sent.location))).json.code).toBe('not_found')
    // After its retention everything is deleted: referring rows before the rows that they refer to.
    const before = new Date(Date.now() + 7_200_000)
    const { features } = makeServices({ db: service.test.db })
    const rules = features.flatMap(({ retention = [] }) => retention).filter((rule) => rule.per === 'tenant')
    const purge = (what: string) =>
      rules.find((rule) => rule.what === what)?.purge(who, before, new AbortController().signal)
    expect(await purge('screening_batches')).toBe(0)
    expect(await purge('screenings')).toBe(2)
    expect(await purge('screening_batches')).toBe(1)
    expect(await service.calls(who)).toEqual([])
  })

  it('are listed with their progress, newest first, and their refused lines page by page', async () => {
    const who = await service.makeCaller()
    const [one, two] = [await service.makeImage(who), await service.makeImage(who)]
    const line = (id: string) => JSON.stringify({ media_id: id })
    const at = Date.now()
    const made: string[] = []
    for (const [index, lines] of [[line(one.id)], [line(one.id), '{}', line(two.id), '[]', 'null']].entries()) {
      service.clock.now = new Date(at + index)
      made.unshift(String((await post(who, lines.join('\n'))).json.screening_batch_id))
    }
    const [newest = '', oldest = ''] = made
    const list = async (query = '') => (await service.call(who, `/v1/media/screenings/batches?${query}`)).json
    const idsOf = (json: Record<string, unknown>) =>
      (json.data as { screening_batch_id: string }[]).map((batch) => batch.screening_batch_id)
    expect(idsOf(await list())).toEqual([newest, oldest])
    const first = await list('limit=1&include=total_count')
    expect(first).toMatchObject({ has_more: true, total_count: 2, data: [{ rejected_count: 3, status: 'queued' }] })
    expect(idsOf(await list(`limit=1&cursor=${first.next_cursor}`))).toEqual([oldest])
    expect(idsOf(await list('created_lt=2020-01-01T00:00:00Z'))).toEqual([])

    const path = `/v1/media/screenings/batches/${newest}`
    const rejected = (await service.call(who, `${path}/rejected?limit=2`)).json
    expect(rejected).toMatchObject({ has_more: true, data: [{ line: 2 }, { line: 4 }] })
    const rest = (await service.call(who, `${path}/rejected?limit=2&cursor=${rejected.next_cursor}`)).json
    expect(rest).toMatchObject({ has_more: false, data: [{ line: 5, errors: [{ code: 'invalid_type' }] }] })
    expect((await service.call(caller, `${path}/rejected`)).json.code).toBe('not_found')
    expect((await service.call(who, path)).json).not.toHaveProperty('rejected')

    const waiting = service.call(who, `${path}?wait=20`)
    const screenings = await service.call(who, `/v1/media/screenings?screening_batch_id=${newest}`)
    const ids = (screenings.json.data as { screening_id: string }[]).map((one) => one.screening_id)
    await service.run(ids[0])
    expect((await service.call(who, path)).json).toMatchObject({
      status: 'running',
      counts: { queued: 1, succeeded: 1 },
    })
    await service.run(ids[1])
    expect(await waiting).toMatchObject({
      status: 200,
      json: { status: 'succeeded', counts: { queued: 0, succeeded: 2 } },
    })
    expect((await list()).data).toMatchObject([{ status: 'succeeded' }, { status: 'queued' }])
  })

  it('refuse a body without a single valid line', async () => {
    const array = { 'Content-Type': 'application/json' }
    const before = await count('screening_batches')
    for (const [body, headers, code] of [
      ['', {}, 'invalid_request'],
      ['{}\n[]\nnull', {}, 'invalid_request'],
      [JSON.stringify({ media_id: newId('med', 'sandbox') }), {}, 'invalid_request'],
      ['{"media_id":"x"}', array, 'invalid_json'],
      ['[{"media_id":"x"}', array, 'invalid_json'],
      ['x', { 'Content-Type': 'text/plain' }, 'unsupported_media_type'],
      ['\n'.repeat(9 * 1024 * 1024), {}, 'payload_too_large'],
    ] as [string, Record<string, string>, string][]) {
      expect((await post(caller, body, headers)).json.code, body.slice(0, 20)).toBe(code)
    }
    const published = { ...caller, key: service.addKey({ ...caller, isAccountBearing: false }) }
    const line = `${JSON.stringify({ media_id: mediaId })}\n`
    expect((await post(published, line.repeat(1_001))).json.code).toBe('payload_too_large')
    expect(await count('screening_batches')).toBe(before)
    expect((await post(caller, `[${line}]`, array)).json).toMatchObject({ accepted: 1, rejected: [] })
  })
})

describe('/v1/account/screening', () => {
  const PATH = '/v1/account/screening'
  const thresholds = { genai: { review: 0.4, likely: 0.9 }, deepfake: { review: 0.6, likely: 0.6 } }
  const put = (who: { key: string }, document: unknown) =>
    service.call(who, PATH, { method: 'PUT', json: { document }, headers: { 'If-Match': '*' } })

  it('has default values until an account sets its own', async () => {
    const who = await service.makeCaller()
    const defaults = { genai: { review: 0.5, likely: 0.8 }, deepfake: { review: 0.5, likely: 0.8 } }
    expect((await service.call(who, PATH)).json).toMatchObject({
      version: 0,
      changed_at: null,
      changed_by: null,
      document: { thresholds: defaults },
    })
    expect((await put(who, { thresholds })).json.document).toEqual({ thresholds })
    expect((await service.call(who, PATH)).json.document).toEqual({ thresholds })
    expect((await service.call(caller, PATH)).json.document).toEqual({ thresholds: defaults })
  })

  it('refuses values outside of 0 to 1, and keys without the scope', async () => {
    const of = (genai: unknown) => ({ thresholds: { ...thresholds, genai } })
    for (const genai of [
      { review: 0.9, likely: 0.8 },
      { review: -0.1, likely: 1 },
      { review: 0, likely: 1.1 },
      { likely: 1 },
      null,
    ]) {
      expect((await put(caller, of(genai))).json.code, JSON.stringify(genai)).toBe('invalid_request')
    }
    expect((await put(caller, {})).json.code).toBe('invalid_request')
    const screenOnly = { key: service.addKey({ ...caller, scopes: ['screen'] }) }
    expect((await put(screenOnly, { thresholds })).json.code).toBe('insufficient_scope')
    const published = { key: service.addKey({ ...caller, isAccountBearing: false }) }
    expect((await service.call(published, PATH)).json.code).toBe('account_key_required')
  })
})

describe('the erasure of a claim', () => {
  it('deletes the media that only its screenings name, with declared facts and waiting jobs', async () => {
    const who = await service.makeCaller()
    const [claimId, otherClaim] = [await service.makeClaim(who), await service.makeClaim(who)]
    const [own, shared] = [await service.makeImage(who), await service.makeImage(who)]
    const submit = async (media: string, claim: string) =>
      String((await service.screen(who, { media: { media_id: media }, claim_id: claim })).json.screening_id)
    const scored = await submit(own.id, claimId)
    const waiting = await submit(shared.id, claimId)
    await submit(shared.id, otherClaim)
    const evidence = { compared: 'c', expected: 'e', found: 'f' }
    await service.run(scored, service.makeWork({ observe: async () => [{ code: 'declared_capture', evidence }] }))
    const job = await service.take(waiting)
    const log = { info() {} } as unknown as Parameters<typeof createClaimErasure>[0]['log']
    const erasure = createClaimErasure({ db: service.test.db, eraser: service.eraser, log })
    await erasure.erase(who, claimId, { requestId: 'r' })
    expect(await service.find(who, scored)).toMatchObject({
      status: 'succeeded',
      media_sha256: own.sha256,
      observations: [],
      erased_at: expect.any(String),
    })
    expect(await service.find(who, waiting)).toMatchObject({
      status: 'failed',
      failure: { code: 'erased' },
      genai_score: null,
    })
    expect(await service.store.exists(who, own.sha256)).toBe(false)
    expect(await service.store.exists(who, shared.sha256)).toBe(true)
    // The worker that was running the job brings nothing back.
    const events = (await service.events(who)).length
    expect(await service.makeWork().run({ screeningId: waiting }, job)).toEqual({ kind: 'done' })
    expect(await service.events(who)).toHaveLength(events)
    // Its bytes are erased: a later result for them is not stored.
    await service.test.owner('UPDATE screenings SET media_id = $2 WHERE claim_id = $1', [otherClaim, own.id])
    const [late] = await service.test.owner<{ id: string }>('SELECT id FROM screenings WHERE claim_id = $1', [
      otherClaim,
    ])
    await service.run(late?.id)
    expect(await service.find(who, late?.id)).toMatchObject({ status: 'failed', failure: { code: 'media_erased' } })
  })
})
