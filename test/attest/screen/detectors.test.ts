// Each detector against a real server that speaks its documented formats, and fails in every way that a server can.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { screenConfig } from '#src/attest/screen/config.ts'
import type { Detection, Detector, DetectorDeps } from '#src/attest/screen/detectors/detector.ts'
import { createHive } from '#src/attest/screen/detectors/hive.ts'
import { createHttpDetector } from '#src/attest/screen/detectors/http.ts'
import { createSightengine } from '#src/attest/screen/detectors/sightengine.ts'
import { createOutbound, type Outbound } from '#src/platform/net/outbound.ts'
import { type Answer, type FakeDetector, startDetector } from './detector.ts'

const BYTES = Buffer.from('\xff\xd8\xff the bytes of a photo', 'latin1')
const SHA256 = createHash('sha256').update(BYTES).digest('hex')
const SECRET = 'secret-that-nobody-may-see'
const USER = 'user-4711'

const sightengine = {
  status: 'success',
  request: { id: 'req_abc', timestamp: 1763657604.98, operations: 1 },
  type: { ai_generated: 0.99, ai_generators: { midjourney: 0.8, flux: 0.1, gan: 0.95 }, deepfake: 0.01 },
  media: { id: 'med_abc', uri: 'media' },
}
const hive = {
  task_id: 'b5d0',
  output: [
    {
      extra: [{ name: 'timestamp', value: 0 }],
      classes: [
        { class: 'ai_generated', value: 0.02 },
        { class: 'not_ai_generated', value: 0.98 },
        { class: 'midjourney', value: 0.01 },
        { class: 'none', value: 0.99 },
        { class: 'deepfake', value: 0.93 },
      ],
    },
  ],
}
const http = { id: 'call-1', genai_score: 0.5, deepfake_score: null, models: [{ model: 'diffusion', score: 0.4 }] }

/** The same answer, with a name that occurs twice in its deepest object. */
function withTwice(answer: unknown, again = 'genai_score'): string {
  const text = JSON.stringify(answer)
  const at = text.lastIndexOf('{') + 1
  return `${text.slice(0, at)}"genai_score":0.1,"${again}":0.9,${text.slice(at)}`
}

const failure = (type: string) => ({
  status: 'failure',
  request: { id: 'req_abc', timestamp: 1, operations: 0 },
  error: { type, code: 1, message: 'Incorrect API user or API secret' },
})

