import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MANY_CHUNKS } from '#src/attest/claims/submission-text.ts'
import { newId } from '#src/platform/ids.ts'
import { batchFixture, type Caller, goodLine, type Line, type Service } from './service.ts'

let service: Service
let caller: Caller
let mediaId: string

beforeAll(async () => {
  ;({ service, caller, mediaId } = await batchFixture())
})
afterAll(() => service.close())

test('a batch accepts each line as an attestation with a bulk job, and returns where to poll', async () => {
  const lines = [1, 2, 3].map((n) =>
    goodLine(mediaId, { external_id: `plain-${n}`, claim: { reference: `P-${n % 2}` } }),
  )
  const { status, json, headers } = await service.submit(caller, lines)
  expect(status).toBe(202)
  expect(json).toMatchObject({ accepted: 3, rejected: [], settled: 0, counts: { queued: 3, running: 0 } })
  expect(headers.location).toBe(`/v1/claims/batches/${json.batch_id}`)
  const rows = await service.test.owner(
    `SELECT a.batch_line, j.priority, j.queue, j.lane, c.reference FROM attestations a
     JOIN jobs j ON j.id = a.job_id AND j.payload ->> 'attestationId' = a.id JOIN claims c ON c.id = a.claim_id
     WHERE a.batch_id = $1 ORDER BY a.batch_line`,
    [json.batch_id],
  )
  const job = { priority: 1, queue: 'attest', lane: caller.accountId }
  expect(rows).toEqual([
    { batch_line: 1, ...job, reference: 'P-1' },
    { batch_line: 2, ...job, reference: 'P-0' },
    { batch_line: 3, ...job, reference: 'P-1' },
  ])
})

test('the chunks of long videos are stored beside their lines, and those of no other line', async () => {
  const videoId = await service.makeMedia(caller)
  await service.test.owner(`UPDATE media SET content_type = 'video/mp4' WHERE id = $1`, [videoId])
  const chunksOf = (count: number) => Array.from({ length: count }, (_, index) => ({ index, sha256: 'a'.repeat(64) }))
  const videoLine = (count: number) =>
    goodLine(videoId, {
      media_type: 'video',
      signature: { alg: 'ES256', value: 'AAAA' },
      bundle: {
        version: 1,
        captured_at: '2026-01-01T00:00:00Z',
        sensor_hash: '0'.repeat(64),
        video_manifest: { codec: 'a "codec"', chunks: chunksOf(count) },
      },
    })
  const lines = [goodLine(mediaId), videoLine(MANY_CHUNKS + 1), videoLine(MANY_CHUNKS)]
  const { json } = await service.submit(caller, lines)
  expect(json).toMatchObject({ accepted: 3, rejected: [] })
  const rows = await service.test.owner(
    `SELECT video_chunks::jsonb AS beside, submission #> '{bundle,video_manifest}' AS manifest FROM attestations
     WHERE batch_id = $1 ORDER BY batch_line`,
    [json.batch_id],
  )
  expect(rows).toEqual([
    { beside: null, manifest: null },
    { beside: chunksOf(MANY_CHUNKS + 1), manifest: { codec: 'a "codec"' } },
    { beside: null, manifest: { codec: 'a "codec"', chunks: chunksOf(MANY_CHUNKS) } },
  ])
})

test('timestamps that ISO 8601 permits and Postgres refuses do not fail a batch', async () => {
  const times = ['2026-01-01T00:00:00+23:59', '2026-01-01T00:00:00.123456789012Z', '0002-01-01T00:00:00-23:59']
  const lines = times.map((loss_at) => goodLine(mediaId, { claim: { loss_at } }))
  expect((await service.submit(caller, lines)).json).toMatchObject({ accepted: 3, rejected: [] })
})

test('one invalid line among 1,000 is reported, and the other 999 run', async () => {
  const lines: (Line | string)[] = Array.from({ length: 1_000 }, () => goodLine(mediaId))
  lines[499] = '{"media_type":"image",'
  const { status, json } = await service.submit(caller, lines)
  expect(status).toBe(202)
  expect(json).toMatchObject({ accepted: 999, rejected_count: 1, counts: { queued: 999 } })
  expect(json.rejected).toMatchObject([{ line: 500, errors: [{ pointer: '', code: 'malformed' }] }])
})

