// What a program relies on besides the answers: changes that happen once, secrets that are not told, sessions, uploads and waits.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type ClientOptions, Countersign, CountersignError, type Progress } from '#client/countersign.ts'
import { type ScriptedAnswer, type ScriptedServer, startScripted } from '../../support/scripted.ts'
import { startTestService } from '../../support/service.ts'

const API_KEY = 'svc_test_S3cretS3cretS3cretS3cretS3cretS3'
const noSleep = async () => {}
let server: ScriptedServer | undefined
afterEach(() => server?.close())

async function clientOf(answers: ScriptedAnswer[], options: ClientOptions = {}): Promise<Countersign> {
  server = await startScripted(answers)
  return new Countersign({ apiKey: API_KEY, baseUrl: server.url, sleep: noSleep, ...options })
}

describe('a change on the running service', () => {
  it('happens once, however often its answer is lost', async () => {
    const service = await startTestService()
    try {
      const { key } = await service.makeCaller()
      const lost = new Map<string, number>()
      const agents = new Countersign({
        apiKey: key,
        baseUrl: service.app.url,
        sleep: noSleep,
        // The service has done it; the line breaks before the answer is here.
        fetch: async (input, init) => {
          const response = await fetch(input, init)
          await response.arrayBuffer()
          const change = new Headers(init?.headers).get('Idempotency-Key') ?? ''
          const times = (lost.get(change) ?? 0) + 1
          lost.set(change, times)
          if (times % 3 !== 0) throw new TypeError('the connection was reset')
          return fetch(input, init)
        },
      }).agents
      const { data, response } = await agents.create({ name: 'Buyer', owner: 'team@example.com' }).withResponse()
      expect(response.headers.get('Idempotent-Replayed')).toBe('true')
      expect(await service.count('agents')).toBe(1)
      const names = ['a', 'b', 'c']
      const made = await Promise.all(names.map((name) => agents.create({ name, owner: 'team@example.com' })))
      expect(new Set([...made.map(({ agentId }) => agentId), data.agentId]).size).toBe(4)
      expect(await service.count('agents')).toBe(4)
    } finally {
      await service.close()
    }
  })
})