describe('detectors', () => {
  let server: FakeDetector
  let outbound: Outbound
  const depsOf = (more: Partial<DetectorDeps> = {}): DetectorDeps => ({
    outbound,
    url: server.url,
    version: '1',
    now: () => new Date('2026-11-20T15:00:00.000Z'),
    timeoutMs: 2_000,
    ...more,
  })
  const make: Record<string, (more?: Partial<DetectorDeps>) => Detector> = {
    sightengine: (more) => createSightengine({ ...depsOf(more), user: USER, secret: SECRET }),
    hive: (more) => createHive({ ...depsOf(more), secret: SECRET }),
    http: (more) => createHttpDetector({ ...depsOf(more), secret: SECRET }),
  }
  const good: Record<string, unknown> = { sightengine, hive, http }
  const detect = (detector: Detector | undefined, signal = new AbortController().signal): Promise<Detection> => {
    if (detector === undefined) throw new Error('no such detector')
    return detector.detect({ sha256: SHA256, contentType: 'image/jpeg', bytes: BYTES, signal })
  }

  beforeAll(async () => {
    server = await startDetector({ json: {} })
    outbound = createOutbound({ allow: ['127.0.0.1'] })
  })
  beforeEach(() => {
    server.asked.length = 0
  })
  afterAll(async () => {
    await outbound?.close()
    await server?.close()
  })

  it('parse a successful answer', async () => {
    server.answer = { json: sightengine }
    expect(await detect(make.sightengine?.())).toEqual({
      kind: 'scored',
      genai: 0.99,
      deepfake: 0.01,
      models: [
        { model: 'gan', score: 0.95 },
        { model: 'midjourney', score: 0.8 },
        { model: 'flux', score: 0.1 },
      ],
      vendorId: 'req_abc',
    })
    server.answer = { json: hive }
    expect(await detect(make.hive?.())).toEqual({
      kind: 'scored',
      genai: 0.02,
      deepfake: 0.93,
      models: [{ model: 'midjourney', score: 0.01 }],
      vendorId: 'b5d0',
    })
    server.answer = { json: http }
    expect(await detect(make.http?.())).toEqual({
      kind: 'scored',
      genai: 0.5,
      deepfake: null,
      models: [{ model: 'diffusion', score: 0.4 }],
      vendorId: 'call-1',
    })
  })

  it('send the bytes unchanged, and no secret in the address', async () => {
    for (const [name, create] of Object.entries(make)) {
      server.answer = { json: good[name] }
      expect((await detect(create())).kind).toBe('scored')
      const asked = server.asked.at(-1)
      expect(asked?.body.includes(BYTES), name).toBe(true)
      expect(asked?.url, name).toBe('/check')
      expect(JSON.stringify(asked?.headers).includes(SECRET), name).toBe(name !== 'sightengine')
    }
    const [form, , plain] = server.asked
    expect(form?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    const fields = new Response(new Uint8Array(form?.body ?? []), {
      headers: { 'content-type': form?.headers['content-type'] ?? '' },
    })
    const data = await fields.formData()
    expect(data.get('models')).toBe('genai,deepfake')
    expect([data.get('api_user'), data.get('api_secret')]).toEqual([USER, SECRET])
    expect(Buffer.from(await (data.get('media') as File).arrayBuffer()).equals(BYTES)).toBe(true)
    expect(plain?.headers['content-digest']).toBe(`sha-256=:${createHash('sha256').update(BYTES).digest('base64')}:`)
  })

  it.each(['sightengine', 'hive', 'http'])('%s: map each failure to its kind, and none to a number', async (name) => {
    const cases: [string, Answer, Partial<Detection>][] = [
      [
        '429 with seconds',
        { status: 429, headers: { 'retry-after': '17' }, json: {} },
        { kind: 'limited', retryAfterMs: 17_000 },
      ],
      [
        '429 with a date',
        { status: 429, headers: { 'retry-after': 'Fri, 20 Nov 2026 15:01:00 GMT' }, text: 'slow down' },
        { kind: 'limited', retryAfterMs: 60_000 },
      ],
      [
        '429 for ever',
        { status: 429, headers: { 'retry-after': '99999999' }, json: {} },
        { kind: 'limited', retryAfterMs: 3_600_000 },
      ],
      ['429 without a word', { status: 429, json: {} }, { kind: 'limited', retryAfterMs: 30_000 }],
      ['500', { status: 500, text: 'oops' }, { kind: 'failed' }],
      ['500 with a body that would do', { status: 500, json: good[name] }, { kind: 'failed' }],
      ['401', { status: 401, json: {} }, { kind: 'refused' }],
      ['402', { status: 402, json: {} }, { kind: 'refused' }],
      ['403', { status: 403, text: 'no' }, { kind: 'refused' }],
      ['415', { status: 415, json: {} }, { kind: 'unsupported' }],
      ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' }, json: {} }, { kind: 'failed' }],
      ...[201, 202, 203, 204, 205, 206, 207, 299].map((status): [string, Answer, Partial<Detection>] => [
        `${status} with a body that would do`,
        status === 204 || status === 205 ? { status, text: '' } : { status, json: good[name] },
        { kind: 'failed', detail: `status ${status}` },
      ]),
      ['a member twice', { text: withTwice(good[name]) }, { kind: 'failed' }],
      ['a member twice, once escaped', { text: withTwice(good[name], '\\u0067enai_score') }, { kind: 'failed' }],
      ['malformed JSON', { text: '{"status":"success",' }, { kind: 'failed' }],
      ['NaN', { text: '{"genai_score":NaN}' }, { kind: 'failed' }],
      ['another content type', { headers: { 'content-type': 'text/html' }, json: good[name] }, { kind: 'failed' }],
      ['an array', { json: [] }, { kind: 'failed' }],
      ['null', { text: 'null' }, { kind: 'failed' }],
      ['nothing', { text: '' }, { kind: 'failed' }],
      ['no score', { json: { status: 'success', type: {}, output: [{ classes: [] }] } }, { kind: 'failed' }],
      ['a huge body', { text: Buffer.alloc(4 * 1024 * 1024, ' ') }, { kind: 'failed' }],
      ['depth', { text: '['.repeat(100_000) }, { kind: 'failed' }],
    ]
    for (const [what, answer, expected] of cases) {
      server.answer = answer
      const detection = await detect(make[name]?.())
      expect(detection, what).toMatchObject(expected)
      expect(JSON.stringify(detection), what).not.toContain(SECRET)
      expect(Object.keys(detection), what).not.toContain('genai')
    }
  })

  it.each([-0.01, 1.01, Number.POSITIVE_INFINITY, 97, '0.9', null, true, [0.9], {}])(
    'do not accept %j as a score',
    async (value) => {
      const text = (shape: object) =>
        JSON.stringify(shape).replace('"SCORE"', value === Number.POSITIVE_INFINITY ? '1e999' : JSON.stringify(value))
      server.answer = { text: text({ ...sightengine, type: { ai_generated: 'SCORE' } }) }
      expect(await detect(make.sightengine?.())).toMatchObject({ kind: 'failed' })
      server.answer = { text: text({ output: [{ classes: [{ class: 'ai_generated', value: 'SCORE' }] }] }) }
      expect(await detect(make.hive?.())).toMatchObject({ kind: 'failed' })
      server.answer = { text: text({ genai_score: 'SCORE' }) }
      expect(await detect(make.http?.())).toMatchObject({ kind: 'failed' })
    },
  )

  it('repeat no word of an answer in their error texts', async () => {
    server.answer = { json: { ...sightengine, type: { ai_generated: 0.5, ai_generators: { [SECRET]: 7 } } } }
    expect(await detect(make.sightengine?.())).toEqual({
      kind: 'failed',
      detail: 'the answer has no valid type.ai_generators',
    })
  })

  it('take the highest frame of several', async () => {
    const frame = (value: number) => ({
      classes: [
        { class: 'ai_generated', value },
        { class: 'deepfake', value: 1 - value },
      ],
    })
    server.answer = { json: { output: [frame(0.1), frame(0.7), frame(0.2)] } }
    expect(await detect(make.hive?.())).toMatchObject({ kind: 'scored', genai: 0.7, deepfake: 0.9 })
  })

  it('recognize the failures of Sightengine by their type, whatever the status', async () => {
    const kinds: Record<string, Detection['kind']> = {
      credentials_error: 'refused',
      plan_error: 'refused',
      usage_limit: 'refused',
      media_error: 'unsupported',
      api_error: 'failed',
      unknown_error: 'failed',
      argument_error: 'failed',
      'Something <b>else</b>': 'failed',
    }
    for (const [type, kind] of Object.entries(kinds)) {
      for (const status of [200, 400, 500]) {
        server.answer = { status, json: failure(type) }
        const detection = await detect(make.sightengine?.())
        expect(detection.kind, `${type} ${status}`).toBe(kind)
        expect(JSON.stringify(detection)).not.toContain('<b>')
      }
    }
  })

  it('wait no longer than their deadline, and stop when the job is aborted', async () => {
    server.answer = 'hang'
    for (const create of Object.values(make)) {
      expect(await detect(create({ timeoutMs: 60 }))).toEqual({ kind: 'failed', detail: 'timeout' })
    }
    const controller = new AbortController()
    const detection = detect(make.http?.(), controller.signal)
    controller.abort()
    expect(await detection).toEqual({ kind: 'aborted', detail: 'aborted' })
  })

  it('call no private address, and report an unavailable server', async () => {
    const closed = createOutbound({})
    for (const url of [server.url, 'http://10.0.0.1:8080/', 'https://169.254.169.254/', 'https://[::1]:8443/']) {
      const detection = await detect(make.http?.({ outbound: closed, url }))
      expect(detection, url).toMatchObject({ kind: 'failed' })
    }
    await closed.close()
    expect(server.asked).toEqual([])
    expect(await detect(make.http?.({ url: 'http://127.0.0.1:9/' }))).toMatchObject({ kind: 'failed' })
  })

  it('are refused when they are configured in part', () => {
    const keysOf = (given: Record<string, string>) =>
      screenConfig.problems?.(given).map((problem) => problem.split(':')[0])
    expect(keysOf({})).toEqual([])
    expect(keysOf({ SCREENING_DETECTOR: 'none' })).toEqual([])
    expect(keysOf({ SCREENING_DETECTOR: 'sightengine' })).toEqual(['SCREENING_USER', 'SCREENING_SECRET'])
    expect(keysOf({ SCREENING_DETECTOR: 'hive' })).toEqual(['SCREENING_SECRET'])
    expect(keysOf({ SCREENING_DETECTOR: 'http' })).toEqual(['SCREENING_URL'])
    const url = (SCREENING_URL: string) => keysOf({ SCREENING_DETECTOR: 'http', SCREENING_URL, MODE: 'production' })
    expect(url('https://detector.example.com/score')).toEqual([])
    for (const wrong of ['https://a.example/?key=1', 'https://user:pass@a.example/', 'http://a.example/']) {
      expect(url(wrong), wrong).toEqual(['SCREENING_URL'])
    }
  })
})
