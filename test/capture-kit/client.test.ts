import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { type Client, createClient, isApiError } from '../../capture-kit/client.ts'

interface Seen {
  method: string | undefined
  url: string | undefined
  headers: IncomingMessage['headers']
  body: Buffer
}

type Answer = { status?: number; headers?: Record<string, string>; body: unknown }

const open: { client: Client; server: Server }[] = []

afterEach(async () => {
  for (const { client, server } of open.splice(0)) {
    await client.close()
    server.close()
  }
})

async function start(answers: (seen: Seen, count: number) => Answer, path = '') {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const { method, url, headers: sent } = request
    const each: Seen = { method, url, headers: sent, body: await buffer(request) }
    seen.push(each)
    const { status = 200, headers = {}, body } = answers(each, seen.length)
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = createClient({ url: `http://127.0.0.1:${port}${path}`, key: 'svc_test_x' })
  open.push({ client, server })
  return { client, seen }
}

test('the client uploads bytes with their type and digest', async () => {
  const photo = Buffer.from('photo')
  const { client, seen } = await start(() => ({ body: { media_id: 'med_1' } }), '/api/')
  expect(await client.upload(photo, 'image/jpeg')).toEqual({ media_id: 'med_1' })
  const digest = createHash('sha256').update(photo).digest('base64')
  expect(seen[0]).toMatchObject({
    method: 'POST',
    url: '/api/v1/media',
    body: photo,
    headers: {
      authorization: 'Bearer svc_test_x',
      'content-type': 'image/jpeg',
      'content-digest': `sha-256=:${digest}:`,
    },
  })
})

test('the client sends a chunk to its index in its session, with its digest', async () => {
  const { client, seen } = await start(() => ({ body: { index: 3 } }))
  await client.sendChunk('cap_1', 3, Buffer.from('chunk'))
  const digest = createHash('sha256').update('chunk').digest('base64')
  expect(seen[0]).toMatchObject({
    method: 'PUT',
    url: '/v1/claims/attest/sessions/cap_1/chunks/3',
    body: Buffer.from('chunk'),
    headers: { 'content-type': 'video/mp4', 'content-digest': `sha-256=:${digest}:` },
  })
})

test('the client opens as many sessions as requested, a thousand per call', async () => {
  const { client, seen } = await start(({ body }) => {
    const { count } = JSON.parse(body.toString())
    return { body: { sessions: Array.from({ length: count }, () => ({ session_nonce: 'n' })) } }
  })
  expect(await client.openSessions(2500)).toHaveLength(2500)
  expect(seen.map(({ body }) => JSON.parse(body.toString()).count)).toEqual([1000, 1000, 500])
  expect(await client.openSessions(0)).toEqual([])
})

test('the client streams a batch as NDJSON', async () => {
  const { client, seen } = await start(() => ({ status: 202, body: { batch_id: 'bat_1', accepted: 2, rejected: [] } }))
  const lines = ['1', '2'].map((id) => ({
    external_id: id,
    media_type: 'image' as const,
    media: { media_id: `med_${id}` },
  }))
  expect(await client.submitBatch(lines)).toEqual({ batch_id: 'bat_1', accepted: 2, rejected: [] })
  expect(seen[0]?.headers['content-type']).toBe('application/x-ndjson')
  expect(seen[0]?.body.toString()).toBe(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
})

test('the client reads the results of a batch line by line, to the line that ends them', async () => {
  const results = [
    { line: 1, cursor: 'a' },
    { line: 2, cursor: 'b' },
  ]
  const end = { object: 'cursor', next_cursor: 'b', is_complete: false }
  const ndjson = (lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const { client, seen } = await start((_, count) => ({ body: ndjson(count === 1 ? [...results, end] : results) }))

  const reader = client.readBatchResults('bat_1', 'x+/=')
  expect(await reader.next()).toEqual({ done: false, value: results[0] })
  expect(await reader.next()).toEqual({ done: false, value: results[1] })
  expect(await reader.next()).toEqual({ done: true, value: end })
  expect(seen[0]?.url).toBe('/v1/claims/batches/bat_1/results?cursor=x%2B%2F%3D')
  await expect(Array.fromAsync(client.readBatchResults('bat_1'))).rejects.toThrow('broke off')
})

test('the client retries after 429 and 503, with the whole body, and honours Retry-After', async () => {
  const { client, seen } = await start((_, count) =>
    count < 3
      ? { status: count === 1 ? 429 : 503, headers: { 'retry-after': '0' }, body: { code: 'rate_limited' } }
      : { status: 202, body: { batch_id: 'bat_1', accepted: 1, rejected: [] } },
  )
  const line = { media_type: 'image' as const, media: { media_id: 'med_1' } }
  expect(await client.submitBatch([line])).toMatchObject({ batch_id: 'bat_1' })
  expect(new Set(seen.map(({ body }) => body.toString())).size).toBe(1)
  expect(seen).toHaveLength(3)
})

test('the client throws the text of the API, once, for every other refusal', async () => {
  const problem = {
    code: 'invalid_request',
    detail: 'The body has errors.',
    errors: [{ pointer: '/claim/loss_location/lat', code: 'out_of_range', detail: 'must be between -90 and 90' }],
  }
  const { client, seen } = await start(() => ({ status: 400, headers: { 'request-id': 'req_1' }, body: problem }))
  const error = await client
    .attest({ media_type: 'image', media: { media_id: 'med_1' } })
    .catch((thrown: unknown) => thrown)
  expect(isApiError(error)).toBe(true)
  expect(error).toMatchObject({ status: 400, code: 'invalid_request', requestId: 'req_1', problem })
  expect(String(error)).toContain('/claim/loss_location/lat must be between -90 and 90')
  expect(seen).toHaveLength(1)
  expect(seen[0]?.headers.prefer).toBe('wait=10')
})

test('the client reports an answer that is not JSON', async () => {
  const { client } = await start(() => ({ status: 502, body: '<html>Bad gateway</html>' }))
  await expect(client.getBatch('bat_1')).rejects.toMatchObject({ status: 502, code: 'unreadable_answer' })
})