describe('the key', () => {
  it('is refused before it could be printed, when no header can carry it', () => {
    const odd = 'svc_test_abc\nX-Other: 1'
    const make = () => new Countersign({ apiKey: odd, baseUrl: 'http://127.0.0.1:1' })
    expect(make).toThrow(TypeError)
    try {
      make()
    } catch (error) {
      expect(inspect(error)).not.toContain('svc_test_abc')
    }
  })

  it('is not told by a failure of fetch that repeats it', async () => {
    const client = new Countersign({
      apiKey: API_KEY,
      baseUrl: 'http://127.0.0.1:1',
      maxRetries: 0,
      fetch: async (_input, init) => {
        throw new TypeError(`bad header ${JSON.stringify(init?.headers)}`)
      },
    })
    const error = await client.account.retrieve().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(CountersignError)
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(API_KEY)
  })

  it('is not in the client, however it is printed', () => {
    const client = new Countersign({ apiKey: API_KEY, baseUrl: 'http://127.0.0.1:1' })
    const shown = [
      inspect(client, { depth: 20, showHidden: true, getters: true }),
      JSON.stringify(client),
      String(client),
    ]
    for (const text of shown) expect(text).not.toContain(API_KEY)
  })

  it('of the live environment is refused in a browser, unless the program insists', () => {
    vi.stubGlobal('window', { document: {} })
    try {
      const make = (options: ClientOptions) => () => new Countersign({ baseUrl: 'http://127.0.0.1:1', ...options })
      const live = 'svc_live_S3cretS3cretS3cretS3cretS3cretS3'
      expect(make({ apiKey: live })).toThrow(/dangerouslyAllowBrowser/)
      expect(make({ apiKey: live, dangerouslyAllowBrowser: true })).not.toThrow()
      expect(make({ apiKey: API_KEY })).not.toThrow()
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it.each(['ftp://example.com', 'http://user:pass@example.com', ''])('goes to no address such as %j', (baseUrl) => {
    expect(() => new Countersign({ apiKey: API_KEY, baseUrl })).toThrow(TypeError)
  })
})

describe('a session', () => {
  const credential = { json: { session: { csrf_token: 'token-1' } } }

  it('sends its environment always, and its CSRF token with changes, which it reads once', async () => {
    const answers = [{ json: {} }, credential, { json: {} }, { json: {} }]
    const client = await clientOf(answers, { apiKey: undefined, session: { environment: 'live' } })
    await client.account.retrieve()
    await client.intent.resume()
    await client.intent.resume()
    expect(
      server?.arrived.map(({ url, headers }) => [url, headers['x-csrf-token'], headers['service-environment']]),
    ).toEqual([
      ['/v1/account', undefined, 'live'],
      ['/v1/auth/session', undefined, 'live'],
      ['/v1/intent/resume', 'token-1', 'live'],
      ['/v1/intent/resume', 'token-1', 'live'],
    ])
    for (const { headers } of server?.arrived ?? []) expect(headers.authorization).toBeUndefined()
  })

  it('reads the token again when another page renewed the session', async () => {
    const answers = [
      credential,
      { status: 403, json: { code: 'csrf_token_invalid' } },
      { json: { session: { csrf_token: 'token-2' } } },
      { json: {} },
    ]
    const client = await clientOf(answers, { apiKey: undefined, session: { environment: 'sandbox' } })
    await client.intent.resume()
    expect(server?.arrived.map(({ headers }) => headers['x-csrf-token'])).toEqual([
      undefined,
      'token-1',
      undefined,
      'token-2',
    ])
    const keys = server?.arrived.flatMap(({ headers }) => headers['idempotency-key'] ?? [])
    expect(new Set(keys).size).toBe(1)
  })
})

describe('an upload', () => {
  const bytes = new Uint8Array(300_000).fill(7)

  it('tells how much was sent, and sends a Blob again', async () => {
    const client = await clientOf([{ status: 503, json: {} }, { json: { media_id: 'med_1' } }])
    const seen: Parameters<Progress>[0][] = []
    const body = new Blob([bytes], { type: 'image/jpeg' })
    const { mediaId } = await client.media.upload(body, {}, { onProgress: (progress) => seen.push(progress) })
    expect(mediaId).toBe('med_1')
    expect(seen.at(-1)).toEqual({ sentBytes: bytes.length, totalBytes: bytes.length })
    expect(seen.filter(({ sentBytes }) => sentBytes === 0)).toHaveLength(2)
    expect(server?.arrived.map(({ body: text, headers }) => [text.length, headers['content-type']])).toEqual([
      [bytes.length, 'image/jpeg'],
      [bytes.length, 'image/jpeg'],
    ])
  })

  it('takes a file by its path, and what opens a stream', async () => {
    const client = await clientOf([{ json: {} }, { status: 503, json: {} }, { json: {} }])
    const folder = await mkdtemp(join(tmpdir(), 'upload-'))
    try {
      await writeFile(join(folder, 'photo.jpg'), bytes)
      await client.media.upload({ path: join(folder, 'photo.jpg') }, { contentType: 'image/jpeg' })
      await client.media.upload(() => new Blob([bytes]).stream(), {
        contentType: 'image/png',
        contentDigest: 'sha-256=:x:',
      })
    } finally {
      await rm(folder, { recursive: true })
    }
    expect(server?.arrived.map(({ body }) => body.length)).toEqual([bytes.length, bytes.length, bytes.length])
    expect(server?.arrived.at(-1)?.headers).toMatchObject({
      'content-type': 'image/png',
      'content-digest': 'sha-256=:x:',
    })
  })

  it('without a type is refused before it is sent', async () => {
    const client = await clientOf([])
    await expect(client.media.upload(bytes)).rejects.toThrow(/contentType/)
    expect(server?.arrived).toEqual([])
  })

  it('of lines takes what is made one after the other', async () => {
    const client = await clientOf([{ status: 202, json: { batch_id: 'bat_1' } }])
    async function* made() {
      for (const externalId of ['a', 'b'])
        yield { externalId, mediaType: 'image' as const, media: { mediaId: 'med_1' } }
    }
    const { batchId } = await client.claims.batches.create(made())
    expect(batchId).toBe('bat_1')
    expect(server?.arrived[0]?.body).toBe(
      '{"external_id":"a","media_type":"image","media":{"media_id":"med_1"}}\n' +
        '{"external_id":"b","media_type":"image","media":{"media_id":"med_1"}}\n',
    )
  })
})

describe('a call', () => {
  it.each([
    [30_000, 30, 'wait=29'],
    [60_000, 20, 'wait=20'],
    [60_000, undefined, undefined],
    [5_000, undefined, 'wait=4'],
    [500, 9, 'wait=0'],
  ])('waits at the service for less than its time-out: %s ms, %s s', async (timeoutMs, wait, prefer) => {
    const client = await clientOf([{ json: {} }, { json: {} }], { timeoutMs: 60_000 })
    await client.screenings.create(
      { media: { mediaId: 'med_1' }, ...(wait === undefined ? {} : { wait }) },
      { timeoutMs },
    )
    expect(server?.arrived[0]?.headers.prefer).toBe(prefer)
    expect(JSON.parse(server?.arrived[0]?.body ?? '')).toEqual({ media: { media_id: 'med_1' } })
    if (wait === undefined) return
    await client.screenings.retrieve('scr_1', { wait }, { timeoutMs })
    expect(server?.arrived[1]?.url).toBe(`/v1/media/screenings/scr_1?${prefer}`)
  })

  it('names filters as the interface does, one or several', async () => {
    const page = { json: { object: 'list', data: [], has_more: false, next_cursor: null } }
    const client = await clientOf([page, page])
    await client.claims.list({ riskStatus: 'failed', limit: 5 }).page()
    await client.claims.list({ riskStatus: ['failed', 'passed'] }).page()
    expect(server?.arrived.map(({ url }) => url)).toEqual([
      '/v1/claims?risk_status=failed&limit=5',
      '/v1/claims?risk_status=failed&risk_status=passed',
    ])
  })

  it.each(['', '.', '..'])('has no id %j in its path', async (id) => {
    const client = await clientOf([])
    expect(() => client.claims.retrieve(id)).toThrow(TypeError)
  })

  it('escapes an id', async () => {
    const client = await clientOf([{ json: {} }])
    await client.claims.retrieve('a/../b?c')
    expect(server?.arrived[0]?.url).toBe('/v1/claims/a%2F..%2Fb%3Fc')
  })

  it('leaves what belongs to the caller as it is', async () => {
    const client = await clientOf([{ json: {} }])
    const args = {
      actionDescription: 'Pay',
      actionPayload: { vendor_id: 1, vendorId: { in_it: 2 } },
      agentSessionId: 's',
      deviceId: 'd',
    }
    await client.intent.authorize(args)
    expect(JSON.parse(server?.arrived[0]?.body ?? '')).toEqual({
      action_description: 'Pay',
      action_payload: { vendor_id: 1, vendorId: { in_it: 2 } },
      agent_session_id: 's',
      device_id: 'd',
    })
  })
})