test('each invalid line is reported with its error, and blank lines are counted without being parsed', async () => {
  const foreign = await service.makeCaller()
  const bundle = { version: 1, captured_at: '2026-01-01T00:00:00Z', sensor_hash: '0'.repeat(64) }
  const signature = { alg: 'ES256', value: 'AAAA' }
  const bad: [name: string, line: Line | string, pointer: string, code: string][] = [
    ['broken JSON', '{"media_type":', '/media_type', 'malformed'],
    ['two values', '{} {}', '', 'malformed'],
    ['no JSON at all', 'hello', '', 'malformed'],
    ['a duplicate key', `{"media_type":"image","media_type":"image"}`, '/media_type', 'duplicate_key'],
    ['a lone surrogate', '{"external_id":"\\ud800"}', '/external_id', 'lone_surrogate'],
    ['an integer that a double can not hold', '{"a":9007199254740993}', '/a', 'number_out_of_range'],
    ['nesting', '['.repeat(100), '/0'.repeat(32), 'too_deep'],
    ['an array', '[]', '', 'invalid_type'],
    ['a string', '"x"', '', 'invalid_type'],
    ['a missing field', { media_type: 'image' }, '/media', 'required'],
    ['a wrong type', goodLine(mediaId, { external_id: 7 }), '/external_id', 'invalid_type'],
    ['an unknown field', goodLine(mediaId, { extra: 1 }), '/extra', 'unknown_field'],
    [
      'an own __proto__',
      `{"media_type":"image","media":{"media_id":"${mediaId}"},"__proto__":{}}`,
      '/__proto__',
      'unknown_field',
    ],
    ['a NUL', goodLine(mediaId, { external_id: 'a\u0000b' }), '/external_id', 'invalid_character'],
    [
      'inline media',
      { media_type: 'image', media: { content_type: 'image/jpeg', data: 'AAAA' } },
      '/media/media_id',
      'required',
    ],
    ['an unknown media', goodLine(newId('med', 'sandbox')), '/media/media_id', 'not_found'],
    ['a media id that is none', goodLine('photo-1'), '/media/media_id', 'not_found'],
    ["another account's media", goodLine(await service.makeMedia(foreign)), '/media/media_id', 'not_found'],
    ["the other environment's media", goodLine(newId('med', 'live')), '/media/media_id', 'environment_mismatch'],
    ['video', goodLine(mediaId, { media_type: 'video' }), '/media/media_id', 'wrong_media_type'],
    ['a bundle without its signature', goodLine(mediaId, { bundle }), '/signature', 'required'],
    ['a signature without its bundle', goodLine(mediaId, { signature }), '/bundle', 'required'],
    [
      'a certificate that is none',
      goodLine(mediaId, { certificate_chain: ['iVBORw0KGgo='] }),
      '/certificate_chain/0',
      'not_a_certificate',
    ],
    [
      'a chain of 50',
      goodLine(mediaId, { certificate_chain: Array(50).fill('AAAA') }),
      '/certificate_chain',
      'too_many',
    ],
    ['wrong base64', goodLine(mediaId, { certificate_chain: ['***'] }), '/certificate_chain/0', 'invalid_format'],
    [
      'a latitude',
      goodLine(mediaId, { claim: { loss_location: { lat: 91, lng: 0 } } }),
      '/claim/loss_location/lat',
      'out_of_range',
    ],
    ['the year 0', goodLine(mediaId, { claim: { loss_at: '0000-01-01T00:00:00Z' } }), '/claim/loss_at', 'out_of_range'],
    [
      'an endless fraction',
      goodLine(mediaId, { claim: { loss_at: `2026-01-01T00:00:00.${'1'.repeat(500)}Z` } }),
      '/claim/loss_at',
      'too_long',
    ],
    ['more than 64 KiB', goodLine(mediaId, { external_id: 'x'.repeat(64 * 1024) }), '', 'too_long'],
    ['thousands of values', `[${'1,'.repeat(5_000)}1]`, '', 'too_many_values'],
    // The report of a line is stored, and Postgres stores no U+0000.
    ['a NUL in a name', '{"a\\u0000":1}', '', 'invalid_character'],
    ['a NUL in a name that comes twice', '{"a":{"\\u0000":1,"\\u0000":2}}', '/a', 'duplicate_key'],
  ]
  const lines = bad.flatMap(([, line]) => ['', line, goodLine(mediaId)])
  const { status, json } = await service.submit(caller, lines)
  expect(status).toBe(202)
  expect(json).toMatchObject({ accepted: bad.length, rejected_count: bad.length })
  const said = new Map(
    json.rejected.map(({ line, errors }) => [line, errors.map(({ pointer, code }) => ({ pointer, code }))]),
  )
  bad.forEach(([name, , pointer, code], index) => {
    expect({ name, errors: said.get(index * 3 + 2) }).toEqual({
      name,
      errors: expect.arrayContaining([{ pointer, code }]),
    })
  })
})

test('bytes that are not UTF-8 invalidate their own line only', async () => {
  const good = Buffer.from(`${JSON.stringify(goodLine(mediaId))}\n`)
  const body = Buffer.concat([good, Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]), good])
  const response = await fetch(`${service.app.url}/v1/claims/batches`, {
    method: 'POST',
    headers: { 'X-API-Key': caller.key, 'Content-Type': 'application/x-ndjson' },
    body,
  })
  expect(await response.json()).toMatchObject({
    accepted: 2,
    rejected: [{ line: 2, errors: [{ code: 'invalid_utf8' }] }],
  })
})

describe('a JSON array', () => {
  test('is judged element by element', async () => {
    const good = JSON.stringify(goodLine(mediaId), null, 2)
    const body = `[${good}, {"media_type": "image", "media_type": "image"},\n 7, ${good}, , {"a": nope}]`
    const { status, json } = await service.submitArray(caller, body)
    expect(status).toBe(202)
    expect(json.accepted).toBe(2)
    const said = json.rejected.map(({ line, errors }) => [line, errors[0]?.code])
    expect(said).toEqual([
      [2, 'duplicate_key'],
      [3, 'invalid_type'],
      [5, 'malformed'],
      [6, 'malformed'],
    ])
  })

  test('that is malformed is refused as a whole', async () => {
    const good = JSON.stringify(goodLine(mediaId))
    const before = await service.count('batches')
    for (const body of [good, `[${good}`, `[${good}] x`, `[${good},`, '', ' ', `\ufeff[${good}]`]) {
      const { status, json } = await service.submitArray(caller, body)
      expect({ body, status, code: json.code }).toEqual({ body, status: 400, code: 'invalid_json' })
    }
    expect(await service.count('batches')).toBe(before)
  })

  test('may have at most 20 MB', async () => {
    const { status, json } = await service.submitArray(caller, `[${' '.repeat(20 * 1024 * 1024)}]`)
    expect(status).toBe(413)
    expect(json.code).toBe('payload_too_large')
  })
})

describe('a batch is refused as a whole, and nothing is stored', () => {
  test.each([
    ['no lines', []],
    ['blank lines', ['', '  ', '\t']],
    ['only bad lines', ['{', goodLine('med_test_unknown'), goodLine(newId('med', 'sandbox'))]],
  ])('%s', async (_, lines) => {
    const tables = ['batches', 'claims', 'attestations', 'jobs'] as const
    const before = await Promise.all(tables.map(service.count))
    const { status, json } = await service.submit(caller, lines)
    expect(status).toBe(400)
    expect(json).toMatchObject({ code: 'invalid_request', accepted: 0 })
    expect(json.rejected.map(({ line }) => line)).toEqual(lines.length === 0 || lines[0] === '' ? [] : [1, 2, 3])
    expect(await Promise.all(tables.map(service.count))).toEqual(before)
  })

  test('with more lines than the caller may send', async () => {
    const publicKey = service.addKey({ ...caller, isAccountBearing: false })
    const line = JSON.stringify(goodLine(mediaId))
    const before = await service.count('attestations')
    const one = await service.submit(caller, Array<string>(1_001).fill(line), publicKey)
    expect([one.status, one.json.code]).toEqual([413, 'payload_too_large'])
    const two = await service.submit(caller, Array<string>(10_001).fill(line))
    expect([two.status, two.json.code]).toEqual([413, 'payload_too_large'])
    const array = await service.submitArray(caller, `[${Array<string>(10_001).fill('{}').join()}]`)
    expect([array.status, array.json.code]).toEqual([413, 'payload_too_large'])
    expect(await service.count('attestations')).toBe(before)
    expect(await service.spooled()).toEqual([])
    const allowed = await service.submit(caller, Array<string>(1_000).fill(line), publicKey)
    expect(allowed.json.accepted).toBe(1_000)
  })

  test('with another content type, and with a key without the scope', async () => {
    const post = (headers: Record<string, string>) =>
      fetch(`${service.app.url}/v1/claims/batches`, { method: 'POST', headers, body: '{}' })
    const wrongType = await post({ 'X-API-Key': caller.key, 'Content-Type': 'text/csv' })
    expect(wrongType.status).toBe(415)
    const verify = service.addKey({ ...caller, scopes: ['verify'] })
    const wrongScope = await post({ 'X-API-Key': verify, 'Content-Type': 'application/x-ndjson' })
    expect(wrongScope.status).toBe(403)
  })
})

test('a batch accepts 10,000 lines, which are many chunks', async () => {
  const lines = Array.from({ length: 10_000 }, (_, n) => goodLine(mediaId, { external_id: `many-${n}` }))
  const { status, json } = await service.submit(caller, lines)
  expect(status).toBe(202)
  expect(json).toMatchObject({ accepted: 10_000, counts: { queued: 10_000 } })
})

test('the report of invalid lines stays small', async () => {
  const keys = Array.from({ length: 100 }, (_, n) => `"${'k'.repeat(300)}${n}":1`).join()
  const { status, json, text } = await service.submit(caller, [
    goodLine(mediaId),
    ...Array<string>(3_000).fill(`{${keys}}`),
  ])
  expect(status).toBe(202)
  expect(json.rejected_count).toBe(3_000)
  expect(
    json.rejected.every(({ errors }) => errors[0]?.code === 'required' || errors[0]?.code === 'unknown_field'),
  ).toBe(true)
  expect(text.length).toBeLessThan(4 * 1024 * 1024)
})
